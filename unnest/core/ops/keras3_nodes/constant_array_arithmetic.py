"""Arithmetic on constant arrays, computed here as NumPy or TensorFlow computed it there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType

import numpy as np
from numpy.typing import NDArray

from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    MAX_CONSTANT_ELEMENTS,
    NUMPY_DTYPES,
    ArrayKind,
    Const,
    ConstantArray,
    Items,
    SliceOf,
    SymbolicValue,
    holds_fractions,
    nested_numbers,
    number,
)

EXACT = 2**53
"""Integers up to here are floats of 64 bits, too."""

ARITHMETIC_SYMBOLS = frozenset({"+", "-", "*", "/"})


def rounded_array(nested: object, array_kind: ArrayKind, text: str = "") -> ConstantArray:
    """Return an array of those numbers, rounded as its dtype rounds them.

    Raises:
        Unknown: Where its size, or a number in it, is beyond what is computed here.

    """
    with np.errstate(all="ignore"):
        values = np.asarray(nested, NUMPY_DTYPES[array_kind])
    if not 0 < values.size <= MAX_CONSTANT_ELEMENTS:
        raise Unknown("the shape of an array")
    if not np.isfinite(values).all() or (array_kind == "int64" and (np.abs(values) > EXACT).any()):
        raise Unknown("an impossible calculation")
    return ConstantArray(values.tolist(), text, numbers=array_kind)


def holds_floats(nested: object) -> bool:
    """Return True if there is a float among nested lists of numbers, so that NumPy makes an array of floats."""
    return any(map(holds_floats, nested)) if isinstance(nested, list) else isinstance(nested, float)


def arithmetic(symbol: str, left: SymbolicValue, right: SymbolicValue) -> ConstantArray | None:
    """Return `left symbol right` of arrays of one kind, or of an array and a number; None if that is not known.

    `classic /` is Python 2's, which is no division of floats on integers.
    """
    written = symbol.removeprefix("classic ")
    kinds = {side.numbers for side in (left, right) if isinstance(side, ConstantArray)}
    if written not in ARITHMETIC_SYMBOLS or None in kinds or ("tensor" in kinds and len(kinds) > 1):
        return None
    first, second = _operand(left, kinds), _operand(right, kinds)
    if first is None or second is None or not _fits(first, second):
        return None
    are_integers = first.dtype.kind == second.dtype.kind == "i"
    if are_integers and symbol == "classic /":
        return None
    with np.errstate(all="ignore"):
        value = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide}[written](
            first, second
        )
    numbers: ArrayKind = "tensor" if "tensor" in kinds else _numbers_of(value)
    return rounded_array(value, numbers)


def _operand(side: SymbolicValue, kinds: set[ArrayKind | None]) -> NDArray[np.generic] | None:
    if isinstance(side, ConstantArray) and side.numbers is not None:
        return np.asarray(side.value, NUMPY_DTYPES[side.numbers])
    plain = number(side)
    if plain is None or abs(plain) > EXACT:
        return None
    # Beside an array of floats a number is one of its dtype; a float makes floats of integers.
    floats = [kind for kind in kinds if kind is not None and kind != "int64"]
    return np.asarray(plain, NUMPY_DTYPES[floats[0]] if floats else None)


def _fits(first: NDArray[np.generic], second: NDArray[np.generic]) -> bool:
    try:
        return math.prod(np.broadcast_shapes(first.shape, second.shape)) <= MAX_CONSTANT_ELEMENTS
    except ValueError:
        return False


def _numbers_of(value: NDArray[np.generic]) -> ArrayKind:
    if value.dtype.kind == "i":
        return "int64"
    return "float32" if value.dtype.itemsize == NUMPY_DTYPES["float32"].itemsize else "float64"


def negative(value: ConstantArray) -> ConstantArray | None:
    """Return `-value`; None if that is not known."""
    return (
        None if value.numbers is None else rounded_array(np.negative(_numpy(value)), value.numbers)
    )


def part(value: ConstantArray, keys: Sequence[SymbolicValue]) -> ConstantArray | None:
    """Return `value[keys]` by slices, new axes and dots; None for other keys, or if the result is a single number."""
    plain: list[slice | EllipsisType | None] = []
    for key in keys:
        if isinstance(key, SliceOf):
            plain.append(slice(*key.ends))
        elif isinstance(key, Const) and (key.value is None or key.value is ...):
            plain.append(key.value)
        else:
            return None
    if value.numbers is None:
        return None
    try:
        return rounded_array(_numpy(value)[tuple(plain)], value.numbers)
    except (IndexError, ValueError):
        return None


def reshaped(value: ConstantArray, shape: Sequence[int]) -> ConstantArray:
    """Return the numbers of an array, in row-major order, in another shape; one size may be -1. Raises Unknown."""
    try:
        return rounded_array(_numpy(value).reshape(tuple(shape)), value.numbers or "float64")
    except (TypeError, ValueError) as error:
        raise Unknown("the shape of an array") from error


def widened(value: ConstantArray, axis: int) -> ConstantArray:
    """Return the array with a new axis of size 1 at `axis`; whole numbers stay such. Raises Unknown."""
    try:
        if value.numbers is None and not holds_fractions(value.value):
            made = np.expand_dims(np.asarray(value.value), axis)
            return ConstantArray(made.tolist(), value.text)
        return rounded_array(np.expand_dims(_numpy(value), axis), value.numbers or "float64")
    except ValueError as error:
        raise Unknown("the axis of an array") from error


def _numpy(value: ConstantArray) -> NDArray[np.generic]:
    return np.asarray(value.value, NUMPY_DTYPES[value.numbers or "float64"])


def of_value(value: SymbolicValue, array_kind: ArrayKind | None, text: str = "") -> ConstantArray:
    """Return a list or array of numbers as an array; without a dtype, float64 if one of them is a float.

    What comes from JSON may have been an array of any dtype, and stays one.

    Raises:
        Unknown: For anything else.

    """
    nested = nested_numbers(value)
    if nested is None:
        raise Unknown("an array that does not hold numbers alone")
    own = value.numbers if isinstance(value, ConstantArray) else None
    is_stored = isinstance(value, ConstantArray) or (
        isinstance(value, Items) and value.kind == "stored"
    )
    if array_kind is None and own is None and is_stored:
        return ConstantArray(nested, text)
    told: ArrayKind = "float64" if holds_floats(nested) else "int64"
    if own is not None:
        told = "float32" if own == "tensor" else own
    return rounded_array(nested, array_kind or told, text)
