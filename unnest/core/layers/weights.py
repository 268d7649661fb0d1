"""Weights that several layers have, in the order in which they make them.

(Source: the `build` methods of Keras 1.2.2 to 3.15.)
"""

from __future__ import annotations

from unnest.core.layers.record import Weight

KERNEL_WEIGHT = Weight("kernel", keras_1="W")
BIAS_WEIGHT = Weight("bias", switch="use_bias", keras_1="b")
DEPTHWISE_KERNEL = Weight("depthwise_kernel", argument="depthwise")
GAMMA = Weight("gamma", switch="scale")
BETA = Weight("beta", switch="center")

KERNEL_AND_BIAS_WEIGHTS = (KERNEL_WEIGHT, BIAS_WEIGHT)
DEPTHWISE_WEIGHTS = (DEPTHWISE_KERNEL, BIAS_WEIGHT)
SEPARABLE_WEIGHTS = (DEPTHWISE_KERNEL, Weight("pointwise_kernel", argument="pointwise"), BIAS_WEIGHT)
RECURRENT_WEIGHTS = (KERNEL_WEIGHT, Weight("recurrent_kernel", argument="recurrent", keras_1="U"), BIAS_WEIGHT)
MOVING_STATISTICS = (
    Weight("moving_mean", trained=False, keras_1="running_mean"),
    Weight("moving_variance", trained=False, keras_1="running_std"),
)
ATTENTION_PARTS = {
    "query": "query_dense", "key": "key_dense", "value": "value_dense", "attention_output": "output_dense"
}  # fmt: skip
"""Layers in a MultiHeadAttention -> the attribute that each is; tf_keras puts an underscore before it."""

ATTENTION_WEIGHTS = tuple(
    Weight(f"{part}/{weight.name}", argument=weight.name, switch=weight.switch)
    for part in ATTENTION_PARTS
    for weight in KERNEL_AND_BIAS_WEIGHTS
)
"""Kernel and bias of each layer in a MultiHeadAttention."""
