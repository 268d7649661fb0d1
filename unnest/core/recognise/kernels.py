"""What an operation does to arrays: a NumPy function for the name that its call says.

The source of a wrapper is an array of `ELEMENT`s (`elements`), which are moved about, and nothing else. All other
arrays are plain numbers (shapes, bounds, masks), which are computed as TensorFlow does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from unnest.core.recognise.elements import (
    ELEMENT,
    ZERO,
    Array,
    ByContents,
    arrays_in,
    axis_number,
    check_size,
    whole_number,
    whole_numbers,
)
from unnest.core.recognise.op_calls import UnreadableCall, Value
from unnest.core.recognise.slice_claims import ClaimedRows

MAX_PARTS = 4096
"""Of one split."""


def _truncated(x: Array, y: Array) -> Array:
    """A division of whole numbers towards zero; of others the plain one."""
    return np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x / y


ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "add": np.add, "addv2": np.add, "sub": np.subtract, "subtract": np.subtract, "mul": np.multiply,
    "multiply": np.multiply, "scalarmul": np.multiply, "floordiv": np.floor_divide, "floordivide": np.floor_divide,
    "realdiv": np.true_divide, "truediv": np.true_divide, "truedivide": np.true_divide, "divide": np.true_divide,
    "div": _truncated, "truncatediv": _truncated, "floormod": np.mod, "mod": np.mod, "remainder": np.mod,
    "minimum": np.minimum, "maximum": np.maximum, "floor": np.floor, "ceil": np.ceil, "round": np.round,
    "neg": np.negative, "negative": np.negative, "equal": np.equal, "less": np.less, "lessequal": np.less_equal,
    "greater": np.greater, "greaterequal": np.greater_equal,
}  # fmt: skip
"""Arithmetic on plain numbers."""


def elementwise(name: str, operands: Sequence[Value]) -> Array:
    """Arithmetic on numbers; of rows only a sum of such as are scattered. Raises ByContents, UnreadableCall."""
    operands = [x for x in operands if x is not None]
    arrays = [np.asarray(x) for x in operands]
    if any(a.dtype == ELEMENT for a in arrays):
        return _overlaid(arrays) if ELEMENTWISE[name] is np.add else _refused()
    if any(a.dtype.kind not in "iufb" for a in arrays):
        raise UnreadableCall
    check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in arrays)), dtype=np.int64)))
    # A bare number takes the type of the array beside it, as it does in TensorFlow.
    typed = next((x.dtype for x in operands if isinstance(x, np.ndarray)), None)
    if typed is not None and (typed.kind == "f" or all(a.dtype.kind != "f" for a in arrays)):
        arrays = [a.astype(typed) for a in arrays]
    return np.asarray(ELEMENTWISE[name](*arrays))


def _refused() -> Array:
    raise ByContents


def _overlaid(arrays: Sequence[Array]) -> Array:
    """A sum of tensors, each of which is zero wherever another is not: scattered rows. Raises ByContents."""
    if any(a.dtype != ELEMENT or a.shape != arrays[0].shape for a in arrays):
        raise ByContents
    numbers = np.stack([a["element"] for a in arrays])
    if np.any(np.sum(numbers != ZERO, axis=0) > 1):
        raise ByContents
    return np.asarray(numbers.max(axis=0).view(ELEMENT))


def _as_it_is(x: Value) -> Array:
    return np.asarray(x)


def _cast(x: Value, dtype: Value) -> Array:
    array, name = np.asarray(x), str(dtype).lower().removeprefix("dt_")
    if array.dtype == ELEMENT:
        if "bool" in name:
            raise ByContents
        return array
    known = {"bool": np.bool_, "half": np.float16, "float16": np.float16, "double": np.float64, "float64": np.float64}
    if name in known:
        return array.astype(known[name])
    if name in ("float", "float32", "bfloat16"):
        return array.astype(np.float32)
    if "int" in name:
        return array.astype(np.int64)
    raise UnreadableCall


def _converted(x: Value, dtype: Value = None) -> Array:
    return np.asarray(x) if dtype is None else _cast(x, dtype)


def _getitem(x: Value, key: Value) -> Array:
    keys = list(key) if isinstance(key, (list, tuple)) else [key]
    plain = [k if k is None or k is ... or isinstance(k, slice) else whole_number(k) for k in keys]
    return np.asarray(np.asarray(x)[tuple(plain)])


def _stridedslice(x: Value, begin: Value, end: Value, strides: Value = None, **masks: Value) -> Array:
    """TensorFlow's own form: bounds for every axis, and bits that say what else an axis is."""
    begins, ends = whole_numbers(begin), whole_numbers(end)
    steps = [1] * len(begins) if strides is None else whole_numbers(strides)
    bits = {name.removesuffix("_mask"): whole_number(masks.get(name) or 0) for name in MASKS}
    key: list[Value] = []
    for n, (first, last, step) in enumerate(zip(begins, ends, steps, strict=True)):
        has = {k for k, mask in bits.items() if mask >> n & 1}
        if "ellipsis" in has:
            key.append(...)
        elif "new_axis" in has:
            key.append(None)
        elif "shrink_axis" in has:
            key.append(first)
        else:
            key.append(slice(None if "begin" in has else first, None if "end" in has else last, step))
    return np.asarray(np.asarray(x)[tuple(key)])


