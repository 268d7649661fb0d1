"""What is known of Keras's own classes, to write down where their weights are: facts of Keras 3.15 and tf_keras 2.21.

A path-keyed file calls a weight by the attributes that lead to it, which no config tells. For Keras's own layers they
are listed here; other classes have theirs in code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from unnest.core.model import Json

#: Every layer that Keras exports (`dir(keras.layers)` of both) without such as hold other layers, below.
PLAIN = frozenset({
    "Activation", "ActivityRegularization", "AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D", "AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "Add",
    "AdditiveAttention", "AlphaDropout", "Attention", "AugMix", "AutoContrast", "Average", "AveragePooling1D",
    "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "CategoryEncoding", "CenterCrop", "Concatenate",
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Cropping1D", "Cropping2D",
    "Cropping3D", "CutMix", "Dense", "DepthwiseConv1D", "DepthwiseConv2D", "Discretization", "Dot", "Dropout", "ELU",
    "EinsumDense", "Embedding", "Equalization", "Flatten", "GaussianDropout", "GaussianNoise",
    "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalMaxPooling1D",
    "GlobalMaxPooling2D", "GlobalMaxPooling3D", "GroupNormalization", "GRUCell", "HashedCrossing", "Hashing",
    "Identity", "InputLayer", "Lambda", "LayerNormalization", "LeakyReLU", "LocallyConnected1D", "LocallyConnected2D",
    "LSTMCell", "Masking", "MaxNumBoundingBoxes", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Maximum",
    "MelSpectrogram", "Minimum", "MixUp", "Multiply", "Normalization", "PReLU", "Permute", "RMSNormalization",
    "RandAugment", "RandomBrightness", "RandomColorDegeneration", "RandomColorJitter", "RandomContrast", "RandomCrop",
    "RandomElasticTransform", "RandomErasing", "RandomFlip", "RandomGaussianBlur", "RandomGrayscale", "RandomHeight",
    "RandomHue", "RandomInvert", "RandomPerspective", "RandomPosterization", "RandomRotation", "RandomSaturation",
    "RandomSharpness", "RandomShear", "RandomTranslation", "RandomWidth", "RandomZoom", "ReLU", "RepeatVector",
    "Rescaling", "Reshape", "Resizing", "STFTSpectrogram", "SeparableConv1D", "SeparableConv2D", "SimpleRNNCell",
    "Softmax", "Solarization", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "Subtract",
    "ThresholdedReLU", "UnitNormalization", "UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D",
    "ZeroPadding2D", "ZeroPadding3D",
})  # fmt: skip

#: Recurrent layers that make their own cell, and keep all weights in it.
CELLED = frozenset({"LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})

#: Layers that hold other layers, whose places are worked out or refused.
HOLDING = frozenset({
    "Bidirectional", "GroupQueryAttention", "IntegerLookup", "MultiHeadAttention", "Pipeline", "RNN",
    "SpectralNormalization", "StackedRNNCells", "StringLookup", "TextVectorization", "TimeDistributed",
})  # fmt: skip

OWN = PLAIN | CELLED | HOLDING

#: The name of a class in Keras's code, which .h5 stores -> that under which Keras 3 exports it.
EXPORTED = {"GroupedQueryAttention": "GroupQueryAttention"}

#: Keras's own layers that have weights, or hold layers that do, and need not say so.
HOLDS_WEIGHTS_UNTOLD = frozenset({
    "AdditiveAttention", "Attention", "Bidirectional", "Normalization", "RNN", "SpectralNormalization",
    "TimeDistributed",
})  # fmt: skip

#: Layers that no release of Keras gave weights.
WITHOUT_WEIGHTS = frozenset({
    "Activation", "Add", "Average", "Concatenate", "Dot", "Flatten", "InputLayer", "Masking", "Maximum", "Minimum",
    "Multiply", "Permute", "RepeatVector", "Reshape", "Subtract",
}) | {kind for kind in PLAIN if re.fullmatch(r"\w*(Pooling|Padding|Cropping|UpSampling)\dD", kind)}  # fmt: skip

#: MultiHeadAttention's layers in the order of its weights; tf_keras puts an underscore before each.
ATTENTION = ("query_dense", "key_dense", "value_dense", "output_dense")

#: How metrics are abbreviated, and the function that each stands for. Accuracy has one for each kind of target.
SHORT = {
    "mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error", "kld": "kl_divergence", "cosine_similarity": "cosine_similarity",
}  # fmt: skip
ACCURACIES = frozenset({"binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"})


def today(class_name: str) -> str:
    """Today's name of a class: TensorFlow numbered some of its layers for a while, and Model became Functional."""
    if class_name == "Model":
        return "Functional"
    if class_name in EXPORTED:
        return EXPORTED[class_name]
    bare = class_name[:-2] if class_name.endswith(("V1", "V2")) else class_name
    return bare if bare in OWN else class_name


