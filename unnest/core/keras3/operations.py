"""TensorFlow operations that Keras put into graphs as layers, as operations of Keras 3.

From TensorFlow 2.4 on they are called by function (`TFOpLambda`, `SlicingOpLambda`), in 1.15 to 2.3 they are a node of
TensorFlow's graph (`TensorFlowOpLayer`). What each function
computes is known to `lambdas.functions`, which reads the same functions out of stored code.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from unnest.core.keras3.builder import SIZE
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.lambdas import calls, operators
from unnest.core.keras3.lambdas.functions import FUNCTIONS
from unnest.core.keras3.lambdas.values import (
    CORE,
    Arguments,
    Const,
    Dialect,
    Items,
    Name,
    NotUnderstood,
    Shape,
    Size,
    Value,
    constant,
    items,
)
from unnest.core.keras3.lambdas.values import Tensor as Symbol
from unnest.core.keras3.op_nodes import Input, Operand, OpNode
from unnest.core.keras3.pieces import Arguments as Call
from unnest.core.keras3.pieces import Expansion, Known, Piece, Tree, filled
from unnest.core.model import Json, Tensor

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "div": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@",
}  # fmt: skip
"""`__operators__.add` and its like; with an `r` before the name the sides are swapped."""

ALIASES = {
    "compat.v1.floor_div": "math.floordiv", "math.scalar_mul": "math.multiply",
    "compat.v1.nn.leaky_relu": "nn.leaky_relu",
    "math.l2_normalize": "math.l2_normalize", "compat.v1.norm": "norm", "linalg.norm": "norm",
    "compat.v1.image.resize_images": "image.resize_images",
    "compat.v1.image.resize": "image.resize_images", "keras.activations.relu": "nn.relu",
}  # fmt: skip
"""Spellings that TensorFlow stores -> those of its documentation."""

DROPPED = {"name": None}
"""Arguments that nothing is computed with."""

NO_NODE = "its inputs and attributes do not add up"
"""Of a node with fewer inputs than its operation has, or with text where a number stands."""


def rule(kind: str, config: Mapping[str, Json], name: str, weights: tuple[Tensor, ...], context: Context) -> Piece:
    """A TFOpLambda, SlicingOpLambda or TensorFlowOpLayer."""
    del weights
    function = config.get("function")
    node = _node(config.get("node_def"))
    called_by = function if isinstance(function, str) else node.get("op")

    def outputs(call: Call) -> Sequence[Tree]:
        try:
            if isinstance(function, str):
                value = called(function, call.args, call.kwargs, Graph(call, context))
            else:
                value = _node_called(node, config, Graph(call, context))
            operands = _operands(value, call)
        except NotUnderstood as reason:
            raise refused(name, kind, f"{called_by} is not translated: {reason}") from reason
        except (IndexError, ValueError) as why:
            raise refused(name, kind, f"{called_by} is not translated: {NO_NODE}") from why
        context.note("tf-operation", name)
        context.results.setdefault(name, value)
        return [filled(operand, call.tensors, {}) for operand in operands]

    return Expansion(outputs)


def operation(
    name: str, args: Sequence[Value], kwargs: Mapping[str, Value], tensorflow: Literal["1", "2"] = "2"
) -> Value:
    """What a TensorFlow function computes. Raises NotUnderstood."""
    dialect = Dialect("tensorflow", tensorflow)
    name = ALIASES.get(name, name).removeprefix("compat.v1.")
    if name.startswith("__operators__."):
        return _operator(name.removeprefix("__operators__."), args, kwargs)
    path = f"tf.{name}"
    if path not in FUNCTIONS and f"tf.{name.rpartition('.')[2]}" in FUNCTIONS:
        path = f"tf.{name.rpartition('.')[2]}"
    return calls.call(Name(path, f"tf.{name}"), Arguments(tuple(args), kwargs), dialect)


def _operator(name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    sides = [*args, *kwargs.values()]
    if name == "getitem" and len(sides) == 2:  # noqa: PLR2004 - a tensor and a key
        return _part(sides[0], sides[1])
    swapped = name.startswith("r") and name.removeprefix("r") in OPERATORS
    symbol = OPERATORS.get(name.removeprefix("r") if swapped else name)
    if symbol is None or len(sides) != 2:  # noqa: PLR2004 - of two
        raise NotUnderstood(f"the operator {name}")
    left, right = sides[::-1] if swapped else sides
    return operators.binary(symbol, left, right)


@dataclass(frozen=True, slots=True)
class Graph:
    """One call, and what is known of what it is called on."""

    call: Call
    context: Context

    def value(self, tensor: Known) -> Value:
        """A tensor as the reader of stored code has it; a shape or a number, where that is what an operation gave."""
        rows = self.context.rows.setdefault(tensor, len(self.context.rows))
        made = self.context.results.get(tensor.layer) if (tensor.rank, tensor.tensor) == (0, 0) else None
        if made is not None and not isinstance(made, Symbol) and not _holds_tensors(made):
            return made
        spec = self.call.spec(tensor)
        shape = None if spec is None else (None, *spec.shape[1:])
        if isinstance(made, Symbol):
            shape = made.shape if shape is None else shape
            rows = rows if made.rows is None else made.rows
        return Symbol(Input(self.call.tensors.index(tensor)), self.call.dtype(tensor), "x", shape=shape, rows=rows)


def _holds_tensors(value: Value) -> bool:
    return isinstance(value, Items) and any(isinstance(each, Symbol) for each in value.items)


def _part(of: Value, key: Value) -> Value:
    """A part of a tensor, or of a shape or a list, which TensorFlow's keys take for a tensor of one axis."""
    if not isinstance(of, Symbol) and isinstance(key, Items) and len(key.items) == 1:
        key = key.items[0]
    return operators.subscript(of, key)


