"""Python's operators, comparisons and subscripts on the machine's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unnest.core.frontends.python_values import ON_NUMBERS
from unnest.core.keras3.lambdas.tensor_nodes import (
    calculation,
    index_of,
    keys_of,
    node,
    number_of,
    part_of_tensor,
    subscript_text,
    zeros_along,
)
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes import constant_array_arithmetic
from unnest.core.ops.keras3_nodes.expression_values import (
    ATOM,
    COMPARISON,
    PRECEDENCE,
    UNARY,
    Const,
    ConstantArray,
    Items,
    ShapeTuple,
    Size,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    constant,
    entries_of,
    in_parentheses,
    items,
    kind,
    number,
    of_readable_length,
    sizes_of,
)
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import BY_OPERATOR

ORDER = frozenset({"<", "<=", ">", ">="})
"""Comparisons; equality is not among them: before TensorFlow 2 it was identity."""

ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**"})
MAX_EXPONENT = 64


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
    computed = calculation(_operator_class(written, left, right), left, right)
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


def _operator_class(symbol: str, left: SymbolicValue, right: SymbolicValue) -> str:
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


def _calculated_size(symbol: str, left: Size | Const, right: Size | Const) -> Size:
    """Return `left symbol right`, at least one of them a size that is not known. Raises Unknown."""
    made = calculation(_operator_class(symbol, left, right), left, right)
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
    return part_of_tensor(x, SliceOf((start, None, step)))


def subscript(value: SymbolicValue, key: SymbolicValue) -> SymbolicValue:
    """Return `value[key]`. Raises Unknown."""
    if isinstance(value, SymbolicTensor):
        return part_of_tensor(value, key)
    if isinstance(value, ShapeTuple):
        return _part_of_shape(value, key)
    if isinstance(value, ConstantArray):
        keys = keys_of(key)
        chosen = constant_array_arithmetic.part(value, keys)
        if chosen is not None:
            return replace(chosen, text=subscript_text(value, keys))
    if not isinstance(value, Items):
        raise Unknown(f"a part of {kind(value)}")
    if isinstance(key, SliceOf):
        return items(value.kind, value.items[slice(*key.ends)])
    index = index_of(key)
    if not -len(value.items) <= index < len(value.items):
        raise Unknown("an index outside its list")
    return value.items[index]


def _part_of_shape(shape: ShapeTuple, key: SymbolicValue) -> SymbolicValue:
    """Return `shape[key]`: a shape for a slice, a size for an index. Raises Unknown."""
    text = f"{shape.text}[{key.text}]"
    if isinstance(key, SliceOf):
        return ShapeTuple(shape.sizes[slice(*key.ends)], shape.kind, text)
    index = index_of(key)
    if not -len(shape.dimensions) <= index < len(shape.dimensions):
        raise Unknown("an index outside its shape")
    return replace(sizes_of(shape)[index], text=text, precedence=ATOM)


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
