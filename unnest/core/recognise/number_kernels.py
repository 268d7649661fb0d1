"""What operations compute of plain numbers (shapes, bounds, masks), as TensorFlow does; of rows nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unnest.core.recognise.elements import (
    ELEMENT,
    Array,
    ByContents,
    arrays_in,
    axis_number,
    check_size,
    whole_number,
    whole_numbers,
)
from unnest.core.recognise.joining_kernels import overlaid
from unnest.core.recognise.op_calls import UnreadableCall, Value


def _truncated(x: Array, y: Array) -> Array:
    """A division of whole numbers towards zero; of others the plain one."""
    return np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x / y


ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "add": np.add, "addv2": np.add, "sub": np.subtract, "subtract": np.subtract, "mul": np.multiply,
    "multiply": np.multiply, "scalarmul": np.multiply, "floordiv": np.floor_divide, "floordivide": np.floor_divide,
    "realdiv": np.true_divide, "truediv": np.true_divide, "truedivide": np.true_divide, "divide": np.true_divide,
    "div": _truncated, "truncatediv": _truncated, "floormod": np.mod, "mod": np.mod, "remainder": np.mod,
    "minimum": np.minimum, "maximum": np.maximum, "floor": np.floor, "ceil": np.ceil, "round": np.round,
    "neg": np.negative, "negative": np.negative, "equal": np.equal, "less": np.less, "lessequal": np.less_equal,
    "greater": np.greater, "greaterequal": np.greater_equal, "rightshift": np.right_shift, "leftshift": np.left_shift,
    "bitwiserightshift": np.right_shift, "bitwiseleftshift": np.left_shift,
}  # fmt: skip
"""Arithmetic on plain numbers."""


def elementwise(name: str, operands: Sequence[Value]) -> Array:
    """Arithmetic on numbers; of rows only a sum of such as are scattered. Raises ByContents, UnreadableCall."""
    operands = [x for x in operands if x is not None]
    arrays = [np.asarray(x) for x in operands]
    if any(a.dtype == ELEMENT for a in arrays):
        if ELEMENTWISE[name] is not np.add:
            raise ByContents
        return overlaid(arrays)
    if any(a.dtype.kind not in "iufb" for a in arrays):
        raise UnreadableCall
    check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in arrays)), dtype=np.int64)))
    # A bare number takes the type of the array beside it, as it does in TensorFlow.
    typed = next((x.dtype for x in operands if isinstance(x, np.ndarray)), None)
    if typed is not None and (typed.kind == "f" or all(a.dtype.kind != "f" for a in arrays)):
        arrays = [a.astype(typed) for a in arrays]
    return np.asarray(ELEMENTWISE[name](*arrays))


def cast(x: Value, dtype: Value) -> Array:
    """Numbers of another type. Raises ByContents for rows, whose values may change, and UnreadableCall."""
    array, name = np.asarray(x), str(dtype).lower().removeprefix("dt_")
    if array.dtype == ELEMENT:
        raise ByContents
    known = {"bool": np.bool_, "half": np.float16, "float16": np.float16, "double": np.float64, "float64": np.float64}
    if name in known:
        return array.astype(known[name])
    if name in ("float", "float32", "bfloat16"):
        return array.astype(np.float32)
    if "int" in name:
        return array.astype(np.int64)
    raise UnreadableCall


def converted(x: Value, dtype: Value = None) -> Array:
    """An array, of that type where one is named."""
    return np.asarray(x) if dtype is None else cast(x, dtype)


def arange(start: Value, limit: Value = None, delta: Value = 1, dtype: Value = None) -> Array:
    """`range(start, limit, delta)`, or from 0 to what is given alone."""
    first, last = (0, start) if limit is None else (start, limit)
    numbers = [np.asarray(v).reshape(()) for v in (first, last, 1 if delta is None else delta)]
    if any(n.dtype.kind not in "iuf" for n in numbers):
        raise UnreadableCall
    check_size(int(abs(numbers[1] - numbers[0]) / max(abs(float(numbers[2])), 1e-9)))
    found = np.arange(*(n.item() for n in numbers))
    return found if dtype is None else cast(found, dtype)


def linspace(start: Value, limit: Value, num: Value, endpoint: Value = True) -> Array:
    """So many numbers at equal distances, the limit the last of them."""
    first, last, count = np.asarray(start), np.asarray(limit), whole_number(num)
    if not endpoint or any(n.ndim or n.dtype.kind not in "iuf" for n in (first, last)):
        raise UnreadableCall
    check_size(count)
    return np.linspace(first.item(), last.item(), count)


def filled(shape: Value, value: Value = 0, dtype: Value = None) -> Array:
    """An array of one number."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    del dtype
    return np.full(dims, np.asarray(value))


def filled_like(x: Value, value: int, dtype: Value = None) -> Array:
    """An array of one number, as large as another."""
    return cast(np.full(np.shape(x), value, np.int64), dtype or "int64")


def reduction(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function along axes, of numbers alone."""

    def reduced(x: Value, axis: Value = None, keepdims: Value = False) -> Array:
        array = np.asarray(x)
        if array.dtype == ELEMENT:
            raise ByContents
        axes = None if axis is None else tuple(whole_numbers(axis))
        return np.asarray(function(array, axis=axes, keepdims=bool(keepdims)))

    return reduced


def cumsum(x: Value, axis: Value = 0, exclusive: Value = False, reverse: Value = False) -> Array:
    """Sums of numbers so far along an axis."""
    array = np.asarray(x)
    if array.dtype == ELEMENT:
        raise ByContents
    if reverse:
        raise UnreadableCall
    sums = np.cumsum(array, axis_number(axis))
    return sums - array if exclusive else sums


def where(mask: Value, y: Value = None, z: Value = None) -> Array:
    """Numbers of `y` where the mask is true, else of `z`; the places where it is true, if neither is given."""
    condition = np.asarray(mask)
    if any(a.dtype == ELEMENT for a in (condition, *arrays_in(y), *arrays_in(z))):
        raise ByContents
    if y is None and z is None:
        return np.asarray(np.argwhere(condition))
    check_size(int(np.prod(np.broadcast_shapes(condition.shape, np.shape(y), np.shape(z)), dtype=np.int64)))
    return np.asarray(np.where(condition, y, z))


def logical(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of truth values or numbers, of one array or of two."""

    def combined(x: Value, y: Value = None) -> Array:
        operands = [np.asarray(v) for v in (x, y) if v is not None]
        if any(a.dtype == ELEMENT for a in operands):
            raise ByContents
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in operands)), dtype=np.int64)))
        return np.asarray(function(*operands))

    return combined
