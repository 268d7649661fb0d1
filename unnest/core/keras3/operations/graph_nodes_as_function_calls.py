"""Operations that are stored as a node of TensorFlow's graph, as calls of TensorFlow's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.frontends.node_defs_as_op_calls import (
    node_attributes,
    node_call,
    node_inputs,
    node_operation,
)
from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.operations.symbolic_arguments import CallValues
from unnest.core.keras3.operations.translate_stored_function_call import operation, part
from unnest.core.model import Json, JsonObject, Unknown
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.families.slicing import MASKS, strided_key
from unnest.core.ops.keras3_nodes.expression_values import (
    Const,
    Items,
    SymbolicValue,
    constant,
    items,
)
from unnest.core.ops.keras3_nodes.function_registry import known_functions, parse_signature
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import BY_NODE_OP, argument

TENSORFLOW = {plain_name(path): path for path in known_functions() if path.startswith("tf.")}
"""The name of an operation -> the function of TensorFlow's that computes it."""

NO_NODE = "its inputs and attributes do not add up"
"""Of a node with fewer inputs than its operation has, or with text where a number stands."""

DTYPE_BY_ENUM_NAME = {
    "DT_FLOAT": "float32",
    "DT_INT32": "int32",
    "DT_INT64": "int64",
    "DT_UINT8": "uint8",
    "DT_BOOL": "bool",
}
"""TensorFlow's names in a node -> those of its functions, where a cast gives the same on every backend."""

NOTES = frozenset({"incompatible_shape_error", "N"})
"""Attributes beside types that do not change what a node computes."""


def node_called(node: JsonObject, config: Mapping[str, Json], values: CallValues) -> SymbolicValue:
    """Return what a node computes; constants stand by their position among the inputs.

    Raises:
        Unknown: For a node that no function of TensorFlow's here computes.

    """
    op, attributes = str(node.get("op")), node_attributes(node)
    known = node_operation(op)
    # Protobuf's text, whose attributes are not read; JSON leaves out those of a node without any.
    is_text = node.keys() == {"op"}
    if known is None or is_text or (op not in BY_NODE_OP and _says_more(node)):
        raise Unknown(f"the operation {op}")
    constants = config.get("constants")
    constants = constants if isinstance(constants, Mapping) else {}
    tensors = [values.tensor(tensor) for tensor in values.call.tensors]
    count = len(constants) + len(tensors)
    inputs = node_inputs(
        {key: values.of(value) for key, value in constants.items()}, tensors, count
    )
    call = node_call(
        op,
        inputs,
        {key: _value(value) for key, value in attributes.items() if value not in (None, [])},
    )
    if not call.args:
        raise Unknown(NO_NODE)
    plain = node_call(op, node_inputs(constants, (), count), attributes)
    symbol = known.python_operator.removeprefix("classic ")
    if symbol in operators.ARITHMETIC and len(inputs) == 2:  # noqa: PLR2004 - of two
        return operators.binary(symbol, *inputs)
    if known.name == "identityn":
        return items("list", inputs)
    if known.name == "stridedslice":
        return part(inputs[0], _subscript(plain, call))
    _check(known.name, plain)
    if known.name == "squeeze" and len(axes := argument(plain, "axis")) == 1:
        call = OpCall(call.name, call.args, {"axis": constant(axes[0])})
    return _function_called(op, known, call, values)


def _says_more(node: JsonObject) -> bool:
    """True if a node has attributes that are more than types: its function would need to be told them."""
    stored = node.get("attr")
    names = stored.items() if isinstance(stored, Mapping) else ()
    return any(
        name not in NOTES
        and not name.startswith("_")
        and not (isinstance(value, Mapping) and "type" in value)
        for name, value in names
    )


def _value(plain: Json) -> SymbolicValue:
    """Return an attribute as stored code has values. Raises Unknown for shapes and the like."""
    if isinstance(plain, list):
        return items("list", [constant(each) for each in plain])
    if isinstance(plain, Mapping | Sequence) and not isinstance(plain, str):
        raise Unknown(NO_NODE)
    return constant(DTYPE_BY_ENUM_NAME.get(plain, plain) if isinstance(plain, str) else plain)


def _check(name: str, plain: OpCall) -> None:
    """Raise Unknown for what a function does not do that a node may."""
    if name == "squeeze" and not argument(plain, "axis"):
        raise Unknown("a squeeze of axes that are not named")
    if name == "diagpart" and argument(plain, "k") not in (None, 0):
        raise Unknown("another diagonal than the main one")


def _function_called(op: str, known: Operation, call: OpCall, values: CallValues) -> SymbolicValue:
    """Return a node's result by the TensorFlow function that computes it, its arguments under that function's names.

    Raises Unknown.
    """
    path = _tensorflow_function(known)
    if path is None:
        raise Unknown(f"the operation {op}")
    function = parse_signature(known_functions()[path].signature)
    if (
        op not in BY_NODE_OP
        and known.kind is Kind.MAP
        and len(call.args) > len(function.parameters) - len(function.defaults)
    ):
        raise Unknown(f"the operation {op} of so many inputs")
    names = {spelled for parameter in function.parameters for spelled in parameter}
    given = [items("list", each) if isinstance(each, list) else each for each in call.args]
    beyond = dict(
        zip(known.parameters[function.positional :], given[function.positional :], strict=False)
    )
    kwargs: dict[str, SymbolicValue] = {}
    for parameter, value in {**beyond, **call.kwargs}.items():
        if known.name == "diagpart":
            continue
        spellings = [parameter, *(alias for alias, of in known.aliases.items() if of == parameter)]
        kwargs[next((each for each in spellings if each in names), parameter)] = value
    # Select takes three tensors of one shape, or rows by a mask, as the function did before TensorFlow 2.
    return operation(
        path.removeprefix("tf."),
        given[: function.positional],
        kwargs,
        values,
        tensorflow="1" if op == "Select" else "2",
    )


def _tensorflow_function(known: Operation) -> str | None:
    """Return the TensorFlow function that has an operation's name, or computes its nodes; None without one."""
    return TENSORFLOW.get(known.name, known.function_name) or None


def _subscript(plain: OpCall, call: OpCall) -> SymbolicValue:
    """Return the subscript that a StridedSlice stands for; its ends may be sizes of a shape. Raises Unknown."""
    begin, end, steps = (
        argument(plain, name) or _constant_numbers(argument(call, name))
        for name in ("begin", "end", "strides")
    )
    if not isinstance(begin, list) or not isinstance(end, list) or not isinstance(steps, list):
        raise Unknown("a slice with ends that are computed")
    begins, ends, strides = (
        [int(str(each)) for each in numbers] for numbers in (begin, end, steps)
    )
    key = strided_key(
        begins, ends, strides, {name: int(argument(plain, name) or 0) for name in MASKS}
    )
    return items("tuple", [_key(each) for each in key])


def _constant_numbers(ends: object) -> object:
    """Return a list of numbers of which values are known; None for anything else."""
    parts = ends.items if isinstance(ends, Items) else ()
    numbers = [part.value for part in parts if isinstance(part, Const)]
    return numbers if numbers and len(numbers) == len(parts) else None


def _key(key: object) -> SymbolicValue:
    if isinstance(key, slice):
        return operators.slice_of([constant(end) for end in (key.start, key.stop, key.step)])
    return constant(key)  # type: ignore[arg-type]  # a number, None or ...
