"""Arguments of Keras 1 by the names and in the form that they have had since Keras 2.

(Source: Keras 2.0.0, keras/legacy/interfaces.py, and the get_config of Keras 1.2.2.)
"""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.layers.record import KerasLayer
from unnest.core.model import Json, JsonObject

OF_KERAS_1_ALONE = frozenset({
    "init", "W_regularizer", "b_regularizer", "dim_ordering", "border_mode", "subsample", "nb_filter", "mode", "p",
    "inner_activation", "sigma", "consume_less", "pool_length", "subsample_length", "dropout_W",
})  # fmt: skip
"""Arguments that only Keras 1 wrote, but for that of its input layers, `input_dtype`, which Keras 3 takes."""

DATA_FORMAT_BY_ORDERING = {"tf": "channels_last", "th": "channels_first"}

KERNEL_2D = ("nb_row", "nb_col")
KERNEL_3D = ("kernel_dim1", "kernel_dim2", "kernel_dim3")
"""Separate sizes of a kernel, which became one list."""


def arguments_since_keras_2(record: KerasLayer, config: JsonObject) -> dict[str, Json]:
    """Return a config of Keras 1 by the names of Keras 2; `record`: that of its class, by Keras 1's own name."""
    new: dict[str, Json] = {}
    for key, value in config.items():
        if key not in (*record.keras_1_idle, *KERNEL_2D, *KERNEL_3D):
            new[record.keras_1_arguments.get(key, key)] = (
                DATA_FORMAT_BY_ORDERING.get(value, value)
                if key == "dim_ordering" and isinstance(value, str)
                else value
            )
    return new | _written_out(record, config, new)


def _written_out(
    record: KerasLayer, config: JsonObject, new: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the arguments that Keras 1 stored in another form, or did not store because it had no choice."""
    told: dict[str, Json] = {}
    for keys in (KERNEL_2D, KERNEL_3D):
        if set(keys) <= set(config):
            told["kernel_size"] = [config[k] for k in keys]
    if "unit_forget_bias" in (record.arguments or ()):
        told["unit_forget_bias"] = config.get("forget_bias_init") == "one"
    if record.name.startswith("ZeroPadding") and record.name != "ZeroPadding1D":
        told["padding"] = _pairs(config.get("padding"))
    if record.name == "ZeroPadding1D" and isinstance(config.get("padding"), Mapping):
        told["padding"] = _sides(config["padding"], "left_pad", "right_pad")
    if record.name == "SeparableConvolution2D":
        told |= {
            "depthwise_initializer": "glorot_uniform",
            "pointwise_initializer": "glorot_uniform",
        }
    if record.keras_1_bias:
        told |= {"use_bias": new.get("use_bias", True), "bias_initializer": "zeros"}
    return told


def _sides(padding: Json, first: str, second: str) -> list[Json]:
    assert isinstance(padding, Mapping)
    return [padding.get(first, 0), padding.get(second, 0)]


def _pairs(padding: Json) -> Json:
    """Return 2D padding as two pairs: from four numbers (top, bottom, left, right), or the four by name."""
    if isinstance(padding, Mapping):
        return [_sides(padding, "top_pad", "bottom_pad"), _sides(padding, "left_pad", "right_pad")]
    if isinstance(padding, list) and len(padding) == 4:  # noqa: PLR2004 - one a side
        return [padding[:2], padding[2:]]
    return padding
