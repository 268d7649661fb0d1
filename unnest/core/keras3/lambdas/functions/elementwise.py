"""Functions of one tensor, element by element."""

from __future__ import annotations

import math
from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import calculation
from unnest.core.keras3.lambdas.values import CORE, MATH, NN, NUMPY, Const, NotUnderstood, Value, constant, operation
from unnest.core.model import Json

ELEMENTWISE = Table()


OF_SIZES = {"Sqrt": 0.5, "Rsqrt": -0.5}
"""Functions that people call on one size of a shape, too: its power."""


def _elementwise(names: str, module: str, class_name: str, **config: Json) -> None:
    @ELEMENTWISE.known(names, "x|features|tensor|logits|input|a")
    def compute(call: Bound) -> Value:
        number = call["x"].value if isinstance(call["x"], Const) else None
        if class_name in OF_SIZES and isinstance(number, float) and number > 0:
            return constant(math.pow(number, OF_SIZES[class_name]))
        x = call.floats("x")
        return replace(op(module, class_name, x, **config), shape=x.shape, rows=x.rows)


_elementwise("K.exp tf.exp tf.math.exp", NUMPY, "Exp")
_elementwise("K.log tf.log tf.math.log", NUMPY, "Log")
_elementwise("tf.log1p tf.math.log1p", NUMPY, "Log1p")
_elementwise("tf.expm1 tf.math.expm1", NUMPY, "Expm1")
_elementwise("K.square tf.square tf.math.square", NUMPY, "Square")
_elementwise("tf.sqrt tf.math.sqrt", NUMPY, "Sqrt")
_elementwise("tf.rsqrt tf.math.rsqrt", MATH, "Rsqrt")
_elementwise("K.abs tf.abs tf.math.abs", NUMPY, "Absolute")
_elementwise("K.sign tf.sign tf.math.sign", NUMPY, "Sign")
_elementwise("K.sin tf.sin tf.math.sin", NUMPY, "Sin")
_elementwise("K.cos tf.cos tf.math.cos", NUMPY, "Cos")
_elementwise("tf.tan tf.math.tan", NUMPY, "Tan")
_elementwise("tf.atan tf.math.atan", NUMPY, "Arctan")
_elementwise("K.tanh tf.tanh tf.nn.tanh tf.math.tanh keras.activations.tanh", NUMPY, "Tanh")
_elementwise("tf.floor tf.math.floor", NUMPY, "Floor")
_elementwise("tf.ceil tf.math.ceil", NUMPY, "Ceil")
_elementwise("K.round tf.round tf.math.round", NUMPY, "Round", decimals=0)
_elementwise("tf.sinh tf.math.sinh", NUMPY, "Sinh")
_elementwise("tf.cosh tf.math.cosh", NUMPY, "Cosh")
_elementwise("tf.asin tf.math.asin", NUMPY, "Arcsin")
_elementwise("tf.acos tf.math.acos", NUMPY, "Arccos")
_elementwise("tf.asinh tf.math.asinh", NUMPY, "Arcsinh")
_elementwise("tf.acosh tf.math.acosh", NUMPY, "Arccosh")
_elementwise("tf.atanh tf.math.atanh", NUMPY, "Arctanh")
_elementwise("tf.erf tf.math.erf", MATH, "Erf")
_elementwise("tf.log_sigmoid tf.math.log_sigmoid", NN, "LogSigmoid")
_elementwise("tf.negative tf.math.negative", NUMPY, "Negative")
_elementwise("tf.reciprocal tf.math.reciprocal", NUMPY, "Reciprocal")
_elementwise("K.sigmoid tf.sigmoid tf.nn.sigmoid tf.math.sigmoid keras.activations.sigmoid", NN, "Sigmoid")
_elementwise("K.softplus tf.nn.softplus tf.math.softplus keras.activations.softplus", NN, "Softplus")
_elementwise("K.softsign tf.nn.softsign tf.math.softsign keras.activations.softsign", NN, "Softsign")
_elementwise("tf.nn.relu", NN, "Relu")
_elementwise("tf.nn.relu6", NN, "Relu6")
_elementwise("tf.nn.selu keras.activations.selu", NN, "Selu")
_elementwise("tf.nn.elu", NN, "Elu", alpha=1.0)
_elementwise("tf.nn.swish tf.nn.silu keras.activations.swish", NN, "Silu")


