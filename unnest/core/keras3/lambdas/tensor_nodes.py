"""Nodes of Keras 3's operations on symbolic tensors: arithmetic, sizes as numbers, parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from unnest.core.frontends.operation_layers_as_op_calls import keras3_call, plain_argument
from unnest.core.interpreters.batch_size_trials import result_rows
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, GraphTensor, Input, Operand, OpNode, Part
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    ATOM,
    FLOAT,
    MAX_INTEGER,
    MAX_NODES,
    WHOLE_NUMBERS,
    Const,
    Items,
    Size,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    as_floats,
    as_integers,
    constant,
    in_parentheses,
    items,
    kind,
    nested_numbers,
    number,
    of_readable_length,
)
from unnest.core.ops.keras3_nodes.function_arguments import CAST_DTYPES, SIZE_OF_NO_TENSOR
from unnest.core.ops.registry import BY_LAYER_CLASS
from unnest.core.ops.shape_arithmetic import Sized


def node(
    class_name: str,
    config: Mapping[str, Json],
    args: Sequence[Operand],
    like: Sequence[SymbolicTensor],
    module: str | None = None,
) -> SymbolicTensor:
    """Return an operation on tensors, with the dtype of the first of `like`; the caller sets another, and the text.

    `module` is where the class stands that is no operation, but a layer.

    Raises Unknown.
    """
    nodes = 1 + sum(tensor.nodes for tensor in like)
    if nodes > MAX_NODES:
        raise Unknown("the expression is too large")
    shapes = {id(tensor.operand): Sized(tensor.shape, tensor.rows) for tensor in like}
    call = keras3_call(class_name, [_sized(arg, shapes) for arg in args], config)
    shape = result_shape(call) if module is None else None
    rows = result_rows(call) if shape and shape[0] is None else None
    made = OpNode(module or MODULE_BY_CLASS[class_name], class_name, dict(config), tuple(args))
    return SymbolicTensor(made, like[0].dtype, "", shape=shape, nodes=nodes, rows=rows)


def _sized(arg: Operand, shapes: Mapping[int, Sized]) -> object:
    """Return an argument with shapes in place of tensors."""
    if isinstance(arg, Input | GraphTensor | Part | OpNode):
        return shapes.get(id(arg), Sized(None))
    if isinstance(arg, list | tuple):
        return [_sized(each, shapes) for each in arg]
    return plain_argument(arg)  # type: ignore[arg-type]  # what is no tensor and no list is JSON


def _cast(x: SymbolicTensor, dtype: str) -> SymbolicTensor:
    return replace(node("Cast", {"dtype": dtype}, [x.operand], [x]), dtype=dtype)


def zeros_along(x: SymbolicTensor, axis: int) -> SymbolicTensor:
    """Return a vector of float32 zeros, as long as an axis of a tensor. Raises Unknown."""
    if not x.shape or x.dtype not in CAST_DTYPES:
        raise Unknown(SIZE_OF_NO_TENSOR)
    others = [k for k in range(len(x.shape)) if k != axis]
    if any(x.shape[k] not in (1, None) for k in others):
        ends = [None if k == axis or size is None else 1 for k, size in enumerate(x.shape)]
        x = part_of_tensor(x, items("tuple", [SliceOf((None, end, None)) for end in ends]))
    zeros = node("ZerosLike", {}, [x.operand], [x])
    if x.dtype != FLOAT:
        zeros = _cast(zeros, FLOAT)
    if not others:
        return zeros
    return node("Sum", {"axis": [*others], "keepdims": False}, [zeros.operand], [zeros])


def number_of(size: Size) -> SymbolicTensor:
    """Return a size as an int32 scalar: as many ones as the axis is long, added up. Raises Unknown."""
    if size.number is not None:
        return size.number
    if size.tensor is None:
        raise Unknown(SIZE_OF_NO_TENSOR)
    zeros = _cast(zeros_along(size.tensor, size.axis), "int32")
    ones = calculation("Add", zeros, constant(1))
    made = node("Sum", {"axis": None, "keepdims": False}, [ones.operand], [ones])
    return replace(made, text=size.text)


def calculation(class_name: str, *sides: SymbolicValue) -> SymbolicTensor:
    """Return an elementwise operation on tensors of one dtype, numbers and constant arrays.

    Raises:
        Unknown: dtypes differ, or are not the floats (for logic: truth values) that need no conversion.

    """
    sides = tuple(number_of(side) if isinstance(side, Size) else side for side in sides)
    tensors = [side for side in sides if isinstance(side, SymbolicTensor)]
    operation = BY_LAYER_CLASS.get(class_name)
    wanted = "bool" if operation is not None and operation.takes_booleans else FLOAT
    if not tensors:
        raise Unknown(f"{class_name} without a tensor")
    # TensorFlow makes no integer of a float beside a tensor, and takes two tensors of one dtype: there it shows.
    shows = wanted == FLOAT and any(
        isinstance(number(side), float)
        or (isinstance(side, SymbolicTensor) and side.dtype == FLOAT)
        for side in sides
    )
    if not shows and operation is not None and operation.same_on_integers:
        wanted = _dtype_of_integers(sides) or wanted
    for tensor in tensors:
        if tensor.dtype != wanted and not (shows and tensor.dtype == UNKNOWN_DTYPE):
            raise Unknown(f"arithmetic on {tensor.dtype}")
    operands = [_operand(side, wanted) for side in sides]
    return replace(node(class_name, {}, operands, tensors), dtype=wanted)


INTEGERS = WHOLE_NUMBERS | {UNKNOWN_DTYPE}
"""Dtypes of tensors that hold whole numbers, or may."""


def _dtype_of_integers(sides: Sequence[SymbolicValue]) -> str | None:
    """Return the dtype of tensors that all have one of INTEGERS, beside whole numbers; None for anything else."""
    dtypes = {side.dtype for side in sides if isinstance(side, SymbolicTensor)}
    others = [side for side in sides if not isinstance(side, SymbolicTensor)]
    if len(dtypes) > 1 or not dtypes <= INTEGERS:
        return None
    dtype = dtypes.pop()
    arrays = [nested_numbers(side) for side in others if number(side) is None]
    numbers = [number(side) for side in others if number(side) is not None]
    if (arrays and dtype not in WHOLE_NUMBERS) or not all(map(_is_whole, [*numbers, *arrays])):
        return None
    return dtype


def _is_whole(nested: Json) -> bool:
    """True for whole numbers, in lists too, that 32 bits hold."""
    if isinstance(nested, list):
        return all(map(_is_whole, nested))
    return type(nested) is int and abs(nested) <= MAX_INTEGER


def _operand(side: SymbolicValue, dtype: str) -> Operand:
    """Return an operand of a calculation on tensors of `dtype`. Raises Unknown."""
    if isinstance(side, SymbolicTensor):
        return side.operand
    value = number(side)
    if value is not None:
        return value if abs(value) <= MAX_INTEGER else float(value)
    nested = nested_numbers(side)
    if nested is None:
        raise Unknown(f"{kind(side)} as an operand")
    return as_integers(nested, dtype) if dtype in WHOLE_NUMBERS else as_floats(nested)


def part_of_tensor(value: SymbolicTensor, key: SymbolicValue) -> SymbolicTensor:
    """Return `value[key]` of a tensor. Raises Unknown."""
    keys = keys_of(key)
    if not keys or sum(isinstance(part, Const) and part.value is ... for part in keys) > 1:
        raise Unknown("a subscript")
    chosen = node("GetItem", {}, [value.operand, [_key(part) for part in keys]], [value])
    return replace(chosen, text=subscript_text(value, keys))


def subscript_text(value: SymbolicValue, keys: Sequence[SymbolicValue]) -> str:
    """Return `value[keys]` as text. Raises Unknown if it is too long."""
    return of_readable_length(
        f"{in_parentheses(value, ATOM)}[{', '.join(part.text for part in keys)}]"
    )


def keys_of(key: SymbolicValue) -> tuple[SymbolicValue, ...]:
    """Return the parts of a subscript: `1` and `:2` of `x[1, :2]`."""
    return key.items if isinstance(key, Items) and key.kind == "tuple" else (key,)


def _key(part: SymbolicValue) -> Json:
    """Return one part of a subscript as Keras 3 stores it. Raises Unknown."""
    if isinstance(part, SliceOf):
        if part.ends[2] == 0:
            raise Unknown("a step of zero")
        return {
            "class_name": "__slice__",
            "config": dict(zip(("start", "stop", "step"), part.ends, strict=True)),
        }
    if isinstance(part, Const) and part.value is None:
        return None
    if isinstance(part, Const) and part.value is ...:
        return {"class_name": "__ellipsis__", "config": {}}
    if number(part) is None:
        raise Unknown(f"a tensor's part by {kind(part)}")
    return index_of(part)


def index_of(key: SymbolicValue) -> int:
    """Return the whole number that a subscript is. Raises Unknown."""
    if not isinstance(key, Const) or isinstance(key.value, bool) or not isinstance(key.value, int):
        raise Unknown("an index that is no integer")
    return key.value
