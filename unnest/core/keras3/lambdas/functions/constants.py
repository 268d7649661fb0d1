"""Python's and NumPy's numbers, arrays, and functions of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from unnest.core.keras3.lambdas import arrays, operators
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table
from unnest.core.keras3.lambdas.operators import FLOAT, kind
from unnest.core.keras3.lambdas.values import (
    MAX_ELEMENTS,
    Array,
    CallArguments,
    Const,
    Items,
    Name,
    NotUnderstood,
    Numbers,
    Shape,
    Value,
    constant,
    number,
    plain,
)
from unnest.core.model import Json

OF_CONSTANTS = Table()


def _of_number(names: str, compute: Callable[[float], float]) -> None:
    @OF_CONSTANTS.known(names, "x")
    def calculate(call: Bound) -> Value:
        try:
            value = compute(call.number("x"))
        except (ArithmeticError, ValueError) as error:
            raise NotUnderstood("an impossible calculation") from error
        return _plain(value)


def _plain(value: float) -> Const:
    if not plain(value):
        raise NotUnderstood("a number beyond 32 bits")
    return constant(value)


_of_number("np.sqrt math.sqrt", math.sqrt)
_of_number("np.log math.log", math.log)
_of_number("np.exp math.exp", math.exp)
_of_number("float np.float32 np.float64", float)
_of_number("int", int)


@OF_CONSTANTS.known("K.epsilon", "")
def _epsilon(_: Bound) -> Value:
    return constant(1e-7)


@OF_CONSTANTS.known("K.floatx", "")
def _floatx(_: Bound) -> Value:
    return constant(FLOAT)


@OF_CONSTANTS.known("K.constant", "value dtype=null shape=null")
def _backend_constant(call: Bound) -> Value:
    return _float_constant(call, call["shape"])


@OF_CONSTANTS.known("tf.constant", "value dtype=null shape=null")
def _constant(call: Bound) -> Value:
    return _tensor_constant(call, call["shape"])


@OF_CONSTANTS.known("tf.convert_to_tensor", "value dtype=null")
def _converted(call: Bound) -> Value:
    return _tensor_constant(call, constant(None))


def _tensor_constant(call: Bound, shape: Value) -> Value:
    """Integers make a tensor of integers, NumPy's floats one of 64 bits, unless told otherwise."""
    value = call["value"]
    if _dtype(call) is None:
        is_float_32 = isinstance(value, Array) and value.numbers in {"float32", "tensor"}
        if not is_float_32 and not _holds_floats(value):
            raise NotUnderstood("a tensor of integers")
        if isinstance(value, Array) and not is_float_32:
            raise NotUnderstood("a tensor of 64 bits")
    return _float_constant(call, shape)


def _holds_floats(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds_floats(item) for item in value.items)
    return isinstance(value, Array) or (isinstance(value, Const) and isinstance(value.value, float))


def _dtype(call: Bound) -> str | None:
    """The dtype that is told. Raises NotUnderstood for any but `float32`."""
    written = call["dtype"]
    if isinstance(written, Const) and written.value is None:
        return None
    if call.dtype("dtype") != FLOAT:
        raise NotUnderstood("a tensor of another dtype than float32")
    return FLOAT


def _float_constant(call: Bound, shape: Value) -> Value:
    _dtype(call)
    is_plain = isinstance(shape, Const) and shape.value is None
    if number(call["value"]) is not None:
        value = constant(float(call.number("value")))
        return value if is_plain else _filled(_sizes(call, "shape"), float(call.number("value")), "tensor")
    made = arrays.of_value(call["value"], "tensor", call["value"].text)
    return made if is_plain else arrays.reshaped(made, _whole(_sizes(call, "shape")))


def _sizes(call: Bound, name: str) -> list[int]:
    return [call.integer(name)] if isinstance(call[name], Const) else call.integers(name)


def _whole(shape: list[int]) -> list[int]:
    """The sizes. Raises NotUnderstood where one follows from the others: TensorFlow's constants have none such."""
    if not shape or min(shape) < 1:
        raise NotUnderstood("the shape of an array")
    return shape


@OF_CONSTANTS.known("np.array np.asarray", "value|object dtype=null")
def _numpy_array(call: Bound) -> Value:
    return arrays.of_value(call["value"], _floats_told(call), call["value"].text)


def _floats_told(call: Bound) -> Numbers | None:
    """The dtype that is told. Raises NotUnderstood where it is none of floats."""
    written = call["dtype"]
    spelt = written.path if isinstance(written, Name) else written.value if isinstance(written, Const) else ""
    if not (spelt is None or spelt in FLOATS):
        raise NotUnderstood("an array of another dtype than floats")
    return FLOATS[str(spelt)] if spelt is not None else None


FLOATS: Mapping[str, Numbers] = {
    "float32": "float32", "np.float32": "float32", "tf.float32": "float32", "float64": "float64",
    "np.float64": "float64", "float": "float64",
}  # fmt: skip


