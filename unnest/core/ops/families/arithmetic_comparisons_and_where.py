"""Operations on the numbers in the same places of several tensors, which are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnest.core.model import DataDependent, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import (
    ELEMENT,
    Array,
    arrays_in,
    check_size,
    same_contents,
    sum_of_scattered,
)
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import EntryOptions, define, define_all, operation, shape_rule
from unnest.core.ops.shape_arithmetic import broadcast, shape_of, truncated_quotient, whole_quotient

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

define_all(
    "hypot logaddexp bitwise_and bitwise_or bitwise_xor fmod fmax fmin mul_no_nan|multiply_no_nan xlogy xdivy is_close",
    "*x",
    Kind.ELEMENTWISE,
)
define(
    "logical_xor",
    "*x",
    Kind.ELEMENTWISE,
    keras3_class="LogicalXor",
    takes_booleans=True,
    result_dtype="bool",
)
define_all("accumulate_n|accumulate_n_v2 multiply_n maximum_n minimum_n", "xs", Kind.ELEMENTWISE)


def arithmetic(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a NumPy function on plain numbers in TensorFlow's dtypes; numbered elements can only be added to zeros.

    Raises DataDependent, Unknown.
    """

    def compute(x: Sequence[Value]) -> Array:
        operands = [each for each in x if each is not None]
        arrays = [np.asarray(each) for each in operands]
        if any(a.dtype == ELEMENT for a in arrays):
            if function is not np.add:
                raise DataDependent
            return sum_of_scattered(arrays)
        if any(a.dtype.kind not in "iufb" for a in arrays):
            raise Unknown("arithmetic on what are no numbers")
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in arrays)), dtype=np.int64)))
        # A bare number takes the type of the array beside it, as it does in TensorFlow.
        typed = next((each.dtype for each in operands if isinstance(each, np.ndarray)), None)
        if typed is not None and (typed.kind == "f" or all(a.dtype.kind != "f" for a in arrays)):
            arrays = [a.astype(typed) for a in arrays]
        return np.asarray(function(*arrays))

    return compute


