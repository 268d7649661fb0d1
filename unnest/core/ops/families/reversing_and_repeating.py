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
    """Nodes of a repeat of every entry of an axis, equally often."""
    return call.op(
        "Repeat", call.tensor("x"), repeats=call.integer("repeats"), axis=call.integer("axis")
    )


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
    """Nodes of a tile: the tensor repeated as a whole along each axis, or a constant once for each row."""
    if call.nested("x") is not None:
        return _constant_for_each_row(call, call.sizes("n"))
    return call.op("Tile", call.tensor("x"), repeats=call.integers("n"))


def _constant_for_each_row(call: FunctionCall, repeats: list[int | Size]) -> SymbolicTensor:
    """Return a constant of one row, for as many rows as a size counts, repeated along other axes. Raises Unknown."""
    whole = call.whole_numbers("x")
    constant = call.float_array("x") if whole is None else whole
    sizes = call.array_sizes(constant)
    if not repeats or isinstance(repeats[0], int) or sizes[0] != 1 or len(sizes) != len(repeats):
        raise Unknown("a constant that is not repeated for each row of a tensor")
    zeros = call.zeros_of_rows(repeats[0], len(repeats))
    made = (
        call.calculate("Add", zeros, constant)
        if whole is None
        else call.integers_added(zeros, constant)
    )
    return call.repeated(made, repeats[1:])


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
    """Nodes of a constant that is broadcast to a row for each of a tensor's. Raises Unknown for anything else."""
    if call.is_tensor("x"):
        raise Unknown("a tensor that is broadcast to a shape")
    constant, sizes = call.float_array("x"), call.sizes("shape")
    own = call.array_sizes(constant)
    padded = [1] * (len(sizes) - len(own)) + [*own]
    pairs = [*zip(padded, sizes, strict=False)][1:]
    is_wider = all(isinstance(size, int) and before in (1, size) for before, size in pairs)
    if not sizes or isinstance(sizes[0], int) or len(padded) != len(sizes) or padded[0] != 1:
        raise Unknown("a constant that is not repeated for each row of a tensor")
    if not is_wider:
        raise Unknown("a shape to which the constant is not broadcast")
    made = call.calculate("Add", call.zeros_of_rows(sizes[0], len(sizes)), constant)
    return call.repeated(made, [size if before == 1 else 1 for before, size in pairs])
