"""Operations that make numbers which no tensor of the batch holds: constants, fills, ranges, one-hot rows."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnest.core.model import Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import Array, check_size
from unnest.core.ops.families.shape_and_dtype import cast
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import whole_number, whole_numbers
from unnest.core.ops.registry import define, operation, shape_rule
from unnest.core.ops.shape_arithmetic import axis_of, shape_of, whole

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import (
        ArrayKind,
        Const,
        ConstantArray,
        Items,
        SymbolicTensor,
    )
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


FLOAT = "float32"


define(
    "one_hot",
    "x|indices depth|num_classes on_value off_value axis dtype",
    Kind.ROWWISE,
    nodes={"OneHot": "x depth on_value off_value @axis"},
)


@shape_rule("one_hot")
def one_hot_shape(x: Value, depth: Value, axis: Value = None, **numbers: Value) -> Shape:
    """Shape with a new axis of `depth` entries, by default the last. Raises Unknown."""
    del numbers
    shape = shape_of(x)
    place = len(shape) if axis is None else axis_of(axis, len(shape) + 1)
    return (*shape[:place], whole(depth), *shape[place:])


@keras3("K.one_hot", "x|indices num_classes", theano=Theano.USUALLY)
def backend_one_hot_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.one_hot`: ones and zeros along a new last axis."""
    return _one_hot_of(call, "num_classes")


@keras3("tf.one_hot", "x|indices depth on_value=null off_value=null axis=null dtype=null")
def one_hot_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `tf.one_hot`, with ones and zeros or two other numbers. Raises Unknown."""
    if not call.is_omitted("dtype") and call.dtype("dtype") != FLOAT:
        raise Unknown("one-hot rows of another dtype")
    if call.axis() not in {None, -1}:
        raise Unknown("one-hot rows along another axis than the last")
    on = 1.0 if call.is_omitted("on_value") else call.number("on_value")
    off = 0.0 if call.is_omitted("off_value") else call.number("off_value")
    made = _one_hot_of(call, "depth")
    if (on, off) == (1.0, 0.0):
        return made
    return call.calculate("Add", call.calculate("Multiply", made, float(on - off)), float(off))


def _one_hot_of(call: FunctionCall, depth: str) -> SymbolicTensor:
    x, size = call.tensor("x"), call.size(depth)
    if x.dtype not in {"int32", "int64", "uint8"}:
        raise Unknown(f"one-hot rows of {x.dtype}")
    if size is not None:
        column = call.op("ExpandDims", x, axis=-1)
        hot = call.calculate("Equal", column, call.whole_numbers_below(size))
        return replace(call.op("Cast", hot, dtype=FLOAT), dtype=FLOAT)
    return replace(
        call.op("OneHot", x, num_classes=call.integer(depth), axis=-1, dtype=FLOAT), dtype=FLOAT
    )


@operation("convert_to_tensor", "x dtype", Kind.MAP)
def convert_to_tensor(x: Value, dtype: Value = None) -> Array:
    """Return an array, of `dtype` if one is named."""
    return np.asarray(x) if dtype is None else cast(x, dtype)


@keras3("tf.convert_to_tensor", "value dtype=null")
def convert_to_tensor_nodes(call: FunctionCall) -> ConstantArray | Const:
    """Return a constant with the dtype that TensorFlow gives it."""
    _check_float_tensor(call)
    return _float_constant(call, None)


@operation("constant", "x dtype", Kind.NUMBERS)
def constant(x: Value, dtype: Value = None) -> Array:
    """Return an array of numbers, as `convert_to_tensor` does."""
    return convert_to_tensor(x, dtype)


@keras3("K.constant", "value dtype=null shape=null")
def backend_constant_nodes(call: FunctionCall) -> ConstantArray | Const:
    """A float constant (`K.constant`), whatever numbers it is made of."""
    return _float_constant(call, _shape_of_constant(call))


@keras3("tf.constant", "value dtype=null shape=null")
def constant_nodes(call: FunctionCall) -> ConstantArray | Const:
    """Return a constant with the dtype that TensorFlow gives it."""
    _check_float_tensor(call)
    return _float_constant(call, _shape_of_constant(call))


def _check_float_tensor(call: FunctionCall) -> None:
    """Raise Unknown for a tensor of integers, or of 64 bits, which NumPy's floats make unless told otherwise."""
    if not call.is_omitted("dtype") or call.has_float32("value"):
        return
    if not call.holds_floats("value"):
        raise Unknown("a tensor of integers")
    if call.is_array("value"):
        raise Unknown("a tensor of 64 bits")


