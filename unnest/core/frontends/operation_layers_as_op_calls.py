"""Calls of operation layers in every dialect, as a function and its arguments.

TensorFlow 1             an operation of a graph: inputs and attributes
TensorFlow 2.0-2.3       TensorFlowOpLayer: a NodeDef, constants by input number
TensorFlow 2.4-2.15      TFOpLambda, SlicingOpLambda: a function's name, arguments in the call
Keras 3                  an operation's class, arguments in its config and in the call
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Call, Layer
from unnest.core.frontends.node_defs_as_op_calls import (
    node_attributes,
    node_call,
    node_inputs,
    parse_node_def,
)
from unnest.core.json_tree import is_list, is_object
from unnest.core.model import Json, JsonObject, Ref, Unknown
from unnest.core.ops.call import OpCall, Value, plain_name
from unnest.core.ops.registry import OPERATIONS, argument


def parse_op_call(layer: Layer, call: Call) -> OpCall | None:
    """Return an operation layer's call; None for real layers, stored code, and unknown forms."""
    config = layer.settings
    if "node_def" in config:
        return _of_node_def(parse_node_def(config["node_def"]), config, call.stored)
    if isinstance(config.get("function"), str) and "arguments" not in config:
        return _of_function(str(config["function"]), call.stored)
    if "trainable" not in config and is_object(call.stored):
        return _of_keras_3(layer.class_name, config, call.stored)
    return None


def is_operation(layer: Layer, call: Call) -> bool:
    """Return True for an operation, readable or not; False for real layers and stored code."""
    config = layer.settings
    if isinstance(config.get("function"), str) and "arguments" not in config:
        return True
    is_keras_3 = "trainable" not in config and not isinstance(call.stored, list)
    return is_keras_3 or parse_node_def(config.get("node_def")) is not None


def reshape_target(op_call: OpCall) -> Sequence[Json]:
    """Return the stored shape to which a call reshapes a tensor; [] if the call computes it, or has none."""
    shape = argument(op_call, "shape")
    is_literal = is_list(shape) and not (shape and isinstance(shape[0], str))
    return shape if is_literal else ()


def with_refs(
    op_call: OpCall, layers: Container[str], ref: Callable[[tensor_refs.RawRef], Ref]
) -> OpCall:
    """Return a call with every stored tensor reference as a Ref, and slices as Python's own. Raises Unknown."""

    def value_of(stored: Json) -> Value:
        if is_object(stored):
            return object_of(stored)
        if not is_list(stored):
            return stored
        raw = tensor_refs.reads(stored, layers) if stored and isinstance(stored[0], str) else []
        return ref(raw[0]) if raw else [value_of(part) for part in stored]

    def object_of(stored: JsonObject) -> Value:
        kind, config = stored.get("class_name"), stored.get("config", stored)
        if kind == tensor_refs.KERAS_3_TENSOR:
            raw = tensor_refs.reads(stored, layers)
            if not raw:
                raise Unknown("the layer of a stored tensor")
            return ref(raw[0])
        if kind == "__ellipsis__":
            return ...
        if kind in ("__tuple__", "__numpy__", "__tensor__"):
            return value_of(
                config.get("value", config.get("items")) if is_object(config) else config
            )
        if is_object(config) and (kind == "__slice__" or {"start", "stop"} <= config.keys()):
            return slice(*(value_of(config.get(bound)) for bound in ("start", "stop", "step")))
        return {key: value_of(part) for key, part in stored.items()}

    return OpCall(
        op_call.name,
        [value_of(v) for v in op_call.args],
        {k: value_of(v) for k, v in op_call.kwargs.items()},
    )


def _of_function(function_name: str, stored: Json) -> OpCall | None:
    """Return the call of a TFOpLambda: `["x", 0, 0, {...}]`, or a list of these if the first argument is a list."""
    if not is_list(stored) or not stored:
        return None
    several = not isinstance(stored[0], str)
    nodes_of_first = stored if several else [stored]
    first: list[Json] = []
    kwargs: JsonObject = {}
    for node in nodes_of_first:
        if not is_list(node) or len(node) not in (3, 4):
            return None
        first.append(node[2] if node[0] == "_CONSTANT_VALUE" else node[:3])
        kwargs = next((part for part in node[3:] if is_object(part)), kwargs)
    return OpCall(plain_name(function_name), [first if several else first[0]], kwargs)


def _of_keras_3(class_name: str, config: JsonObject, stored: JsonObject) -> OpCall | None:
    args, kwargs = stored.get("args"), stored.get("kwargs", {})
    if not is_list(args) or not is_object(kwargs):
        return None
    return keras3_call(class_name, args, config, kwargs)


def _of_node_def(node: JsonObject | None, config: JsonObject, stored: Json) -> OpCall | None:
    """Return the call of a TensorFlowOpLayer: constants are stored by input number, layer inputs fill the gaps."""
    node = node or {}
    inputs, constants = node.get("input"), config.get("constants") or {}
    # Protobuf's text, of which only the name is read.
    if not isinstance(inputs, list) and "op" in node:
        return OpCall(str(node["op"]).lower(), (), {})
    if not isinstance(inputs, list) or not isinstance(stored, Sequence) or not stored:
        return None
    if not is_object(constants):
        return None
    count = sum(1 for name in inputs if not str(name).startswith("^"))
    tensors = [_tensor(ref) for ref in ([stored] if isinstance(stored[0], str) else stored)]
    try:
        return node_call(
            str(node.get("op")), node_inputs(constants, tensors, count), node_attributes(node)
        )
    except ValueError:
        return None


def _tensor(ref: Json) -> Json:
    return ref[:3] if isinstance(ref, Sequence) else ref


def keras3_call(
    class_name: str,
    args: Sequence[Value],
    config: Mapping[str, Value],
    kwargs: Mapping[str, Value] | None = None,
) -> OpCall:
    """Return the call of an operation by its class.

    An operation called `k3...` is a class whose arguments are not those of TensorFlow's function of that name.
    """
    name = plain_name(class_name)
    own = f"k3{name}"
    return OpCall(own if own in OPERATIONS else name, args, {**config, **(kwargs or {})})


def plain_argument(stored: Json) -> Value:
    """Return a constant of Keras 3's JSON as Python has it: a slice, dots, nested lists for an array or a tuple."""
    if isinstance(stored, Mapping):
        kind, config = stored.get("class_name"), stored.get("config")
        if kind == "__ellipsis__":
            return ...
        if kind == "__slice__" and isinstance(config, Mapping):
            return slice(*(config.get(end) for end in ("start", "stop", "step")))
        return (
            config.get("value")
            if kind in ("__numpy__", "__tensor__") and isinstance(config, Mapping)
            else stored
        )
    if is_list(stored):
        return [plain_argument(each) for each in stored]
    return stored
