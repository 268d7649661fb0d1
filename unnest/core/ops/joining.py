"""Operations that join tensors, put one over another, or entries in their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unnest.core.ops.call import UnreadableCall, Value
from unnest.core.ops.elements import (
    ELEMENT,
    ZERO,
    Array,
    ByContents,
    axis_number,
    check_copy,
    check_size,
    whole_numbers,
)
from unnest.core.ops.registry import Kind, operation


def overlaid(arrays: Sequence[Array]) -> Array:
    """A sum of tensors, each of which is zero wherever another is not: scattered rows. Raises ByContents."""
    if any(a.dtype != ELEMENT or a.shape != arrays[0].shape for a in arrays):
        raise ByContents
    elements = [np.atleast_1d(a["element"]) for a in arrays]
    # Most sums are of whole tensors: their first elements tell, and nothing has to be copied.
    for parts in ([part[..., :1] for part in elements], elements):
        check_copy(*parts)
        numbers = np.stack(parts)
        if np.any(np.sum(numbers != ZERO, axis=0) > 1):
            raise ByContents
    return np.asarray(numbers.max(axis=0).view(ELEMENT).reshape(arrays[0].shape))


def _joined(xs: Value) -> list[Array]:
    """Arrays that are to be one: all of rows, or all of numbers."""
    arrays = [np.asarray(x) for x in xs]
    check_size(sum(a.size for a in arrays))
    if len({a.dtype == ELEMENT for a in arrays}) > 1:
        raise UnreadableCall
    return arrays


@operation("concat concatenate", "xs axis", Kind.CONCATENATE, nodes={"ConcatV2": "*xs axis", "Concat": "axis *xs"})
def concat(xs: Value, axis: Value = 0) -> Array:
    """Arrays one behind the other."""
    return np.concatenate(_joined(xs), axis_number(axis))


@operation("vstack row_stack", "xs", Kind.CONCATENATE)
def vstack(xs: Value) -> Array:
    """Arrays one behind the other, along axis 0."""
    return concat(xs)


@operation("add_n", "xs", Kind.ELEMENTWISE, nodes={"AddN": "*xs"}, function=np.add)
def added(xs: Value) -> Array:
    """A sum of several tensors."""
    arrays = _joined(xs)
    return overlaid(arrays) if arrays[0].dtype == ELEMENT else np.asarray(np.sum(arrays, axis=0))


@operation("average", "xs", Kind.ELEMENTWISE)
def averaged(xs: Value) -> Array:
    """The mean of several arrays of numbers. Raises ByContents for rows."""
    arrays = _joined(xs)
    if arrays[0].dtype == ELEMENT:
        raise ByContents
    return np.asarray(np.mean(arrays, axis=0))


@operation("stack pack", "xs axis", Kind.STACK, nodes={"Pack": "*xs @axis"})
def stack(xs: Value, axis: Value = 0) -> Array:
    """Arrays along a new axis."""
    return np.stack(_joined(xs), axis_number(axis))


@operation("scatter_nd scatter", "indices updates shape", Kind.SCATTER)
def scattered(indices: Value, updates: Array, shape: Value) -> Array:
    """Rows put at places of a tensor of zeros."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    return updated(_no_rows(dims), indices, updates)


@operation(
    "pad pad_v2",
    "x paddings|pad_width mode constant_values",
    Kind.SCATTER,
    nodes={"PadV2": "x paddings constant_values"},
)
def padded(x: Array, paddings: Value, mode: Value = None, constant_values: Value = 0) -> Array:
    """A tensor within zeros."""
    around = [whole_numbers(pair) for pair in (paddings if isinstance(paddings, list) else np.asarray(paddings))]
    if (mode is not None and str(mode).lower() != "constant") or np.any(np.asarray(constant_values)):
        raise UnreadableCall
    shape = [size + sum(pair) for size, pair in zip(x.shape, around, strict=True)]
    check_size(int(np.prod(shape, dtype=np.int64)))
    result = _no_rows(shape) if x.dtype == ELEMENT else np.zeros(shape, x.dtype)
    result[tuple(slice(before, before + size) for (before, _), size in zip(around, x.shape, strict=True))] = x
    return result


@operation("tensor_scatter_nd_update tensor_scatter_update scatter_update", "x indices updates", Kind.SCATTER)
def updated(x: Array, indices: Value, updates: Array) -> Array:
    """A tensor with other rows at some places; a tensor of zeros counts as one without any rows."""
    where, rows = np.asarray(indices), np.asarray(updates)
    if where.shape[1:] != (1,) or where.dtype.kind not in "iu" or rows.dtype != ELEMENT:
        raise UnreadableCall
    if len({*where[:, 0].tolist()}) < len(where):
        raise ValueError("two rows in one place")
    result = _over(x, rows)
    if where.size and not 0 <= where.min() <= where.max() < len(result):
        raise ValueError("beyond the tensor")
    result[where[:, 0]] = rows
    return result


@operation(
    "dynamic_stitch parallel_dynamic_stitch",
    "indices x",
    Kind.SCATTER,
    nodes=dict.fromkeys(("DynamicStitch", "ParallelDynamicStitch"), "indices+x"),
)
def stitched(indices: Value, x: Value) -> Array:
    """Rows of several tensors, each to its number."""
    places, parts = [np.asarray(i) for i in indices], _joined(x)
    if any(p.ndim != 1 or p.dtype.kind not in "iu" for p in places):
        raise UnreadableCall
    if [len(p) for p in places] != [len(part) for part in parts]:
        raise ValueError("as many places as rows, tensor by tensor")
    order = np.concatenate(places)
    if sorted(order.tolist()) != list(range(len(order))):
        raise ValueError("places that are not 0 to n - 1, each once")
    return np.concatenate(parts)[np.argsort(order)]


@operation("append", "x|x1 updates|x2|values axis", Kind.CONCATENATE)
def appended(x: Array, updates: Value, axis: Value = None) -> Array:
    """One tensor behind another one, both flattened where no axis is named."""
    arrays = _joined([x, updates])
    return np.concatenate([a.reshape(-1) for a in arrays] if axis is None else arrays, axis_number(axis))


@operation("slice_update", "x begin|start_indices updates", Kind.SCATTER)
def slice_updated(x: Array, begin: Value, updates: Array) -> Array:
    """A tensor with another one in place of a part; a tensor of zeros counts as one without any rows."""
    begins, part = whole_numbers(begin), np.asarray(updates)
    result = _over(x, part)
    if len(begins) != x.ndim or any(b < 0 or b + n > d for b, n, d in zip(begins, part.shape, x.shape, strict=True)):
        raise ValueError("beyond the tensor")
    result[tuple(slice(b, b + n) for b, n in zip(begins, part.shape, strict=True))] = part
    return result


def _over(x: Array, rows: Array) -> Array:
    """What rows are put over: a copy of a tensor, or of zeros. Raises ByContents for other numbers."""
    check_copy(x)
    if x.dtype == rows.dtype:
        return x.copy()
    if rows.dtype != ELEMENT or np.any(x):
        raise ByContents
    return _no_rows(x.shape)


def _no_rows(shape: Sequence[int]) -> Array:
    """Zeros that rows may be put over."""
    return np.full(shape, ZERO, np.int32).view(ELEMENT).reshape(shape)
