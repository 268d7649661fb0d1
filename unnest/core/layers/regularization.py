"""Layers that act in training alone.

(Source: keras/layers/noise.py of Keras 1.2.2 to 2.3.1, keras/layers/regularization of TensorFlow 2.15 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules
from unnest.core.layers.record import KerasLayer, MaskUse

LAYERS = (
    KerasLayer(
        "Dropout",
        keras=(1, 2, 3),
        arguments=("rate", "noise_shape", "seed"),
        keras_1_arguments={"p": "rate"},
        output_shape=shape_rules.same,
        in_training_only=True,
        keeps_dtype=True,
        mask=MaskUse.PASSES,
        training_argument=True,
    ),
    KerasLayer(
        "AlphaDropout",
        arguments=("rate", "noise_shape", "seed"),
        output_shape=shape_rules.same,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
    ),
    KerasLayer(
        "GaussianDropout",
        keras=(1, 2, 3),
        arguments=("rate", "seed"),
        keras_1_arguments={"p": "rate"},
        output_shape=shape_rules.same,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
    ),
    KerasLayer(
        "GaussianNoise",
        keras=(1, 2, 3),
        arguments=("stddev", "seed"),
        keras_1_arguments={"sigma": "stddev"},
        output_shape=shape_rules.same,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
    ),
    KerasLayer(
        "SpatialDropout1D",
        keras=(1, 2, 3),
        arguments=("rate", "seed"),
        takes_trainable=False,
        keras_1_arguments={"p": "rate"},
        output_shape=shape_rules.same,
        input_axes=3,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
        refused_arguments=("trainable",),
    ),
    KerasLayer(
        "SpatialDropout2D",
        keras=(1, 2, 3),
        arguments=("rate", "data_format", "seed"),
        takes_trainable=False,
        data_format_of_backend=True,
        keras_1_arguments={"p": "rate", "dim_ordering": "data_format"},
        output_shape=shape_rules.same,
        input_axes=4,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
        refused_arguments=("trainable",),
    ),
    KerasLayer(
        "SpatialDropout3D",
        keras=(1, 2, 3),
        arguments=("rate", "data_format", "seed"),
        takes_trainable=False,
        data_format_of_backend=True,
        keras_1_arguments={"p": "rate", "dim_ordering": "data_format"},
        output_shape=shape_rules.same,
        input_axes=5,
        in_training_only=True,
        mask=MaskUse.PASSES,
        training_argument=True,
        refused_arguments=("trainable",),
    ),
    KerasLayer(
        "ActivityRegularization",
        keras=(1, 2, 3),
        arguments=("l1", "l2"),
        weights=(),
        output_shape=shape_rules.same,
        in_training_only=True,
        mask=MaskUse.PASSES,
    ),
)
"""Layers that act in training alone."""
