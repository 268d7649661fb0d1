"""Layers of Keras 1 by the names that their classes and arguments have had since Keras 2.

(Source: Keras 2.0.0, keras/legacy/interfaces.py, and the get_config of Keras 1.2.2.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unnest.core.keras3.context import Context, refused
from unnest.core.keras_facts.loading_in_keras_3 import OF_KERAS_1_ALONE
from unnest.core.model import Json, JsonObject
from unnest.findings import Code

#: Keys that only Keras 1 writes; one of them tells the dialect of a config.
TELLING = OF_KERAS_1_ALONE | {"input_dtype"}

CLASSES = {
    "Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "Convolution3D": "Conv3D",
    "Deconvolution2D": "Conv2DTranspose", "AtrousConvolution1D": "Conv1D", "AtrousConvolution2D": "Conv2D",
    "SeparableConvolution2D": "SeparableConv2D", "TimeDistributedDense": "Dense",
}  # fmt: skip

_COMMON = {
    "init": "kernel_initializer", "W_regularizer": "kernel_regularizer", "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint", "b_constraint": "bias_constraint", "bias": "use_bias",
    "border_mode": "padding", "dim_ordering": "data_format", "nb_filter": "filters",
}  # fmt: skip
_DENSE = {**_COMMON, "output_dim": "units"}
_RECURRENT = {
    **_DENSE, "inner_init": "recurrent_initializer", "U_regularizer": "recurrent_regularizer",
    "inner_activation": "recurrent_activation", "dropout_W": "dropout", "dropout_U": "recurrent_dropout",
}  # fmt: skip
_CONV = {**_COMMON, "subsample": "strides", "atrous_rate": "dilation_rate"}
_CONV_1D = {**_CONV, "filter_length": "kernel_size", "subsample_length": "strides"}
_EMBEDDING = {
    "init": "embeddings_initializer", "W_regularizer": "embeddings_regularizer",
    "W_constraint": "embeddings_constraint",
}  # fmt: skip
_POOL_1D = {"pool_length": "pool_size", "stride": "strides", "border_mode": "padding"}
_POOL = {"border_mode": "padding", "dim_ordering": "data_format"}

_SEPARABLE = {**_CONV, "init": "depthwise_initializer"}

RENAMED: dict[str, Mapping[str, str]] = {
    "Dense": _DENSE, "TimeDistributedDense": _DENSE, "LSTM": _RECURRENT, "GRU": _RECURRENT, "SimpleRNN": _RECURRENT,
    "Convolution1D": _CONV_1D, "AtrousConvolution1D": _CONV_1D, "LocallyConnected1D": _CONV_1D,
    **dict.fromkeys(
        ("Convolution2D", "Convolution3D", "AtrousConvolution2D", "Deconvolution2D",
         "LocallyConnected2D"), _CONV,
    ),
    "SeparableConvolution2D": _SEPARABLE,
    "ConvLSTM2D": {**_RECURRENT, **_CONV},
    "Embedding": _EMBEDDING,
    "MaxPooling1D": _POOL_1D, "AveragePooling1D": _POOL_1D,
    "UpSampling1D": {"length": "size"},
    "Dropout": {"p": "rate"}, "SpatialDropout1D": {"p": "rate"}, "GaussianDropout": {"p": "rate"},
    "SpatialDropout2D": {"p": "rate", "dim_ordering": "data_format"},
    "SpatialDropout3D": {"p": "rate", "dim_ordering": "data_format"},
    "GaussianNoise": {"sigma": "stddev"},
    "PReLU": {"init": "alpha_initializer"},
    **{f"{kind}{n}D": _POOL for n in (2, 3) for kind in
       ("MaxPooling", "AveragePooling", "GlobalAveragePooling", "GlobalMaxPooling", "UpSampling",
        "ZeroPadding", "Cropping")},
}  # fmt: skip

#: Layers with a bias, of which the configs of Keras 1 do not say how it begins, nor always that it is there.
BIASED = frozenset({
    *CLASSES, "Dense", "LSTM", "GRU", "SimpleRNN", "ConvLSTM2D", "LocallyConnected1D", "LocallyConnected2D",
})  # fmt: skip

DATA_FORMATS = {"tf": "channels_last", "th": "channels_first"}

#: Separate sizes of a kernel, which became one list.
KERNEL = ("nb_row", "nb_col")
KERNEL_3D = ("kernel_dim1", "kernel_dim2", "kernel_dim3")

#: Class -> what its config must hold, because this is what Keras 3 computes, or what holds nothing that computes.
IDLE: dict[str, Mapping[str, Callable[[Json], bool]]] = {
    "Embedding": {"dropout": lambda _: True},
    "LSTM": {"forget_bias_init": lambda _: True, "consume_less": lambda _: True},
    "GRU": {"consume_less": lambda _: True},
    "SimpleRNN": {"consume_less": lambda _: True},
    "ConvLSTM2D": {"forget_bias_init": lambda _: True, "consume_less": lambda _: True},
    "Deconvolution2D": {"output_shape": lambda _: True},
}


def is_keras_1(config: JsonObject, context: Context) -> bool:
    """Whether a layer's config is in Keras 1's words."""
    if context.release:
        return context.release[0] == 1
    return bool(TELLING & set(config)) or (
        "output_dim" in config and "units" not in config and "W_regularizer" in config
    )


def translated(kind: str, config: JsonObject, name: str, context: Context) -> tuple[str, JsonObject]:
    """Class and config in Keras 2's words. Raises CannotConvert."""
    renames, idle = RENAMED.get(kind, {}), IDLE.get(kind, {})
    new: dict[str, Json] = {}
    for key, value in config.items():
        if key in idle:
            if not idle[key](value):
                raise refused(name, kind, f"{key} = {value!r} has no counterpart in Keras 3")
        elif key in (*KERNEL, *KERNEL_3D):
            continue
        else:
            new[renames.get(key, key)] = (
                DATA_FORMATS.get(value, value) if key == "dim_ordering" and isinstance(value, str) else value
            )
    if kind == "Embedding" and config.get("dropout"):
        # (Source: Keras 1.2.2, keras/layers/embeddings.py: call, by K.in_train_phase.)
        context.findings.append(Code.WORDS_NOT_DROPPED(what=f"{name} (dropout {config['dropout']})"))
    new |= _written_out(kind, config, new)
    if new != dict(config) or kind in CLASSES:
        context.note("keras-1-arguments", name)
    return CLASSES.get(kind, kind), new


