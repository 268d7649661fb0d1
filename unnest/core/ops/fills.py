"""Operations that make numbers which no tensor of the batch holds: sizes, constants, fills, ranges."""

from __future__ import annotations

import numpy as np

from unnest.core.ops.call import UnreadableCall, Value
from unnest.core.ops.elements import ELEMENT, Array, ByContents, check_size, whole_number, whole_numbers
from unnest.core.ops.registry import Kind, operation


@operation("shape", "x", Kind.SIZE)
def shape(x: Value) -> Array:
    """The sizes of all axes."""
    return np.array(np.shape(x), np.int64)


@operation("shape_n", "xs", Kind.CONTROL, nodes={"ShapeN": "*xs"})
def shape_n(xs: Value) -> list[Array]:
    """The sizes of all axes, of several tensors."""
    return [shape(x) for x in xs]


@operation("size", "x", Kind.SIZE)
def size(x: Value) -> Array:
    """The number of entries."""
    return np.array(np.size(x))


@operation("rank ndim", "x", Kind.CONTROL)
def rank(x: Value) -> Array:
    """The number of axes."""
    return np.array(np.ndim(x))


@operation("cast", "x dtype", Kind.MAP, nodes={"Cast": "x @DstT:dtype"})
def cast(x: Value, dtype: Value = None) -> Array:
    """Numbers of another type. Raises ByContents for elements, whose values may change, and UnreadableCall."""
    array, name = np.asarray(x), str(dtype).lower().removeprefix("dt_")
    if array.dtype == ELEMENT:
        raise ByContents
    known = {"bool": np.bool_, "half": np.float16, "float16": np.float16, "double": np.float64, "float64": np.float64}
    if name in known:
        return array.astype(known[name])
    if name in ("float", "float32", "bfloat16"):
        return array.astype(np.float32)
    if "int" in name:
        return array.astype(np.int64)
    raise UnreadableCall


@operation("convert_to_tensor", "x dtype", Kind.MAP)
def convert_to_tensor(x: Value, dtype: Value = None) -> Array:
    """An array, of that type where one is named."""
    return np.asarray(x) if dtype is None else cast(x, dtype)


@operation("constant", "x dtype", Kind.NUMBERS)
def constant(x: Value, dtype: Value = None) -> Array:
    """The same."""
    return convert_to_tensor(x, dtype)


@operation("range arange", "start limit|stop delta|step dtype", Kind.NUMBERS)
def arange(start: Value, limit: Value = None, delta: Value = 1, dtype: Value = None) -> Array:
    """`range(start, limit, delta)`, or from 0 to what is given alone."""
    first, last = (0, start) if limit is None else (start, limit)
    numbers = [np.asarray(v).reshape(()) for v in (first, last, 1 if delta is None else delta)]
    if any(n.dtype.kind not in "iuf" for n in numbers):
        raise UnreadableCall
    check_size(int(abs(numbers[1] - numbers[0]) / max(abs(float(numbers[2])), 1e-9)))
    found = np.arange(*(n.item() for n in numbers))
    return found if dtype is None else cast(found, dtype)


@operation("linspace", "start limit|stop num endpoint", Kind.NUMBERS)
def linspace(start: Value, limit: Value, num: Value, endpoint: Value = True) -> Array:
    """`num` numbers at equal distances, the limit the last of them."""
    first, last, count = np.asarray(start), np.asarray(limit), whole_number(num)
    if not endpoint or any(n.ndim or n.dtype.kind not in "iuf" for n in (first, last)):
        raise UnreadableCall
    check_size(count)
    return np.linspace(first.item(), last.item(), count)


@operation("fill", "shape|dims value", Kind.FILL)
def fill(shape: Value, value: Value = 0) -> Array:
    """An array of one number."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    return np.full(dims, np.asarray(value))


@operation("zeros", "shape|dims dtype", Kind.FILL)
def zeros(shape: Value, dtype: Value = None) -> Array:
    """An array of zeros."""
    del dtype
    return fill(shape, 0)


@operation("ones", "shape|dims dtype", Kind.FILL)
def ones(shape: Value, dtype: Value = None) -> Array:
    """An array of ones."""
    del dtype
    return fill(shape, 1)


@operation("zeros_like", "x dtype", Kind.FILL)
def zeros_like(x: Value, dtype: Value = None) -> Array:
    """Zeros in the shape of a tensor."""
    check_size(np.size(x))
    return cast(np.zeros(np.shape(x), np.int64), dtype or "int64")


@operation("ones_like", "x dtype", Kind.FILL)
def ones_like(x: Value, dtype: Value = None) -> Array:
    """Ones in the shape of a tensor."""
    check_size(np.size(x))
    return cast(np.ones(np.shape(x), np.int64), dtype or "int64")


@operation("invert_permutation", "x", Kind.NUMBERS)
def invert_permutation(x: Value) -> Array:
    """Where each number of a permutation stands in it."""
    return np.argsort(np.asarray(x))


@operation("broadcast_args", "x y", Kind.NUMBERS)
def broadcast_args(x: Value, y: Value) -> Array:
    """The shape of two tensors of these shapes together."""
    return np.array(np.broadcast_shapes(whole_numbers(x), whole_numbers(y)))
