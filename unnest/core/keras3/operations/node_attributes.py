"""The attributes of a node of TensorFlow's graph, in the JSON form of its protocol buffer."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from unnest.core.keras3.lambdas.values import NotUnderstood, Value, constant, items
from unnest.core.model import Json

NO_NODE = "its inputs and attributes do not add up"
"""Of a node with fewer inputs than its operation has, or with text where a number stands."""


def attribute(node: Mapping[str, Json], name: str) -> Json:
    """An attribute as plain JSON: a number, a text, a list of whole numbers; None where it is not stored."""
    attributes = node.get("attr")
    value = attributes.get(name) if isinstance(attributes, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    for kind, plain in value.items():
        if kind == "i":
            return int(str(plain))
        if kind == "list":
            numbers = plain.get("i") if isinstance(plain, Mapping) else None
            return [int(str(n)) for n in numbers] if isinstance(numbers, Sequence) else []
        if kind == "s":
            return base64.b64decode(str(plain)).decode("ascii")
        return plain
    return None


def named_attributes(node: Mapping[str, Json], **defaults: Json) -> dict[str, Value]:
    """Attributes of a node as a function's arguments, by the names of both; where one is not stored, its default.

    Raises:
        NotUnderstood: Where one is no plain value.

    """
    arguments: dict[str, Value] = {}
    for name, default in defaults.items():
        value = attribute(node, name)
        value = default if value is None else value
        if isinstance(value, list):
            arguments[name] = items("list", [_plain(each) for each in value])
        else:
            arguments[name] = _plain(value)
    return arguments


def _plain(value: Json) -> Value:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        raise NotUnderstood(NO_NODE)
    return constant(value)
