"""Layers that prepare images.

(Source: keras/layers/preprocessing of TensorFlow 2.3 to 2.15 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules
from unnest.core.layers.record import KerasLayer, MaskUse
from unnest.core.layers.shared_argument_names import FILL

LAYERS = (
    KerasLayer(
        "Rescaling",
        in_tensorflow_since=(2, 3),
        always_stored=("scale", "offset"),
        arguments=("scale", "offset"),
        weights=(),
        output_shape=shape_rules.same,
        passes_mask_in_keras_3=True,
    ),
    KerasLayer(
        "Resizing",
        in_tensorflow_since=(2, 3),
        always_stored=("height", "width"),
        arguments=("height", "width", "interpolation", "crop_to_aspect_ratio", "data_format"),
    ),
    KerasLayer(
        "CenterCrop",
        in_tensorflow_since=(2, 3),
        always_stored=("height", "width"),
        arguments=("height", "width", "data_format"),
    ),
    KerasLayer(
        "RandomBrightness",
        in_tensorflow_since=(2, 8),
        always_stored=("factor", "value_range"),
        arguments=("factor", "value_range", "seed"),
    ),
    KerasLayer(
        "RandomContrast",
        in_tensorflow_since=(2, 3),
        always_stored=("factor",),
        arguments=("factor", "value_range", "seed"),
    ),
    KerasLayer(
        "RandomCrop",
        gone="Keras 3's RandomCrop does not crop at inference, as this one did",
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomFlip",
        in_tensorflow_since=(2, 3),
        always_stored=("mode",),
        arguments=("mode", "seed", "data_format"),
    ),
    KerasLayer(
        "RandomHeight",
        keras=(2,),
        gone="Keras 3 has no RandomHeight: take the layer out of the model, it works in training alone",
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomWidth",
        keras=(2,),
        gone="Keras 3 has no RandomWidth: take the layer out of the model, it works in training alone",
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomRotation",
        in_tensorflow_since=(2, 3),
        always_stored=("factor", "fill_mode"),
        arguments=("factor", *FILL),
    ),
    KerasLayer(
        "RandomTranslation",
        in_tensorflow_since=(2, 3),
        always_stored=("height_factor", "width_factor"),
        arguments=("height_factor", "width_factor", *FILL),
    ),
    KerasLayer(
        "RandomZoom",
        in_tensorflow_since=(2, 3),
        always_stored=("height_factor", "width_factor"),
        arguments=("height_factor", "width_factor", *FILL),
    ),
    KerasLayer(
        "AugMix",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "AutoContrast",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "CutMix",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Equalization",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "ContrastLimitedAdaptiveHistogramEqualization",
        keras=(3,),
        weights=(),
        output_shape=shape_rules.same,
        input_axes=4,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "MixUp",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandAugment",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomColorDegeneration",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomColorJitter",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomElasticTransform",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomErasing",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomGaussianBlur",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomGrayscale",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomHue",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomInvert",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomPerspective",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomPosterization",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomSaturation",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomSharpness",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "RandomShear",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Solarization",
        keras=(3,),
        mask=MaskUse.UNKNOWN,
    ),
)
"""Layers that prepare images."""