def called(function: str, args: Sequence[Tree], kwargs: Mapping[str, Tree], graph: Graph) -> Value:
    """A stored call of a function. Raises NotUnderstood."""
    if function == "einsum" and not graph.call.tensors:
        raise NotUnderstood("Keras stored its equation alone, and not what it was called on")
    positional = [_value(a, graph) for a in args]
    named = {k: _value(v, graph) for k, v in kwargs.items() if not (k in DROPPED and v is None)}
    return operation(function, positional, named)


def _value(tree: Tree, graph: Graph) -> Value:
    """An argument as the reader of stored code has values."""
    if isinstance(tree, Known):
        return graph.value(tree)
    if isinstance(tree, Mapping):
        if set(tree) <= {"start", "stop", "step"}:
            return operators.slice_of([_value(tree.get(k), graph) for k in ("start", "stop", "step")])
        if tree.get("class_name") == "__ellipsis__" or tree.get("type") == "Ellipsis":
            return constant(...)
        raise NotUnderstood("an argument of a form that is not known")
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        values = [_value(v, graph) for v in tree]
        return items("tuple" if any(not isinstance(v, Symbol) for v in values) else "list", values)
    if tree is None or isinstance(tree, bool | int | float | str):
        return constant(tree)
    raise NotUnderstood("an argument of a form that is not known")


def _operands(value: Value, call: Call) -> list[Operand]:
    """What the result is computed by; of a shape or a number, what stands for it. Raises NotUnderstood."""
    if isinstance(value, Items) and _holds_tensors(value):
        return [_operand(each) for each in value.items]
    if isinstance(value, Shape | Size | Const | Items):
        return [OpNode(CORE, SIZE, {}, tuple(Input(k) for k in range(len(call.tensors[:1]))))]
    return [_operand(value)]


def _operand(value: Value) -> Operand:
    if not isinstance(value, Symbol):
        raise NotUnderstood("a result that is no tensor")
    return (
        operators.calculation("Multiply", value, constant(1)).operand
        if isinstance(value.operand, Input)
        else value.operand
    )


# ---- nodes of TensorFlow's graph ----

Handler: TypeAlias = Callable[[Mapping[str, Json], Sequence[Value], Sequence[Json]], Value]
"""A node, its inputs as values, and those of them that are constants as they are stored -> what it computes."""

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


def _node(stored: Json) -> Mapping[str, Json]:
    if isinstance(stored, str):
        try:
            stored = json.loads(stored)
        except ValueError:
            return {}
    return stored if isinstance(stored, Mapping) else {}


