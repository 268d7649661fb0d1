"""Python's operators, subscripts and attributes on the machine's values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from unnest.core.frontends.operation_layers_as_op_calls import keras3_call, plain_argument
from unnest.core.frontends.python_values import ON_NUMBERS
from unnest.core.interpreters.batch_size_trials import result_rows
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, GraphTensor, Input, Operand, OpNode, Part
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes import constant_array_arithmetic
from unnest.core.ops.keras3_nodes.expression_values import (
    ATOM,
    COMPARISON,
    FLOAT,
    MAX_INTEGER,
    MAX_NODES,
    PRECEDENCE,
    UNARY,
    WHOLE_NUMBERS,
    Const,
    ConstantArray,
    Items,
    ShapeTuple,
    Size,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    as_floats,
    as_integers,
    constant,
    entries_of,
    in_parentheses,
    items,
    kind,
    nested_numbers,
    number,
    of_readable_length,
    sizes_of,
)
from unnest.core.ops.keras3_nodes.function_arguments import CAST_DTYPES, SIZE_OF_NO_TENSOR
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import BY_LAYER_CLASS, BY_OPERATOR
from unnest.core.ops.shape_arithmetic import Sized

ORDER = frozenset({"<", "<=", ">", ">="})
"""Comparisons; equality is not among them: before TensorFlow 2 it was identity."""

ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})
MAX_EXPONENT = 64


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


def zeros_along(x: SymbolicTensor, axis: int) -> SymbolicTensor:
    """Return a vector of float32 zeros, as long as an axis of a tensor. Raises Unknown."""
    if not x.shape or x.dtype not in CAST_DTYPES:
        raise Unknown(SIZE_OF_NO_TENSOR)
    others = [k for k in range(len(x.shape)) if k != axis]
    if any(x.shape[k] not in (1, None) for k in others):
        ends = [None if k == axis or size is None else 1 for k, size in enumerate(x.shape)]
        x = _part_of_tensor(x, items("tuple", [SliceOf((None, end, None)) for end in ends]))
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


def _calculated_size(symbol: str, left: Size | Const, right: Size | Const) -> Size:
    """Return `left symbol right`, at least one of them a size that is not known. Raises Unknown."""
    made = calculation(_class(symbol, left, right), left, right)
    text = _infix(symbol, left, right)
    return Size(
        text, _zeros_of_result(symbol, left, right), number=made, precedence=PRECEDENCE[symbol]
    )


def _zeros_of_result(symbol: str, left: Size | Const, right: Size | Const) -> SymbolicTensor | None:
    """Return a vector of zeros as long as a calculated size; None where none can be made of those of its sides."""
    if isinstance(left, Const) and symbol in {"+", "*"}:
        left, right = right, left
    if not isinstance(left, Size) or left.tensor is None:
        return None
    zeros = zeros_along(left.tensor, left.axis)
    if isinstance(right, Const):
        return _zeros_by_number(symbol, zeros, right.value)
    return (
        None
        if right.tensor is None
        else _zeros_by_zeros(symbol, zeros, zeros_along(right.tensor, right.axis))
    )


def _zeros_by_zeros(symbol: str, x: SymbolicTensor, y: SymbolicTensor) -> SymbolicTensor | None:
    """Return as many zeros as two vectors have together, or as pairs can be made of them; None for other symbols."""
    if symbol == "+":
        return node("Concatenate", {"axis": 0}, [[x.operand, y.operand]], [x, y])
    if symbol != "*":
        return None
    column = node("Reshape", {"newshape": [-1, 1]}, [x.operand], [x])
    pairs = calculation("Add", column, y)
    return node("Reshape", {"newshape": [-1]}, [pairs.operand], [pairs])


def _zeros_by_number(symbol: str, x: SymbolicTensor, number: object) -> SymbolicTensor | None:
    """Return a vector of zeros with so many more or less, so many times, or one for so many; None for other symbols."""
    if isinstance(number, bool) or not isinstance(number, int | float) or number != int(number):
        return None
    number = int(number)
    if symbol == "-":
        symbol, number = "+", -number
    if symbol == "+" and number >= 0:
        widths: Json = [[0, number]]
        return node("Pad", {"pad_width": widths, "mode": "constant"}, [x.operand], [x])
    if symbol == "*" and number >= 1:
        return node("Tile", {"repeats": [number]}, [x.operand], [x])
    if symbol == "+":
        return _from_to(x, -number, 1)
    return _from_to(x, number - 1, number) if symbol == "//" and number >= 1 else None


def _from_to(x: SymbolicTensor, start: int, step: int) -> SymbolicTensor:
    """Return `x[start::step]` of a vector."""
    return _part_of_tensor(x, SliceOf((start, None, step)))


def _cast(x: SymbolicTensor, dtype: str) -> SymbolicTensor:
    return replace(node("Cast", {"dtype": dtype}, [x.operand], [x]), dtype=dtype)


def binary(symbol: str, left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
    """Return `left symbol right`; `classic /` is Python 2's division. Raises Unknown."""
    written = symbol.removeprefix("classic ")
    if (
        isinstance(left, Size | Const)
        and isinstance(right, Size | Const)
        and Size in map(type, (left, right))
    ):
        return _calculated_size(written, left, right)
    left, right = (number_of(side) if isinstance(side, Size) else side for side in (left, right))
    if isinstance(left, Const) and isinstance(right, Const):
        whole = symbol != written and isinstance(left.value, int) and isinstance(right.value, int)
        return _folded("//" if whole else written, left, right)
    if written == "+" and _is_list(left) and _is_list(right):
        return _concatenate(left, right)
    if not isinstance(left, SymbolicTensor) and not isinstance(right, SymbolicTensor):
        if isinstance(left, ConstantArray) or isinstance(right, ConstantArray):
            constants = constant_array_arithmetic.arithmetic(symbol, left, right)
            if constants is not None:
                return replace(
                    constants, text=_infix(written, left, right), precedence=PRECEDENCE[written]
                )
        raise Unknown(f"`{written}` on {kind(left)} and {kind(right)}")
    computed = calculation(_class(written, left, right), left, right)
    return replace(computed, text=_infix(written, left, right), precedence=PRECEDENCE[written])


