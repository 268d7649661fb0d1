"""Operations that hand on numbers in another order, or several times: reversals, rolls, repeats, tiles, broadcasts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import Array, check_copy, check_size
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import axis_number, whole_number, whole_numbers
from unnest.core.ops.registry import operation, shape_rule
from unnest.core.ops.shape_arithmetic import (
    axis_of,
    broadcast,
    shape_of,
    whole,
    wholes,
)

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import Size, SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


@operation("reverse", "x axis|axes", Kind.REORDER, nodes={"ReverseV2": "x axis"})
def reverse(x: Value, axis: Value) -> Array:
    """Return the array reversed along the axes."""
    return np.flip(x, tuple(whole_numbers(axis)))


@keras3("K.reverse tf.reverse", "x|tensor axes|axis", theano=Theano.SAME)
def reverse_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a reversal along named axes. Raises Unknown if none is named."""
    axis = call.axis("axes")
    if axis is None:
        raise Unknown("a reversal without axes")
    return call.op("Flip", call.tensor("x"), axis=axis)


@operation("flip", "x|m axis", Kind.REORDER)
def flip(x: Value, axis: Value = None) -> Array:
    """Return the array reversed along the axes; None: along all."""
    return np.flip(x, None if axis is None else tuple(whole_numbers(axis)))


@operation("roll", "x shift axis", Kind.REORDER)
def roll(x: Value, shift: Value, axis: Value = None) -> Array:
    """Return the array rotated along an axis; without one all elements, row-major."""
    array = np.asarray(x)
    check_copy(array)
    if axis is None:
        return np.roll(array, whole_number(shift))
    return np.roll(array, whole_numbers(shift), whole_numbers(axis))


@keras3("tf.roll", "x|input shift axis")
def roll_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return the nodes of a roll, one for each axis. Raises Unknown for other than a shift for each axis."""
    shifts, axes = (
        each if isinstance(each, list) else [each] for each in (call.axis("shift"), call.axis())
    )
    if len(shifts) != len(axes) or None in (*shifts, *axes):
        raise Unknown("other than a shift for each axis")
    made = call.tensor("x")
    for shift, axis in zip(shifts, axes, strict=True):
        made = call.op("Roll", made, shift=shift, axis=axis)
    return made


@operation("rot90", "x k axes", Kind.REPEAT)
def rot90(x: Value, k: Value = 1, axes: Value = (0, 1)) -> Array:
    """Return the array with two axes rotated by k times 90 degrees."""
    first, second = whole_numbers(axes)
    return np.rot90(np.asarray(x), whole_number(k), (first, second))


@operation("repeat repeat_elements", "x repeats|rep axis", Kind.REPEAT)
def repeat(x: Value, repeats: Value, axis: Value = None) -> Array:
    """Return the array with every entry of an axis repeated; `axis` None: every element, flat."""
    array, times = np.asarray(x), whole_numbers(repeats)
    check_size(array.size * max(times, default=0))
    return np.repeat(array, times, None if axis is None else axis_number(axis))


@shape_rule("repeat")
def repeat_shape(x: Value, repeats: Value, axis: Value = None) -> Shape:
    """Shape with one size multiplied."""
    shape = [*shape_of(x)]
    place = axis_of(axis, len(shape))
    size = shape[place]
    shape[place] = None if size is None else size * whole(repeats)
    return tuple(shape)


@keras3("K.repeat_elements", "x rep axis")
def repeat_elements_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.repeat_elements`: every entry of an axis repeated equally often."""
    return call.op(
        "Repeat", call.tensor("x"), repeats=call.integer("rep"), axis=call.integer("axis")
    )


