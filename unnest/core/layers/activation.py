"""Layers that are activations.

(Source: keras/layers/advanced_activations.py of Keras 1.2.2 to 2.3.1, keras/layers/activation of TensorFlow 2.15 and of
Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules, weight_rules
from unnest.core.layers.record import KerasLayer, MaskUse, Rows, Weight
from unnest.core.layers.shared_argument_names import ALPHA

LAYERS = (
    KerasLayer(
        "Activation",
        keras=(1, 2, 3),
        arguments=("activation",),
        weights=(),
        output_shape=shape_rules.same,
        keeps_dtype=True,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "ReLU",
        arguments=("max_value", "negative_slope", "threshold"),
        weights=(),
        output_shape=shape_rules.same,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "LeakyReLU",
        keras=(1, 2, 3),
        arguments=("negative_slope",),
        renamed_arguments={"alpha": "negative_slope"},
        weights=(),
        output_shape=shape_rules.same,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "PReLU",
        keras=(1, 2, 3),
        arguments=(*ALPHA, "shared_axes"),
        keras_1_arguments={"init": "alpha_initializer"},
        weights=(Weight("alpha"),),
        weight_shapes_of_input=weight_rules.prelu_shapes,
        built_axes=weight_rules.unshared_axes,
        output_shape=shape_rules.same,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "ELU",
        keras=(1, 2, 3),
        arguments=("alpha",),
        weights=(),
        output_shape=shape_rules.same,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "Softmax",
        arguments=("axis",),
        weights=(),
        output_shape=shape_rules.same,
        rows=Rows.ALONG_AXIS,
        mask=MaskUse.HEEDS_AND_PASSES,
        mask_argument=True,
    ),
    KerasLayer(
        "ThresholdedReLU",
        keras=(1, 2),
        weights=(),
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "ParametricSoftplus",
        keras=(1,),
        exported=False,
        missing_in_tf_keras=True,
        gone="Keras 3 has no layer for it",
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "SReLU",
        keras=(1,),
        exported=False,
        missing_in_tf_keras=True,
        gone="Keras 3 has no layer for it",
        mask=MaskUse.PASSES,
    ),
)
"""Layers that are activations."""