#: The layers that tf.keras makes of operations that are called on its tensors.
OPERATION_LAYERS = frozenset({"SlicingOpLambda", "TFOpLambda", "TensorFlowOpLayer"})

#: The layers by which tf.keras notes in a graph what `add_loss` and `add_metric` added; they give their input.
ADDING_LAYERS = frozenset({"AddLoss", "AddMetric"})

#: Layers that Keras 1, Keras 2 or tf.keras had and Keras no longer exports, and what operations become in a file.
LEGACY = OPERATION_LAYERS | ADDING_LAYERS | {
    "AtrousConvolution1D", "AtrousConvolution2D", "BatchNormalizationV1", "BatchNormalizationV2", "ClassMethod",
    "ConvLSTM2DCell", "ConvLSTMCell", "ConvRecurrent2D", "ConvRNN2D", "Convolution1D", "Convolution2D",
    "Convolution2DTranspose", "Convolution3D", "CuDNNGRU", "CuDNNLSTM", "Deconvolution2D", "Deconvolution3D",
    "DenseFeatures", "Highway", "InstanceMethod", "InstanceProperty", "LocallyConnected3D", "MaxoutDense", "Merge",
    "ParametricSoftplus", "Recurrent", "SReLU", "SeparableConvolution1D", "SeparableConvolution2D", "SequenceFeatures",
    "SyncBatchNormalization", "TimeDistributedDense", "Wrapper",
}  # fmt: skip


def is_keras_class(class_name: str, entry: Mapping[str, Json]) -> bool:
    """Whether a layer's class is one of Keras's own, so that its name says what it does.

    Keras 3 stores the class's module, and both Keras 2 and 3 put a package before the name of whatever is registered by
    somebody else (`package>Name`); elsewhere the name is all there is.
    """
    module = entry.get("module")
    if isinstance(module, str) and module.partition(".")[0] not in KERAS_MODULES:
        return False
    if isinstance(entry.get("registered_name"), str) and ">" in str(entry["registered_name"]):
        return False
    return class_name in LEGACY or today(class_name) in OWN


#: Layers that people had written before Keras had one of that name: class -> the first release of Keras inside
#: TensorFlow that may hold it (Keras of its own had none), and arguments that its config never lacks.
#: (Source: the layers of Keras 1.2.2 to 2.3.1 and of TensorFlow 1.15 to 2.15, and what their get_config gives.)
_SCALED = ("axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer")
LATER: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "AdditiveAttention": ((2, 2, 4), ("use_scale",)),
    "Attention": ((2, 2, 4), ("use_scale",)),
    "CategoryEncoding": ((2, 3), ("output_mode", "sparse")),
    "CenterCrop": ((2, 3), ("height", "width")),
    "Conv1DTranspose": ((2, 4), ("filters", "kernel_size", "output_padding")),
    "ConvLSTM1D": ((2, 5), ("filters", "recurrent_activation")),
    "ConvLSTM3D": ((2, 5), ("filters", "recurrent_activation")),
    "DepthwiseConv1D": ((2, 5), ("kernel_size", "depth_multiplier")),
    "EinsumDense": ((2, 4), ("equation", "output_shape")),
    "GroupNormalization": ((2, 11), ("groups", *_SCALED)),
    "Hashing": ((2, 3), ("num_bins",)),
    "Identity": ((2, 8), ()),
    "LayerNormalization": ((2, 2, 4), _SCALED),
    "MultiHeadAttention": ((2, 4), ("num_heads", "key_dim")),
    "Normalization": ((2, 3), ("axis",)),
    "RandomBrightness": ((2, 8), ("factor", "value_range")),
    "RandomContrast": ((2, 3), ("factor",)),
    "RandomFlip": ((2, 3), ("mode",)),
    "RandomRotation": ((2, 3), ("factor", "fill_mode")),
    "RandomTranslation": ((2, 3), ("height_factor", "width_factor")),
    "RandomZoom": ((2, 3), ("height_factor", "width_factor")),
    "Rescaling": ((2, 3), ("scale", "offset")),
    "Resizing": ((2, 3), ("height", "width")),
    "SpectralNormalization": ((2, 13), ("layer", "power_iterations")),
    "UnitNormalization": ((2, 8), ("axis",)),
}
#: The last release of Keras of its own before it became a part of TensorFlow.
STANDALONE = (2, 3)


def is_namesake(class_name: str, config: Json, release: tuple[int, ...], *, in_tensorflow: bool) -> bool:
    """Whether a layer of Keras 1 or 2 is somebody's own that is called as a layer of today's Keras is.

    `release` is the numbers of the writer's version, empty where it is not told.
    """
    if class_name not in LATER:
        return False
    since, always = LATER[class_name]
    if release and (release < since or (release[:2] <= STANDALONE and not in_tensorflow)):
        return True
    return not isinstance(config, Mapping) or not set(always) <= set(config)


#: The packages that store Keras's own classes.
KERAS_MODULES = frozenset({"keras", "tf_keras", "tensorflow"})
