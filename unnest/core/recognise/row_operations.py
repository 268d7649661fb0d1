"""What Python's operators do to numbered rows and numbers; what is not known for certain raises `NotFollowed`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_kernels import by_kernel
from unnest.core.recognise.row_values import (
    MAX_VALUES,
    PLAIN_LISTS,
    ListMethod,
    Named,
    Rows,
    ShapeMethod,
    Stacked,
    Unexplained,
    Value,
    Vector,
    as_entries,
    as_number,
    as_one_row,
    changed,
    combined,
    each,
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
    tensors = [side for side in (left, right) if isinstance(side, Rows)]
    if tensors:
        change = f"computes with the values (`{symbol.removeprefix('classic ')}`)"
        return combined(tensors, change, [left, right])
    for side in (left, right):
        if isinstance(side, Unexplained):
            return side
    if type(left) in PLAIN_LISTS or type(right) in PLAIN_LISTS:
        return _of_lists(symbol, left, right)
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


def _of_lists(symbol: str, left: Value, right: Value) -> Value:
    """Python's own `+` and `*` of lists and tuples."""
    if symbol == "*" and isinstance(left, int):
        left, right = right, left
    if symbol == "+" and type(left) is type(right):
        entries = (*as_entries(left), *as_entries(right))
    elif symbol == "*" and isinstance(right, int) and len(as_entries(left)) * right <= MAX_VALUES:
        entries = as_entries(left) * right
    else:
        raise NotFollowed
    return entries if type(left) is tuple else [*entries]


def in_place(symbol: str, left: Value, right: Value) -> Value:
    """What `left symbol= right` makes of `left`: a list grows, all else is another value."""
    if not isinstance(left, list):
        return binary(symbol, left, right)
    if symbol != "+":
        raise NotFollowed
    extend(left, right)
    return left


def extend(of: list[Value], values: Value) -> None:
    """`of.extend(values)`; where the two depend on each other, or there are too many, raises NotFollowed."""
    count, more = len(of), tuple(each(values))
    if len(of) != count or count + len(more) > MAX_VALUES:
        raise NotFollowed
    of.extend(more)


def negative(value: Value) -> Value:
    """`-value`."""
    if isinstance(value, Rows):
        return changed(value, "computes with the values (`-`)")
    if isinstance(value, Unexplained):
        return value
    return -as_number(value)


def truth(value: Value) -> bool:
    """What a branch takes it for."""
    if not isinstance(value, (bool, int, float, str, type(None), list)):
        raise NotFollowed
    return bool(value)


def subscript(of: Value, key: Value) -> Value:
    """`of[key]`."""
    if isinstance(of, (Rows, Stacked)):
        return part_of(of, key) if isinstance(of, Rows) else _part_of_stack(of, key)
    if isinstance(of, Unexplained):
        return of
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
    if rows.is_reduced and None in keys:
        return as_one_row(rows)
    first, others = keys[0], keys[1:]
    if first is ...:
        if len(keys) > 1:
            raise NotFollowed
        return rows
    if not isinstance(first, slice) or _is_unexplained(first):
        raise NotFollowed
    if others and others[-1] is ...:
        others = others[:-1]
    if len(others) >= rows.rank:
        raise NotFollowed
    beside = [_beside(rows, axis, part) for axis, part in enumerate(others, 1)]
    dropped = [axis for axis, part in enumerate(others, 1) if isinstance(part, int)]
    cut = rows._replace(
        numbers=rows.numbers[first],
        rank=rows.rank - len(dropped),
        sizes=tuple(size for axis, size in enumerate(rows.sizes, 1) if axis not in dropped) if dropped else rows.sizes,
        is_partly=rows.is_partly or None in beside,
    )
    change = next(filter(None, beside), "")
    return changed(cut, change) if change else cut


def _part_of_stack(of: Stacked, key: Value) -> Rows:
    """`of[i]`, or `of[:, i]` where the parts lie along axis 1."""
    keys = key if type(key) is tuple else (key,)
    if len(keys) != of.axis + 1 or keys[:-1] != (slice(None),) * of.axis:
        raise NotFollowed
    part = _entry(of.parts, keys[-1])
    if not isinstance(part, Rows):
        raise NotFollowed
    return part


def _is_unexplained(key: slice) -> bool:
    return any(isinstance(end, Unexplained) for end in (key.start, key.stop, key.step))


def _beside(rows: Rows, axis: int, key: Value) -> str | None:
    """What a subscript does to an axis that is not the batch; "" for taking all of it, None where nobody can tell."""
    if isinstance(key, int):
        return f"takes one entry of axis {axis}"
    if isinstance(key, Unexplained):
        return None
    if not isinstance(key, slice):
        raise NotFollowed
    return None if _is_unexplained(key) else _part_beside(rows, axis, key)


def _part_beside(rows: Rows, axis: int, key: slice) -> str | None:
    size = rows.sizes[axis - 1]
    if key.step not in {None, 1}:
        return f"reverses axis {axis}" if key.step == -1 else f"steps by {key.step} along axis {axis}"
    if key.start not in {None, 0} and not (isinstance(key.start, int) and key.start <= -size):
        return f"takes a part of axis {axis}"
    if key.stop in {None, size}:
        return ""
    if not rows.has_true_sizes or not isinstance(key.stop, int):
        return None  # a literal size may be all of it
    return "" if key.stop > size else f"takes a part of axis {axis}"


LIST_METHODS = frozenset({"append", "insert", "extend", "reverse"})
"""Those that change a list, and give nothing."""


def attribute(of: Value, name: str) -> Value:
    """`of.name`."""
    if isinstance(of, Named):
        return Named(f"{of.path}.{name}")
    if isinstance(of, Unexplained):
        return of
    if isinstance(of, Rows) and name in {"shape", "_keras_shape"}:
        return static_shape(of)
    if isinstance(of, list) and name in LIST_METHODS:
        return ListMethod(of, name)
    if type(of) is tuple and name in {"ndims", "rank"}:
        return len(of)
    if (isinstance(of, Rows) and name == "get_shape") or (type(of) is tuple and name == "as_list"):
        return ShapeMethod(of, name)
    raise NotFollowed