def _check_float32(call: FunctionCall) -> None:
    """Raise Unknown for any other dtype that a call names."""
    if not call.is_omitted("dtype") and call.dtype("dtype") != FLOAT:
        raise Unknown("a tensor of another dtype than float32")


def _shape_of_constant(call: FunctionCall) -> list[int] | None:
    return None if call.is_omitted("shape") else _sizes(call)


def _sizes(call: FunctionCall) -> list[int]:
    return [call.integer("shape")] if call.is_plain("shape") else call.integers("shape")


def _float_constant(call: FunctionCall, shape: list[int] | None) -> ConstantArray | Const:
    """Return a float constant: a number, an array of numbers, or one number in a shape. Raises Unknown."""
    _check_float32(call)
    if call.is_number("value"):
        value = float(call.number("value"))
        return call.constant(value) if shape is None else _filled(call, shape, value, "tensor")
    made = call.array("value", "tensor")
    if shape is None:
        return made
    # One size of a shape may follow from the others in a reshape, and not in a constant.
    if not shape or min(shape) < 1:
        raise Unknown("the shape of an array")
    return call.array_reshaped(made, shape)


def _filled(
    call: FunctionCall, shape: list[int], value: float, array_kind: ArrayKind | None
) -> ConstantArray:
    """Return an array filled with one number. Raises Unknown."""
    if not shape or min(shape) < 1 or prod(shape) > MAX_CONSTANT:
        raise Unknown("the shape of an array")
    nested: Json = value
    for size in reversed(shape):
        nested = [nested] * size
    return call.constant_array(nested, array_kind)


MAX_CONSTANT = 10_000
"""Numbers in one constant of a model."""


@operation("range arange", "start limit|stop delta|step dtype", Kind.NUMBERS)
def arange(start: Value, limit: Value = None, delta: Value = 1, dtype: Value = None) -> Array:
    """Return the numbers of `range(start, limit, delta)`; a single argument is the limit. Raises Unknown."""
    first, last = (0, start) if limit is None else (start, limit)
    numbers = [np.asarray(v).reshape(()) for v in (first, last, 1 if delta is None else delta)]
    if any(n.dtype.kind not in "iuf" for n in numbers):
        raise Unknown("the bounds of a range")
    check_size(int(abs(numbers[1] - numbers[0]) / max(abs(float(numbers[2])), 1e-9)))
    found = np.arange(*(n.item() for n in numbers))
    return found if dtype is None else cast(found, dtype)


@keras3("tf.range", "start limit=null delta=1 dtype=null")
def range_nodes(call: FunctionCall) -> ConstantArray | SymbolicTensor:
    """Return the numbers from `start`, or 0, up to and without `limit`. Raises Unknown."""
    if call.size("start" if call.is_omitted("limit") else "limit") is not None:
        return _range_to_size(call, "limit", "delta")
    ends = ("start", "limit", "delta")
    if not any(isinstance(call.number(end), float) for end in ends if not call.is_omitted(end)):
        return _range_of_integers(call, "limit", "delta", "tensor")
    _check_float32(call)
    is_one = call.is_omitted("limit")
    first, last = (
        (0, call.number("start")) if is_one else (call.number("start"), call.number("limit"))
    )
    last, step = float(np.float32(last)), call.number("delta")
    if not step or not 0 < (last - first) / step <= MAX_CONSTANT:
        raise Unknown("the length of a range")
    numbers = np.arange(first, last, step)
    if not (numbers.astype("f4") == numbers).all() or np.float32(step) != step:
        raise Unknown("a range that 32 bits round")
    return call.constant_array(numbers.tolist(), "tensor")


@keras3("K.arange", "start stop=null step=1 dtype=null")
def backend_arange_nodes(call: FunctionCall) -> ConstantArray | SymbolicTensor:
    """Return the whole numbers from `start`, or 0, up to and without `stop`. Raises Unknown."""
    if call.size("start" if call.is_omitted("stop") else "stop") is not None:
        return _range_to_size(call, "stop", "step")
    return _range_of_integers(call, "stop", "step", "tensor")


@keras3("np.arange", "start stop=null step=1 dtype=null")
def numpy_arange_nodes(call: FunctionCall) -> ConstantArray:
    """An array of the whole numbers from `start`, or 0, up to and without `stop`. Raises Unknown."""
    return _range_of_integers(call, "stop", "step", "float32")


