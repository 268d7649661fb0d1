"""What Python's operators do to numbered rows and numbers; what is not known for certain raises `NotFollowed`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_kernels import by_kernel
from unnest.core.recognise.row_values import (
    PLAIN_LISTS,
    Method,
    Named,
    Rows,
    Value,
    Vector,
    as_entries,
    as_number,
    changed,
    static_shape,
)

OF_NUMBERS: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt,
    ">=": operator.ge, "classic /": lambda a, b: a // b if isinstance(a, int) and isinstance(b, int) else a / b,
}  # fmt: skip
"""Python's own arithmetic, whose integers are as long as they must be; `classic /` is Python 2's division."""

OF_VECTORS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "truediv", "classic /": "div", "//": "floordiv", "%": "mod",
    "<": "less", "<=": "lessequal", "==": "equal", "!=": "notequal", ">": "greater", ">=": "greaterequal",
}  # fmt: skip
"""The kernels that TensorFlow's tensors have for Python's operators."""


def binary(symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right`.

    Raises:
        NotFollowed: Where neither is a tensor of rows, and the two are not numbers.

    """
    for side in (left, right):
        if isinstance(side, Rows):
            return changed(side, f"computes with the values (`{symbol.removeprefix('classic ')}`)")
    if symbol == "+" and type(left) is type(right) and type(left) in PLAIN_LISTS:
        joined = (*as_entries(left), *as_entries(right))
        return joined if type(left) is tuple else list(joined)
    if symbol in {"==", "!="} and isinstance(left, (str, type(None))) and isinstance(right, (str, type(None))):
        return (left == right) is (symbol == "==")
    if symbol not in OF_NUMBERS:
        raise NotFollowed
    if isinstance(left, Vector) or isinstance(right, Vector):
        return by_kernel(OF_VECTORS[symbol], [left, right], {})
    try:
        return OF_NUMBERS[symbol](as_number(left), as_number(right))
    except (ArithmeticError, ValueError) as error:
        raise NotFollowed from error


def negative(value: Value) -> Value:
    """`-value`."""
    if isinstance(value, Rows):
        return changed(value, "computes with the values (`-`)")
    return -as_number(value)


def truth(value: Value) -> bool:
    """What a branch takes it for."""
    if not isinstance(value, (bool, int, float, str, type(None), list)):
        raise NotFollowed
    return bool(value)


def subscript(of: Value, key: Value) -> Value:
    """`of[key]`."""
    if isinstance(of, Rows):
        return part_of(of, key)
    if isinstance(of, Vector):
        if isinstance(key, slice):
            return Vector(of.values[key])
        return _entry(of.values, key)
    entries = as_entries(of)
    if isinstance(key, slice):
        return entries[key] if type(of) is tuple else list(entries[key])
    return _entry(entries, key)


def _entry(values: Sequence[Value], key: Value) -> Value:
    if not isinstance(key, int) or not -len(values) <= key < len(values):
        raise NotFollowed
    return values[key]


def part_of(rows: Rows, key: Value) -> Rows:
    """`rows[key]`."""
    keys = key if type(key) is tuple else (key,)
    first, others = keys[0], keys[1:]
    if first is ...:
        if len(keys) > 1:
            raise NotFollowed
        return rows
    if not isinstance(first, slice):
        raise NotFollowed
    if others and others[-1] is ...:
        others = others[:-1]
    if len(others) >= rows.rank:
        raise NotFollowed
    change = next(filter(None, (_beside(rows, axis, part) for axis, part in enumerate(others, 1))), "")
    cut = rows._replace(numbers=rows.numbers[first])
    return changed(cut, change) if change else cut


def _beside(rows: Rows, axis: int, key: Value) -> str:
    """What a subscript does to an axis that is not the batch; "" for taking all of it."""
    if not isinstance(key, slice):
        raise NotFollowed
    size = rows.sizes[axis - 1]
    if key.step not in {None, 1}:
        return f"reverses axis {axis}" if key.step == -1 else f"steps by {key.step} along axis {axis}"
    if key.start not in {None, 0} and not (isinstance(key.start, int) and key.start <= -size):
        return f"takes a part of axis {axis}"
    if key.stop in {None, size}:
        return ""
    if not rows.has_true_sizes or not isinstance(key.stop, int):
        raise NotFollowed  # a literal size may be all of it
    return "" if key.stop > size else f"takes a part of axis {axis}"


def attribute(of: Value, name: str) -> Value:
    """`of.name`."""
    if isinstance(of, Named):
        return Named(f"{of.path}.{name}")
    if isinstance(of, Rows) and name in {"shape", "_keras_shape"}:
        return static_shape(of)
    if isinstance(of, Rows) and name == "get_shape":
        return Method(of, name)
    if type(of) is tuple and name == "as_list":
        return Method(of, name)
    raise NotFollowed