@keras3("tf.repeat", "x|input repeats axis")
def repeat_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a repeat of every entry of an axis, equally often; of its only entry as often as a size says."""
    axis, size = call.integer("axis"), call.size("repeats")
    if size is None:
        repeats = call.integer("repeats")
        return call.op("Repeat", call.tensor("x"), repeats=repeats, axis=axis)
    counts: list[int | Size] = [1] * len(_sizes_of(call))
    counts[axis_of(axis, len(counts))] = size
    return _repeated_by_sizes(call, counts)


@keras3("K.repeat", "x n")
def backend_repeat_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.repeat`: (rows, features) to (rows, n, features); not TensorFlow's function of that name."""
    return call.op(
        "Tile", call.op("ExpandDims", call.tensor("x"), axis=1), repeats=[1, call.integer("n"), 1]
    )


@operation("tile", "x multiples|repeats", Kind.REPEAT)
def tile(x: Value, multiples: Value) -> Array:
    """Return the array repeated as a whole along each axis."""
    array, times = np.asarray(x), whole_numbers(multiples)
    check_size(array.size * prod(times))
    return np.tile(array, times)


@shape_rule("tile")
def tile_shape(x: Value, multiples: Value) -> Shape:
    """Shape of a tile: each size times its multiple. Raises Unknown."""
    shape, times = shape_of(x), wholes(multiples)
    if len(shape) != len(times):
        raise Unknown("how often each axis is repeated")
    return tuple(
        None if size is None else size * count for size, count in zip(shape, times, strict=True)
    )


@keras3("K.tile tf.tile", "x|input n|multiples", theano=Theano.USUALLY)
def tile_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a tile: repeated as a whole along each axis, an only entry as often as a size says."""
    counts = call.sizes("n")
    if call.nested("x") is not None or not all(isinstance(count, int) for count in counts):
        return _repeated_by_sizes(call, counts)
    return call.op("Tile", call.tensor("x"), repeats=call.integers("n"))


def _sizes_of(call: FunctionCall) -> Shape:
    """Return the sizes of `x`, a tensor or a constant array. Raises Unknown."""
    return call.shape(call.tensor("x")).dimensions if call.is_tensor("x") else call.array_sizes("x")


def _repeated_by_sizes(call: FunctionCall, counts: list[int | Size]) -> SymbolicTensor:
    """Return a tensor or constant repeated along each axis; where a size counts, it has one entry. Raises Unknown."""
    sizes = _sizes_of(call)
    if len(sizes) != len(counts):
        raise Unknown("how often each axis is repeated")
    for size, count in zip(sizes, counts, strict=True):
        if not isinstance(count, int) and size != 1:
            raise Unknown("more than one entry, repeated as often as a size that is not known")
    made = call.added_to_zeros("x", counts)
    return call.repeated(made, counts)


@operation("broadcast_to", "x shape|newshape|dims", Kind.REPEAT)
def broadcast_to(x: Value, shape: Value) -> Array:
    """Return the array broadcast to a shape."""
    array, sizes = np.asarray(x), whole_numbers(shape)
    check_size(prod(sizes))
    return np.broadcast_to(array, sizes)


@shape_rule("broadcast_to")
def broadcast_to_shape(x: Value, shape: Value) -> Shape:
    """Shape that a broadcast names. Raises Unknown where the tensor does not fit it."""
    before, sizes = shape_of(x), tuple(wholes(shape))
    if broadcast([before, sizes]) != sizes:
        raise Unknown("a shape to which the tensor is not broadcast")
    return sizes


@keras3("tf.broadcast_to", "x|input shape")
def broadcast_to_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a broadcast to a shape, some sizes of which may be unknown ones of other tensors. Raises Unknown."""
    own, sizes = _sizes_of(call), call.sizes("shape")
    padded = [1] * (len(sizes) - len(own)) + [*own]
    for before, size in zip(padded, sizes, strict=False):
        if isinstance(size, int) and before not in (1, size):
            raise Unknown("a shape to which the tensor may not be broadcast")
    if len(padded) != len(sizes):
        raise Unknown("a shape of fewer axes")
    made = call.added_to_zeros("x", sizes)
    return call.repeated(
        made, [1 if before == size else size for before, size in zip(padded, sizes, strict=True)]
    )
