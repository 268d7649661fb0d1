"""Operations that hand on all numbers of a tensor: in another shape, or with the axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import DataDependent, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array, check_copy
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import whole_number, whole_numbers
from unnest.core.ops.registry import operation, shape_rule
from unnest.core.ops.shape_arithmetic import (
    Sized,
    axes_of,
    axis_of,
    shape_of,
    wholes,
    without_axes,
)

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import (
        ConstantArray,
        Items,
        Size,
        SymbolicTensor,
    )
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


@operation("identity", "x", Kind.MOVE, keeps_shape=True)
def identity(x: Value) -> Array:
    """Return the array unchanged."""
    return np.asarray(x)


@keras3("tf.identity K.identity", "x|input")
def identity_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return the tensor unchanged, without a node."""
    return call.tensor("x")


@operation("ensure_shape", "x sizes|shape", Kind.MOVE, nodes={"EnsureShape": "x"})
def ensure_shape(x: Array, sizes: Value = None) -> Array:
    """Return the array unchanged. Raises ValueError if its sizes are others than those named; None is any."""
    if sizes is not None and not _fits(x.shape, sizes):
        raise ValueError("other sizes")
    return x


@shape_rule("ensure_shape")
def ensured_sizes(x: Value, sizes: Value = None) -> Shape:
    """Return the sizes that either shape knows."""
    shape = shape_of(x)
    if sizes is None or not _fits(shape, sizes):
        return shape
    return tuple(known if size is None else size for known, size in zip(shape, sizes, strict=True))


def _fits(shape: Shape, sizes: Sequence[int | None]) -> bool:
    """Return True if two shapes have as many axes, and no two sizes that differ."""
    pairs = zip(shape, sizes, strict=False)
    return len(shape) == len(sizes) and all(None in pair or pair[0] == pair[1] for pair in pairs)


@keras3("tf.ensure_shape", "x shape")
def ensure_shape_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return the tensor unchanged, where what is checked is known before. Raises Unknown."""
    x, sizes = call.tensor("x"), call.plain_values("shape")
    is_known = (
        x.shape is not None
        and len(x.shape) == len(sizes)
        and all(size in (None, known) for size, known in zip(sizes, x.shape, strict=True))
    )
    if not is_known:
        raise Unknown("a check of sizes that only a run knows")
    return x


@operation("stop_gradient", "x|variables", Kind.MAP)
def stop_gradient(x: Value) -> Array:
    """Return plain numbers unchanged. Raises DataDependent for elements, which are not trained as they were.

    So a tower, or a slice, with it is another computation than one without.
    """
    array = np.asarray(x)
    if array.dtype == ELEMENT:
        raise DataDependent
    return array


@keras3("K.stop_gradient tf.stop_gradient", "x|variables|input")
def stop_gradient_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of Keras 3's own operation of that name."""
    return call.op("StopGradient", call.tensor("x"))


@operation("reshape", "x shape|newshape|dims", Kind.MOVE)
def reshape(x: Value, shape: Value) -> Array:
    """Return the elements, in row-major order, in another shape."""
    return _reshaped(np.asarray(x), whole_numbers(shape))


def _reshaped(x: Array, shape: Sequence[int]) -> Array:
    """Return a view of the same numbers, or a copy if the array's memory is not in order."""
    check_copy(x)
    return np.reshape(x, shape)


@shape_rule("reshape")
def reshape_shape(x: Value, shape: Value) -> Shape:
    """Shape that a reshape names; a size of -1 follows from the tensor's, or becomes None."""
    sizes = wholes(shape)
    others = prod(size for size in sizes if size != -1)
    rest, over = None, 0
    if isinstance(x, Sized) and x.shape is not None and None not in x.shape and others:
        rest, over = divmod(prod(size for size in x.shape if size is not None), others)
    if over and sizes.count(-1) == 1:
        raise Unknown("a shape of another number of elements")
    return tuple(rest if size == -1 else size for size in sizes)


@keras3("K.reshape tf.reshape", "x|tensor shape", theano=Theano.SAME)
def reshape_nodes(call: FunctionCall) -> SymbolicTensor | ConstantArray:
    """Nodes of a reshape; one unknown size may be left, which follows from the others. Raises Unknown."""
    known = call.constant_tensor("x")
    if known is not None:
        return call.array_reshaped(known, call.integers("shape"))
    x, sizes = call.tensor("x"), call.sizes("shape")
    unknown = [size for size in sizes if not isinstance(size, int)]
    if unknown and sizes[0] is unknown[0] and unknown[0].rows == x.rows is not None:
        # The size that is left follows from the row, whatever was written in its place.
        row = [size if isinstance(size, int) else -1 for size in sizes[1:]]
        if row.count(-1) == 1 and (len(unknown) > 1 or _elements_of_row(x) is None):
            return _rows_reshaped(call, x, row)
    if len(unknown) == sizes.count(-1) == 1:
        sizes = [_rest(x, unknown[0], sizes) if size == -1 else size for size in sizes]
    shape = [size if isinstance(size, int) else -1 for size in sizes]
    if shape.count(-1) > 1 or any(size < -1 for size in shape) or (unknown and 0 in shape):
        raise Unknown("a shape with several unknown sizes")
    reshaped = call.op("Reshape", x, newshape=shape)
    if x.rows is None or not _keeps_rows(x, sizes):
        return reshaped
    return replace(reshaped, shape=(None, *shape[1:]), rows=x.rows)