def _is_list(value: SymbolicValue) -> bool:
    """True if it is a list or tuple for certain: TensorFlow's own shapes and stored lists are added otherwise."""
    return (isinstance(value, Items) and value.kind != "stored") or (
        isinstance(value, ShapeTuple) and value.kind in {"list", "tuple"}
    )


def _concatenate(left: SymbolicValue, right: SymbolicValue) -> Items:
    """Return `left + right` of two lists, or of two tuples. Raises Unknown."""
    first, second = entries_of(left), entries_of(right)
    if first.kind != second.kind:
        raise Unknown(f"`+` on {kind(first)} and {kind(second)}")
    joined = items(first.kind, [*first.items, *second.items])
    return replace(joined, spelt=_infix("+", left, right), precedence=PRECEDENCE["+"])


def _class(symbol: str, left: SymbolicValue, right: SymbolicValue) -> str:
    """Return the Keras 3 class that an operator is for these values. Raises Unknown."""
    operation, sides = BY_OPERATOR.get(symbol), (left, right)
    if operation is None or symbol in ORDER:
        raise Unknown(f"`{symbol}` on tensors")
    if operation.takes_booleans and not all(
        isinstance(side, SymbolicTensor) and side.dtype == "bool" for side in sides
    ):
        raise Unknown(f"`{symbol}` on tensors")
    if operation.kind is Kind.PRODUCT and not all(
        isinstance(side, SymbolicTensor | ConstantArray) for side in sides
    ):
        raise Unknown(f"`{symbol}` on tensors")
    return operation.keras3_class


