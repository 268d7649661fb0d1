"""Read values of a layer's config, by the type that they must have; and the parts of a stored function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unnest.core.json_tree import LEAVES, OBJECT, is_list, is_object
from unnest.core.model import Json, JsonObject, Shape, Unknown


def gives_sequences(config: JsonObject) -> bool:
    """Return True if a recurrent layer, or the one that a layer holds, gives an output at every step."""
    inner = config.get("layer")
    return bool((settings(inner) if isinstance(inner, OBJECT) else config).get("return_sequences"))


def policy_name(dtype: Json) -> Json:
    """Return the name of a dtype, or of the policy stored in its place; None without one."""
    config = dtype.get("config") if isinstance(dtype, OBJECT) else None
    return config.get("name") if isinstance(config, OBJECT) else dtype


def settings(entry: JsonObject) -> JsonObject:
    """Return a layer's config; {} if it is not an object."""
    config = entry.get("config")
    return config if is_object(config) else {}


#: The class that serialized lambdas have, and what is stored of one.
LAMBDA, LAMBDA_PARTS = "__lambda__", ("code", "defaults", "closure")


def function_parts(function: Json) -> tuple[str | None, Json, Json]:
    """Return code, defaults and closure: stored as `[code, defaults, closure]` up to Keras 2, as an object in Keras 3.

    In Keras 1.0 the code alone, where functions that are stored by name have their name: a text either way.
    """
    if function is None:
        return None, None, None
    if isinstance(function, str):
        return (function if "\0" in function else None), None, None
    if is_list(function):
        text, defaults, closure = (*function, None, None, None)[:3]
    elif is_stored_lambda(function) and is_list(value := _lambda_value(function)):
        text, defaults, closure = (*value, None, None, None)[:3]
    elif isinstance(function, OBJECT) and isinstance(config := function.get("config"), OBJECT):
        text, defaults, closure = config.get("code"), config.get("defaults"), config.get("closure")
    else:
        return None, None, None
    return (text if isinstance(text, str) else None), defaults, closure


def is_stored_lambda(value: Json) -> bool:
    """Return True for a lambda as an argument: an object of that class, or, of an activation, its config alone.

    (Source: `.keras` files of Keras 2.13 to 3.15: serialize_keras_object.)
    """
    return is_object(value) and (
        value.get("class_name") == LAMBDA or is_lambda_without_class(value)
    )


def lambdas_in(config: JsonObject) -> Iterator[tuple[str, Json]]:
    """Yield the arguments of a config that are stored lambdas, with their names."""
    for key, value in config.items():
        if type(value) not in LEAVES and is_stored_lambda(value):  # most are leaves
            yield key, value


def is_lambda_without_class(value: Json) -> bool:
    """Return True for the config of a lambda alone, as a `.keras` has an activation that is one."""
    if not is_object(value) or set(value) != {"value"}:
        return False
    parts = value["value"]
    return is_list(parts) and len(parts) == len(LAMBDA_PARTS) and isinstance(parts[0], str)


def _lambda_value(function: Json) -> Json:
    """Return the list of code, defaults and closure of a stored lambda, if it is stored so."""
    if not isinstance(function, OBJECT):
        return None
    config = function.get("config")
    return (config if isinstance(config, OBJECT) else function).get("value")


def integer(value: Json) -> int:
    """Return a whole number. Raises Unknown for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unknown("a whole number in a config")
    return value


def integers(value: Json, count: int | None = None) -> list[int]:
    """Return the integers of a list, or one integer `count` times (old files store `size` so). Raises Unknown."""
    if isinstance(value, int) and count is not None:
        return [integer(value)] * count
    if (
        not isinstance(value, Sequence)
        or isinstance(value, str)
        or (count is not None and len(value) != count)
    ):
        raise Unknown("a list of whole numbers in a config")
    return [integer(part) for part in value]


def stored_shape(value: Json) -> Shape:
    """Return a shape from JSON. Raises Unknown for anything else."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise Unknown("a shape in a config")
    return tuple(None if size is None else integer(size) for size in value)
