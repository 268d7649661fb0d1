"""Operations that take entries out of a tensor: slices, splits, gathers, masks, partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import Array, check_copy, check_size
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import axis_number, whole_number, whole_numbers
from unnest.core.ops.registry import operation, shape_rule
from unnest.core.ops.shape_arithmetic import axis_of, shape_of, whole

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import Items, SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

MAX_SPLIT_PARTS = 4096
"""Of one split."""


MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
"""The bits of a strided slice."""


@operation("__getitem__", "x key|slice_spec", Kind.SLICE)
def get_item(x: Value, key: Value) -> Array:
    """Return `x[key]` for numbers, slices and new axes."""
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    plain = [k if k is None or k is ... or isinstance(k, slice) else whole_number(k) for k in keys]
    return np.asarray(np.asarray(x)[tuple(plain)])


@shape_rule("__getitem__")
def get_item_shape(x: Value, key: Value) -> Shape:
    """Shape of `x[key]`: a number drops an axis, a slice keeps it, None adds one, an ellipsis stands for the others.

    Raises Unknown.
    """
    shape, keys = shape_of(x), list(key) if isinstance(key, list | tuple) else [key]
    used = sum(each is not None and each is not ... for each in keys)
    if used > len(shape):
        raise Unknown("more subscripts than axes")
    sizes: list[int | None] = []
    axes = iter(shape)
    for each in keys:
        if each is None:
            sizes.append(1)
        elif each is ...:
            sizes += [next(axes) for _ in range(len(shape) - used)]
        elif isinstance(each, slice):
            sizes.append(_slice_size(each, next(axes)))
        else:
            whole(each)
            next(axes)
    return (*sizes, *axes)


def _slice_size(key: slice, size: int | None) -> int | None:
    """Return how many entries of an axis a slice takes; None if unknown. Raises Unknown."""
    start, stop, step = (
        None if end is None else whole(end) for end in (key.start, key.stop, key.step)
    )
    return None if size is None else len(range(size)[start:stop:step])


@operation(
    "strided_slice",
    f"x begin end strides {' '.join(MASKS)}",
    Kind.SLICE,
    nodes={"StridedSlice": f"x begin end strides {' '.join(f'@{mask}' for mask in MASKS)}"},
)
def strided_slice(
    x: Value, begin: Value, end: Value, strides: Value = None, **masks: Value
) -> Array:
    """Return a slice in TensorFlow's form: bounds for every axis, and bits that say what else an axis is."""
    begins, ends = whole_numbers(begin), whole_numbers(end)
    steps = [1] * len(begins) if strides is None else whole_numbers(strides)
    key = strided_key(
        begins, ends, steps, {name: whole_number(masks.get(name) or 0) for name in MASKS}
    )
    return np.asarray(np.asarray(x)[tuple(key)])


def strided_key(
    begins: Sequence[int], ends: Sequence[int], steps: Sequence[int], masks: Mapping[str, int]
) -> list[Value]:
    """Return a strided slice as a subscript; the bits of its masks say what else an axis is."""
    key: list[Value] = []
    for n, (first, last, step) in enumerate(zip(begins, ends, steps, strict=True)):
        has = {name.removesuffix("_mask") for name, mask in masks.items() if mask >> n & 1}
        if "ellipsis" in has:
            key.append(...)
        elif "new_axis" in has:
            key.append(None)
        elif "shrink_axis" in has:
            key.append(first)
        else:
            key.append(
                slice(None if "begin" in has else first, None if "end" in has else last, step)
            )
    return key


@operation("slice", "x begin size", Kind.SLICE)
def slice_of_sizes(x: Array, begin: Value, size: Value) -> Array:
    """Return the part of x from `begin` on; a size of -1 takes the rest of an axis. Raises ValueError."""
    begins, sizes = whole_numbers(begin), whole_numbers(size)
    if len(begins) != x.ndim or len(sizes) != x.ndim:
        raise ValueError("begin and size for every axis")
    ends = [d if n == -1 else b + n for b, n, d in zip(begins, sizes, x.shape, strict=True)]
    if any(b < 0 or e > d for b, e, d in zip(begins, ends, x.shape, strict=True)):
        raise ValueError("beyond the tensor")
    return x[tuple(slice(b, e) for b, e in zip(begins, ends, strict=True))]


