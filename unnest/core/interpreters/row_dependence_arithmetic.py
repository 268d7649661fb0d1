"""Arrays that hold the row on which each number of a tensor depends, and calculation with such arrays.

A tensor is an array of `ELEMENT`s: in the place of every number the row that it is made of, `NO_ROW` where it is made
of none. Operations that move numbers move these by their functions in `core/ops`; the effect of computing is here. A
number that would depend on two rows raises `RowsMixed`. Axes along which nothing changes take no memory: they are views
(`np.broadcast_to`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from functools import reduce
from math import prod

import numpy as np

from unnest.core.ops.element_dtype_and_checks import ELEMENT, ZERO, Array, check_size

NO_ROW = ZERO
"""Of a number that is the same in every batch."""

THEIR_NUMBER = 1 << 30
"""Of a number that is made of how many rows there are: as good as a row of its own."""


class RowsMixed(Exception):
    """A number depends on several rows, or on one and on how many there are."""


class RowsMade(Enum):
    """The effect of stored code on its rows, as far as it can be followed."""

    KEPT = "each of its own, where it was"
    MIXED = "rows that depend on each other"
    ONE = "one row that depends on all, a loss say"
    OTHERS = "some of them, or more, or in another order"
    UNKNOWN = "not known; or a number made of all, a loss say"


def every(row: int, shape: Sequence[int]) -> Array:
    """Return an array of `shape`, all of whose numbers depend on one row, or on none."""
    return np.broadcast_to(np.array(row, np.int32).view(ELEMENT), tuple(shape))


def each_its_own(shape: Sequence[int], order: Array | None = None) -> Array:
    """Return an array of `shape` whose entry i along axis 0 depends on row i, or on row order[i]."""
    rows = np.arange(shape[0], dtype=np.int32) if order is None else order.astype(np.int32)
    return np.broadcast_to(rows.view(ELEMENT).reshape(-1, *[1] * (len(shape) - 1)), tuple(shape))


def combined(tensors: Sequence[Array]) -> Array:
    """Row dependence of elementwise results of tensors, which are broadcast. Raises RowsMixed."""
    if len(tensors) == 1:
        return tensors[0]
    shape = np.broadcast_shapes(*(tensor.shape for tensor in tensors))
    parts = [_compact(tensor) for tensor in tensors]
    check_size(prod(np.broadcast_shapes(*(part.shape for part in parts))))
    return np.broadcast_to(_one_row(parts, reduce(np.maximum, parts)).view(ELEMENT), shape)


def along(tensor: Array, axes: Collection[int], *, keepdims: bool = True) -> Array:
    """Row dependence of a reduction along axes, which keep one entry or are dropped. Raises RowsMixed."""
    axes = {axis % tensor.ndim for axis in axes} if tensor.ndim else set()
    part = _compact(tensor)
    is_one = all(part.shape[axis] == 1 for axis in axes)
    one = part if is_one else _one_row([part], part.max(axis=tuple(axes), keepdims=True))
    shape = [1 if axis in axes else size for axis, size in enumerate(tensor.shape)]
    whole = np.broadcast_to(one.view(ELEMENT), shape)
    return (
        whole
        if keepdims
        else whole.reshape([size for axis, size in enumerate(shape) if axis not in axes])
    )


def product(operands: Sequence[tuple[str, Array]], output: str) -> Array:
    """Row dependence of a sum of products, by the letters of the axes (`ij`, `jk` to `ik`). Raises RowsMixed."""
    summed = sorted({letter for letters, _ in operands for letter in letters} - {*output})
    order = [*output, *summed]
    whole = combined([_aligned(letters, tensor, order) for letters, tensor in operands])
    return along(whole, range(len(output), len(order)), keepdims=False) if summed else whole


def _aligned(letters: str, tensor: Array, order: Sequence[str]) -> Array:
    """Return a tensor with its axes in an order, missing ones of size 1; of axes with one letter the diagonal.

    Raises ValueError.
    """
    if len(letters) != tensor.ndim:
        raise ValueError("a letter for every axis")
    own = [letter for letter in order if letter in letters]
    part: Array = np.einsum(f"{letters}->{''.join(own)}", tensor["element"]).view(ELEMENT)
    sizes = iter(part.shape)
    return part.reshape([next(sizes) if letter in own else 1 for letter in order])


def _compact(tensor: Array) -> Array:
    """Return the row numbers with size 1 along axes where all are equal by construction (stride 0)."""
    return np.asarray(tensor["element"])[
        tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.strides)
    ]


def _one_row(parts: Sequence[Array], highest: Array) -> Array:
    if any(np.any((part != highest) & (part != NO_ROW)) for part in parts):
        raise RowsMixed
    return highest
