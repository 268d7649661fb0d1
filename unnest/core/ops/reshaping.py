"""Operations that hand on all numbers of a tensor: in another shape, another order, or several times."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from unnest.core.ops.call import Value
from unnest.core.ops.elements import Array, axis_number, check_copy, check_size, whole_number, whole_numbers
from unnest.core.ops.registry import Kind, operation


@operation("identity", "x", Kind.MOVE, keeps_shape=True)
def identity(x: Value) -> Array:
    """A tensor as it is."""
    return np.asarray(x)


@operation("stop_gradient", "x|variables", Kind.MAP)
def stop_gradient(x: Value) -> Array:
    """A tensor as it is, which trains nothing behind it: another computation than one without."""
    return np.asarray(x)


@operation("reshape", "x shape|newshape|dims", Kind.MOVE)
def reshape(x: Value, shape: Value) -> Array:
    """The same numbers, row-major, in another shape."""
    return _reshaped(np.asarray(x), whole_numbers(shape))


def _reshaped(x: Array, shape: Sequence[int]) -> Array:
    """A view of the same numbers, or a copy where that is none: of an array whose memory is not in order."""
    check_copy(x)
    return np.reshape(x, shape)


@operation("flatten", "x", Kind.MOVE)
def flatten(x: Value) -> Array:
    """All numbers along one axis."""
    return _reshaped(np.asarray(x), [-1])


@operation("batch_flatten", "x", Kind.MOVE)
def batch_flatten(x: Value) -> Array:
    """All numbers of each entry of the first axis along one axis."""
    array = np.asarray(x)
    return _reshaped(array, [len(array), prod(array.shape[1:])])


@operation("expand_dims", "x axis", Kind.MOVE)
def expand_dims(x: Value, axis: Value) -> Array:
    """A new axis of one entry."""
    return np.expand_dims(x, whole_number(axis))


@operation("squeeze", "x axis", Kind.MOVE, nodes={"Squeeze": "x @squeeze_dims:axis"})
def squeeze(x: Value, axis: Value = None) -> Array:
    """Without axes of one entry."""
    return np.squeeze(np.asarray(x), None if axis is None else tuple(whole_numbers(axis)))


@operation("transpose permute_dimensions", "x perm|axes|pattern", Kind.MOVE)
def transpose(x: Value, perm: Value = None) -> Array:
    """Axes in another order, reversed where none is given."""
    return np.transpose(x, None if perm is None else whole_numbers(perm))


@operation("swapaxes", "x axis1 axis2", Kind.MOVE)
def swapaxes(x: Value, axis1: Value, axis2: Value) -> Array:
    """Two axes in each other's place."""
    return np.swapaxes(x, whole_number(axis1), whole_number(axis2))


@operation("moveaxis", "x source destination", Kind.MOVE)
def moveaxis(x: Value, source: Value, destination: Value) -> Array:
    """Axes in other places, the others in their order."""
    return np.moveaxis(x, whole_numbers(source), whole_numbers(destination))


@operation("reverse", "x axis|axes", Kind.REORDER, nodes={"ReverseV2": "x axis"})
def reverse(x: Value, axis: Value) -> Array:
    """Entries of some axes from the last to the first."""
    return np.flip(x, tuple(whole_numbers(axis)))


@operation("flip", "x|m axis", Kind.REORDER)
def flip(x: Value, axis: Value = None) -> Array:
    """The same, of all axes where none is given."""
    return np.flip(x, None if axis is None else tuple(whole_numbers(axis)))


@operation("roll", "x shift axis", Kind.REORDER)
def roll(x: Value, shift: Value, axis: Value = None) -> Array:
    """Entries of an axis some places further, around its end; of all numbers, row-major, where none is given."""
    array = np.asarray(x)
    check_copy(array)
    if axis is None:
        return np.roll(array, whole_number(shift))
    return np.roll(array, whole_numbers(shift), whole_numbers(axis))


@operation("rot90", "x k axes", Kind.REPEAT)
def rot90(x: Value, k: Value = 1, axes: Value = (0, 1)) -> Array:
    """Two axes turned by k quarters of a circle."""
    first, second = whole_numbers(axes)
    return np.rot90(np.asarray(x), whole_number(k), (first, second))


@operation("repeat repeat_elements", "x repeats|rep axis", Kind.REPEAT)
def repeat(x: Value, repeats: Value, axis: Value = None) -> Array:
    """Every entry of an axis several times, or every number."""
    array, times = np.asarray(x), whole_numbers(repeats)
    check_size(array.size * max(times, default=0))
    return np.repeat(array, times, None if axis is None else axis_number(axis))


@operation("tile", "x multiples|repeats", Kind.REPEAT)
def tile(x: Value, multiples: Value) -> Array:
    """All entries of an axis several times in turn."""
    array, times = np.asarray(x), whole_numbers(multiples)
    check_size(array.size * prod(times))
    return np.tile(array, times)


@operation("broadcast_to", "x shape|newshape|dims", Kind.REPEAT)
def broadcast_to(x: Value, shape: Value) -> Array:
    """Axes of one entry as long as a shape has them."""
    array, sizes = np.asarray(x), whole_numbers(shape)
    check_size(prod(sizes))
    return np.broadcast_to(array, sizes)
