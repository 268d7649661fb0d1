"""Arguments that several layers have: of Keras 3's constructors, and of Keras 1's with their names since Keras 2.

(Source: the constructors of Keras 3.15, every one called with every argument named here; Keras 2.0.0,
keras/legacy/interfaces.py, and the get_config of Keras 1.2.2.)
"""

from __future__ import annotations

KERNEL_ARGUMENTS = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")
BIAS = ("bias_initializer", "bias_regularizer", "bias_constraint")
RECURRENT = ("recurrent_initializer", "recurrent_regularizer", "recurrent_constraint")
DEPTHWISE = ("depthwise_initializer", "depthwise_regularizer", "depthwise_constraint")
POINTWISE = ("pointwise_initializer", "pointwise_regularizer", "pointwise_constraint")
EMBEDDINGS = ("embeddings_initializer", "embeddings_regularizer", "embeddings_constraint")
ALPHA = ("alpha_initializer", "alpha_regularizer", "alpha_constraint")
BETA_ARGUMENTS = ("beta_initializer", "beta_regularizer", "beta_constraint")
GAMMA_ARGUMENTS = ("gamma_initializer", "gamma_regularizer", "gamma_constraint")
"""How one weight begins, and what holds for it in training."""

ACTIVATION_AND_BIAS = ("activation", "use_bias", *BIAS, "activity_regularizer")
KERNEL_AND_BIAS = (*ACTIVATION_AND_BIAS, *KERNEL_ARGUMENTS)

WINDOW_ARGUMENTS = ("kernel_size", "strides", "padding", "data_format", "dilation_rate")
POOL = ("pool_size", "strides", "padding", "data_format")
SEPARABLE_CONV = (
    "filters",
    *WINDOW_ARGUMENTS,
    "depth_multiplier",
    *DEPTHWISE,
    *POINTWISE,
    *ACTIVATION_AND_BIAS,
)
DEPTHWISE_CONV = (*WINDOW_ARGUMENTS, "depth_multiplier", *DEPTHWISE, *ACTIVATION_AND_BIAS)

RECURRENT_CELL = (
    "activation", "use_bias", *KERNEL_ARGUMENTS, *RECURRENT, *BIAS, "dropout", "recurrent_dropout", "seed"
)  # fmt: skip
SEQUENCE = ("return_sequences", "return_state", "go_backwards", "stateful")
RECURRENT_LAYER = (
    *RECURRENT_CELL,
    *SEQUENCE,
    "unroll",
    "zero_output_for_mask",
    "activity_regularizer",
)
CONV_LSTM = (
    "filters", *WINDOW_ARGUMENTS, "recurrent_activation", "unit_forget_bias", *RECURRENT_CELL, *SEQUENCE,
    "activity_regularizer",
)  # fmt: skip

SCALE_AND_OFFSET = ("axis", "epsilon", "center", "scale", *BETA_ARGUMENTS, *GAMMA_ARGUMENTS)
STORED_SCALE_AND_OFFSET = (
    "axis",
    "epsilon",
    "center",
    "scale",
    "beta_initializer",
    "gamma_initializer",
)
"""Arguments of a normalization over an axis; those that its config never lacks."""

LOOKUP = (
    "max_tokens", "num_oov_indices", "mask_token", "oov_token", "vocabulary", "idf_weights", "invert", "output_mode",
    "sparse", "pad_to_max_tokens",
)  # fmt: skip
FILL = ("fill_mode", "interpolation", "seed", "fill_value", "data_format")

# ---- argument of Keras 1 -> its name since Keras 2 ----

_COMMON = {
    "init": "kernel_initializer", "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint", "bias": "use_bias",
    "border_mode": "padding", "dim_ordering": "data_format", "nb_filter": "filters",
}  # fmt: skip
KERAS_1_DENSE = {**_COMMON, "output_dim": "units"}
KERAS_1_RECURRENT = {
    **KERAS_1_DENSE, "inner_init": "recurrent_initializer", "U_regularizer": "recurrent_regularizer",
    "inner_activation": "recurrent_activation", "dropout_W": "dropout", "dropout_U": "recurrent_dropout",
}  # fmt: skip
KERAS_1_CONV = {**_COMMON, "subsample": "strides", "atrous_rate": "dilation_rate"}
KERAS_1_CONV_1D = {**KERAS_1_CONV, "filter_length": "kernel_size", "subsample_length": "strides"}
KERAS_1_POOL_1D = {"pool_length": "pool_size", "stride": "strides", "border_mode": "padding"}
KERAS_1_POOL = {"border_mode": "padding", "dim_ordering": "data_format"}
