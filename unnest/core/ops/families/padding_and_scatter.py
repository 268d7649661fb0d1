"""Operations that put a border around a tensor, or rows and parts of it in given places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import DataDependent, Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import (
    ELEMENT,
    Array,
    check_copy,
    check_size,
    no_rows,
    same_contents,
)
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import whole_numbers
from unnest.core.ops.registry import operation, shape_rule
from unnest.core.ops.shape_arithmetic import shape_of, wholes

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


@operation("scatter_nd scatter", "indices updates shape", Kind.SCATTER)
def scatter_nd(indices: Value, updates: Array, shape: Value) -> Array:
    """Return zeros of `shape` with the rows of `updates` at `indices`."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    return tensor_scatter_update(no_rows(dims), indices, updates)


@operation(
    "pad pad_v2",
    "x paddings|pad_width mode constant_values",
    Kind.SCATTER,
    nodes={"PadV2": "x paddings constant_values"},
)
def pad(x: Array, paddings: Value, mode: Value = None, constant_values: Value = 0) -> Array:
    """Return a tensor surrounded by zeros. Raises Unknown."""
    around = [
        whole_numbers(pair)
        for pair in (paddings if isinstance(paddings, list) else np.asarray(paddings))
    ]
    if (mode is not None and str(mode).lower() != "constant") or np.any(
        np.asarray(constant_values)
    ):
        raise Unknown("padding with other values than zeros")
    shape = [size + sum(pair) for size, pair in zip(x.shape, around, strict=True)]
    check_size(int(np.prod(shape, dtype=np.int64)))
    result = no_rows(shape) if x.dtype == ELEMENT else np.zeros(shape, x.dtype)
    result[
        tuple(
            slice(before, before + size) for (before, _), size in zip(around, x.shape, strict=True)
        )
    ] = x
    return result


@shape_rule("pad")
def pad_shape(x: Value, paddings: Value, mode: Value = None, constant_values: Value = 0) -> Shape:
    """Shape after padding: each size plus the two numbers of its axis. Raises Unknown."""
    del mode, constant_values
    shape = shape_of(x)
    if not isinstance(paddings, Sequence) or len(paddings) != len(shape):
        raise Unknown("how many axes are padded")
    pairs = [wholes(pair) for pair in paddings]
    return tuple(
        None if size is None else size + sum(pair) for size, pair in zip(shape, pairs, strict=True)
    )


@keras3("tf.pad", 'x|tensor paddings mode="CONSTANT" * constant_values=0')
def pad_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a pad by a number, or by the values next to the border. Raises Unknown."""
    widths, mode = _pairs(call.nested("paddings")), call.text("mode").lower()
    if mode not in {"constant", "reflect", "symmetric"}:
        raise Unknown("the padding")
    if mode != "constant":
        return call.op("Pad", call.numbers("x"), pad_width=widths, mode=mode)
    x, value = call.numbers("x"), call.number("constant_values")
    if call.holds_whole_numbers("x") and isinstance(value, float):
        raise Unknown("whole numbers padded by another")
    return call.padded(x, widths, value)


@keras3("K.temporal_padding", "x padding=1")
def temporal_padding_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.temporal_padding`: steps before and behind a sequence, one number for both sides or two."""
    width = _widths(call)
    pair = _pairs([[width, width] if isinstance(width, int) else width])
    return call.padded(call.floats("x"), [[0, 0], *pair, [0, 0]], 0)


def _spatial_padding(function_name: str, axes: int) -> None:
    """Register a function that puts a border around an image. Raises Unknown."""

    @keras3(function_name, "x padding=1 data_format|dim_ordering=null")
    def nodes(call: FunctionCall) -> SymbolicTensor:
        """Nodes of a padding of both spatial axes: a pair of numbers an axis, one number (Keras 1), by default 1.

        Raises Unknown.
        """
        widths = _widths(call)
        each = [widths] * axes if widths == 1 else widths
        if not isinstance(each, list) or len(each) != axes:
            raise Unknown("the padding")
        pairs = _pairs([[width, width] if isinstance(width, int) else width for width in each])
        around = (
            [[0, 0], *pairs, [0, 0]]
            if call.is_channels_last("data_format")
            else [[0, 0], [0, 0], *pairs]
        )
        return call.padded(call.floats("x"), around, 0)


_spatial_padding("K.spatial_2d_padding", 2)
_spatial_padding("K.spatial_3d_padding", 3)


def _widths(call: FunctionCall) -> Json:
    return call.integer("padding") if call.is_plain("padding") else call.nested("padding")


def _pairs(widths: Json) -> list[Json]:
    """Return the padding as a list of two whole numbers an axis. Raises Unknown for any other form."""
    if not isinstance(widths, list) or not all(_is_pair(pair) for pair in widths):
        raise Unknown("the padding")
    return widths


def _is_pair(pair: Json) -> bool:
    return (
        isinstance(pair, list)
        and len(pair) == PAIR
        and all(isinstance(each, int) and each >= 0 for each in pair)
    )


PAIR = 2


@operation(
    "tensor_scatter_nd_update tensor_scatter_update scatter_update",
    "x indices updates",
    Kind.SCATTER,
)
def tensor_scatter_update(x: Array, indices: Value, updates: Array) -> Array:
    """Return x with the rows of `updates` at `indices`; zeros count as a tensor without rows.

    Raises Unknown, ValueError.
    """
    where, rows = np.asarray(indices), np.asarray(updates)
    if where.shape[1:] != (1,) or where.dtype.kind not in "iu" or rows.dtype != ELEMENT:
        raise Unknown("which rows of a tensor are replaced")
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
def dynamic_stitch(indices: Value, x: Value) -> Array:
    """Return the rows of several tensors, each at its index (`tf.dynamic_stitch`). Raises Unknown, ValueError."""
    places, parts = [np.asarray(i) for i in indices], same_contents(x)
    if any(p.ndim != 1 or p.dtype.kind not in "iu" for p in places):
        raise Unknown("the places of rows that are stitched")
    if [len(p) for p in places] != [len(part) for part in parts]:
        raise ValueError("as many places as rows, tensor by tensor")
    order = np.concatenate(places)
    if sorted(order.tolist()) != list(range(len(order))):
        raise ValueError("places that are not 0 to n - 1, each once")
    return np.concatenate(parts)[np.argsort(order)]


@operation("slice_update", "x begin|start_indices updates", Kind.SCATTER)
def slice_update(x: Array, begin: Value, updates: Array) -> Array:
    """Return x with `updates` in place of the part from `begin` on; zeros count as a tensor without rows.

    Raises ValueError.
    """
    begins, part = whole_numbers(begin), np.asarray(updates)
    result = _over(x, part)
    if len(begins) != x.ndim or any(
        b < 0 or b + n > d for b, n, d in zip(begins, part.shape, x.shape, strict=True)
    ):
        raise ValueError("beyond the tensor")
    result[tuple(slice(b, b + n) for b, n in zip(begins, part.shape, strict=True))] = part
    return result


def _over(x: Array, rows: Array) -> Array:
    """Return the tensor that rows are put over: a copy, or zeros. Raises DataDependent for other numbers."""
    check_copy(x)
    if x.dtype == rows.dtype:
        return x.copy()
    if rows.dtype != ELEMENT or np.any(x):
        raise DataDependent
    return no_rows(x.shape)
