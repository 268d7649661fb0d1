"""What moves elements about: axes, joins, cuts, repetitions, and the shapes themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from unnest.core.keras3.lambdas import arrays
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op, shape_of
from unnest.core.keras3.lambdas.operators import slice_of, subscript
from unnest.core.keras3.lambdas.values import (
    CORE,
    LAYERS,
    NUMPY,
    Array,
    Const,
    Items,
    NotUnderstood,
    Size,
    SymbolicTensor,
    Value,
    array,
    constant,
    items,
    operation,
    part,
)
from unnest.core.model import Json

SHAPES = Table()


@SHAPES.known("K.expand_dims", "x axis|dim=-1")
def _backend_expand_dims(call: Bound) -> Value:
    return _widened(call)


def _widened(call: Bound) -> Value:
    if isinstance(call["x"], Array) and call["x"].numbers == "tensor":
        return arrays.widened(call["x"], call.integer("axis"))
    return op(NUMPY, "ExpandDims", call.tensor("x"), axis=call.integer("axis"))


@SHAPES.known("tf.expand_dims", "x|input axis|dim")
def _expand_dims(call: Bound) -> Value:
    return _widened(call)


@SHAPES.known("K.squeeze tf.squeeze", "x|input axis|squeeze_dims")
def _squeeze(call: Bound) -> Value:
    axis = call.axis()
    if axis is None:
        raise NotUnderstood("a squeeze of all axes")
    return op(NUMPY, "Squeeze", call.tensor("x"), axis=axis)


@SHAPES.known("K.reshape tf.reshape", "x|tensor shape")
def _reshape(call: Bound) -> Value:
    """One size of the result may be unknown: it follows from the others, whatever it was computed from."""
    if isinstance(call["x"], Array) and call["x"].numbers == "tensor":
        return arrays.reshaped(call["x"], call.integers("shape"))
    x, sizes = call.tensor("x"), call.sizes("shape")
    unknown = [size for size in sizes if isinstance(size, Size)]
    if len(unknown) == sizes.count(-1) == 1:
        if sizes[0] is unknown[0] and unknown[0].rows == x.rows is not None and _row(x) is None:
            return _rows_reshaped(x, [size for size in sizes[1:] if isinstance(size, int)])
        sizes = [_rest(x, unknown[0], sizes) if size == -1 else size for size in sizes]
    shape = [-1 if isinstance(size, Size) else size for size in sizes]
    if shape.count(-1) > 1 or any(size < -1 for size in shape) or (unknown and 0 in shape):
        raise NotUnderstood("a shape with several unknown sizes")
    reshaped = op(NUMPY, "Reshape", x, newshape=shape)
    if x.rows is None or not _keeps_rows(x, sizes):
        return reshaped
    return replace(reshaped, shape=(None, *shape[1:]), rows=x.rows)


def _rows_reshaped(x: SymbolicTensor, sizes: Sequence[int]) -> Value:
    """Every row by itself in another shape, of which one size (-1) follows from the others: the layer's work."""
    if any(size < -1 or size == 0 for size in sizes):
        raise NotUnderstood("a shape with several unknown sizes")
    made = op(LAYERS, "Reshape", x, target_shape=[*sizes])
    return replace(made, shape=(None, *(None if size == -1 else size for size in sizes)), rows=x.rows)


def _rest(x: SymbolicTensor, rows: Size, sizes: Sequence[int | Size]) -> int:
    """What -1 stands for beside the number of a tensor's own rows: what a row holds, by the sizes that are told."""
    others = math.prod(size for size in sizes if isinstance(size, int) and size != -1)
    row = _row(x)
    if rows.rows is None or rows.rows != x.rows or row is None or others <= 0 or row % others:
        raise NotUnderstood("a shape with several unknown sizes")
    return row // others


def _row(x: SymbolicTensor) -> int | None:
    """How many elements a row of a tensor has."""
    sizes = [size for size in x.shape[1:] if size is not None] if x.shape else []
    return math.prod(sizes) if x.shape and len(sizes) == len(x.shape) - 1 else None


def _keeps_rows(x: SymbolicTensor, sizes: Sequence[int | Size]) -> bool:
    """Whether row k of the result is row k of the tensor: its rows are counted, or hold as much as before."""
    rest = [size for size in sizes[1:] if isinstance(size, int)]
    if len(rest) + 1 != len(sizes) or -1 in rest:
        return False
    first = sizes[0]
    return (isinstance(first, Size) and first.rows == x.rows) or (first == -1 and math.prod(rest) == _row(x))


