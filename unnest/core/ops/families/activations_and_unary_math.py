"""Operations on each number of one tensor by itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from unnest.core.model import Unknown
from unnest.core.ops.families.arithmetic_comparisons_and_where import arithmetic, logical
from unnest.core.ops.keras3_nodes.function_registry import Nodes, keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import define, define_all

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicValue
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

define_all(
    "celu mish hard_silu|hard_swish hard_tanh hard_shrink soft_shrink tanh_shrink threshold squareplus sparse_plus "
    "sparse_sigmoid log2 log10 exp2 erfc erfinv lgamma digamma cbrt nan_to_num trunc deg2rad rad2deg "
    "conj|conjugate real imag angle copy saturate_cast digitize dropout check_numerics",
    "*x",
    Kind.MAP,
)


def of_each(names: str, keras3: str, **config: float) -> None:
    """Register an operation on each float that one class of Keras 3 computes."""
    define(names, "*x", Kind.MAP, keras3_class=keras3, keras3_config=config, floats_alone=True)


def of_backend(names: str, keras3: str, *, same_on_integers: bool = False) -> None:
    """Register one whose function of Keras's backend computes the same on Theano."""
    define(
        names,
        "*x",
        Kind.MAP,
        keras3_class=keras3,
        theano=Theano.SAME,
        same_on_integers=same_on_integers,
        floats_alone=not same_on_integers,
    )


of_backend("exp K.exp tf.exp tf.math.exp", "Exp")
of_backend("log K.log tf.log tf.math.log", "Log")
of_backend("square K.square tf.square tf.math.square", "Square", same_on_integers=True)
of_backend("abs absolute K.abs tf.abs tf.math.abs", "Absolute", same_on_integers=True)
of_backend("sign K.sign tf.sign tf.math.sign", "Sign", same_on_integers=True)
of_backend("sin K.sin tf.sin tf.math.sin", "Sin")
of_backend("cos K.cos tf.cos tf.math.cos", "Cos")
of_backend("tanh K.tanh tf.tanh tf.nn.tanh tf.math.tanh keras.activations.tanh", "Tanh")
of_each("log1p tf.log1p tf.math.log1p", "Log1p")
of_each("expm1 tf.expm1 tf.math.expm1", "Expm1")
of_each("tan tf.tan tf.math.tan", "Tan")
of_each("sinh tf.sinh tf.math.sinh", "Sinh")
of_each("cosh tf.cosh tf.math.cosh", "Cosh")
of_each("asin arcsin tf.asin tf.math.asin", "Arcsin")
of_each("acos arccos tf.acos tf.math.acos", "Arccos")
of_each("atan arctan tf.atan tf.math.atan", "Arctan")
of_each("asinh arcsinh tf.asinh tf.math.asinh", "Arcsinh")
of_each("acosh arccosh tf.acosh tf.math.acosh", "Arccosh")
of_each("atanh arctanh tf.atanh tf.math.atanh", "Arctanh")
of_each("erf tf.erf tf.math.erf", "Erf")
define("reciprocal tf.reciprocal tf.math.reciprocal", "*x", Kind.MAP, keras3_class="Reciprocal")
of_each("log_sigmoid tf.log_sigmoid tf.math.log_sigmoid", "LogSigmoid")
of_each(
    "sigmoid K.sigmoid tf.sigmoid tf.nn.sigmoid tf.math.sigmoid keras.activations.sigmoid",
    "Sigmoid",
)
of_each(
    "softplus K.softplus tf.nn.softplus tf.math.softplus keras.activations.softplus", "Softplus"
)
of_each(
    "softsign K.softsign tf.nn.softsign tf.math.softsign keras.activations.softsign", "Softsign"
)
define("relu tf.nn.relu", "*x", Kind.MAP, keras3_class="Relu", same_on_integers=True)
define("relu6 tf.nn.relu6", "*x", Kind.MAP, keras3_class="Relu6", same_on_integers=True)
of_each("selu tf.nn.selu keras.activations.selu", "Selu")
of_each("elu tf.nn.elu", "Elu", alpha=1.0)
of_each("silu swish tf.nn.swish tf.nn.silu keras.activations.swish", "Silu")


def rounded(names: str, function: Callable[..., Any], keras3: str, **config: int) -> None:
    """Register one that NumPy computes on plain numbers, too."""
    define(
        names,
        "*x",
        Kind.MAP,
        arithmetic(function),
        number_function=function,
        keras3_class=keras3,
        keras3_config=config,
    )


