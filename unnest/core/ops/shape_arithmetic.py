"""Shapes of tensors, of which some sizes are known only when a model runs, and how they combine.

A rule below an operation's entry gives the shape of its result. It is called as the NumPy function is, with a `Sized`
in the place of each tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unnest.core.model import Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import (
    Array,
)


class Sized(NamedTuple):
    """A tensor among the arguments of a call, its shape None where that is not known.

    Tensors with the same number for `rows` have equally many rows, though the batch size is not known.
    """

    shape: Shape | None
    rows: int | None = None


def shape_of(value: Value) -> Shape:
    """Return the shape of an operand: a tensor, a number, an array, or nested lists of numbers.

    Raises:
        Unknown: For a tensor of unknown shape, and for other values.

    """
    if isinstance(value, Sized):
        if value.shape is None:
            raise Unknown("the shape of a tensor")
        return value.shape
    if isinstance(value, np.ndarray):
        return tuple(map(int, value.shape))
    if isinstance(value, list):
        return (len(value), *(shape_of(value[0]) if value else ()))
    if isinstance(value, bool | int | float):
        return ()
    raise Unknown("the shape of an argument that is no tensor")


def shapes_of(values: Value) -> list[Shape]:
    """Return the shapes of the tensors in a list. Raises Unknown."""
    if not isinstance(values, list) or not values:
        raise Unknown("the tensors in a list")
    return [shape_of(each) for each in values]


def whole(value: Value) -> int:
    """Return a whole number. Raises Unknown."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise Unknown("a whole number")
    return int(value)


def wholes(value: Value) -> list[int]:
    """Return a list of whole numbers. Raises Unknown."""
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | Sized):
        raise Unknown("a list of whole numbers")
    return [whole(each) for each in value]


def axes_of(value: Value, rank: int) -> list[int]:
    """Return one axis, several, or all (None), counted from the front. Raises Unknown."""
    axes = (
        [*range(rank)]
        if value is None
        else [whole(value)]
        if isinstance(value, int)
        else wholes(value)
    )
    if not all(-rank <= axis < rank for axis in axes):
        raise Unknown("an axis that the tensor does not have")
    return [axis % rank for axis in axes]


def axis_of(value: Value, rank: int) -> int:
    """Return one axis, counted from the front. Raises Unknown."""
    (axis,) = axes_of(whole(value), rank)
    return axis


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the shape of all together: axes meet from the last one back, an axis of one is as long as any other.

    Of two sizes, one of them unknown, the other counts if it is more than 1. Raises Unknown.
    """
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(_wider({shape[axis] for shape in padded} - {1}) for axis in range(rank))


def _wider(sizes: set[int | None]) -> int | None:
    return common_size(sizes) if sizes else 1


def common_size(sizes: set[int | None]) -> int | None:
    """Return the size that several axes must have, which some of them tell. Raises Unknown."""
    known = sizes - {None}
    if len(known) > 1:
        raise Unknown("sizes that should be one and differ")
    return known.pop() if known else None


def without_axes(shape: Shape, axes: Sequence[int], *, keepdims: bool = False) -> Shape:
    """Return a shape without some axes, or with one entry along each of them."""
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def stacked(shapes: Sequence[Shape]) -> Shape:
    """Return the shape that tensors of one shape have, as far as any of them shows it. Raises Unknown."""
    if len({len(shape) for shape in shapes}) > 1:
        raise Unknown("tensors of different numbers of axes")
    return tuple(common_size({shape[axis] for shape in shapes}) for axis in range(len(shapes[0])))


def concatenated_shape(shapes: Sequence[Shape], axis: int) -> Shape:
    """Return the shape of tensors one behind the other along an axis. Raises Unknown."""
    if len({len(shape) for shape in shapes}) > 1:
        raise Unknown("tensors of different numbers of axes")
    sizes = [shape[axis] for shape in shapes]
    length = None if None in sizes else sum(size for size in sizes if size is not None)
    rest = stacked([without_axes(shape, [axis]) for shape in shapes])
    return (*rest[:axis], length, *rest[axis:])


CHANNELS_LAST = "channels_last"
IMAGE_RANK = 4


def image_sizes(value: Value, data_format: Value) -> Shape:
    """Return the shape of images, (batch, height, width, channels). Raises Unknown for another order of axes."""
    shape = shape_of(value)
    if len(shape) != IMAGE_RANK or data_format not in (CHANNELS_LAST, "NHWC"):
        raise Unknown("images of another shape than (batch, height, width, channels)")
    return shape


def truncated_quotient(x: Array, y: Array) -> Array:
    """Return x / y; of whole numbers towards zero."""
    return (
        np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x / y
    )


def whole_quotient(x: Array, y: Array) -> Array:
    """Return x / y towards zero, of fractions too."""
    quotient = np.trunc(x / y)
    return quotient.astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else quotient