def _attribute(node: Mapping[str, Json], name: str) -> Json:
    attributes = node.get("attr")
    value = attributes.get(name) if isinstance(attributes, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    for kind, plain in value.items():
        if kind == "i":
            return int(str(plain))
        if kind == "list":
            numbers = plain.get("i") if isinstance(plain, Mapping) else None
            return [int(str(n)) for n in numbers] if isinstance(numbers, Sequence) else []
        if kind == "s":
            return base64.b64decode(str(plain)).decode("ascii")
        return plain
    return None


def _told(node: Mapping[str, Json], **defaults: Json) -> dict[str, Value]:
    """Attributes of a node as a function's arguments, by the names of both; where one is not stored, its default.

    Raises:
        NotUnderstood: Where one is no plain value.

    """
    told: dict[str, Value] = {}
    for name, default in defaults.items():
        value = _attribute(node, name)
        value = default if value is None else value
        if isinstance(value, list):
            told[name] = items("list", [_plain(each) for each in value])
        else:
            told[name] = _plain(value)
    return told


def _plain(value: Json) -> Value:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        raise NotUnderstood(NO_NODE)
    return constant(value)


def _node_called(node: Mapping[str, Json], config: Mapping[str, Json], graph: Graph) -> Value:
    """A node of TensorFlow's graph; constants stand by their position among the inputs."""
    kind = str(node.get("op"))
    constants = config.get("constants")
    fixed = {int(k): v for k, v in constants.items()} if isinstance(constants, Mapping) else {}
    tensors = iter(graph.call.tensors)
    total = len(fixed) + len(graph.call.tensors)
    if not fixed.keys() <= set(range(total)):
        raise NotUnderstood(NO_NODE)
    sides = [_value(fixed[k], graph) if k in fixed else graph.value(next(tensors)) for k in range(total)]
    plain = [fixed.get(k) for k in range(total)]
    if kind in UNARY and total == 1:
        return operation(UNARY[kind], sides, {})
    if kind in BINARY and total == 2:  # noqa: PLR2004 - of two
        return operators.binary(BINARY[kind], *sides)
    if kind in BY_FUNCTION:
        return operation(BY_FUNCTION[kind], sides, {})
    if kind in REDUCED:
        keeps = constant(bool(_attribute(node, "keep_dims")))
        return operation(REDUCED[kind], sides[:1], {"axis": sides[1], "keepdims": keeps})
    handler = HANDLED.get(kind)
    if handler is None:
        raise NotUnderstood(f"the operation {kind}")
    return handler(node, sides, plain)


def _concatenated(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del node, plain
    return operation("concat", [items("list", sides[:-1]), sides[-1]], {})


def _packed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("stack", [items("list", sides)], {"axis": constant(int(str(_attribute(node, "axis") or 0)))})


def _squeezed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    axes = _attribute(node, "squeeze_dims")
    if not isinstance(axes, list) or not axes:
        raise NotUnderstood("a squeeze of axes that are not named")
    value = items("list", [constant(a) for a in axes]) if len(axes) > 1 else constant(axes[0])
    return operation("squeeze", sides, {"axis": value})


def _sliced(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """StridedSlice, with its masks of bits."""
    begin, end, step = plain[1:4]
    if not isinstance(begin, list) or not isinstance(end, list) or not isinstance(step, list):
        raise NotUnderstood("a slice with ends that are computed")
    bits = {
        name: int(str(_attribute(node, f"{name}_mask") or 0))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    keys: list[Value] = []
    for k, (start, stop, stride) in enumerate(zip(begin, end, step, strict=True)):
        bit = 1 << k
        if bits["ellipsis"] & bit:
            keys.append(constant(...))
        elif bits["new_axis"] & bit:
            keys.append(constant(None))
        elif bits["shrink_axis"] & bit:
            keys.append(constant(int(str(start))))
        else:
            ends = [
                None if bits["begin"] & bit else int(str(start)),
                None if bits["end"] & bit else int(str(stop)),
                int(str(stride)),
            ]
            keys.append(operators.slice_of([constant(e) for e in ends]))
    return _part(sides[0], items("tuple", keys))


def _multiplied(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    names = (("adj_x", "transpose_a"), ("adj_y", "transpose_b"), ("transpose_a",) * 2, ("transpose_b",) * 2)
    turned = {new: constant(value=True) for old, new in names if _attribute(node, old)}
    return operation("linalg.matmul", sides, turned)


def _leaky(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    slope = _attribute(node, "alpha")
    return operation("nn.leaky_relu", sides, {"alpha": constant(float(str(slope)) if slope is not None else 0.2)})


def _by_function(name: str, **attributes: Json) -> Handler:
    """A function of the inputs in their order, and of these attributes, of the same names."""
    return lambda node, sides, _plain: operation(name, sides, _told(node, **attributes))


def _parted(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """Split: the axis comes first."""
    del plain
    return operation("split", [sides[1], constant(int(str(_attribute(node, "num_split") or 1))), sides[0]], {})


def _summed(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del node, plain
    return operation("math.add_n", [items("list", sides)], {})


DTYPES = {"DT_FLOAT": "float32", "DT_INT32": "int32", "DT_INT64": "int64", "DT_UINT8": "uint8", "DT_BOOL": "bool"}
"""TensorFlow's names in a node -> those of its functions, where a cast gives the same on every backend."""


def _cast(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    dtype = str(_attribute(node, "DstT"))
    return operation("cast", sides, {"dtype": constant(DTYPES.get(dtype, dtype))})


def _gathered(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """GatherV2; before it, Gather had no axis."""
    del plain
    axis = sides[2] if len(sides) > 2 else constant(0)  # noqa: PLR2004 - what, where, and along which axis
    return operation("gather", sides[:2], {"axis": axis, **_told(node, batch_dims=0)})


def _chosen(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """Select: of three tensors of one shape, or by rows."""
    del node, plain
    return operation("where", sides, {}, tensorflow="1")


def _einsum(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("einsum", [constant(str(_attribute(node, "equation"))), *sides], {})


def _diagonal(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """The main one: later versions are told its number, and what stands beside one that is shorter."""
    del node
    if plain[1:] and plain[1] != 0:
        raise NotUnderstood("another diagonal than the main one")
    return operation("linalg.diag_part", sides[:1], {})


def _one_hot(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("one_hot", sides, _told(node, axis=-1))


def _unpacked(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    return operation("unstack", sides, _told(node, num=None, axis=0))


def _padded(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """PadV2: the third input is what is put there."""
    del node, plain
    return operation("pad", sides[:2], {"constant_values": sides[2]})


def _passed_on(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    """IdentityN."""
    del node, plain
    return items("list", sides)


def _patches(node: Mapping[str, Json], sides: Sequence[Value], plain: Sequence[Json]) -> Value:
    del plain
    told = _told(node, ksizes=[], strides=[], rates=[], padding="")
    return operation("image.extract_patches", sides, {"sizes": told.pop("ksizes"), **told})


POOLED: dict[str, Json] = {"ksize": [], "strides": [], "padding": "", "data_format": "NHWC"}
RESIZED: dict[str, Json] = {"align_corners": False, "half_pixel_centers": False}

HANDLED: dict[str, Handler] = {
    "ConcatV2": _concatenated,
    "Pack": _packed,
    "Split": _parted,
    "SplitV": _by_function("split"),
    "Unpack": _unpacked,
    "Squeeze": _squeezed,
    "StridedSlice": _sliced,
    "BatchMatMulV2": _multiplied,
    "BatchMatMul": _multiplied,
    "MatMul": _multiplied,
    "Einsum": _einsum,
    "LeakyRelu": _leaky,
    "AddN": _summed,
    "Cast": _cast,
    "GatherV2": _gathered,
    "Gather": _gathered,
    "Select": _chosen,
    "OneHot": _one_hot,
    "PadV2": _padded,
    "MirrorPad": _by_function("pad", mode=""),
    "IdentityN": _passed_on,
    "ArgMax": _by_function("argmax"),
    "ArgMin": _by_function("argmin"),
    "Cumsum": _by_function("cumsum", exclusive=False, reverse=False),
    "Cumprod": _by_function("math.cumprod", exclusive=False, reverse=False),
    "TopKV2": _by_function("math.top_k", sorted=True),
    "BiasAdd": _by_function("nn.bias_add", data_format="NHWC"),
    "MatrixDiagPart": _diagonal,
    "MatrixDiagPartV2": _diagonal,
    "MatrixDiagPartV3": _diagonal,
    "MaxPool": _by_function("nn.max_pool2d", **POOLED),
    "AvgPool": _by_function("nn.avg_pool2d", **POOLED),
    "LRN": _by_function("nn.local_response_normalization", depth_radius=5, bias=1.0, alpha=1.0, beta=0.5),
    "DepthToSpace": _by_function("nn.depth_to_space", block_size=0, data_format="NHWC"),
    "SpaceToDepth": _by_function("nn.space_to_depth", block_size=0, data_format="NHWC"),
    "ResizeBilinear": _by_function("image.resize_bilinear", **RESIZED),
    "ResizeNearestNeighbor": _by_function("image.resize_nearest_neighbor", **RESIZED),
    "ExtractImagePatches": _patches,
    "AdjustContrastv2": _by_function("image.adjust_contrast"),
}
