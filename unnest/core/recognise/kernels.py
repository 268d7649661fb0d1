"""What an operation does to arrays: a NumPy function for the name that its call says.

The source of a wrapper is an array of `ELEMENT`s (`elements`), which are moved about, and nothing else. All other
arrays are plain numbers (shapes, bounds, masks), which are computed as TensorFlow does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

import numpy as np

from unnest.core.recognise import joining_kernels as joining
from unnest.core.recognise import number_kernels as numbers
from unnest.core.recognise import slicing_kernels as slicing
from unnest.core.recognise.elements import (
    Array,
    axis_number,
    check_size,
    whole_number,
    whole_numbers,
)
from unnest.core.recognise.op_calls import Value


def _as_it_is(x: Value) -> Array:
    return np.asarray(x)


def _squeeze(x: Value, axis: Value = None) -> Array:
    return np.squeeze(np.asarray(x), None if axis is None else tuple(whole_numbers(axis)))


def _rolled(x: Value, shift: Value, axis: Value = None) -> Array:
    array = np.asarray(x)
    if axis is None:  # all that is in it, row after row
        return np.roll(array, whole_number(shift))
    return np.roll(array, whole_numbers(shift), whole_numbers(axis))


def _repeated(x: Value, repeats: Value, axis: Value = None) -> Array:
    """Every entry so many times along an axis, or of all that is in it."""
    array, times = np.asarray(x), whole_numbers(repeats)
    check_size(array.size * max(times, default=0))
    return np.repeat(array, times, None if axis is None else axis_number(axis))


def _turned(x: Value, k: Value = 1, axes: Value = (0, 1)) -> Array:
    """By so many quarters of a circle."""
    first, second = whole_numbers(axes)
    return np.rot90(np.asarray(x), whole_number(k), (first, second))


def _tiled(x: Value, multiples: Value) -> Array:
    array, times = np.asarray(x), whole_numbers(multiples)
    check_size(array.size * prod(times))
    return np.tile(array, times)


def _broadcast(x: Value, shape: Value) -> Array:
    array, sizes = np.asarray(x), whole_numbers(shape)
    check_size(prod(sizes))
    return np.broadcast_to(array, sizes)


REDUCED = ("x", "axis", "keepdims")
"""The arguments of sums, products and means."""

UPDATES = ("tensorscatterndupdate", "tensorscatterupdate", "scatterupdate")
"""What several libraries call one and the same."""

Kernel: TypeAlias = "tuple[tuple[str, ...], Callable[..., Array | list[Array]]]"

TABLE: dict[str, Kernel] = {
    # What is known of a tensor, and plain numbers
    "shape": (("x",), lambda x: np.array(np.shape(x), np.int64)),
    "shapen": (("xs",), lambda xs: [np.array(np.shape(x), np.int64) for x in xs]),
    "size": (("x",), lambda x: np.array(np.size(x))),
    "rank": (("x",), lambda x: np.array(np.ndim(x))),
    "constant": (("x", "dtype"), numbers.converted),
    "converttotensor": (("x", "dtype"), numbers.converted),
    "cast": (("x", "dtype"), numbers.cast),
    "oneslike": (("x", "dtype"), lambda x, dtype=None: numbers.filled_like(x, 1, dtype)),
    "zeroslike": (("x", "dtype"), lambda x, dtype=None: numbers.filled_like(x, 0, dtype)),
    "zeros": (("shape", "dtype"), lambda shape, dtype=None: numbers.filled(shape, 0, dtype)),
    "ones": (("shape", "dtype"), lambda shape, dtype=None: numbers.filled(shape, 1, dtype)),
    "fill": (("shape", "value"), numbers.filled),
    **dict.fromkeys(("range", "arange"), (("start", "limit", "delta", "dtype"), numbers.arange)),
    "linspace": (("start", "limit", "num", "endpoint"), numbers.linspace),
    "broadcastargs": (("x", "y"), lambda x, y: np.array(np.broadcast_shapes(whole_numbers(x), whole_numbers(y)))),
    **dict.fromkeys(("reducesum", "sum"), (REDUCED, numbers.reduction(np.sum))),
    **dict.fromkeys(("reducemean", "mean"), (REDUCED, numbers.reduction(np.mean))),
    "reduceprod": (REDUCED, numbers.reduction(np.prod)),
    "cumsum": (("x", "axis", "exclusive", "reverse"), numbers.cumsum),
    **dict.fromkeys(("where", "select", "selectv2"), (("mask", "y", "z"), numbers.where)),
    "logicaland": (("x", "y"), numbers.logical(np.logical_and)),
    "logicalor": (("x", "y"), numbers.logical(np.logical_or)),
    "logicalnot": (("x",), numbers.logical(np.logical_not)),
    "notequal": (("x", "y"), numbers.logical(np.not_equal)),
    "invertpermutation": (("x",), lambda x: np.argsort(np.asarray(x))),
    # Rows taken out
    "getitem": (("x", "key"), slicing.get_item),
    "stridedslice": (("x", "begin", "end", "strides", *slicing.MASKS), slicing.strided_slice),
    "slice": (("x", "begin", "size"), slicing.slice_of_sizes),
    "k3slice": (("x", "begin", "shape"), slicing.k3_slice),
    "split": (("x", "parts", "axis", "num"), slicing.split),
    "k3split": (("x", "parts", "axis"), slicing.k3_split),
    "arraysplit": (("x", "parts", "axis"), slicing.array_split),
    "unstack": (("x", "num", "axis"), slicing.unstack),
    **dict.fromkeys(("gather", "gatherv2"), (("x", "indices", "axis", "batch_dims"), slicing.gather)),
    "take": (("x", "indices", "axis"), slicing.gather),
    "embeddinglookup": (("x", "indices"), slicing.gather),
    "gathernd": (("x", "indices", "batch_dims"), slicing.gather_nd),
    "takealongaxis": (("x", "indices", "axis"), slicing.along_axis),
    "booleanmask": (("x", "mask", "axis"), slicing.boolean_mask),
    "dynamicpartition": (("x", "partitions", "num"), slicing.dynamic_partition),
    "claimed": (("x", "claims"), slicing.claimed),
    # Rows moved
    **dict.fromkeys(("identity", "stopgradient"), (("x",), _as_it_is)),
    "reshape": (("x", "shape"), lambda x, shape: np.reshape(x, whole_numbers(shape))),
    "expanddims": (("x", "axis"), lambda x, axis: np.expand_dims(x, whole_number(axis))),
    "squeeze": (("x", "axis"), _squeeze),
    "transpose": (("x", "perm"), lambda x, perm=None: np.transpose(x, None if perm is None else whole_numbers(perm))),
    "reverse": (("x", "axis"), lambda x, axis: np.flip(x, tuple(whole_numbers(axis)))),
    "flip": (("x", "axis"), lambda x, axis=None: np.flip(x, None if axis is None else tuple(whole_numbers(axis)))),
    "roll": (("x", "shift", "axis"), _rolled),
    "swapaxes": (("x", "axis1", "axis2"), lambda x, axis1, axis2: np.swapaxes(x, *map(whole_number, (axis1, axis2)))),
    "moveaxis": (
        ("x", "source", "destination"),
        lambda x, source, destination: np.moveaxis(x, whole_numbers(source), whole_numbers(destination)),
    ),
    "rot90": (("x", "k", "axes"), _turned),
    "repeat": (("x", "repeats", "axis"), _repeated),
    "tile": (("x", "multiples"), _tiled),
    "broadcastto": (("x", "shape"), _broadcast),
    # Tensors joined, or put over others
    **dict.fromkeys(("concat", "concatenate"), (("xs", "axis"), joining.concat)),
    **dict.fromkeys(("vstack", "rowstack"), (("xs",), joining.concat)),
    "stack": (("xs", "axis"), joining.stack),
    "append": (("x", "updates", "axis"), joining.appended),
    "addn": (("xs",), joining.added),
    "average": (("xs",), joining.averaged),
    "pad": (("x", "paddings", "mode", "constant_values"), joining.padded),
    "padv2": (("x", "paddings", "constant_values"), joining.padded),
    "sliceupdate": (("x", "begin", "updates"), joining.slice_updated),
    **dict.fromkeys(("scatternd", "scatter"), (("indices", "updates", "shape"), joining.scattered)),
    **dict.fromkeys(UPDATES, (("x", "indices", "updates"), joining.updated)),
    **dict.fromkeys(("dynamicstitch", "paralleldynamicstitch"), (("indices", "x"), joining.stitched)),
}
"""What is known of each name: its arguments in order, and what it does."""
