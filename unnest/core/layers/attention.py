"""Attention layers.

(Source: keras/layers/attention of TensorFlow 2.4 to 2.15 and Keras 3.15.)
"""

from __future__ import annotations

from unnest.core.layers import weight_rules
from unnest.core.layers.record import ATTENTION_WEIGHTS, KerasLayer, MaskUse, Parts, Rows, Weight
from unnest.core.layers.shared_argument_names import BIAS, KERNEL_ARGUMENTS

LAYERS = (
    KerasLayer(
        "Attention",
        in_tensorflow_since=(2, 2, 4),
        always_stored=("use_scale",),
        arguments=("use_scale", "score_mode", "dropout", "seed"),
        refused_arguments=("causal",),
        weights=(Weight("scale", switch="use_scale"), Weight("concat_score_weight")),
        weight_count=weight_rules.attention_count,
        rows=Rows.OVER_STEPS,
        mask=MaskUse.HEEDS_AND_PASSES,
    ),
    KerasLayer(
        "AdditiveAttention",
        in_tensorflow_since=(2, 2, 4),
        always_stored=("use_scale",),
        arguments=("use_scale", "dropout"),
        refused_arguments=("causal",),
        weights=(Weight("scale", switch="use_scale"),),
        weight_count=weight_rules.additive_attention_count,
        rows=Rows.OVER_STEPS,
        mask=MaskUse.HEEDS_AND_PASSES,
    ),
    KerasLayer(
        "MultiHeadAttention",
        in_tensorflow_since=(2, 4),
        always_stored=("num_heads", "key_dim"),
        arguments=(
            "num_heads",
            "key_dim",
            "value_dim",
            "dropout",
            "use_bias",
            "output_shape",
            "attention_axes",
            *KERNEL_ARGUMENTS,
            *BIAS,
            "activity_regularizer",
            "seed",
        ),
        refused_arguments=("query_shape",),
        parts=Parts.LAYERS,
        weights=ATTENTION_WEIGHTS,
        weight_count=weight_rules.multi_head_attention_count,
        weight_shapes=weight_rules.attention_shapes,
        built_axes=weight_rules.last_axis,
        rows=Rows.OVER_STEPS,
        mask=MaskUse.HEEDS_AND_PASSES,
    ),
    KerasLayer(
        "GroupQueryAttention",
        keras=(3,),
        always_stored=("head_dim", "num_query_heads", "num_key_value_heads"),
        other_names=("GroupedQueryAttention",),
        parts=Parts.LAYERS,
        mask=MaskUse.UNKNOWN,
    ),
)
"""Attention layers."""