def of_array(value: Array, method: str, arguments: CallArguments) -> Array:
    """`value.reshape(...)` and `value.astype(...)` of one of NumPy's arrays. Raises NotUnderstood."""
    given = arguments.positional
    if method == "reshape" and not arguments.keywords:
        sizes = given[0].items if len(given) == 1 and isinstance(given[0], Items) else given
        plain = [number(size) for size in sizes]
        whole = [size for size in plain if isinstance(size, int)]
        if whole and len(whole) == len(plain):
            return arrays.reshaped(value, whole)
    if method == "astype" and len(given) == 1 and not arguments.keywords:
        written = given[0]
        spelt = written.path if isinstance(written, Name) else written.value if isinstance(written, Const) else None
        if isinstance(spelt, str) and spelt in FLOATS:
            return arrays.made(value.value, FLOATS[spelt])
    raise NotUnderstood(f"arguments of `.{method}`")


@OF_CONSTANTS.known("K.cast_to_floatx", "x")
def _cast_to_floatx(call: Bound) -> Value:
    """A NumPy array, whatever went in."""
    value = call["x"]
    if not isinstance(value, Array) or value.numbers in {None, "tensor"}:
        raise NotUnderstood("what is none of NumPy's arrays for certain")
    return arrays.of_value(value, "float32")


# (Not K.ones and K.zeros: they make variables, which are weights of the Lambda from TensorFlow 1.14 on.)


@OF_CONSTANTS.known("tf.ones", "shape dtype=null")
def _ones(call: Bound) -> Value:
    return _full_tensor(call, 1.0)


@OF_CONSTANTS.known("tf.zeros", "shape dtype=null")
def _zeros(call: Bound) -> Value:
    return _full_tensor(call, 0.0)


def _full_tensor(call: Bound, value: float) -> Array:
    _dtype(call)
    return _filled(_sizes(call, "shape"), value, "tensor")


@OF_CONSTANTS.known("np.ones", "shape dtype=null")
def _numpy_ones(call: Bound) -> Value:
    return _filled(_sizes(call, "shape"), 1.0, _floats_told(call) or "float64")


@OF_CONSTANTS.known("np.zeros", "shape dtype=null")
def _numpy_zeros(call: Bound) -> Value:
    return _filled(_sizes(call, "shape"), 0.0, _floats_told(call) or "float64")


def _filled(shape: list[int], value: float, numbers: Numbers) -> Array:
    """An array of floats of one value."""
    if not shape or min(shape) < 1 or math.prod(shape) > MAX_ELEMENTS:
        raise NotUnderstood("the shape of an array")
    nested: Json = value
    for size in reversed(shape):
        nested = [nested] * size
    return Array(nested, "", numbers=numbers)


@OF_CONSTANTS.known("K.arange tf.range np.arange", "start stop|limit=null step|delta=1 dtype=null")
def _arange(call: Bound) -> Value:
    """Whole numbers from `start`, or 0 where one number is given, up to and without `stop`."""
    is_one = isinstance(call["stop"], Const) and call.axis("stop") is None
    start, stop = (0, call.integer("start")) if is_one else (call.integer("start"), call.integer("stop"))
    step, spelt = call.integer("step"), call["dtype"]
    if not (isinstance(spelt, Const) and spelt.value is None) and call.dtype("dtype") not in {"int32", "int64", FLOAT}:
        raise NotUnderstood("a range of another dtype")
    if not step or not 0 < len(range(start, stop, step)) <= MAX_ELEMENTS:
        raise NotUnderstood("the length of a range")
    return Array(list(range(start, stop, step)), "")


# Builtins


def _of_numbers(name: str, compute: Callable[[float, float], float]) -> None:
    @OF_CONSTANTS.known(name, "x y")
    def calculate(call: Bound) -> Value:
        return constant(compute(call.number("x"), call.number("y")))


_of_numbers("max", max)
_of_numbers("min", min)


@OF_CONSTANTS.known("len", "x")
def _len(call: Bound) -> Value:
    value = call["x"]
    if isinstance(value, Shape) and value.kind != "tensor":
        return constant(len(value.dimensions))
    if not isinstance(value, Items):
        raise NotUnderstood(f"the length of {kind(value)}")
    return constant(len(value.items))


@OF_CONSTANTS.known("np.prod", "x|a")
def _product(call: Bound) -> Value:
    """Of sizes that are known."""
    sizes = call.sizes("x")
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes) or (isinstance(call["x"], Shape) and call["x"].kind == "tensor"):
        raise NotUnderstood("a product of sizes that are not known")
    return _plain(math.prod(known))


@OF_CONSTANTS.known("sum", "x")
def _sum(call: Bound) -> Value:
    value = call["x"]
    if not isinstance(value, Items) or not value.items:
        raise NotUnderstood(f"the sum of {kind(value)}")
    total: Value = constant(0)
    for item in value.items:
        total = operators.binary("+", total, item)
    return total