@keras3("K.slice tf.slice", "x|input_ begin|start size")
def slice_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a slice of `size` elements from `begin` on; a size of -1 takes the rest of an axis. Raises Unknown."""
    begin, size = call.integers("begin"), call.integers("size")
    if len(begin) != len(size) or min(begin) < 0 or min(size) < -1:
        raise Unknown("the slice")
    ends = [
        None if length == -1 else start + length for start, length in zip(begin, size, strict=True)
    ]
    return call.subscript(
        call.tensor("x"), *(slice(start, end) for start, end in zip(begin, ends, strict=True))
    )


@operation("k3slice", "x begin|start_indices shape|dims", Kind.SLICE)
def k3_slice(x: Array, begin: Value, shape: Value) -> Array:
    """Slice by start and size an axis (`keras.ops.slice`), as `slice_of_sizes` does."""
    return slice_of_sizes(x, begin, shape)


def _few(parts: int) -> int:
    """Return the number of parts. Raises Unknown for more than anyone has devices for."""
    if parts > MAX_SPLIT_PARTS:
        raise Unknown("more parts than any machine has devices")
    return parts


@operation(
    "split",
    "x parts|num_or_size_splits|indices_or_sections|num_split axis num",
    Kind.SLICE,
    nodes={"Split": "axis x @num_split:parts", "SplitV": "x parts axis"},
)
def split(x: Array, parts: Value, axis: Value = 0, num: Value = None) -> list[Array]:
    """Return x split into equal parts, or into parts of these sizes, one of which may be -1. Raises ValueError."""
    del num
    axis = axis_number(axis)
    if np.ndim(parts) == 0:
        return np.split(x, _few(whole_number(parts)), axis)
    sizes = whole_numbers(parts)
    rest = x.shape[axis] - sum(s for s in sizes if s >= 0)
    sizes = [rest if s < 0 else s for s in sizes]
    if sum(sizes) != x.shape[axis] or min(sizes) < 0:
        raise ValueError("sizes that do not add up")
    return np.split(x, np.cumsum(sizes)[:-1], axis)


MAX_OUTPUTS = 100
"""Tensors that one function gives, where they are written as outputs of a node."""


@keras3("tf.split", "x|value num_or_size_splits axis=0")
def split_nodes(call: FunctionCall) -> Items:
    """Nodes of a split into equal parts, or into parts of these sizes. Raises Unknown."""
    x, axis = call.tensor("x"), call.integer("axis")
    if call.is_list("num_or_size_splits"):
        sizes = call.integers("num_or_size_splits")
        if any(size < 0 for size in sizes) or not sizes:
            raise Unknown("a split in unknown sizes")
        count = len(sizes)
        sections: Json = [sum(sizes[: index + 1]) for index in range(count - 1)]
    else:
        sections = count = call.integer("num_or_size_splits")
    if not 1 <= count <= MAX_OUTPUTS:
        raise Unknown("a split in many parts")
    made = call.op("Split", x, indices_or_sections=sections, axis=axis)
    return call.list_of([call.output(made, index) for index in range(count)])


@operation("k3split", "x parts|indices_or_sections axis", Kind.SLICE)
def k3_split(x: Array, parts: Value, axis: Value = 0) -> list[Array]:
    """Return x split into equal parts, or at these indices (`keras.ops.split`)."""
    return np.split(
        x,
        _few(whole_number(parts)) if np.ndim(parts) == 0 else whole_numbers(parts),
        axis_number(axis),
    )


@operation("array_split", "x parts|indices_or_sections axis", Kind.SLICE)
def array_split(x: Array, parts: Value, axis: Value = 0) -> list[Array]:
    """Return x split at these indices, or into parts of which the first have a row more if they are not equal."""
    where = _few(whole_number(parts)) if np.ndim(parts) == 0 else whole_numbers(parts)
    return np.array_split(x, where, axis_number(axis))


@operation("unstack", "x num axis", Kind.SLICE, nodes={"Unpack": "x @num @axis"})
def unstack(x: Array, num: Value = None, axis: Value = 0) -> list[Array]:
    """Return an array for every index along an axis."""
    del num
    along = np.moveaxis(x, axis_number(axis), 0)
    _few(len(along))
    return list(along)


@keras3("tf.unstack", "x|value num=null axis=0")
def unstack_nodes(call: FunctionCall) -> Items:
    """Nodes of an unstack, as many tensors as the shape says. Raises Unknown."""
    x, axis = call.tensor("x"), call.integer("axis")
    count = call.axis_size(x, axis)
    if count is None or count > MAX_OUTPUTS or call.axis("num") not in {None, count}:
        raise Unknown("`tf.unstack` of an unknown size")
    made = call.op("Unstack", x, num=count, axis=axis)
    return call.list_of([call.output(made, index) for index in range(count)])


@operation(
    "gather gather_v2",
    "x indices|ids axis batch_dims",
    Kind.TAKE,
    nodes={"Gather": "x indices", "GatherV2": "x indices axis @batch_dims"},
)
def gather(x: Array, indices: Value, axis: Value = 0, batch_dims: Value = 0) -> Array:
    """Return the entries at these places along an axis. Raises Unknown."""
    where, axis = np.asarray(indices), axis_number(axis)
    if where.dtype.kind not in "iu" or (batch_dims is not None and whole_number(batch_dims)):
        raise Unknown("places that are no whole numbers, or differ from row to row")
    check_size(where.size * (x.size // max(1, x.shape[axis])))
    return np.take(x, where, axis)


@shape_rule("gather")
def gather_shape(x: Value, indices: Value, axis: Value = None, batch_dims: Value = None) -> Shape:
    """Shape with the axes of the indices in the place of one axis, by default the first. Raises Unknown."""
    if batch_dims is not None and whole(batch_dims):
        raise Unknown("indices that differ from row to row")
    shape = shape_of(x)
    place = 0 if axis is None else axis_of(axis, len(shape))
    return (*shape[:place], *shape_of(indices), *shape[place + 1 :])


@keras3("K.gather", "x|reference indices")
def backend_gather_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return the node that takes rows along the first axis."""
    return _take(call, 0)