def _slice(x: Array, begin: Value, size: Value) -> Array:
    begins, sizes = whole_numbers(begin), whole_numbers(size)
    if len(begins) != x.ndim or len(sizes) != x.ndim:
        raise ValueError("begin and size for every axis")
    ends = [d if n == -1 else b + n for b, n, d in zip(begins, sizes, x.shape, strict=True)]
    if any(b < 0 or e > d for b, e, d in zip(begins, ends, x.shape, strict=True)):
        raise ValueError("beyond the tensor")
    return x[tuple(slice(b, e) for b, e in zip(begins, ends, strict=True))]


def _k3slice(x: Array, begin: Value, shape: Value) -> Array:
    return _slice(x, begin, shape)


def _few(parts: int) -> int:
    """Parts that anyone has devices for; a small file may ask for more than memory holds."""
    if parts > MAX_PARTS:
        raise UnreadableCall
    return parts


def _split(x: Array, parts: Value, axis: Value = 0, num: Value = None) -> list[Array]:
    """Into so many parts, or into parts of these sizes, one of which may be -1."""
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


def _k3split(x: Array, parts: Value, axis: Value = 0) -> list[Array]:
    """Into so many parts, or at these places."""
    return np.split(x, _few(whole_number(parts)) if np.ndim(parts) == 0 else whole_numbers(parts), axis_number(axis))


def _array_split(x: Array, parts: Value, axis: Value = 0) -> list[Array]:
    """Into so many parts, the first of which take a row more where they do not divide, or at these places."""
    where = _few(whole_number(parts)) if np.ndim(parts) == 0 else whole_numbers(parts)
    return np.array_split(x, where, axis_number(axis))


def _unstack(x: Array, num: Value = None, axis: Value = 0) -> list[Array]:
    del num
    along = np.moveaxis(x, axis_number(axis), 0)
    _few(len(along))
    return list(along)