def _rows_reshaped(call: FunctionCall, x: SymbolicTensor, sizes: Sequence[int]) -> SymbolicTensor:
    """Reshape each row by itself, as the layer Reshape does; one size may be -1. The batch axis is kept.

    Raises Unknown.
    """
    if any(size < -1 or size == 0 for size in sizes):
        raise Unknown("a shape with several unknown sizes")
    made = call.layer("Reshape", x, target_shape=[*sizes])
    return replace(
        made, shape=(None, *(None if size == -1 else size for size in sizes)), rows=x.rows
    )


def _rest(x: SymbolicTensor, rows: Size, sizes: Sequence[int | Size]) -> int:
    """Return the size for -1 beside the number of rows: the size of one row, by the sizes that are known.

    Raises Unknown.
    """
    others = prod(size for size in sizes if isinstance(size, int) and size != -1)
    row = _elements_of_row(x)
    if rows.rows is None or rows.rows != x.rows or row is None or others <= 0 or row % others:
        raise Unknown("a shape with several unknown sizes")
    return row // others


def _elements_of_row(x: SymbolicTensor) -> int | None:
    """Return the number of elements in a row of a tensor; None if unknown."""
    sizes = [size for size in x.shape[1:] if size is not None] if x.shape else []
    return prod(sizes) if x.shape and len(sizes) == len(x.shape) - 1 else None


def _keeps_rows(x: SymbolicTensor, sizes: Sequence[int | Size]) -> bool:
    """True if row k of the result is row k of the tensor: its rows are counted, or hold as much as before."""
    rest = [size for size in sizes[1:] if isinstance(size, int)]
    if len(rest) + 1 != len(sizes) or -1 in rest:
        return False
    first = sizes[0]
    if isinstance(first, int):
        return first == -1 and prod(rest) == _elements_of_row(x)
    return first.rows == x.rows


@operation("flatten", "x", Kind.MOVE)
def flatten(x: Value) -> Array:
    """Return all elements along one axis."""
    return _reshaped(np.asarray(x), [-1])


@keras3("K.flatten", "x", theano=Theano.SAME)
def flatten_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes that put all elements along one axis."""
    return call.op("Reshape", call.tensor("x"), newshape=[-1])


@operation("batch_flatten", "x", Kind.MOVE)
def batch_flatten(x: Value) -> Array:
    """Return the elements of each entry of axis 0 along one axis."""
    array = np.asarray(x)
    return _reshaped(array, [len(array), prod(array.shape[1:])])


@keras3("K.batch_flatten", "x", theano=Theano.SAME)
def batch_flatten_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.batch_flatten`: the elements of each row along one axis. Raises Unknown for an unknown shape."""
    x = call.tensor("x")
    if x.shape is None or None in x.shape[1:]:
        raise Unknown("`K.batch_flatten` of an unknown shape")
    return call.op(
        "Reshape", x, newshape=[-1, prod(size for size in x.shape[1:] if size is not None)]
    )


@operation("expand_dims", "x axis", Kind.MOVE)
def expand_dims(x: Value, axis: Value) -> Array:
    """Return the array with a new axis of size 1."""
    return np.expand_dims(x, whole_number(axis))


@shape_rule("expand_dims")
def expand_dims_shape(x: Value, axis: Value) -> Shape:
    """Shape with a new axis of size 1."""
    shape = shape_of(x)
    place = axis_of(axis, len(shape) + 1)
    return (*shape[:place], 1, *shape[place:])


@keras3("K.expand_dims", "x axis|dim=-1", theano=Theano.SAME)
def backend_expand_dims_nodes(call: FunctionCall) -> SymbolicTensor | ConstantArray | Items:
    """Nodes of `K.expand_dims`, whose default is the last axis."""
    return expand_dims_nodes(call)


