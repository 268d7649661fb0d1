"""Arithmetic, comparison and products of two tensors and more."""

from __future__ import annotations

from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import PAIR, Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT, calculation
from unnest.core.keras3.lambdas.values import (
    NUMPY,
    Array,
    Const,
    NotUnderstood,
    SymbolicTensor,
    Value,
    array,
    as_floats,
    constant,
    number,
    operation,
)
from unnest.core.model import Json

MATRIX = 2

OF_SEVERAL = Table()


def _of_two(names: str, class_name: str, dtype: str = FLOAT) -> None:
    @OF_SEVERAL.known(names, "x|a y|b")
    def compute(call: Bound) -> Value:
        return replace(calculation(class_name, call["x"], call["y"]), dtype=dtype)


_of_two("K.maximum tf.maximum tf.math.maximum", "Maximum")
_of_two("K.minimum tf.minimum tf.math.minimum", "Minimum")
_of_two("tf.add tf.math.add", "Add")
_of_two("tf.subtract tf.math.subtract", "Subtract")
_of_two("tf.multiply tf.math.multiply", "Multiply")
_of_two("tf.divide tf.math.divide tf.div tf.truediv tf.math.truediv", "Divide")
_of_two("tf.pow tf.math.pow K.pow pow", "Power")
_of_two("tf.floormod tf.math.floormod tf.math.mod tf.mod", "Mod")
_of_two("tf.floordiv tf.math.floordiv tf.floor_div", "FloorDivide")
_of_two("tf.divide_no_nan tf.div_no_nan tf.math.divide_no_nan", "DivideNoNan")
_of_two("K.equal tf.equal tf.math.equal", "Equal", "bool")
_of_two("K.not_equal tf.not_equal tf.math.not_equal", "NotEqual", "bool")
_of_two("K.greater tf.greater tf.math.greater", "Greater", "bool")
_of_two("K.greater_equal tf.greater_equal tf.math.greater_equal", "GreaterEqual", "bool")
_of_two("K.less tf.less tf.math.less", "Less", "bool")
_of_two("K.less_equal tf.less_equal tf.math.less_equal", "LessEqual", "bool")
_of_two("tf.logical_and tf.math.logical_and", "LogicalAnd", "bool")
_of_two("tf.logical_or tf.math.logical_or", "LogicalOr", "bool")


@OF_SEVERAL.known("tf.atan2 tf.math.atan2", "y x")
def _atan2(call: Bound) -> Value:
    return calculation("Arctan2", call["y"], call["x"])


@OF_SEVERAL.known("tf.nn.bias_add", "x|value bias * data_format=null")
def _bias_add(call: Bound) -> Value:
    """Along the last axis."""
    told = call["data_format"]
    if not isinstance(told, Const) or told.value not in {None, "NHWC", "NDHWC", "NWC", "N...C"}:
        raise NotUnderstood("a bias along another axis than the last")
    return calculation("Add", call.floats("x"), call["bias"])


@OF_SEVERAL.known("K.bias_add", "x bias data_format=null")
def _backend_bias_add(call: Bound) -> Value:
    """A vector along the last axis."""
    bias = call["bias"]
    if not call.is_channels_last("data_format") or not isinstance(bias, Array) or _rank(bias.value) != 1:
        raise NotUnderstood("a bias along another axis than the last")
    return calculation("Add", call.floats("x"), bias)


@OF_SEVERAL.known("tf.tensordot tf.linalg.tensordot", "a b axes")
def _tensordot(call: Bound) -> Value:
    a, axes = call.floats("a"), call["axes"]
    config: Json = call.integer("axes") if isinstance(axes, Const) else array(axes)
    if not (config >= 1 if isinstance(config, int) else isinstance(config, list) and len(config) == PAIR):
        raise NotUnderstood("the axes")
    nested = array(call["b"])
    if nested is not None:
        return operation(NUMPY, "Tensordot", {"axes": config}, [a.operand, as_floats(nested)], [a])
    b = call.floats("b")
    return operation(NUMPY, "Tensordot", {"axes": config}, [a.operand, b.operand], [a, b])


@OF_SEVERAL.known("tf.logical_not tf.math.logical_not", "x")
def _logical_not(call: Bound) -> Value:
    return calculation("LogicalNot", call["x"])


@OF_SEVERAL.known("tf.squared_difference tf.math.squared_difference", "x y")
def _squared_difference(call: Bound) -> Value:
    return op(NUMPY, "Square", calculation("Subtract", call["x"], call["y"]))


@OF_SEVERAL.known("tf.add_n tf.math.add_n", "inputs")
def _add_n(call: Bound) -> Value:
    total, *others = call.tensors("inputs")
    for other in others:
        total = calculation("Add", total, other)
    return calculation("Multiply", total, constant(1.0)) if not others else total


