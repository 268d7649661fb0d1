"""The operation that a layer stands for, where it is one: readable in every dialect that stores them.

TensorFlow 2.0-2.3   TensorFlowOpLayer: a NodeDef, constants by input number
TensorFlow 2.4-2.15  TFOpLambda, SlicingOpLambda: a function's name, arguments in the call
Keras 3              an operation's class, arguments in its config and in the call
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unnest.core.architecture.graph import Call, Layer
from unnest.core.model import Json, JsonObject
from unnest.core.recognise.op_calls import node_def


@dataclass(frozen=True)
class Operation:
    """A function's or operation's own name, in lower case, and everything said of its arguments."""

    name: str
    said: tuple[Json, ...]

    def find(self, key: str) -> Iterator[Json]:
        """Every value that goes by this key among the arguments."""
        for part in self.said:
            yield from find(part, key)


def operation(layer: Layer, call: Call) -> Operation | None:
    """The operation behind a layer; None for real layers and for stored code."""
    config = layer.settings
    node = node_def(config.get("node_def"))
    if node is not None:
        return _of_node_def(node, config)
    function = config.get("function")
    if isinstance(function, str) and "arguments" not in config:
        return Operation(function.rpartition(".")[2].lower(), (call.stored,))
    if "trainable" not in config and not isinstance(call.stored, list):
        name = layer.class_name.lower()
        return Operation(name, (config, call.stored, _subscript(call.stored) if name == "getitem" else None))
    return None


def _subscript(stored: Json) -> Json:
    """Keras 3's second argument of getitem, under the name and in the form that TensorFlow's has."""
    args = stored.get("args") if isinstance(stored, Mapping) else None
    if not isinstance(args, Sequence) or len(args) < 2:  # noqa: PLR2004 - the tensor and its subscript
        return None
    key = _config_of(args[1])
    if isinstance(key, Mapping) and "value" in key:  # a tuple
        key = key["value"]
    if isinstance(key, Sequence) and not isinstance(key, str):
        key = [_config_of(part) for part in key]
    return {"slice_spec": key}


def _config_of(value: Json) -> Json:
    return value["config"] if isinstance(value, Mapping) and "config" in value else value


def _of_node_def(node: JsonObject, config: JsonObject) -> Operation:
    """An op's own attributes and constants, the latter under the names that the later functions use."""
    op = str(node.get("op")).lower()
    constants = config.get("constants")
    by_input = {str(k): v for k, v in constants.items()} if isinstance(constants, Mapping) else {}
    arguments: dict[str, Json] = {"constants": by_input}
    axis_at = {"split": "0", "splitv": "2", "gatherv2": "2"}.get(op)
    if op == "concatv2" and by_input:
        axis_at = max(by_input, key=lambda k: int(k) if k.isdigit() else -1)
    if axis_at in by_input:
        arguments["axis"] = by_input[axis_at]
    if op == "reshape" and "1" in by_input:
        arguments["shape"] = by_input["1"]
    attributes = node.get("attr")
    if op == "stridedslice" and isinstance(attributes, Mapping):
        op, arguments["slice_spec"] = "getitem", [_first_subscript(attributes)]
    if op == "unpack" and isinstance(attributes, Mapping):
        op, arguments["axis"] = "unstack", _attribute(attributes, "axis")
    return Operation(op, (arguments,))


def _attribute(attributes: JsonObject, name: str) -> int:
    value = attributes.get(name)
    number = value.get("i", 0) if isinstance(value, Mapping) else 0
    return int(number) if isinstance(number, int) or (isinstance(number, str) and number.isdigit()) else 0


def _first_subscript(attributes: JsonObject) -> Json:
    """What a StridedSlice's masks say of axis 0: an index, or bounds that are given or left open."""
    if _attribute(attributes, "shrink_axis_mask") & 1:
        return 0
    bounds = {"start": "begin_mask", "stop": "end_mask"}
    return {end: None if _attribute(attributes, mask) & 1 else "given" for end, mask in bounds.items()}


def find(value: Json, key: str) -> Iterator[Json]:
    """Every value that goes by a key, at any depth."""
    if isinstance(value, Mapping):
        if key in value:
            yield value[key]
        for part in value.values():
            yield from find(part, key)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from find(part, key)