@SHAPES.known("K.flatten", "x")
def _flatten(call: Bound) -> Value:
    return op(NUMPY, "Reshape", call.tensor("x"), newshape=[-1])


@SHAPES.known("K.permute_dimensions", "x pattern")
def _permute_dimensions(call: Bound) -> Value:
    return op(NUMPY, "Transpose", call.tensor("x"), axes=call.integers("pattern"))


@SHAPES.known("tf.transpose", "x|a pattern|perm * conjugate=false")
def _transpose(call: Bound) -> Value:
    call.only(conjugate=False)
    return op(NUMPY, "Transpose", call.tensor("x"), axes=call.integers("pattern"))


@SHAPES.known("tf.roll", "x|input shift axis")
def _roll(call: Bound) -> Value:
    return op(NUMPY, "Roll", call.tensor("x"), shift=call.integer("shift"), axis=call.integer("axis"))


@SHAPES.known("tf.linalg.band_part tf.matrix_band_part", "x|input num_lower num_upper")
def _band_part(call: Bound) -> Value:
    """Diagonals of the last two axes; all of them on a side where the number is below zero."""
    made = call.floats("x")
    lower, upper = call.integer("num_lower"), call.integer("num_upper")
    if lower < 0 and upper < 0:
        raise NotUnderstood("all of a matrix as its part")
    made = made if upper < 0 else op(NUMPY, "Tril", made, k=upper)
    return made if lower < 0 else op(NUMPY, "Triu", made, k=-lower)


@SHAPES.known("tf.linalg.diag_part tf.matrix_diag_part", "x|input")
def _diag_part(call: Bound) -> Value:
    return op(NUMPY, "Diagonal", call.tensor("x"), offset=0, axis1=-2, axis2=-1)


@SHAPES.known("K.slice tf.slice", "x|input_ begin|start size")
def _slice(call: Bound) -> Value:
    """`size` elements from `begin` on along each axis; all that follow where it is -1."""
    begin, size = call.integers("begin"), call.integers("size")
    if len(begin) != len(size) or min(begin) < 0 or min(size) < -1:
        raise NotUnderstood("the slice")
    ends = [None if length == -1 else start + length for start, length in zip(begin, size, strict=True)]
    keys = [slice_of([constant(start), constant(end)]) for start, end in zip(begin, ends, strict=True)]
    return subscript(call.tensor("x"), items("tuple", keys))


def _joined(class_name: str, call: Bound) -> SymbolicTensor:
    tensors = call.tensors("tensors")
    return operation(NUMPY, class_name, {"axis": call.integer("axis")}, [[each.operand for each in tensors]], tensors)


@SHAPES.known("K.concatenate keras.layers.concatenate", "tensors|inputs axis=-1")
def _backend_concatenate(call: Bound) -> Value:
    return _joined("Concatenate", call)


@SHAPES.known("tf.concat", "tensors|values axis|concat_dim")
def _concat(call: Bound) -> Value:
    return _joined("Concatenate", call)


@SHAPES.known("K.stack tf.stack", "tensors|x|values axis=0")
def _stack(call: Bound) -> Value:
    """Of sizes it is one more way to write a shape, which is an array then."""
    values = call["tensors"]
    if isinstance(values, Items) and not any(isinstance(each, SymbolicTensor) for each in values.items):
        call.only(axis=0)
        call.sizes("tensors")
        return replace(values, kind="stored")
    return _joined("Stack", call)


@SHAPES.known("K.tile tf.tile", "x|input n|multiples")
def _tile(call: Bound) -> Value:
    return op(NUMPY, "Tile", call.tensor("x"), repeats=call.integers("n"))


@SHAPES.known("K.repeat", "x n")
def _repeat(call: Bound) -> Value:
    return op(NUMPY, "Tile", op(NUMPY, "ExpandDims", call.tensor("x"), axis=1), repeats=[1, call.integer("n"), 1])


@SHAPES.known("K.repeat_elements", "x rep axis")
def _repeat_elements(call: Bound) -> Value:
    return op(NUMPY, "Repeat", call.tensor("x"), repeats=call.integer("rep"), axis=call.integer("axis"))


@SHAPES.known("tf.repeat", "x|input repeats axis")
def _repeat_along(call: Bound) -> Value:
    return op(NUMPY, "Repeat", call.tensor("x"), repeats=call.integer("repeats"), axis=call.integer("axis"))


@SHAPES.known("K.reverse tf.reverse", "x|tensor axes|axis")
def _reverse(call: Bound) -> Value:
    axis = call.axis("axes")
    if axis is None:
        raise NotUnderstood("a reversal without axes")
    return op(NUMPY, "Flip", call.tensor("x"), axis=axis)