@OF_SEVERAL.known("tf.matmul tf.linalg.matmul", "a b transpose_a=false transpose_b=false")
def _matmul(call: Bound) -> Value:
    """Of two tensors, or of a tensor and a constant matrix as it stands."""
    b = call["b"]
    a = _swapped(call.floats("a")) if call.flag("transpose_a") else call.floats("a")
    nested = array(b)
    if nested is not None and _rank(nested) == MATRIX and not call.flag("transpose_b"):
        return calculation("Matmul", a, b)
    return calculation("Matmul", a, _swapped(call.floats("b")) if call.flag("transpose_b") else call.floats("b"))


@OF_SEVERAL.known("K.dot", "x y")
def _dot(call: Bound) -> Value:
    """The last axis of `x` with the last but one of `y`, whose other axes come behind those of `x`."""
    x, y = call.floats("x"), call["y"]
    nested = array(y)
    if nested is None:
        y = call.floats("y")
    rank = _rank(nested) if not isinstance(y, SymbolicTensor) else len(y.shape or ())
    if x.shape is None or len(x.shape) < MATRIX or rank < MATRIX:
        raise NotUnderstood("`K.dot` of unknown ranks, or of vectors")
    if rank == MATRIX:
        return calculation("Matmul", x, y)
    assert isinstance(y, SymbolicTensor)
    return operation(NUMPY, "Tensordot", {"axes": [[-1], [rank - 2]]}, [x.operand, y.operand], [x, y])


def _rank(nested: Json) -> int:
    return 1 + _rank(nested[0]) if isinstance(nested, list) else 0


@OF_SEVERAL.known("K.batch_dot", "x y axes=null")
def _batch_dot(call: Bound) -> Value:
    """Of two matrices, or two batches of them, along one axis each: where all versions agree."""
    x, y, axes = call.floats("x"), call.floats("y"), call.axis("axes")
    if axes is None:
        axes = [MATRIX, 1]  # as matrices are multiplied
    along_x, along_y = axes if isinstance(axes, list) and len(axes) == PAIR else (axes, axes)
    if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
        raise NotUnderstood("`K.batch_dot` of unknown or different ranks")
    if len(x.shape) == MATRIX and (along_x, along_y) == (1, 1):
        return op(NUMPY, "Sum", calculation("Multiply", x, y), axis=1, keepdims=True)
    if len(x.shape) != MATRIX + 1 or not {along_x, along_y} <= {1, 2}:
        raise NotUnderstood("`K.batch_dot` along these axes")
    assert isinstance(along_x, int)
    assert isinstance(along_y, int)
    left = x if along_x == MATRIX else _swapped(x)
    right = _swapped(y) if along_y == MATRIX else y
    return calculation("Matmul", left, right)


def _swapped(tensor: SymbolicTensor) -> SymbolicTensor:
    return op(NUMPY, "Swapaxes", tensor, axis1=-1, axis2=-2)


@OF_SEVERAL.known("tf.einsum", "subscripts|equation x y=null z=null")
def _einsum(call: Bound) -> Value:
    """Of one to three tensors."""
    tensors = [call.floats(name) for name in "xyz" if call[name] != constant(None)]
    return operation(
        NUMPY, "Einsum", {"subscripts": call.text("subscripts")}, [each.operand for each in tensors], tensors
    )


@OF_SEVERAL.known("tf.where", "condition x y")
def _where(call: Bound) -> Value:
    """TensorFlow 1 has no broadcasting here, but takes whole rows by a vector: shapes must be known to be one."""
    condition = call.tensor("condition")
    x, y = (call[side] if number(call[side]) is not None else call.floats(side) for side in ("x", "y"))
    tensors = [condition, *(side for side in (x, y) if isinstance(side, SymbolicTensor))]
    shapes = {side.shape if isinstance(side, SymbolicTensor) else () for side in (condition, x, y)}
    if condition.dtype != "bool" or (call.dialect.tensorflow != "2" and (len(shapes) > 1 or None in shapes)):
        raise NotUnderstood("`tf.where` of what may not have one shape")
    operands = [side.operand if isinstance(side, SymbolicTensor) else _float(side) for side in (condition, x, y)]
    chosen = operation(NUMPY, "Where", {}, operands, tensors)
    return replace(chosen, dtype=FLOAT, shape=condition.shape if len(shapes) == 1 else None)


@OF_SEVERAL.known("K.switch", "condition x|then_expression y|else_expression")
def _switch(call: Bound) -> Value:
    """Of one shape each: otherwise it chooses whole rows, or all."""
    condition, x, y = call.tensor("condition"), call.floats("x"), call.floats("y")
    if condition.dtype != "bool" or condition.shape is None or not condition.shape == x.shape == y.shape:
        raise NotUnderstood("`K.switch` of what may not have one shape")
    chosen = operation(NUMPY, "Where", {}, [condition.operand, x.operand, y.operand], [x, condition, y])
    return replace(chosen, shape=x.shape)


def _float(side: Value) -> Json:
    value = number(side)
    if not isinstance(value, float):
        raise NotUnderstood("`tf.where` of integers")
    return value


@OF_SEVERAL.known("tf.scalar_mul tf.math.scalar_mul", "scalar x")
def _scalar_mul(call: Bound) -> Value:
    return calculation("Multiply", call.floats("x"), constant(call.number("scalar")))
