"""Operations that are stored as a node of TensorFlow's graph, with its constant inputs by position."""

from __future__ import annotations

import json
from collections.abc import Mapping

from unnest.core.keras3.lambdas import operators
from unnest.core.keras3.lambdas.values import NotUnderstood, Value, constant
from unnest.core.keras3.operations.call_values import CallValues
from unnest.core.keras3.operations.function_calls import operation
from unnest.core.keras3.operations.node_attributes import NO_NODE, attribute
from unnest.core.keras3.operations.node_operations import NODE_OPERATIONS
from unnest.core.model import Json

UNARY = {
    "Neg": "math.negative", "Sqrt": "sqrt", "Rsqrt": "math.rsqrt", "Square": "square", "Exp": "exp", "Log": "math.log",
    "Log1p": "math.log1p", "Expm1": "math.expm1", "Tanh": "tanh", "Sigmoid": "sigmoid", "Relu": "nn.relu",
    "Relu6": "nn.relu6", "Softmax": "nn.softmax", "LogSoftmax": "nn.log_softmax", "Softplus": "nn.softplus",
    "Softsign": "nn.softsign", "Selu": "nn.selu", "Elu": "nn.elu", "Abs": "abs", "Sign": "sign", "Erf": "math.erf",
    "Sin": "sin", "Cos": "cos", "Tan": "math.tan", "Asin": "math.asin", "Acos": "math.acos", "Atan": "math.atan",
    "Sinh": "math.sinh", "Cosh": "math.cosh", "Asinh": "math.asinh", "Acosh": "math.acosh", "Atanh": "math.atanh",
    "Floor": "floor", "Ceil": "math.ceil", "Round": "round", "Rint": "round", "Reciprocal": "math.reciprocal",
    "IsNan": "math.is_nan", "IsInf": "math.is_inf", "IsFinite": "math.is_finite", "LogicalNot": "logical_not",
    "StopGradient": "stop_gradient", "Identity": "identity", "ZerosLike": "zeros_like", "OnesLike": "ones_like",
}  # fmt: skip
BINARY = {
    "AddV2": "+", "Add": "+", "Sub": "-", "Mul": "*", "RealDiv": "/", "Div": "/", "Pow": "**", "FloorDiv": "//",
    "FloorMod": "%",
}  # fmt: skip
BY_FUNCTION = {
    "Maximum": "maximum", "Minimum": "minimum", "SquaredDifference": "math.squared_difference",
    "Greater": "greater", "GreaterEqual": "greater_equal", "Less": "less", "LessEqual": "less_equal",
    "Equal": "equal", "NotEqual": "not_equal", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
    "Atan2": "math.atan2", "DivNoNan": "math.divide_no_nan", "SelectV2": "where",
    "ExpandDims": "expand_dims", "Reshape": "reshape", "Transpose": "transpose", "Tile": "tile", "Pad": "pad",
    "ClipByValue": "clip_by_value", "Roll": "roll", "ReverseV2": "reverse", "Slice": "slice",
    "MatrixBandPart": "linalg.band_part", "Shape": "shape",
}  # fmt: skip
"""Operations whose inputs are their function's arguments, in its order, and that have no other."""

REDUCED = {
    "Sum": "reduce_sum", "Mean": "reduce_mean", "Max": "reduce_max", "Min": "reduce_min", "Prod": "reduce_prod",
    "All": "reduce_all", "Any": "reduce_any",
}  # fmt: skip


def node_of(stored: Json) -> Mapping[str, Json]:
    """A stored node, which TensorFlow 1.15 wrote as text; empty where it is none."""
    if isinstance(stored, str):
        try:
            stored = json.loads(stored)
        except ValueError:
            return {}
    return stored if isinstance(stored, Mapping) else {}


def node_called(node: Mapping[str, Json], config: Mapping[str, Json], values: CallValues) -> Value:
    """A node of TensorFlow's graph; constants stand by their position among the inputs."""
    kind = str(node.get("op"))
    constants = config.get("constants")
    fixed = {int(k): v for k, v in constants.items()} if isinstance(constants, Mapping) else {}
    tensors = iter(values.call.tensors)
    total = len(fixed) + len(values.call.tensors)
    if not fixed.keys() <= set(range(total)):
        raise NotUnderstood(NO_NODE)
    sides = [values.of(fixed[k]) if k in fixed else values.tensor(next(tensors)) for k in range(total)]
    plain = [fixed.get(k) for k in range(total)]
    if kind in UNARY and total == 1:
        return operation(UNARY[kind], sides, {})
    if kind in BINARY and total == 2:  # noqa: PLR2004 - of two
        return operators.binary(BINARY[kind], *sides)
    if kind in BY_FUNCTION:
        return operation(BY_FUNCTION[kind], sides, {})
    if kind in REDUCED:
        keeps = constant(bool(attribute(node, "keep_dims")))
        return operation(REDUCED[kind], sides[:1], {"axis": sides[1], "keepdims": keeps})
    handler = NODE_OPERATIONS.get(kind)
    if handler is None:
        raise NotUnderstood(f"the operation {kind}")
    return handler(node, sides, plain)
