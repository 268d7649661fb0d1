"""Normalizing layers.

(Source: keras/layers/normalization of Keras 1.2.2 to 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import shape_rules, weight_rules
from unnest.core.layers.record import (
    BETA,
    GAMMA,
    MOVING_STATISTICS,
    KerasLayer,
    MaskUse,
    Rows,
    Weight,
)
from unnest.core.layers.shared_argument_names import SCALE_AND_OFFSET, STORED_SCALE_AND_OFFSET

LAYERS = (
    KerasLayer(
        "BatchNormalization",
        keras=(1, 2, 3),
        other_names=("BatchNormalizationV1", "BatchNormalizationV2"),
        arguments=(
            *SCALE_AND_OFFSET,
            "momentum",
            "moving_mean_initializer",
            "moving_variance_initializer",
        ),
        idle={"mode": (0,)},
        weights=(GAMMA, BETA, *MOVING_STATISTICS),
        built_axes=weight_rules.axes_argument,
        features_axis=0,
        keras_1_rules=True,
        output_shape=shape_rules.same,
        mask=MaskUse.PASSES,
        mask_argument=True,
        refused_arguments=("virtual_batch_size",),
    ),
    KerasLayer(
        "SyncBatchNormalization",
        keras=(2,),
        exported=False,
        renamed_to="BatchNormalization",
        weights=(GAMMA, BETA, *MOVING_STATISTICS),
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "LayerNormalization",
        in_tensorflow_since=(2, 2, 4),
        always_stored=STORED_SCALE_AND_OFFSET,
        arguments=SCALE_AND_OFFSET,
        weights=(GAMMA, BETA),
        built_axes=weight_rules.axes_argument,
        features_axis=0,
        output_shape=shape_rules.same,
        rows=Rows.ALONG_AXIS,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "GroupNormalization",
        in_tensorflow_since=(2, 11),
        always_stored=("groups", *STORED_SCALE_AND_OFFSET),
        arguments=("groups", *SCALE_AND_OFFSET),
        weights=(GAMMA, BETA),
        built_axes=weight_rules.axes_argument,
        features_axis=0,
        output_shape=shape_rules.same,
        rows=Rows.OVER_STEPS,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "UnitNormalization",
        in_tensorflow_since=(2, 8),
        always_stored=("axis",),
        arguments=("axis",),
        weights=(),
        output_shape=shape_rules.same,
        rows=Rows.ALONG_AXIS,
        mask=MaskUse.PASSES,
    ),
    KerasLayer(
        "RMSNormalization",
        keras=(3,),
        always_stored=("axis", "epsilon"),
        weights=(Weight("scale"),),
        output_shape=shape_rules.same,
        rows=Rows.ALONG_AXIS,
        mask=MaskUse.UNKNOWN,
    ),
    KerasLayer(
        "Normalization",
        in_tensorflow_since=(2, 3),
        always_stored=("axis",),
        arguments=("axis", "mean", "variance", "invert"),
        weights=(
            Weight("mean", trained=False),
            Weight("variance", trained=False),
            Weight("count", trained=False),
        ),
        weight_count=weight_rules.normalization_count,
        built_axes=weight_rules.axes_argument,
        passes_mask_in_keras_3=True,
    ),
)
"""Normalizing layers."""