def logical(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a NumPy function on one or two arrays of booleans or numbers. Raises DataDependent for elements."""

    def compute(x: Value, y: Value = None) -> Array:
        operands = [np.asarray(each) for each in (x, y) if each is not None]
        if any(a.dtype == ELEMENT for a in operands):
            raise DataDependent
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in operands)), dtype=np.int64)))
        return np.asarray(function(*operands))

    return compute


def of_two(
    names: str,
    function: Callable[..., Any],
    keras3: str = "",
    symbol: str = "",
    **options: Unpack[EntryOptions],
) -> None:
    """Register an operation on two tensors that NumPy computes, and one class of Keras 3."""
    entry: EntryOptions = {
        **options,
        "number_function": function,
        "keras3_class": keras3,
        "python_operator": symbol,
    }
    define(names, "*x", Kind.ELEMENTWISE, arithmetic(function), **entry)


of_two("add add_v2 tf.add tf.math.add", np.add, "Add", "+", same_on_integers=True)
of_two(
    "subtract sub tf.subtract tf.math.subtract", np.subtract, "Subtract", "-", same_on_integers=True
)
of_two(
    "multiply mul scalar_mul tf.multiply tf.math.multiply",
    np.multiply,
    "Multiply",
    "*",
    same_on_integers=True,
)
of_two("truediv real_div true_divide divide tf.divide tf.math.divide tf.truediv tf.math.truediv", np.true_divide,
       "Divide", "/")  # fmt: skip
of_two(
    "floordiv floor_divide tf.floordiv tf.math.floordiv tf.floor_div",
    np.floor_divide,
    "FloorDivide",
    "//",
    same_on_integers=True,
)
of_two("mod floor_mod remainder tf.floormod tf.math.floormod tf.math.mod tf.mod", np.mod, "Mod", "%",
       same_on_integers=True)  # fmt: skip
of_two("right_shift bitwise_right_shift", np.right_shift)
of_two("left_shift bitwise_left_shift", np.left_shift)
of_two("div tf.div", truncated_quotient, "Divide", "classic /")
of_two("truncate_div", whole_quotient)
# The node Mod divides towards zero, which the function of that name does not.
of_two("truncate_mod", np.fmod, nodes={"Mod": "*x"})
define(
    "pow power tf.pow tf.math.pow",
    "*x",
    Kind.ELEMENTWISE,
    keras3_class="Power",
    python_operator="**",
    same_on_integers=True,
)


def of_backend(names: str, function: Callable[..., Any], keras3: str) -> None:
    """Register one whose function of Keras's backend computes the same on Theano."""
    of_two(names, function, keras3, theano=Theano.SAME, same_on_integers=True)


of_backend("maximum K.maximum tf.maximum tf.math.maximum", np.maximum, "Maximum")
of_backend("minimum K.minimum tf.minimum tf.math.minimum", np.minimum, "Minimum")


def comparison(names: str, function: Callable[..., Any], keras3: str, symbol: str) -> None:
    """Register a comparison of two tensors."""
    of_two(names, function, keras3, symbol, result_dtype="bool", same_on_integers=True)


comparison("equal K.equal tf.equal tf.math.equal", np.equal, "Equal", "==")
comparison("less K.less tf.less tf.math.less", np.less, "Less", "<")
comparison(
    "less_equal K.less_equal tf.less_equal tf.math.less_equal", np.less_equal, "LessEqual", "<="
)
comparison("greater K.greater tf.greater tf.math.greater", np.greater, "Greater", ">")
comparison("greater_equal K.greater_equal tf.greater_equal tf.math.greater_equal", np.greater_equal, "GreaterEqual",
           ">=")  # fmt: skip

OF_TWO = "x|x1 y|x2"

define(
    "not_equal K.not_equal tf.not_equal tf.math.not_equal",
    OF_TWO,
    Kind.ELEMENTWISE,
    logical(np.not_equal),
    keras3_class="NotEqual",
    python_operator="!=",
    same_on_integers=True,
    result_dtype="bool",
)
define(
    "logical_and tf.logical_and tf.math.logical_and",
    OF_TWO,
    Kind.ELEMENTWISE,
    logical(np.logical_and),
    keras3_class="LogicalAnd",
    python_operator="&",
    takes_booleans=True,
    result_dtype="bool",
)
define(
    "logical_or tf.logical_or tf.math.logical_or",
    OF_TWO,
    Kind.ELEMENTWISE,
    logical(np.logical_or),
    keras3_class="LogicalOr",
    python_operator="|",
    takes_booleans=True,
    result_dtype="bool",
)
define("divide_no_nan div_no_nan tf.div_no_nan tf.math.divide_no_nan", "*x", Kind.ELEMENTWISE,
       keras3_class="DivideNoNan")  # fmt: skip


@keras3("K.pow pow", "x|a y|b", theano=Theano.USUALLY)
def power_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.pow`, and of Python's `**`."""
    return call.calculate("Power", call["x"], call["y"])


define("atan2 arctan2", "*x", Kind.ELEMENTWISE)


@keras3("tf.atan2 tf.math.atan2", "y x")
def atan2_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of atan2, the angle of a point (y, x)."""
    return call.calculate("Arctan2", call["y"], call["x"])


define("squared_difference", "*x", Kind.ELEMENTWISE)


@keras3("tf.squared_difference tf.math.squared_difference", "x y")
def squared_difference_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `(x - y) ** 2`."""
    return call.op("Square", call.calculate("Subtract", call["x"], call["y"]))


define("sigmoid_cross_entropy_with_logits", "labels logits", Kind.ELEMENTWISE)


@keras3("tf.nn.sigmoid_cross_entropy_with_logits", "labels logits")
def sigmoid_cross_entropy_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `relu(logits) - labels * logits + log(1 + exp(-abs(logits)))`."""
    labels, logits = call.floats("labels"), call.floats("logits")
    lost = call.op("Softplus", call.op("Negative", call.op("Absolute", logits)))
    linear = call.calculate(
        "Subtract", call.op("Relu", logits), call.calculate("Multiply", labels, logits)
    )
    return call.calculate("Add", linear, lost)


@keras3("tf.scalar_mul tf.math.scalar_mul", "scalar x")
def scaled_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a number times a tensor."""
    return call.calculate("Multiply", call.floats("x"), call.number("scalar"))


@operation("add_n", "xs", Kind.ELEMENTWISE, nodes={"AddN": "*xs"}, number_function=np.add)
def add_n(xs: Value) -> Array:
    """Return the sum of several arrays."""
    arrays = same_contents(xs)
    return (
        sum_of_scattered(arrays)
        if arrays[0].dtype == ELEMENT
        else np.asarray(np.sum(arrays, axis=0))
    )


@keras3("tf.add_n tf.math.add_n", "inputs")
def add_n_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a sum of tensors, pairwise in order; of one tensor a new node."""
    total, *others = call.tensors("inputs")
    for other in others:
        total = call.calculate("Add", total, other)
    return call.calculate("Multiply", total, 1.0) if not others else total


@operation("average_n", "xs", Kind.ELEMENTWISE)
def average_n(xs: Value) -> Array:
    """Return the mean of several arrays of numbers. Raises DataDependent for rows."""
    arrays = same_contents(xs)
    if arrays[0].dtype == ELEMENT:
        raise DataDependent
    return np.asarray(np.mean(arrays, axis=0))


@operation(
    "where select select_v2",
    "mask|condition chosen|x|x1 other|y|x2",
    Kind.ELEMENTWISE,
    keras3_class="Where",
)
def where(mask: Value, chosen: Value = None, other: Value = None) -> Array:
    """Return elements of `chosen` where the mask is true, else of `other`; without either the indices of True.

    Raises DataDependent.
    """
    condition = np.asarray(mask)
    if any(a.dtype == ELEMENT for a in (condition, *arrays_in(chosen), *arrays_in(other))):
        raise DataDependent
    if chosen is None and other is None:
        return np.asarray(np.argwhere(condition))
    check_size(
        int(
            np.prod(
                np.broadcast_shapes(condition.shape, np.shape(chosen), np.shape(other)),
                dtype=np.int64,
            )
        )
    )
    return np.asarray(np.where(condition, chosen, other))


@shape_rule("where")
def where_shape(mask: Value, chosen: Value = None, other: Value = None) -> Shape:
    """Select elements, or return their places with one argument: their number depends on the mask's contents.

    Raises Unknown.
    """
    if chosen is None or other is None:
        raise Unknown("how many entries a mask is true for")
    return broadcast([shape_of(mask), shape_of(chosen), shape_of(other)])


@keras3("tf.where", "condition x y")
def where_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of a where on equal shapes: TensorFlow 1 does not broadcast, and takes whole rows by a vector.

    Raises Unknown.
    """
    condition = call.tensor("condition")
    sides = [
        call.number(side) if call.is_number(side) else call.numbers(side) for side in ("x", "y")
    ]
    dtypes = {_dtype_of_choice(side) for side in sides}
    shapes = {side.shape for side in sides if not isinstance(side, int | float)} | {condition.shape}
    shapes |= {() for side in sides if isinstance(side, int | float)}
    if condition.dtype != "bool" or (
        call.dialect.tensorflow != "2" and (len(shapes) > 1 or None in shapes)
    ):
        raise Unknown("`tf.where` of what may not have one shape")
    if len(dtypes) > 1:
        raise Unknown("`tf.where` of whole numbers and others")
    dtype = dtypes.pop()
    chosen = call.op("Where", condition, *sides)
    if all(isinstance(side, int) for side in sides):  # no tensor's dtype says that these are whole
        chosen = call.op("Cast", chosen, dtype=dtype)
    return replace(chosen, dtype=dtype, shape=condition.shape if len(shapes) == 1 else None)


def _dtype_of_choice(side: SymbolicTensor | float) -> str:
    """Return the dtype of one of the two that `tf.where` chooses from: of a number that of a tensor of it alone."""
    if isinstance(side, int | float):
        return "int32" if isinstance(side, int) else "float32"
    return side.dtype


@keras3("K.switch", "condition x|then_expression y|else_expression")
def switch_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.switch`; condition and branches have one shape, as with others it chooses whole rows, or all.

    Raises Unknown.
    """
    condition, x, y = call.tensor("condition"), call.floats("x"), call.floats("y")
    if (
        condition.dtype != "bool"
        or condition.shape is None
        or not condition.shape == x.shape == y.shape
    ):
        raise Unknown("`K.switch` of what may not have one shape")
    return replace(call.op("Where", condition, x, y), dtype=x.dtype, shape=x.shape)


@keras3("tf.nn.bias_add", "x|value bias * data_format=null")
def bias_add_nodes(call: FunctionCall) -> SymbolicTensor:
    """Return nodes that add a bias along the last axis. Raises Unknown."""
    if not call.is_omitted("data_format") and call.text("data_format") not in {
        "NHWC",
        "NDHWC",
        "NWC",
        "N...C",
    }:
        raise Unknown("a bias along another axis than the last")
    return call.calculate("Add", call.floats("x"), call["bias"])


@keras3("K.bias_add", "x bias data_format=null")
def backend_bias_add_nodes(call: FunctionCall) -> SymbolicTensor:
    """Nodes of `K.bias_add` with a vector along the last axis. Raises Unknown."""
    bias = call.nested("bias")
    is_vector = call.is_array("bias") and isinstance(bias, list) and not isinstance(bias[0], list)
    if not call.is_channels_last("data_format") or not is_vector:
        raise Unknown("a bias along another axis than the last")
    return call.calculate("Add", call.floats("x"), call["bias"])
