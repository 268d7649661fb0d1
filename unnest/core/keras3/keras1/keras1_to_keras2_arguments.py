"""Layers of Keras 1 by the names that their classes and arguments have had since Keras 2.

(Source: Keras 2.0.0, keras/legacy/interfaces.py, and the get_config of Keras 1.2.2.)
"""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras_facts.loading_in_keras_3 import OF_KERAS_1_ALONE
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject
from unnest.findings import Code

#: Keys that only Keras 1 writes; one of them shows the dialect of a config.
TELLING = OF_KERAS_1_ALONE | {"input_dtype"}

DATA_FORMAT_BY_ORDERING = {"tf": "channels_last", "th": "channels_first"}

#: Separate sizes of a kernel, which became one list.
KERNEL_2D = ("nb_row", "nb_col")
KERNEL_3D = ("kernel_dim1", "kernel_dim2", "kernel_dim3")


def is_keras_1(config: JsonObject, context: Context) -> bool:
    """Return True if a layer's config is in Keras 1's words."""
    if context.release:
        return context.release[0] == 1
    return bool(TELLING & set(config)) or (
        "output_dim" in config and "units" not in config and "W_regularizer" in config
    )


def renamed_class_and_arguments(
    kind: str, config: JsonObject, name: str, context: Context
) -> tuple[str, JsonObject]:
    """Return class and config by the names of Keras 2. Raises CannotConvert."""
    record = layer_record(kind)
    new: dict[str, Json] = {}
    for key, value in config.items():
        if key not in (*record.keras_1_idle, *KERNEL_2D, *KERNEL_3D):
            new[record.keras_1_arguments.get(key, key)] = (
                DATA_FORMAT_BY_ORDERING.get(value, value)
                if key == "dim_ordering" and isinstance(value, str)
                else value
            )
    if kind == "Embedding" and config.get("dropout"):
        # (Source: Keras 1.2.2, keras/layers/embeddings.py: call, by K.in_train_phase.)
        context.notes.findings.append(
            Code.WORDS_NOT_DROPPED(what=f"{name} (dropout {config['dropout']})")
        )
    new |= _written_out(kind, config, new)
    if new != dict(config) or record.renamed_to:
        context.note("keras-1-arguments", name)
    return record.renamed_to or kind, new


def _written_out(kind: str, config: JsonObject, new: Mapping[str, Json]) -> dict[str, Json]:
    """Return the arguments that Keras 1 stored in another form, or did not store because it had no choice."""
    told: dict[str, Json] = {}
    for keys in (KERNEL_2D, KERNEL_3D):
        if set(keys) <= set(config):
            told["kernel_size"] = [config[k] for k in keys]
    if kind in ("LSTM", "ConvLSTM2D"):
        told["unit_forget_bias"] = config.get("forget_bias_init") == "one"
    if kind.startswith("ZeroPadding") and kind != "ZeroPadding1D":
        told["padding"] = _pairs(config.get("padding"))
    if kind == "ZeroPadding1D" and isinstance(config.get("padding"), Mapping):
        told["padding"] = _sides(config["padding"], "left_pad", "right_pad")
    if kind == "SeparableConvolution2D":
        told |= {
            "depthwise_initializer": "glorot_uniform",
            "pointwise_initializer": "glorot_uniform",
        }
    if layer_record(kind).keras_1_bias:
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