def _written_out(kind: str, config: JsonObject, new: Mapping[str, Json]) -> dict[str, Json]:
    """What Keras 1 stored in another form, or did not store because it had no choice."""
    told: dict[str, Json] = {}
    for keys in (KERNEL, KERNEL_3D):
        if set(keys) <= set(config):
            told["kernel_size"] = [config[k] for k in keys]
    if kind in ("LSTM", "ConvLSTM2D"):
        told["unit_forget_bias"] = config.get("forget_bias_init") == "one"
    if kind.startswith("ZeroPadding") and kind != "ZeroPadding1D":
        told["padding"] = _pairs(config.get("padding"))
    if kind == "ZeroPadding1D" and isinstance(config.get("padding"), Mapping):
        told["padding"] = _sides(config["padding"], "left_pad", "right_pad")
    if kind == "SeparableConvolution2D":
        told |= {"depthwise_initializer": "glorot_uniform", "pointwise_initializer": "glorot_uniform"}
    if kind in BIASED:
        told |= {"use_bias": new.get("use_bias", True), "bias_initializer": "zeros"}
    return told


def _sides(padding: Json, first: str, second: str) -> list[Json]:
    assert isinstance(padding, Mapping)
    return [padding.get(first, 0), padding.get(second, 0)]


def _pairs(padding: Json) -> Json:
    """2D padding of four numbers: top, bottom, left, right; or the same by name."""
    if isinstance(padding, Mapping):
        return [_sides(padding, "top_pad", "bottom_pad"), _sides(padding, "left_pad", "right_pad")]
    if isinstance(padding, list) and len(padding) == 4:  # noqa: PLR2004
        return [padding[:2], padding[2:]]
    return padding