def _range_to_size(call: FunctionCall, end: str, each: str) -> SymbolicTensor:
    """Return whole numbers up to and without a size that is not known. Raises Unknown."""
    is_one = call.is_omitted(end)
    start, step = 0 if is_one else call.whole_number("start"), call.whole_number(each)
    place = "start" if is_one else end
    size, own = call.size(place), "int32" if call.holds_whole_numbers(place) else FLOAT
    dtype = own if call.is_omitted("dtype") else call.dtype("dtype")
    if size is None or start < 0 or step < 1:
        raise Unknown("a range to a size that is not known, from below zero or backwards")
    if dtype not in {"int32", FLOAT}:
        raise Unknown("a range of another dtype")
    made = call.whole_numbers_below(size)
    if start or step > 1:
        made = call.subscript(made, slice(start or None, None, step if step > 1 else None))
    return made if dtype == "int32" else replace(call.op("Cast", made, dtype=dtype), dtype=dtype)


def _range_of_integers(
    call: FunctionCall, end: str, each: str, of_floats: ArrayKind
) -> ConstantArray:
    """Return a constant of whole numbers; `of_floats` is what it is if the call names float32. Raises Unknown."""
    is_one = call.is_omitted(end)
    start, stop = (
        (0, call.integer("start")) if is_one else (call.integer("start"), call.integer(end))
    )
    step = call.integer(each)
    if not call.is_omitted("dtype") and call.dtype("dtype") not in {"int32", "int64", FLOAT}:
        raise Unknown("a range of another dtype")
    if not step or not 0 < len(range(start, stop, step)) <= MAX_CONSTANT:
        raise Unknown("the length of a range")
    if not call.is_omitted("dtype") and call.dtype("dtype") == FLOAT:
        return call.constant_array(
            [float(number) for number in range(start, stop, step)], of_floats
        )
    return call.constant_array([*range(start, stop, step)])


define("sequence_mask", "*x", Kind.CONTROL)