rounded("floor tf.floor tf.math.floor", np.floor, "Floor")
rounded("ceil tf.ceil tf.math.ceil", np.ceil, "Ceil")
rounded("round K.round tf.round tf.math.round", np.round, "Round", decimals=0)
define(
    "rint", "*x", Kind.MAP, arithmetic(np.rint), number_function=np.rint, function_name="tf.round"
)
define(
    "negative neg tf.negative tf.math.negative",
    "*x",
    Kind.MAP,
    arithmetic(np.negative),
    number_function=np.negative,
    keras3_class="Negative",
    same_on_integers=True,
    python_operator="-x",
)
define(
    "logical_not tf.logical_not tf.math.logical_not",
    "x",
    Kind.MAP,
    logical(np.logical_not),
    keras3_class="LogicalNot",
    python_operator="~x",
    takes_booleans=True,
    result_dtype="bool",
)
define("is_nan tf.is_nan tf.math.is_nan", "*x", Kind.MAP, keras3_class="Isnan", result_dtype="bool")
define("is_inf tf.is_inf tf.math.is_inf", "*x", Kind.MAP, keras3_class="Isinf", result_dtype="bool")
define(
    "is_finite tf.is_finite tf.math.is_finite",
    "*x",
    Kind.MAP,
    keras3_class="Isfinite",
    result_dtype="bool",
)

X = "x|features|tensor|logits|input|a"


def power_of_size(keras3: str, exponent: float) -> Nodes:
    """Nodes of a power with this exponent; applied to one size of a shape it is that size's power."""

    def nodes(call: FunctionCall) -> SymbolicValue:
        if call.is_number("x") and isinstance(size := call.number("x"), float) and size > 0:
            return call.constant(math.pow(size, exponent))
        return call.each_number(keras3)

    return nodes


define("sqrt", "*x", Kind.MAP)
define("rsqrt", "*x", Kind.MAP)
keras3("tf.sqrt tf.math.sqrt", X)(power_of_size("Sqrt", 0.5))
keras3("tf.rsqrt tf.math.rsqrt", X)(power_of_size("Rsqrt", -0.5))


@keras3("K.sqrt", "x", theano=Theano.SAME)
def backend_sqrt_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of `K.sqrt`, for which negative numbers count as zero."""
    return call.op("Sqrt", call.calculate("Maximum", call.floats("x"), 0.0))


@keras3("abs", "x")
def python_abs_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of Python's `abs`, of a number or a tensor."""
    return (
        call.constant(abs(call.number("x")))
        if call.is_plain("x")
        else call.op("Absolute", call.numbers("x"))
    )


define("hard_sigmoid", "*x", Kind.MAP)


@keras3("K.hard_sigmoid keras.activations.hard_sigmoid", "x")
def hard_sigmoid_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of a hard_sigmoid with the slope of Keras 1 and 2, 0.2."""
    line = call.calculate("Add", call.calculate("Multiply", call.floats("x"), 0.2), 0.5)
    return call.op("Clip", line, x_min=0.0, x_max=1.0)


@keras3("K.relu keras.activations.relu", "x alpha=0.0 max_value=null", theano=Theano.USUALLY)
def backend_relu_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of `K.relu` with a negative slope or a maximum. Raises Unknown for both."""
    x, alpha = call.floats("x"), call.number("alpha")
    if call.is_omitted("max_value"):
        return call.op("LeakyRelu", x, negative_slope=alpha) if alpha else call.op("Relu", x)
    if alpha or call.number("max_value") < 0:
        raise Unknown("`K.relu` with both a slope and a maximum")
    return call.op("Clip", x, x_min=0.0, x_max=call.number("max_value"))


define("leaky_relu", "x|features alpha", Kind.MAP, nodes={"LeakyRelu": "x @alpha"})


@keras3("tf.nn.leaky_relu", "x|features alpha=0.2")
def leaky_relu_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of a leaky ReLU, with its slope below zero."""
    return call.op("LeakyRelu", call.floats("x"), negative_slope=call.number("alpha"))


@keras3("K.elu keras.activations.elu", "x alpha=1.0")
def backend_elu_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of `K.elu`, with its scale below zero."""
    return call.op("Elu", call.floats("x"), alpha=call.number("alpha"))


define("gelu", "*x", Kind.MAP)


@keras3("tf.nn.gelu", "x|features approximate=false")
def gelu_nodes(call: FunctionCall) -> SymbolicValue:
    """Nodes of a GELU, exact (by the error function) or approximate."""
    return call.op("Gelu", call.floats("x"), approximate=call.flag("approximate"))


define("clip_by_value clip", "*x", Kind.MAP)


@keras3(
    "K.clip tf.clip_by_value",
    "x|t min_value|clip_value_min max_value|clip_value_max",
    theano=Theano.SAME,
)
def clip_nodes(call: FunctionCall) -> SymbolicValue:
    """Return the node that limits values to a range of two numbers. Raises Unknown."""
    x, low, high = call.numbers("x"), call.number("min_value"), call.number("max_value")
    if low > high:
        raise Unknown("a clip from high to low")
    if call.holds_whole_numbers("x") and (isinstance(low, float) or isinstance(high, float)):
        raise Unknown("whole numbers limited by others")
    return call.op("Clip", x, x_min=low, x_max=high)