@SHAPES.known("tf.split", "x|value num_or_size_splits axis=0")
def _split(call: Bound) -> Value:
    x, sections, axis = call.tensor("x"), call["num_or_size_splits"], call.integer("axis")
    if isinstance(sections, Items):
        sizes = call.integers("num_or_size_splits")
        if any(size < 0 for size in sizes) or not sizes:
            raise NotUnderstood("a split in unknown sizes")
        count = len(sizes)
        config: Json = [sum(sizes[: index + 1]) for index in range(count - 1)]
    else:
        count = call.integer("num_or_size_splits")
        config = count
    if not 1 <= count <= MAX_PARTS:
        raise NotUnderstood("a split in many parts")
    split = op(NUMPY, "Split", x, indices_or_sections=config, axis=axis)
    return items("list", [part(split, index) for index in range(count)])


@SHAPES.known("tf.unstack", "x|value num=null axis=0")
def _unstack(call: Bound) -> Value:
    """Python sees as many tensors as the shape says."""
    x, axis = call.tensor("x"), call.integer("axis")
    count = x.shape[axis] if x.shape is not None and -len(x.shape) <= axis < len(x.shape) else None
    if count is None or count > MAX_PARTS or call.axis("num") not in {None, count}:
        raise NotUnderstood("`tf.unstack` of an unknown size")
    unstacked = op(CORE, "Unstack", x, num=count, axis=axis)
    return items("list", [part(unstacked, index) for index in range(count)])


MAX_PARTS = 100


@SHAPES.known("K.zeros_like tf.zeros_like", "x|tensor|input")
def _zeros_like(call: Bound) -> Value:
    x = call.floats("x")
    return replace(op(NUMPY, "ZerosLike", x), shape=x.shape, rows=x.rows)


@SHAPES.known("K.ones_like tf.ones_like", "x|tensor|input")
def _ones_like(call: Bound) -> Value:
    x = call.floats("x")
    return replace(op(NUMPY, "OnesLike", x), shape=x.shape, rows=x.rows)


@SHAPES.known("K.gather", "x|reference indices")
def _backend_gather(call: Bound) -> Value:
    return _taken(call, 0)


@SHAPES.known("tf.gather", "x|params indices * axis=null validate_indices=null batch_dims=0")
def _gather(call: Bound) -> Value:
    call.only(batch_dims=0, validate_indices=None)
    return _taken(call, 0 if call.axis() is None else call.integer("axis"))


def _taken(call: Bound, axis: int) -> Value:
    x, indices = call.tensor("x"), call["indices"]
    if isinstance(indices, SymbolicTensor) and indices.dtype in {"int32", "int64"}:
        return operation(NUMPY, "Take", {"axis": axis}, [x.operand, indices.operand], [x, indices])
    if isinstance(indices, Const):
        index: Json = call.integer("indices")
    else:
        places = array(indices) if isinstance(indices, Array) else call.integers("indices")
        index = {"class_name": "__numpy__", "config": {"value": _whole(places), "dtype": "int32"}}
    return operation(NUMPY, "Take", {"axis": axis}, [x.operand, index], [x])


def _whole(places: Json) -> Json:
    if not isinstance(places, list) or not all(isinstance(place, int) for place in places):
        raise NotUnderstood("indices that are no integers")
    return places


@SHAPES.known("K.batch_flatten", "x")
def _batch_flatten(call: Bound) -> Value:
    x = call.tensor("x")
    if x.shape is None or None in x.shape[1:]:
        raise NotUnderstood("`K.batch_flatten` of an unknown shape")
    return op(NUMPY, "Reshape", x, newshape=[-1, math.prod(size for size in x.shape[1:] if size is not None)])


@SHAPES.known("K.int_shape", "x")
def _int_shape(call: Bound) -> Value:
    return replace(shape_of(call.tensor("x")), kind="tuple")


@SHAPES.known("K.shape", "x")
def _backend_shape(call: Bound) -> Value:
    return replace(shape_of(call.tensor("x")), kind="tensor")


@SHAPES.known("tf.shape", 'x|input out_type="int32"')
def _shape(call: Bound) -> Value:
    if call.dtype("out_type") not in {"int32", "int64"}:
        raise NotUnderstood("a shape of another dtype")
    return replace(shape_of(call.tensor("x")), kind="tensor")


@SHAPES.known("K.ndim", "x")
def _ndim(call: Bound) -> Value:
    return constant(len(shape_of(call.tensor("x")).dimensions))