def _asked(names: str, class_name: str) -> None:
    @ELEMENTWISE.known(names, "x")
    def compute(call: Bound) -> Value:
        x = call.floats("x")
        return replace(op(NUMPY, class_name, x), shape=x.shape, rows=x.rows, dtype="bool")


_asked("tf.is_nan tf.math.is_nan", "Isnan")
_asked("tf.is_inf tf.math.is_inf", "Isinf")
_asked("tf.is_finite tf.math.is_finite", "Isfinite")


@ELEMENTWISE.known("tf.nn.crelu", "x|features * axis=-1")
def _crelu(call: Bound) -> Value:
    x = call.floats("x")
    parts = [op(NN, "Relu", x), op(NN, "Relu", calculation("Negative", x))]
    return operation(NUMPY, "Concatenate", {"axis": call.integer("axis")}, [[part.operand for part in parts]], parts)


@ELEMENTWISE.known("abs", "x")
def _abs(call: Bound) -> Value:
    if isinstance(call["x"], Const):
        return constant(abs(call.number("x")))
    return op(NUMPY, "Absolute", call.floats("x"))


@ELEMENTWISE.known("K.sqrt", "x")
def _backend_sqrt(call: Bound) -> Value:
    """Negative numbers count as zero."""
    return op(NUMPY, "Sqrt", calculation("Maximum", call.floats("x"), constant(0.0)))


@ELEMENTWISE.known("K.hard_sigmoid keras.activations.hard_sigmoid", "x")
def _hard_sigmoid(call: Bound) -> Value:
    """The slope of Keras 1 and 2 is 0.2."""
    line = calculation("Add", calculation("Multiply", call.floats("x"), constant(0.2)), constant(0.5))
    return op(NUMPY, "Clip", line, x_min=0.0, x_max=1.0)


@ELEMENTWISE.known("K.relu keras.activations.relu", "x alpha=0.0 max_value=null")
def _backend_relu(call: Bound) -> Value:
    x, alpha = call.floats("x"), call.number("alpha")
    if isinstance(call["max_value"], Const) and call["max_value"].value is None:
        return op(NN, "LeakyRelu", x, negative_slope=alpha) if alpha else op(NN, "Relu", x)
    if alpha or call.number("max_value") < 0:
        raise NotUnderstood("`K.relu` with both a slope and a maximum")
    return op(NUMPY, "Clip", x, x_min=0.0, x_max=call.number("max_value"))


@ELEMENTWISE.known("tf.nn.leaky_relu", "x|features alpha=0.2")
def _leaky_relu(call: Bound) -> Value:
    return op(NN, "LeakyRelu", call.floats("x"), negative_slope=call.number("alpha"))


@ELEMENTWISE.known("K.elu keras.activations.elu", "x alpha=1.0")
def _elu(call: Bound) -> Value:
    return op(NN, "Elu", call.floats("x"), alpha=call.number("alpha"))


@ELEMENTWISE.known("tf.nn.gelu", "x|features approximate=false")
def _gelu(call: Bound) -> Value:
    return op(NN, "Gelu", call.floats("x"), approximate=call.flag("approximate"))


@ELEMENTWISE.known("K.softmax tf.nn.softmax keras.activations.softmax", "x|logits axis|dim=-1")
def _softmax(call: Bound) -> Value:
    axis = call["axis"]
    last = isinstance(axis, Const) and axis.value is None
    x = call.floats("x")
    return replace(op(NN, "Softmax", x, axis=-1 if last else call.integer("axis")), shape=x.shape, rows=x.rows)


@ELEMENTWISE.known("tf.nn.log_softmax tf.math.log_softmax", "x|logits axis|dim=-1")
def _log_softmax(call: Bound) -> Value:
    return op(NN, "LogSoftmax", call.floats("x"), axis=call.integer("axis"))


@ELEMENTWISE.known("K.clip tf.clip_by_value", "x|t min_value|clip_value_min max_value|clip_value_max")
def _clip(call: Bound) -> Value:
    low, high = call.number("min_value"), call.number("max_value")
    if low > high:
        raise NotUnderstood("a clip from high to low")
    return op(NUMPY, "Clip", call.floats("x"), x_min=low, x_max=high)


@ELEMENTWISE.known("K.stop_gradient tf.stop_gradient", "x|variables|input")
def _stop_gradient(call: Bound) -> Value:
    return op(CORE, "StopGradient", call.tensor("x"))


@ELEMENTWISE.known("tf.identity K.identity", "x|input")
def _identity(call: Bound) -> Value:
    return call.tensor("x")