def _gather(x: Array, indices: Value, axis: Value = 0, batch_dims: Value = 0) -> Array:
    where, axis = np.asarray(indices), axis_number(axis)
    if where.dtype.kind not in "iu" or (batch_dims is not None and whole_number(batch_dims)):
        raise UnreadableCall
    check_size(where.size * (x.size // max(1, x.shape[axis])))
    return np.take(x, where, axis)


def _gather_nd(x: Array, indices: Value, batch_dims: Value = 0) -> Array:
    """Rows by their numbers alone."""
    where = np.asarray(indices)
    if where.shape[-1:] != (1,):
        raise UnreadableCall
    return _gather(x, where[..., 0], 0, batch_dims)


def _boolean_mask(x: Array, mask: Value, axis: Value = 0) -> Array:
    where, axis = np.asarray(mask), axis_number(axis)
    if where.dtype != np.bool_ or where.ndim != 1:
        raise UnreadableCall
    if len(where) != x.shape[axis]:
        raise ValueError("a mask of another length")
    return np.compress(where, x, axis)


def _dynamic_partition(x: Array, partitions: Value, num: Value) -> list[Array]:
    where = np.asarray(partitions)
    if where.ndim != 1:
        raise UnreadableCall
    return [x[where == part] for part in range(_few(whole_number(num)))]


def _claimed(x: Array, claims: Sequence[ClaimedRows]) -> list[Array]:
    """What layers that are no operations claim to take, a claim for each output."""
    return [x[claim.of(len(x))] for claim in claims]


def _range(start: Value, limit: Value = None, delta: Value = 1, dtype: Value = None) -> Array:
    first, last = (0, start) if limit is None else (start, limit)
    numbers = [np.asarray(v).reshape(()) for v in (first, last, 1 if delta is None else delta)]
    if any(n.dtype.kind not in "iuf" for n in numbers):
        raise UnreadableCall
    check_size(int(abs(numbers[1] - numbers[0]) / max(abs(float(numbers[2])), 1e-9)))
    found = np.arange(*(n.item() for n in numbers))
    return found if dtype is None else _cast(found, dtype)


def _joined(xs: Value) -> list[Array]:
    arrays = [np.asarray(x) for x in xs]
    check_size(sum(a.size for a in arrays))
    if len({a.dtype == ELEMENT for a in arrays}) > 1:
        raise UnreadableCall
    return arrays


def _concat(xs: Value, axis: Value = 0) -> Array:
    return np.concatenate(_joined(xs), axis_number(axis))


def _added(xs: Value) -> Array:
    """A sum of several tensors."""
    arrays = _joined(xs)
    return _overlaid(arrays) if arrays[0].dtype == ELEMENT else np.asarray(np.sum(arrays, axis=0))


def _averaged(xs: Value) -> Array:
    arrays = _joined(xs)
    if arrays[0].dtype == ELEMENT:
        raise ByContents
    return np.asarray(np.mean(arrays, axis=0))


def _stack(xs: Value, axis: Value = 0) -> Array:
    return np.stack(_joined(xs), axis_number(axis))


def _scattered(indices: Value, updates: Array, shape: Value) -> Array:
    """Rows put at places of a tensor of zeros."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    return _updated(np.full(dims, ZERO, np.int32).view(ELEMENT).reshape(dims), indices, updates)


def _padded(x: Array, paddings: Value, mode: Value = None, constant_values: Value = 0) -> Array:
    """A tensor within zeros."""
    around = [whole_numbers(pair) for pair in (paddings if isinstance(paddings, list) else np.asarray(paddings))]
    if (mode is not None and str(mode).lower() != "constant") or np.any(np.asarray(constant_values)):
        raise UnreadableCall
    shape = [size + sum(pair) for size, pair in zip(x.shape, around, strict=True)]
    check_size(int(np.prod(shape, dtype=np.int64)))
    padded = np.full(shape, ZERO, np.int32).view(ELEMENT) if x.dtype == ELEMENT else np.zeros(shape, x.dtype)
    padded = padded.reshape(shape)
    padded[tuple(slice(before, before + size) for (before, _), size in zip(around, x.shape, strict=True))] = x
    return padded


def _updated(x: Array, indices: Value, updates: Array) -> Array:
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


def _stitched(indices: Value, x: Value) -> Array:
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


def _filled(shape: Value, value: Value = 0, dtype: Value = None) -> Array:
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    del dtype
    return np.full(dims, np.asarray(value))


def _reduce(function: Callable[..., Array]) -> Callable[..., Array]:
    def reduced(x: Value, axis: Value = None, keepdims: Value = False) -> Array:
        array = np.asarray(x)
        if array.dtype == ELEMENT:
            raise ByContents
        axes = None if axis is None else tuple(whole_numbers(axis))
        return np.asarray(function(array, axis=axes, keepdims=bool(keepdims)))

    return reduced


def _cumsum(x: Value, axis: Value = 0, exclusive: Value = False, reverse: Value = False) -> Array:
    array = np.asarray(x)
    if array.dtype == ELEMENT:
        raise ByContents
    if reverse:
        raise UnreadableCall
    sums = np.cumsum(array, axis_number(axis))
    return sums - array if exclusive else sums


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


def _appended(x: Array, updates: Value, axis: Value = None) -> Array:
    """One tensor behind another one, both flattened where no axis is named."""
    arrays = _joined([x, updates])
    return np.concatenate([a.reshape(-1) for a in arrays] if axis is None else arrays, axis_number(axis))


def _slice_updated(x: Array, begin: Value, updates: Array) -> Array:
    """A tensor with another one in place of a part; a tensor of zeros counts as one without any rows."""
    begins, part = whole_numbers(begin), np.asarray(updates)
    result = _over(x, part)
    if len(begins) != x.ndim or any(b < 0 or b + n > d for b, n, d in zip(begins, part.shape, x.shape, strict=True)):
        raise ValueError("beyond the tensor")
    result[tuple(slice(b, b + n) for b, n in zip(begins, part.shape, strict=True))] = part
    return result


def _over(x: Array, rows: Array) -> Array:
    """What rows are put over: a copy of a tensor, or of zeros. Raises ByContents for other numbers."""
    if x.dtype == rows.dtype:
        return x.copy()
    if rows.dtype != ELEMENT or np.any(x):
        raise ByContents
    return np.full(x.shape, ZERO, np.int32).view(ELEMENT).reshape(x.shape)


def _along_axis(x: Array, indices: Value, axis: Value = None) -> Array:
    where = np.asarray(indices)
    if where.dtype.kind not in "iu" or axis is None:
        raise UnreadableCall
    check_size(where.size)
    return np.take_along_axis(x, where, axis_number(axis))


def _where(mask: Value, y: Value = None, z: Value = None) -> Array:
    condition = np.asarray(mask)
    if any(a.dtype == ELEMENT for a in (condition, *arrays_in(y), *arrays_in(z))):
        raise ByContents
    if y is None and z is None:
        return np.asarray(np.argwhere(condition))
    check_size(int(np.prod(np.broadcast_shapes(condition.shape, np.shape(y), np.shape(z)), dtype=np.int64)))
    return np.asarray(np.where(condition, y, z))


def _logical(function: Callable[..., Array]) -> Callable[..., Array]:
    def combined(x: Value, y: Value = None) -> Array:
        operands = [np.asarray(v) for v in (x, y) if v is not None]
        if any(a.dtype == ELEMENT for a in operands):
            raise ByContents
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in operands)), dtype=np.int64)))
        return np.asarray(function(*operands))

    return combined


Kernel: TypeAlias = "tuple[tuple[str, ...], Callable[..., Array | list[Array]]]"

MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
"""The bits of a strided slice."""

TABLE: dict[str, Kernel] = {
    "constant": (("x", "dtype"), _converted), "converttotensor": (("x", "dtype"), _converted),
    "shape": (("x",), lambda x: np.array(np.shape(x), np.int64)),
    "shapen": (("xs",), lambda xs: [np.array(np.shape(x), np.int64) for x in xs]),
    "size": (("x",), lambda x: np.array(np.size(x))),
    "rank": (("x",), lambda x: np.array(np.ndim(x))),
    "oneslike": (("x", "dtype"), lambda x, dtype=None: _cast(np.ones(np.shape(x), np.int64), dtype or "int64")),
    "zeroslike": (("x", "dtype"), lambda x, dtype=None: _cast(np.zeros(np.shape(x), np.int64), dtype or "int64")),
    "identity": (("x",), _as_it_is), "stopgradient": (("x",), _as_it_is),
    "cast": (("x", "dtype"), _cast),
    "getitem": (("x", "key"), _getitem),
    "stridedslice": (("x", "begin", "end", "strides", *MASKS), _stridedslice),
    "slice": (("x", "begin", "size"), _slice), "k3slice": (("x", "begin", "shape"), _k3slice),
    "split": (("x", "parts", "axis", "num"), _split), "k3split": (("x", "parts", "axis"), _k3split),
    "arraysplit": (("x", "parts", "axis"), _array_split),
    "unstack": (("x", "num", "axis"), _unstack),
    "gather": (("x", "indices", "axis", "batch_dims"), _gather), "take": (("x", "indices", "axis"), _gather),
    "gatherv2": (("x", "indices", "axis", "batch_dims"), _gather),
    "gathernd": (("x", "indices", "batch_dims"), _gather_nd), "embeddinglookup": (("x", "indices"), _gather),
    "booleanmask": (("x", "mask", "axis"), _boolean_mask),
    "dynamicpartition": (("x", "partitions", "num"), _dynamic_partition),
    "claimed": (("x", "claims"), _claimed),
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
    "repeat": (("x", "repeats", "axis"), _repeated), "tile": (("x", "multiples"), _tiled),
    "takealongaxis": (("x", "indices", "axis"), _along_axis),
    "append": (("x", "updates", "axis"), _appended), "sliceupdate": (("x", "begin", "updates"), _slice_updated),
    "concat": (("xs", "axis"), _concat), "concatenate": (("xs", "axis"), _concat), "stack": (("xs", "axis"), _stack),
    "vstack": (("xs",), _concat), "rowstack": (("xs",), _concat),
    "range": (("start", "limit", "delta", "dtype"), _range), "arange": (("start", "limit", "delta", "dtype"), _range),
    "reducesum": (("x", "axis", "keepdims"), _reduce(np.sum)),
    "reduceprod": (("x", "axis", "keepdims"), _reduce(np.prod)),
    "reducemean": (("x", "axis", "keepdims"), _reduce(np.mean)), "mean": (("x", "axis", "keepdims"), _reduce(np.mean)),
    "sum": (("x", "axis", "keepdims"), _reduce(np.sum)), "average": (("xs",), _averaged), "addn": (("xs",), _added),
    "cumsum": (("x", "axis", "exclusive", "reverse"), _cumsum),
    "pad": (("x", "paddings", "mode", "constant_values"), _padded),
    "padv2": (("x", "paddings", "constant_values"), _padded),
    "scatternd": (("indices", "updates", "shape"), _scattered),
    "scatter": (("indices", "updates", "shape"), _scattered),
    "tensorscatterndupdate": (("x", "indices", "updates"), _updated),
    "tensorscatterupdate": (("x", "indices", "updates"), _updated),
    "scatterupdate": (("x", "indices", "updates"), _updated),
    "dynamicstitch": (("indices", "x"), _stitched), "paralleldynamicstitch": (("indices", "x"), _stitched),
    "invertpermutation": (("x",), lambda x: np.argsort(np.asarray(x))),
    "zeros": (("shape", "dtype"), lambda shape, dtype=None: _filled(shape, 0, dtype)),
    "fill": (("shape", "value"), _filled),
    "where": (("mask", "y", "z"), _where), "select": (("mask", "y", "z"), _where),
    "selectv2": (("mask", "y", "z"), _where),
    "logicaland": (("x", "y"), _logical(np.logical_and)), "logicalor": (("x", "y"), _logical(np.logical_or)),
    "logicalnot": (("x",), _logical(np.logical_not)), "notequal": (("x", "y"), _logical(np.not_equal)),
}  # fmt: skip
"""What is known of each name: its arguments in order, and what it does."""
