"""Which arguments the layers of Keras 3 take, for the layers that older Kerases had too.

Source: the constructors of Keras 3.15, every one called with every argument named here. All layers take `name`, and all
but those of BARE `trainable`; all take `dtype`.
"""

from __future__ import annotations


def _of(*parts: str) -> tuple[str, ...]:
    """`kernel_*` is the initializer, the regularizer and the constraint of `kernel`."""
    names: list[str] = []
    for part in " ".join(parts).split():
        stem = part.removesuffix("_*")
        names += [part] if stem == part else [f"{stem}_{role}" for role in ("initializer", "regularizer", "constraint")]
    return tuple(names)


_BIASED = "activation use_bias bias_* activity_regularizer"
_KERNELS = f"{_BIASED} kernel_*"
_WINDOW = "kernel_size strides padding data_format dilation_rate"
_SEPARABLE = f"filters {_WINDOW} depth_multiplier depthwise_* pointwise_* {_BIASED}"
_DEPTHWISE = f"{_WINDOW} depth_multiplier depthwise_* {_BIASED}"
_POOL = "pool_size strides padding data_format"
_CELL = "activation use_bias kernel_* recurrent_* bias_* dropout recurrent_dropout seed"
_SEQUENCE = "return_sequences return_state go_backwards stateful"
_RECURRENT = f"{_CELL} {_SEQUENCE} unroll zero_output_for_mask activity_regularizer"
_CONV_LSTM = f"filters {_WINDOW} recurrent_activation unit_forget_bias {_CELL} {_SEQUENCE} activity_regularizer"
_NORM = "axis epsilon center scale beta_* gamma_*"
_LOOKUP = (
    "max_tokens num_oov_indices mask_token oov_token vocabulary idf_weights invert output_mode sparse pad_to_max_tokens"
)
_RANDOM = "fill_mode interpolation seed fill_value data_format"

#: Layers that take no `trainable`.
BARE = frozenset({"Discretization", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"})

#: Class -> the arguments of its constructor.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "Activation": _of("activation"),
    "ActivityRegularization": _of("l1 l2"),
    "Add": (),
    "AdditiveAttention": _of("use_scale dropout"),
    "AlphaDropout": _of("rate noise_shape seed"),
    "Attention": _of("use_scale score_mode dropout seed"),
    "Average": (),
    "BatchNormalization": _of(
        _NORM, "momentum moving_mean_initializer moving_variance_initializer",
    ),
    "Bidirectional": _of("layer merge_mode backward_layer"),
    "CategoryEncoding": _of("num_tokens output_mode sparse"),
    "CenterCrop": _of("height width data_format"),
    "Concatenate": _of("axis"),
    **{f"Conv{n}D": _of("filters groups", _WINDOW, _KERNELS) for n in (1, 2, 3)},
    **{f"Conv{n}DTranspose": _of("filters output_padding", _WINDOW, _KERNELS) for n in (1, 2, 3)},
    **{f"ConvLSTM{n}D": _of(_CONV_LSTM) for n in (1, 2, 3)},
    "Cropping1D": _of("cropping"),
    "Cropping2D": _of("cropping data_format"),
    "Cropping3D": _of("cropping data_format"),
    "Dense": _of("units", _KERNELS),
    "DepthwiseConv1D": _of(_DEPTHWISE),
    "DepthwiseConv2D": _of(_DEPTHWISE),
    "Discretization": _of("bin_boundaries num_bins epsilon output_mode sparse"),
    "Dot": _of("axes normalize"),
    "Dropout": _of("rate noise_shape seed"),
    "ELU": _of("alpha"),
    "EinsumDense": _of("equation output_shape activation bias_axes kernel_* bias_* activity_regularizer"),
    "Embedding": _of("input_dim output_dim embeddings_* mask_zero activity_regularizer"),
    "Flatten": _of("data_format"),
    "GRU": _of("units recurrent_activation reset_after", _RECURRENT),
    "GRUCell": _of("units recurrent_activation reset_after", _CELL),
    "GaussianDropout": _of("rate seed"),
    "GaussianNoise": _of("stddev seed"),
    **{f"Global{kind}Pooling{n}D": _of("data_format keepdims") for kind in ("Average", "Max") for n in (1, 2, 3)},
    "GroupNormalization": _of("groups", _NORM),
    "HashedCrossing": _of("num_bins output_mode sparse"),
    "Hashing": _of("num_bins mask_value salt output_mode sparse"),
    "Identity": (),
    "IntegerLookup": _of(_LOOKUP, "vocabulary_dtype"),
    "LSTM": _of("units recurrent_activation unit_forget_bias", _RECURRENT),
    "LSTMCell": _of("units recurrent_activation unit_forget_bias", _CELL),
    "LayerNormalization": _of(_NORM),
    "LeakyReLU": _of("negative_slope"),
    "Masking": _of("mask_value"),
    **{f"{kind}Pooling{n}D": _of(_POOL) for kind in ("Average", "Max") for n in (1, 2, 3)},
    "Maximum": (),
    "Minimum": (),
    "MultiHeadAttention": _of(
        "num_heads key_dim value_dim dropout use_bias output_shape attention_axes kernel_* bias_* activity_regularizer",
        "seed",
    ),
    "Multiply": (),
    "Normalization": _of("axis mean variance invert"),
    "PReLU": _of("alpha_* shared_axes"),
    "Permute": _of("dims"),
    "RNN": _of("cell unroll zero_output_for_mask", _SEQUENCE),
    "RandomBrightness": _of("factor value_range seed"),
    "RandomContrast": _of("factor value_range seed"),
    "RandomFlip": _of("mode seed data_format"),
    "RandomRotation": _of("factor", _RANDOM),
    "RandomTranslation": _of("height_factor width_factor", _RANDOM),
    "RandomZoom": _of("height_factor width_factor", _RANDOM),
    "ReLU": _of("max_value negative_slope threshold"),
    "RepeatVector": _of("n"),
    "Rescaling": _of("scale offset"),
    "Reshape": _of("target_shape"),
    "Resizing": _of("height width interpolation crop_to_aspect_ratio data_format"),
    "SeparableConv1D": _of(_SEPARABLE),
    "SeparableConv2D": _of(_SEPARABLE),
    "SimpleRNN": _of("units", _RECURRENT),
    "SimpleRNNCell": _of("units", _CELL),
    "Softmax": _of("axis"),
    "SpatialDropout1D": _of("rate seed"),
    "SpatialDropout2D": _of("rate data_format seed"),
    "SpatialDropout3D": _of("rate data_format seed"),
    "SpectralNormalization": _of("layer power_iterations"),
    "StackedRNNCells": _of("cells"),
    "StringLookup": _of(_LOOKUP, "encoding"),
    "Subtract": (),
    "TextVectorization": _of(
        "max_tokens standardize split ngrams output_mode output_sequence_length pad_to_max_tokens vocabulary",
        "idf_weights sparse ragged encoding",
    ),
    "TimeDistributed": _of("layer"),
    "UnitNormalization": _of("axis"),
    "UpSampling1D": _of("size"),
    "UpSampling2D": _of("size data_format interpolation"),
    "UpSampling3D": _of("size data_format"),
    "ZeroPadding1D": _of("padding data_format"),
    "ZeroPadding2D": _of("padding data_format"),
    "ZeroPadding3D": _of("padding data_format"),
}  # fmt: skip


def takes(class_name: str, argument: str) -> bool:
    """Whether the class's constructor takes an argument."""
    if argument == "trainable":
        return class_name not in BARE
    return argument in ("name", "dtype") or argument in SIGNATURES[class_name]
