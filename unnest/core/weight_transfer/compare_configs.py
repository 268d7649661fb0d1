"""Compare the configs of two layers: equal if they compute the same from the same weights."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import is_model
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.model import Json, JsonObject

#: Arguments that decide how a layer is trained, made or run, and not what it computes in inference.
NOT_IN_INFERENCE = frozenset({
    "activation", "activity_regularizer", "autocast", "batch_input_shape", "batch_shape", "build_config", "cast_dtype",
    "compile_config", "dropout", "dtype", "force_generator", "implementation", "input_dim", "input_length",
    "input_shape", "lora_alpha", "lora_rank", "momentum", "name", "noise_shape", "quantization_config", "rate",
    "recurrent_dropout", "renorm_momentum", "seed", "shared_object_id", "sparse", "stateful", "stddev",
    "supports_masking", "synchronized", "trainable", "unit_forget_bias", "unroll", "use_cudnn",
})  # fmt: skip
IDLE_ENDS = ("_initializer", "_regularizer", "_constraint")


def config_difference(one: JsonObject, other: JsonObject, *, activated: bool) -> str | None:
    """Return the first argument that makes the two layers' configs compute different things; None for none.

    `activated`: the layers' `activation` is an operation of its own, which is compared elsewhere. Arguments that one
    of the two lacks are not compared: its Keras does not have them.
    """
    for key in one:
        if (
            key not in other
            or (key in NOT_IN_INFERENCE and (key != "activation" or activated))
            or key.endswith(IDLE_ENDS)
        ):
            continue
        if not _is_same(key, one[key], other[key]):
            return f"{key} {_value_text(one[key])} and {_value_text(other[key])}"
    return None


def _is_same(key: str, one: Json, other: Json) -> bool:
    """Return True if two values of an argument compute the same."""
    if isinstance(one, OBJECT) and isinstance(other, OBJECT):
        if "class_name" in one and "class_name" in other:
            return _is_same_object(one, other)
        return config_difference(one, other, activated=False) is None
    if is_list(one) and is_list(other):
        return len(one) == len(other) and all(
            _is_same(key, a, b) for a, b in zip(one, other, strict=True)
        )
    one, other = _alone(one), _alone(other)
    if key == "axis" and isinstance(one, int) and isinstance(other, int) and one * other < 0:
        return True  # the same where the rank says so, which no config does
    return one == other


def _alone(value: Json) -> Json:
    """Return the item of a list of one, as BatchNormalization stores its axis; other values unchanged."""
    return value[0] if is_list(value) and len(value) == 1 else value


def _is_same_object(one: JsonObject, other: JsonObject) -> bool:
    """Return True if two inner layers, cells or models agree; of models only the classes of their layers count here."""
    if one["class_name"] != other["class_name"]:
        return False
    configs = one.get("config"), other.get("config")
    if is_model(one) and is_model(other):
        return True
    if not all(isinstance(config, Mapping) for config in configs):
        return configs[0] == configs[1]
    return config_difference(configs[0], configs[1], activated=False) is None  # type: ignore[arg-type] # mappings, as asked


def _value_text(value: Json) -> str:
    if isinstance(value, OBJECT):
        return str(value.get("class_name", "{...}"))
    return (
        "[...]"
        if is_list(value) and len(value) > 4  # noqa: PLR2004 - as many as fit in a sentence
        else repr(value)
    )