@keras3("tf.sequence_mask", 'lengths maxlen=null dtype="bool"')
def sequence_mask_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a mask that is true as often as lengths say, along a new last axis of known size. Raises Unknown."""
    lengths, size, dtype = call.tensor("lengths"), call.size("maxlen"), call.dtype("dtype")
    if call.is_omitted("maxlen") or not call.holds_whole_numbers("lengths"):
        raise Unknown("a mask as long as the longest of the lengths")
    places: SymbolicTensor | ConstantArray
    if size is not None:
        places = call.whole_numbers_below(size)
    else:
        count = call.integer("maxlen")
        if not 0 < count <= MAX_CONSTANT:
            raise Unknown("the length of a mask")
        places = call.constant_array([*range(count)])
    column = call.op("ExpandDims", lengths, axis=-1)
    mask = replace(call.calculate("Less", places, column), dtype="bool")
    return mask if dtype == "bool" else replace(call.op("Cast", mask, dtype=dtype), dtype=dtype)


@operation("linspace", "start limit|stop num endpoint", Kind.NUMBERS)
def linspace(start: Value, limit: Value, num: Value, endpoint: Value = True) -> Array:
    """Return `num` numbers at equal distances, `limit` the last of them. Raises Unknown."""
    first, last, count = np.asarray(start), np.asarray(limit), whole_number(num)
    if not endpoint or any(n.ndim or n.dtype.kind not in "iuf" for n in (first, last)):
        raise Unknown("the bounds of numbers at equal distances")
    check_size(count)
    return np.linspace(first.item(), last.item(), count)


@operation("fill", "shape|dims value", Kind.FILL)
def fill(shape: Value, value: Value = 0) -> Array:
    """Return an array filled with one number."""
    dims = whole_numbers(shape)
    check_size(int(np.prod(dims, dtype=np.int64)))
    return np.full(dims, np.asarray(value))


@operation("zeros", "shape|dims dtype", Kind.FILL)
def zeros(shape: Value, dtype: Value = None) -> Array:
    """Return an array of zeros."""
    del dtype
    return fill(shape, 0)


@operation("ones", "shape|dims dtype", Kind.FILL)
def ones(shape: Value, dtype: Value = None) -> Array:
    """Return an array of ones."""
    del dtype
    return fill(shape, 1)


@keras3("tf.fill", "shape|dims value")
def fill_nodes(call: FunctionCall) -> ConstantArray | SymbolicTensor:
    """Return one number everywhere, of float32 or int32 as the number is, or a size. Raises Unknown."""
    if call.size("value") is None:
        return _filled_tensor(call, call.number("value"))
    number = call.tensor("value")
    zeros = call.zeros_of_sizes(call.sizes("shape"), number.dtype)
    if zeros is None:
        raise Unknown("a size that fills a shape which is known")
    return call.repeated(call.calculate("Add", zeros, number), call.sizes("shape"))


def _filled_tensor(call: FunctionCall, value: float) -> ConstantArray | SymbolicTensor:
    """Return a tensor of one number; some of its sizes may be unknown ones of other tensors. Raises Unknown."""
    sizes = [] if call.is_plain("shape") else call.sizes("shape")
    is_float = isinstance(value, float)
    zeros = call.zeros_of_sizes(sizes, FLOAT if is_float else "int32")
    if zeros is None:
        return _filled(call, _sizes(call), value, "tensor" if is_float else None)
    return call.repeated(call.calculate("Add", zeros, value) if value else zeros, sizes)


# (Not K.ones and K.zeros: they make variables, which are weights of the Lambda from TensorFlow 1.14 on.)


def _filling(name: str, value: int) -> None:
    """Register functions that fill a shape with one number."""

    @keras3(f"tf.{name}", "shape dtype=null")
    def nodes(call: FunctionCall) -> ConstantArray | SymbolicTensor:
        if not call.is_omitted("dtype") and call.dtype("dtype") == "int32":
            return _filled_tensor(call, value)
        _check_float32(call)
        return _filled_tensor(call, float(value))

    @keras3(f"np.{name}", "shape dtype=null")
    def numpy_nodes(call: FunctionCall) -> ConstantArray:
        return _filled(call, _sizes(call), float(value), call.numpy_dtype("dtype") or "float64")


_filling("ones", 1)
_filling("zeros", 0)


@operation("zeros_like", "x dtype", Kind.FILL, keeps_shape=True)
def zeros_like(x: Value, dtype: Value = None) -> Array:
    """Return zeros in the shape of an array."""
    check_size(np.size(x))
    return cast(np.zeros(np.shape(x), np.int64), dtype or "int64")


@operation("ones_like", "x dtype", Kind.FILL, keeps_shape=True)
def ones_like(x: Value, dtype: Value = None) -> Array:
    """Return ones in the shape of an array."""
    check_size(np.size(x))
    return cast(np.ones(np.shape(x), np.int64), dtype or "int64")


def _like(functions: str, class_name: str) -> None:
    """Register functions that fill the shape of a tensor."""

    @keras3(functions, "x|tensor|input dtype=null")
    def nodes(call: FunctionCall) -> SymbolicTensor:
        x = call.tensor("x")
        if x.dtype not in {FLOAT, "int32", "int64"}:
            raise Unknown(f"a tensor like one of {x.dtype}")
        made = call.each_number(class_name, x)
        dtype = x.dtype if call.is_omitted("dtype") else call.dtype("dtype")
        return (
            made if dtype == x.dtype else replace(call.op("Cast", made, dtype=dtype), dtype=dtype)
        )


_like("K.zeros_like tf.zeros_like", "ZerosLike")
_like("K.ones_like tf.ones_like", "OnesLike")


@keras3("tf.meshgrid", 'x y * indexing="xy"')
def meshgrid_nodes(call: FunctionCall) -> Items:
    """Nodes of two vectors, each repeated along the other's axis; by `xy` the first lies along the last axis.

    Raises Unknown.
    """
    across, down = (call.numbers(name) for name in "xy")
    if any(vector.shape is None or len(vector.shape) != 1 for vector in (across, down)):
        raise Unknown("a mesh of what are not vectors")
    is_xy = call.text("indexing") == "xy"
    if not is_xy:
        call.only(indexing="ij")
        across, down = down, across
    row, column = call.op("ExpandDims", across, axis=0), call.op("ExpandDims", down, axis=1)
    first = call.calculate("Add", call.op("ZerosLike", column), row)
    second = call.calculate("Add", column, call.op("ZerosLike", row))
    return call.list_of([first, second] if is_xy else [second, first])


@operation("invert_permutation", "x", Kind.NUMBERS)
def invert_permutation(x: Value) -> Array:
    """Return the position of each number in a permutation."""
    return np.argsort(np.asarray(x))