def calculation(class_name: str, *sides: SymbolicValue) -> SymbolicTensor:
    """Return an elementwise operation on tensors of one dtype, numbers and constant arrays. Raises Unknown.

    Raises:
        Unknown: Where dtypes differ, or are not the floats (for logic: truth values) that need no conversion.

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


def _folded(symbol: str, left: Const, right: Const) -> SymbolicValue:
    """Return the result of an operator on two constants. Raises Unknown if 32 bits do not hold it."""
    a, b = number(left), number(right)
    if a is None or b is None or symbol not in ARITHMETIC:
        raise Unknown(f"`{symbol}` on {kind(left)} and {kind(right)}")
    if symbol == "**" and abs(b) > MAX_EXPONENT:
        raise Unknown("a large power")
    try:
        value = a**b if symbol == "**" else ON_NUMBERS[symbol](a, b)
    except (ArithmeticError, ValueError) as error:
        raise Unknown("an impossible calculation") from error
    if not isinstance(value, (int, float)) or number(constant(value)) is None:
        raise Unknown("a number beyond 32 bits")
    return Const(value, _infix(symbol, left, right), PRECEDENCE[symbol])


def _infix(symbol: str, left: SymbolicValue, right: SymbolicValue) -> str:
    """Return a binary operator as text; `**` binds to the right and takes a sign there, others bind to the left."""
    precedence = PRECEDENCE[symbol]
    sides = (precedence + 1, UNARY) if symbol == "**" else (precedence, precedence + 1)
    return of_readable_length(
        f"{in_parentheses(left, sides[0])} {symbol} {in_parentheses(right, sides[1])}"
    )


def unary(symbol: str, value: SymbolicValue) -> SymbolicValue:
    """Return `-value`, `+value` or `~value`. Raises Unknown."""
    text = f"{symbol}{in_parentheses(value, UNARY)}"
    if isinstance(value, SymbolicTensor):
        operation = BY_OPERATOR.get(f"{symbol}x")
        if operation is None:
            raise Unknown(f"`{symbol}` on tensors")
        return replace(calculation(operation.keras3_class, value), text=text, precedence=UNARY)
    if (
        isinstance(value, ConstantArray)
        and symbol == "-"
        and (negative := constant_array_arithmetic.negative(value)) is not None
    ):
        return replace(negative, text=text, precedence=UNARY)
    plain = number(value)
    if plain is None or symbol == "~":
        raise Unknown(f"`{symbol}` on {kind(value)}")
    return Const(-plain if symbol == "-" else plain, text, UNARY)


def compare(symbol: str, left: SymbolicValue, right: SymbolicValue) -> SymbolicValue:
    """Return `left symbol right` on tensors, for the symbols of `ORDER`. Raises Unknown."""
    if symbol not in ORDER:
        raise Unknown(f"`{symbol}`")
    text = of_readable_length(
        f"{in_parentheses(left, COMPARISON + 1)} {symbol} {in_parentheses(right, COMPARISON + 1)}"
    )
    return replace(
        calculation(BY_OPERATOR[symbol].keras3_class, left, right),
        dtype="bool",
        text=text,
        precedence=COMPARISON,
    )


def subscript(value: SymbolicValue, key: SymbolicValue) -> SymbolicValue:
    """Return `value[key]`. Raises Unknown."""
    if isinstance(value, SymbolicTensor):
        return _part_of_tensor(value, key)
    if isinstance(value, ShapeTuple):
        return _part_of_shape(value, key)
    if isinstance(value, ConstantArray):
        keys = _keys(key)
        chosen = constant_array_arithmetic.part(value, keys)
        if chosen is not None:
            return replace(
                chosen,
                text=of_readable_length(
                    f"{in_parentheses(value, ATOM)}[{', '.join(part.text for part in keys)}]"
                ),
            )
    if not isinstance(value, Items):
        raise Unknown(f"a part of {kind(value)}")
    if isinstance(key, SliceOf):
        return items(value.kind, value.items[slice(*key.ends)])
    index = _index(key)
    if not -len(value.items) <= index < len(value.items):
        raise Unknown("an index outside its list")
    return value.items[index]


def _index(key: SymbolicValue) -> int:
    if not isinstance(key, Const) or isinstance(key.value, bool) or not isinstance(key.value, int):
        raise Unknown("an index that is no integer")
    return key.value


def _part_of_shape(shape: ShapeTuple, key: SymbolicValue) -> SymbolicValue:
    """Return `shape[key]`: a shape for a slice, a size for an index. Raises Unknown."""
    text = f"{shape.text}[{key.text}]"
    if isinstance(key, SliceOf):
        return ShapeTuple(shape.sizes[slice(*key.ends)], shape.kind, text)
    index = _index(key)
    if not -len(shape.dimensions) <= index < len(shape.dimensions):
        raise Unknown("an index outside its shape")
    return replace(sizes_of(shape)[index], text=text, precedence=ATOM)


def _keys(key: SymbolicValue) -> tuple[SymbolicValue, ...]:
    return key.items if isinstance(key, Items) and key.kind == "tuple" else (key,)


def _part_of_tensor(value: SymbolicTensor, key: SymbolicValue) -> SymbolicTensor:
    keys = _keys(key)
    if not keys or sum(isinstance(part, Const) and part.value is ... for part in keys) > 1:
        raise Unknown("a subscript")
    chosen = node("GetItem", {}, [value.operand, [_key(part) for part in keys]], [value])
    return replace(
        chosen,
        text=of_readable_length(
            f"{in_parentheses(value, ATOM)}[{', '.join(part.text for part in keys)}]"
        ),
    )


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
    return _index(part)


def slice_of(ends: Sequence[SymbolicValue]) -> SliceOf:
    """Return `start:stop:step` of constants. Raises Unknown."""
    if any(isinstance(end, Size) for end in ends):
        raise Unknown("a slice to a size that is not known")
    values = [end.value if isinstance(end, Const) else "" for end in (*ends, constant(None))[:3]]
    start, stop, step = (
        value if value is None or (isinstance(value, int) and not isinstance(value, bool)) else ""
        for value in values
    )
    if start == "" or stop == "" or step == "":
        raise Unknown("a slice whose ends are no integers")
    assert not isinstance(start, str)
    assert not isinstance(stop, str)
    assert not isinstance(step, str)
    return SliceOf((start, stop, step))


def unpack(value: SymbolicValue, count: int) -> list[SymbolicValue]:
    """Return the `count` parts of `a, b = value`, in order. Raises Unknown."""
    parts = entries_of(value).items
    if len(parts) != count:
        raise Unknown("a list taken apart in another number of parts")
    return list(parts)