@keras3("tf.expand_dims", "x|input axis|dim")
def expand_dims_nodes(call: FunctionCall) -> SymbolicTensor | ConstantArray | Items:
    """Nodes of a new axis of size 1, of a tensor or a constant array; of a size a list that holds it."""
    if call.size("x") is not None and call.integer("axis") in {0, -1}:
        return replace(call.list_of([call["x"]]), kind="stored")
    known = call.constant_tensor("x") or call.whole_numbers("x")
    if known is not None:
        return call.array_with_axis(known, call.integer("axis"))
    return call.op("ExpandDims", call.tensor("x"), axis=call.integer("axis"))


@operation("squeeze", "x axis|squeeze_dims", Kind.MOVE, nodes={"Squeeze": "x @squeeze_dims:axis"})
def squeeze(x: Value, axis: Value = None) -> Array:
    """Return the array without these axes of size 1; `axis` None: without all of them."""
    return np.squeeze(np.asarray(x), None if axis is None else tuple(whole_numbers(axis)))


@shape_rule("squeeze")
def squeeze_shape(x: Value, axis: Value = None) -> Shape:
    """Shape without the named axes. Raises Unknown if no axis is named, as not every size is known."""
    if axis is None:
        raise Unknown("which axes have one entry")
    shape = shape_of(x)
    axes = axes_of(axis, len(shape))
    if any(shape[each] not in (1, None) for each in axes):
        raise Unknown("an axis of more than one entry is squeezed")
    return without_axes(shape, axes)


@keras3("K.squeeze tf.squeeze", "x|input axis|squeeze_dims", theano=Theano.SAME)
def squeeze_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a squeeze of named axes. Raises Unknown if none is named."""
    axis = call.axis()
    if axis is None:
        raise Unknown("a squeeze of all axes")
    return call.op("Squeeze", call.tensor("x"), axis=axis)


@operation("transpose permute_dimensions", "x perm|axes|pattern", Kind.MOVE)
def transpose(x: Value, perm: Value = None) -> Array:
    """Return the array with its axes permuted; reversed by default."""
    return np.transpose(x, None if perm is None else whole_numbers(perm))


@shape_rule("transpose")
def transpose_shape(x: Value, perm: Value = None) -> Shape:
    """Shape with its sizes permuted. Raises Unknown."""
    shape = shape_of(x)
    axes = [*range(len(shape))][::-1] if perm is None else axes_of(wholes(perm), len(shape))
    if sorted(axes) != [*range(len(shape))]:
        raise Unknown("the order of the axes")
    return tuple(shape[axis] for axis in axes)


@keras3("K.permute_dimensions", "x pattern", theano=Theano.SAME)
def permute_dimensions_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.permute_dimensions`, a transposition."""
    return call.op("Transpose", call.tensor("x"), axes=call.integers("pattern"))


@keras3("tf.transpose", "x|a pattern|perm * conjugate=false")
def transpose_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a transposition by a permutation that the call names."""
    call.only(conjugate=False)
    return call.op("Transpose", call.tensor("x"), axes=call.integers("pattern"))


@operation("swapaxes", "x axis1 axis2", Kind.MOVE)
def swapaxes(x: Value, axis1: Value, axis2: Value) -> Array:
    """Return the array with two axes exchanged."""
    return np.swapaxes(x, whole_number(axis1), whole_number(axis2))


@shape_rule("swapaxes")
def swapaxes_shape(x: Value, axis1: Value, axis2: Value) -> Shape:
    """Shape with two sizes exchanged."""
    shape = [*shape_of(x)]
    one, other = axis_of(axis1, len(shape)), axis_of(axis2, len(shape))
    shape[one], shape[other] = shape[other], shape[one]
    return tuple(shape)


@operation("matrix_transpose adjoint", "x|matrix", Kind.MOVE)
def matrix_transpose(x: Value) -> Array:
    """Return the array with its last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


@shape_rule("matrix_transpose")
def matrix_transpose_shape(x: Value) -> Shape:
    """Shape with its last two sizes exchanged. Raises Unknown."""
    *batch, rows, columns = shape_of(x)
    return (*batch, columns, rows)


@keras3("tf.linalg.matrix_transpose tf.matrix_transpose", "x|a * conjugate=false")
def matrix_transpose_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of an exchange of the last two axes."""
    call.only(conjugate=False)
    return call.op("Swapaxes", call.tensor("x"), axis1=-2, axis2=-1)


@keras3("tf.linalg.adjoint", "x|matrix")
def adjoint_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of the same of real numbers, which have no imaginary part to be negated."""
    return call.op("Swapaxes", call.tensor("x"), axis1=-2, axis2=-1)


@operation("moveaxis", "x source destination", Kind.MOVE)
def moveaxis(x: Value, source: Value, destination: Value) -> Array:
    """Return the array with axes moved, the others in their order."""
    return np.moveaxis(x, whole_numbers(source), whole_numbers(destination))