@keras3("tf.gather", "x|params indices * axis=null validate_indices=null batch_dims=0")
def gather_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a gather along one axis, by default the first, or the second of each row."""
    call.only(validate_indices=None)
    if (
        call.is_tensor("indices")
        and not call.is_omitted("batch_dims")
        and call.integer("batch_dims") == 1
    ):
        return _take_in_each_row(call)
    call.only(batch_dims=0)
    return _take(call, 0 if call.axis() is None else call.integer("axis"))


def _take_in_each_row(call: FunctionCall) -> SymbolicTensor:
    """Nodes that take entries along the second axis, at places of each row's own: one, or several. Raises Unknown."""
    x, places = call.tensor("x"), call.tensor("indices")
    if x.shape is None or places.shape is None or places.dtype not in {"int32", "int64"}:
        raise Unknown("`batch_dims=1` of tensors of unknown shape")
    axes, ranks = len(x.shape), (1, 2)
    if axes < ranks[1] or len(places.shape) not in ranks or call.axis() not in {None, 1, 1 - axes}:
        raise Unknown("`batch_dims=1` along another axis than the second")
    is_one = len(places.shape) == ranks[0]
    for _ in range(axes - len(places.shape)):
        places = call.op("ExpandDims", places, axis=-1)
    made = call.op("TakeAlongAxis", x, places, axis=1)
    return call.op("Squeeze", made, axis=1) if is_one else made


def _take(call: FunctionCall, axis: int) -> SymbolicTensor:
    """Nodes that take entries by a tensor of whole numbers, by one number, or by a constant list. Raises Unknown."""
    x = call.tensor("x")
    if call.size("indices") is not None:
        return call.op("Take", x, call.tensor("indices"), axis=axis)
    if call.is_tensor("indices") and call.tensor("indices").dtype in {"int32", "int64"}:
        return call.op("Take", x, call.tensor("indices"), axis=axis)
    if call.is_plain("indices"):
        return call.op("Take", x, call.integer("indices"), axis=axis)
    places: Json = (
        call.nested("indices") if call.is_array("indices") else [*call.integers("indices")]
    )
    if not isinstance(places, list) or not all(isinstance(place, int) for place in places):
        raise Unknown("indices that are no integers")
    return call.op(
        "Take",
        x,
        {"class_name": "__numpy__", "config": {"value": places, "dtype": "int32"}},
        axis=axis,
    )


@operation("take embedding_lookup", "x indices|ids axis", Kind.TAKE)
def take(x: Array, indices: Value, axis: Value = 0) -> Array:
    """Take entries along one axis, without batch dimensions."""
    return gather(x, indices, axis)


@shape_rule("take")
def take_shape(x: Value, indices: Value, axis: Value = 0) -> Shape:
    """Shape with the axes of the indices in the place of one axis. Raises Unknown without one: all numbers in a row."""
    return gather_shape(x, indices, whole(axis))


@operation("gather_nd", "x indices|ids batch_dims", Kind.SLICE)
def gather_nd(x: Array, indices: Value, batch_dims: Value = 0) -> Array:
    """Return rows by their indices along axis 0. Raises Unknown for indices of several axes."""
    where = np.asarray(indices)
    if where.shape[-1:] != (1,):
        raise Unknown("places in more than one axis")
    return gather(x, where[..., 0], 0, batch_dims)


@operation("take_along_axis", "x indices|ids axis", Kind.MOVE)
def take_along_axis(x: Array, indices: Value, axis: Value = None) -> Array:
    """Return the entries at these places along an axis, row by row. Raises Unknown."""
    where = np.asarray(indices)
    if where.dtype.kind not in "iu" or axis is None:
        raise Unknown("places along an axis")
    check_size(where.size)
    check_copy(x)
    return np.take_along_axis(x, where, axis_number(axis))


@operation("boolean_mask", "x mask axis", Kind.MASK)
def boolean_mask(x: Array, mask: Value, axis: Value = 0) -> Array:
    """Return the entries along an axis at which the mask is true. Raises Unknown, ValueError."""
    where, axis = np.asarray(mask), axis_number(axis)
    if where.dtype != np.bool_ or where.ndim != 1:
        raise Unknown("a mask of several axes")
    if len(where) != x.shape[axis]:
        raise ValueError("a mask of another length")
    check_copy(x)
    return np.compress(where, x, axis)


@operation(
    "dynamic_partition",
    "x partitions num|num_partitions",
    Kind.MASK,
    nodes={"DynamicPartition": "x partitions @num_partitions:num"},
)
def dynamic_partition(x: Array, partitions: Value, num: Value) -> list[Array]:
    """Return an array for each partition number, of the rows that have it. Raises Unknown."""
    where = np.asarray(partitions)
    if where.ndim != 1:
        raise Unknown("parts of several axes")
    check_copy(x)
    return [x[where == part] for part in range(_few(whole_number(num)))]
