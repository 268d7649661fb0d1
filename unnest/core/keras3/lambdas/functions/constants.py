"""Python's and NumPy's numbers, arrays, and functions of them."""

from __future__ import annotations

import math
from collections.abc import Callable

from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table
from unnest.core.keras3.lambdas.operators import FLOAT, kind
from unnest.core.keras3.lambdas.values import (
    MAX_ELEMENTS,
    Array,
    Const,
    Items,
    Name,
    NotUnderstood,
    Shape,
    Value,
    array,
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


@OF_CONSTANTS.known("K.constant", "value")
def _backend_constant(call: Bound) -> Value:
    return _float_constant(call)


@OF_CONSTANTS.known("tf.constant", "value dtype=null")
def _constant(call: Bound) -> Value:
    """Integers make a tensor of integers, unless told otherwise."""
    written = call["dtype"]
    if isinstance(written, Const) and written.value is None:
        if not _holds_floats(call["value"]):
            raise NotUnderstood("a tensor of integers")
    elif call.dtype("dtype") != FLOAT:
        raise NotUnderstood("a tensor of another dtype than float32")
    return _float_constant(call)


def _holds_floats(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds_floats(item) for item in value.items)
    return isinstance(value, Const) and isinstance(value.value, float)


def _float_constant(call: Bound) -> Value:
    if number(call["value"]) is not None:
        return constant(float(call.number("value")))
    return _array(call, "value")


@OF_CONSTANTS.known("np.array np.asarray", "value|object dtype=null")
def _numpy_array(call: Bound) -> Value:
    _check_floats(call)
    return _array(call, "value")


def _check_floats(call: Bound) -> None:
    """Raises NotUnderstood where the dtype that is told is none of floats."""
    written = call["dtype"]
    spelt = written.path if isinstance(written, Name) else written.value if isinstance(written, Const) else ""
    if spelt not in {None, "float32", "float64", "np.float32", "np.float64", "tf.float32"}:
        raise NotUnderstood("an array of another dtype than floats")


# (Not K.ones and K.zeros: they make variables, which are weights of the Lambda from TensorFlow 1.14 on.)


@OF_CONSTANTS.known("tf.ones np.ones", "shape dtype=null")
def _ones(call: Bound) -> Value:
    return _full(call, 1.0)


@OF_CONSTANTS.known("tf.zeros np.zeros", "shape dtype=null")
def _zeros(call: Bound) -> Value:
    return _full(call, 0.0)


def _full(call: Bound, value: float) -> Array:
    """An array of floats of one value."""
    _check_floats(call)
    shape = [call.integer("shape")] if isinstance(call["shape"], Const) else call.integers("shape")
    if not shape or min(shape) < 1 or math.prod(shape) > MAX_ELEMENTS:
        raise NotUnderstood("the shape of an array")
    nested: Json = value
    for size in reversed(shape):
        nested = [nested] * size
    return Array(nested, "")


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


def _array(call: Bound, name: str) -> Array:
    nested = array(call[name])
    if nested is None:
        raise NotUnderstood("an array that does not hold numbers alone")
    return Array(nested, call[name].text)


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
