"""TensorFlow operations in a graph: the operations of Keras 3 that compute the same, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from unnest.core.keras3.context import CannotConvert, Context
from unnest.core.keras3.convert import convert
from unnest.core.keras3.op_nodes import OpNode, Part
from unnest.core.keras3.operations import rule
from unnest.core.keras3.pieces import Arguments, Expansion, Known, Tree
from unnest.core.keras_facts.shape_inference import Spec
from unnest.core.model import JsonObject, Stored

NUMPY, NN, CORE = "keras.src.ops.numpy", "keras.src.ops.nn", "keras.src.ops.core"
PLACES: Any = {"class_name": "__numpy__", "config": {"value": [0, 2], "dtype": "int32"}}
BIAS: Any = {"class_name": "__numpy__", "config": {"value": [1.0, 2.0], "dtype": "float32"}}
#: Tensors of the new graph; any, since operations that were filled hold them where `OpNode` declares operands.
X: Any = Known("x", 0, 0)
Y: Any = Known("y", 0, 0)
SPECS: dict[Known, Spec | None] = {X: Spec((None, 4), "float32"), Y: Spec((None, 4), "float32")}


def outputs(kind: str, config: dict[str, Any], args: Sequence[Tree], context: Context, **kwargs: Tree) -> list[Tree]:
    """What a call of such a layer, named `op`, gives."""
    made = rule(kind, config, "op", (), context)
    assert isinstance(made, Expansion)
    return list(made.outputs(Arguments(tuple(args), kwargs, SPECS)))


def node(op: str, *args: Tree, constants: dict[str, Any] | None = None, **attributes: Any) -> list[Tree]:
    """What a node of TensorFlow's graph gives."""
    stored = json.dumps({"name": "op", "op": op, "attr": attributes})
    return outputs("TensorFlowOpLayer", {"node_def": stored, "constants": constants or {}}, list(args), Context())


def turned(tensor: Any) -> OpNode:
    """A matrix turned, batch by batch."""
    return OpNode(NUMPY, "Swapaxes", {"axis1": -1, "axis2": -2}, (tensor,))


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "made"),
    [
        ("math.exp", [X], {}, OpNode(NUMPY, "Exp", {}, (X,))),
        ("math.add", [X], {"y": Y, "name": None}, OpNode(NUMPY, "Add", {}, (X, Y))),
        ("__operators__.sub", [X, Y], {}, OpNode(NUMPY, "Subtract", {}, (X, Y))),
        ("__operators__.rsub", [X, 2.0], {}, OpNode(NUMPY, "Subtract", {}, (2.0, X))),
        ("__operators__.floordiv", [X, 2.0], {}, OpNode(NUMPY, "FloorDivide", {}, (X, 2.0))),
        ("compat.v1.nn.leaky_relu", [X], {"alpha": 0.3}, OpNode(NN, "LeakyRelu", {"negative_slope": 0.3}, (X,))),
        ("math.subtract", [Y, X], {}, OpNode(NUMPY, "Subtract", {}, (Y, X))),
        ("math.multiply", [X, X], {}, OpNode(NUMPY, "Multiply", {}, (X, X))),
        ("compat.v1.floor_div", [X], {"y": 0.5, "name": None}, OpNode(NUMPY, "FloorDivide", {}, (X, 0.5))),
        ("compat.v1.transpose", [X], {"perm": [0, 2, 1], "name": "transpose", "conjugate": False},
         OpNode(NUMPY, "Transpose", {"axes": [0, 2, 1]}, (X,))),
        ("compat.v1.gather", [X],
         {"indices": [0, 2], "validate_indices": None, "name": None, "axis": 1, "batch_dims": 0},
         OpNode(NUMPY, "Take", {"axis": 1}, (X, PLACES))),
        ("math.atan2", [Y], {"x": X}, OpNode(NUMPY, "Arctan2", {}, (Y, X))),
        ("math.divide_no_nan", [X, Y], {}, OpNode(NUMPY, "DivideNoNan", {}, (X, Y))),
        ("tensordot", [X], {"b": Y, "axes": [[2], [2]]}, OpNode(NUMPY, "Tensordot", {"axes": [[2], [2]]}, (X, Y))),
        ("sort", [X], {"axis": 1, "direction": "DESCENDING"},
         OpNode(NUMPY, "Flip", {"axis": 1}, (OpNode(NUMPY, "Sort", {"axis": 1}, (X,)),))),
    ],
)  # fmt: skip
def test_functions(function: str, args: list[Tree], kwargs: dict[str, Tree], made: OpNode) -> None:
    context = Context()
    assert outputs("TFOpLambda", {"function": function}, args, context, **kwargs) == [made]
    assert [(c.rule, c.layers) for c in context.conversions()] == [("tf-operation", ("op",))]


@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        ("nn.no_such", [X], "nn.no_such is not translated"),
        ("__operators__.matmul", [X], "the operator matmul"),
        ("__operators__.rsomething", [X, Y], "the operator rsomething"),
        ("math.exp", [{"class_name": "Mine", "config": {}}], "an argument of a form that is not known"),
        ("math.exp", [2.0], "not translated"),
        ("compat.v1.image.resize", [X, [2, 2]], "unknown height or width"),
        ("linalg.norm", [X, 3, 1], "`ord=3`"),
    ],
)
def test_functions_that_are_refused(function: str, args: list[Tree], why: str) -> None:
    """With the layer, its class and the function; nothing is noted."""
    context = Context()
    with pytest.raises(CannotConvert, match=rf"^'op' \(TFOpLambda\): .*{why}"):
        outputs("TFOpLambda", {"function": function}, args, context)
    assert context.conversions() == ()


def test_a_tensor_that_is_given_back_is_an_operation_all_the_same() -> None:
    """A layer of Keras 3 needs something to stand for it."""
    assert outputs("TFOpLambda", {"function": "identity"}, [X], Context()) == [OpNode(NUMPY, "Multiply", {}, (X, 1))]


@pytest.mark.parametrize(
    ("op", "args", "constants", "attributes", "made"),
    [
        ("Relu", [X], {}, {}, OpNode(NN, "Relu", {}, (X,))),
        ("Sub", [X], {"0": 1.0}, {}, OpNode(NUMPY, "Subtract", {}, (1.0, X))),
        ("Sub", [X], {"1": 1.0}, {}, OpNode(NUMPY, "Subtract", {}, (X, 1.0))),
        ("RealDiv", [X, Y], {}, {}, OpNode(NUMPY, "Divide", {}, (X, Y))),
        ("Maximum", [X, Y], {}, {}, OpNode(NUMPY, "Maximum", {}, (X, Y))),
        ("Mean", [X], {"1": [1]}, {"keep_dims": {"b": True}},
         OpNode(NUMPY, "Mean", {"axis": [1], "keepdims": True}, (X,))),
        ("Mean", [X], {"1": 1}, {}, OpNode(NUMPY, "Mean", {"axis": 1, "keepdims": False}, (X,))),
        ("ConcatV2", [X, Y], {"2": -1}, {}, OpNode(NUMPY, "Concatenate", {"axis": -1}, ([X, Y],))),
        ("Pack", [X, Y], {}, {"axis": {"i": "1"}}, OpNode(NUMPY, "Stack", {"axis": 1}, ([X, Y],))),
        ("LeakyRelu", [X], {}, {}, OpNode(NN, "LeakyRelu", {"negative_slope": 0.2}, (X,))),
        ("BatchMatMulV2", [X, Y], {}, {"adj_x": {"b": False}}, OpNode(NUMPY, "Matmul", {}, (X, Y))),
        ("BatchMatMulV2", [X, Y], {}, {"adj_x": {"b": True}}, OpNode(NUMPY, "Matmul", {}, (turned(X), Y))),
        ("MatMul", [X, Y], {}, {"transpose_b": {"b": True}}, OpNode(NUMPY, "Matmul", {}, (X, turned(Y)))),
        ("Squeeze", [X], {}, {"squeeze_dims": {"list": {"i": ["1"]}}}, OpNode(NUMPY, "Squeeze", {"axis": 1}, (X,))),
        ("LeakyRelu", [X], {}, {"alpha": {"f": 0.1}}, OpNode(NN, "LeakyRelu", {"negative_slope": 0.1}, (X,))),
        ("FloorMod", [X], {"1": 0.7}, {}, OpNode(NUMPY, "Mod", {}, (X, 0.7))),
        ("Equal", [X, Y], {}, {"incompatible_shape_error": {"b": True}}, OpNode(NUMPY, "Equal", {}, (X, Y))),
        ("AddN", [X, Y], {}, {"N": {"i": "2"}}, OpNode(NUMPY, "Add", {}, (X, Y))),
        ("Cast", [X], {}, {"DstT": {"type": "DT_INT32"}}, OpNode(CORE, "Cast", {"dtype": "int32"}, (X,))),
        ("ArgMax", [X], {"1": -1}, {}, OpNode(NUMPY, "Argmax", {"axis": -1}, (X,))),
        ("GatherV2", [X], {"1": [0, 2], "2": 1}, {"batch_dims": {"i": "0"}},
         OpNode(NUMPY, "Take", {"axis": 1}, (X, PLACES))),
        ("Cumsum", [X], {"1": 1}, {"reverse": {"b": True}},
         OpNode(NUMPY, "Flip", {"axis": 1}, (OpNode(NUMPY, "Cumsum", {"axis": 1}, (
             OpNode(NUMPY, "Flip", {"axis": 1}, (X,)),)),))),
        ("ReverseV2", [X], {"1": [1]}, {}, OpNode(NUMPY, "Flip", {"axis": [1]}, (X,))),
        ("PadV2", [X], {"1": [[0, 0], [1, 1]], "2": 1.5}, {},
         OpNode(NUMPY, "Pad", {"pad_width": [[0, 0], [1, 1]], "mode": "constant"}, (X,), {"constant_values": 1.5})),
        ("MirrorPad", [X], {"1": [[0, 0], [1, 1]]}, {"mode": {"s": "UkVGTEVDVA=="}},
         OpNode(NUMPY, "Pad", {"pad_width": [[0, 0], [1, 1]], "mode": "reflect"}, (X,))),
        ("Einsum", [X, Y], {}, {"equation": {"s": "YmlqLGJrai0+Ymlr"}},
         OpNode(NUMPY, "Einsum", {"subscripts": "bij,bkj->bik"}, (X, Y))),
        ("Atan2", [Y, X], {}, {}, OpNode(NUMPY, "Arctan2", {}, (Y, X))),
        ("BiasAdd", [X], {"1": [1.0, 2.0]}, {"data_format": {"s": "TkhXQw=="}}, OpNode(NUMPY, "Add", {}, (X, BIAS))),
        ("MatrixBandPart", [X], {"1": -1, "2": 0}, {}, OpNode(NUMPY, "Tril", {"k": 0}, (X,))),
        ("MatrixBandPart", [X], {"1": 1, "2": -1}, {}, OpNode(NUMPY, "Triu", {"k": -1}, (X,))),
        ("MatrixDiagPartV3", [X], {"1": 0, "2": 0.0}, {},
         OpNode(NUMPY, "Diagonal", {"offset": 0, "axis1": -2, "axis2": -1}, (X,))),
        ("Roll", [X], {"1": 1, "2": 1}, {}, OpNode(NUMPY, "Roll", {"shift": 1, "axis": 1}, (X,))),
    ],
)  # fmt: skip
def test_nodes(op: str, args: list[Tree], constants: dict[str, Any], attributes: dict[str, Any], made: OpNode) -> None:
    """Constants stand at their place among the inputs."""
    assert node(op, *args, constants=constants, **attributes) == [made]


@pytest.mark.parametrize(
    ("op", "args", "constants", "attributes", "why"),
    [
        ("NoSuch", [X], {}, {}, "the operation NoSuch"),
        ("Relu", [X, Y], {}, {}, "the operation Relu"),
        ("Squeeze", [X], {}, {"squeeze_dims": {"list": {}}}, "axes that are not named"),
        ("StridedSlice", [X, Y], {"2": [0], "3": [1]}, {}, "ends that are computed"),
        ("Mean", [X], {}, {}, "inputs"),
        ("Relu", [X], {"7": 1.0}, {}, "inputs"),
        ("Relu", [X], {"first": 1.0}, {}, "inputs"),
        ("StridedSlice", [X], {"1": [0, 0], "2": [1], "3": [1]}, {}, "inputs"),
        ("StridedSlice", [X], {"1": [0]}, {}, "inputs"),
        ("Split", [X], {}, {}, "inputs"),
        ("Cast", [X], {}, {"DstT": {"type": "DT_HALF"}}, "dtype DT_HALF"),
        ("GatherV2", [X, Y], {"2": 1}, {}, "integers"),
        ("GatherV2", [X], {"1": [0], "2": 1}, {"batch_dims": {"i": "1"}}, "`batch_dims=1`"),
        ("BiasAdd", [X], {"1": [1.0]}, {"data_format": {"s": "TkNIVw=="}}, "another axis than the last"),
        ("MatrixBandPart", [X], {"1": -1, "2": -1}, {}, "all of a matrix"),
        ("MatrixDiagPartV3", [X], {"1": 1, "2": 0.0}, {}, "another diagonal"),
        (
            "MaxPool",
            [X],
            {},
            {
                "ksize": {"list": {"i": ["1", "2", "2", "1"]}},
                "strides": {"list": {"i": ["1"]}},
                "data_format": {"s": "TkNIVw=="},
            },
            "`data_format='NCHW'`",
        ),
    ],
)
def test_nodes_that_are_refused(
    op: str, args: list[Tree], constants: dict[str, Any], attributes: dict[str, Any], why: str
) -> None:
    with pytest.raises(CannotConvert, match=rf"^'op' \(TensorFlowOpLayer\): {op} is not translated: .*{why}"):
        node(op, *args, constants=constants, **attributes)


def test_a_split_gives_its_parts() -> None:
    """Its axis comes first in TensorFlow's graph."""
    split = OpNode(NUMPY, "Split", {"indices_or_sections": 2, "axis": 1}, (X,))
    assert node("Split", X, constants={"0": 1}, num_split={"i": "2"}) == [Part(split, 0), Part(split, 1)]


@pytest.mark.parametrize("stored", ["{", "[1]", None])
def test_a_node_that_cannot_be_read(stored: str | None) -> None:
    with pytest.raises(CannotConvert, match="the operation None"):
        outputs("TensorFlowOpLayer", {"node_def": stored}, [X], Context())


@pytest.mark.parametrize(
    ("masks", "keys"),
    [
        ({}, [(0, 2, 1), (1, 3, 1)]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "2"}}, [(None, 2, 1), (1, None, 1)]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "shrink_axis_mask": {"i": "2"}}, [(None, None, 1), 1]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "new_axis_mask": {"i": "2"}}, [(None, None, 1), None]),
        ({"ellipsis_mask": {"i": "1"}}, [{"class_name": "__ellipsis__"}, (1, 3, 1)]),
    ],
)
def test_a_slice_with_its_masks(masks: dict[str, Any], keys: list[Any]) -> None:
    """A bit for each axis."""
    constants = {"1": [0, 1], "2": [2, 3], "3": [1, 1]}
    (sliced,) = node("StridedSlice", X, constants=constants, **masks)
    by_function = outputs("SlicingOpLambda", {"function": "__operators__.getitem"}, [X, [
        {"start": k[0], "stop": k[1], "step": k[2]} if isinstance(k, tuple) else k for k in keys
    ]], Context())  # fmt: skip
    assert isinstance(sliced, OpNode)
    assert (sliced.class_name, [sliced]) == ("GetItem", by_function)


def in_a_row(*operations: tuple[str, str, list[Any]], output: str) -> JsonObject:
    """A model of an input `x` of 6 steps of 4 numbers, and of operations by name, function and call."""
    x = {"batch_input_shape": [None, 6, 4], "dtype": "float32", "sparse": False, "ragged": False, "name": "x"}
    layers: list[Any] = [{"class_name": "InputLayer", "name": "x", "config": x, "inbound_nodes": []}]
    for name, function, called in operations:
        config = {"name": name, "trainable": True, "dtype": "float32", "function": function}
        kind = "SlicingOpLambda" if function.endswith("getitem") else "TFOpLambda"
        layers.append({"class_name": kind, "name": name, "config": config, "inbound_nodes": called})
    model: dict[str, Any] = {
        "name": "m", "layers": layers, "input_layers": [["x", 0, 0]], "output_layers": [[output, 0, 0]],
    }  # fmt: skip
    return {"class_name": "Functional", "config": model}


SHAPE = ("s", "compat.v1.shape", [["x", 0, 0, {"name": None, "out_type": "int32"}]])
ROWS = ("n", "__operators__.getitem", [["s", 0, 0, {"slice_spec": [0]}]])
LAST = ("d", "__operators__.getitem", [["s", 0, 0, {"slice_spec": [-1]}]])


@pytest.mark.parametrize(
    ("operations", "output", "made"),
    [
        ([SHAPE, ROWS, ("r", "reshape", [["x", 0, 0, {"shape": [["n", 0, 0], 24]}]])], "r",
         [("Reshape", {"newshape": [-1, 24]}, [])]),
        ([SHAPE, ROWS, ("r", "reshape", [["x", 0, 0, {"shape": [["n", 0, 0], -1]}]])], "r",
         [("Reshape", {"newshape": [-1, 24]}, [])]),
        ([SHAPE, ROWS, LAST, ("h", "math.exp", [["x", 0, 0, {}]]),
          ("r", "reshape", [["h", 0, 0, {"shape": [["n", 0, 0], -1, ["d", 0, 0]]}]])], "r",
         [("Exp", {}, []), ("Reshape", {"newshape": [-1, 6, 4]}, [])]),
        ([SHAPE, LAST, ("c", "cast", [["d", 0, 0, {"dtype": "float32"}]]), ("q", "math.sqrt", [["c", 0, 0, {}]]),
          ("t", "math.truediv", [["x", 0, 0, {"y": ["q", 0, 0], "name": None}]])], "t", [("Divide", {}, [2.0])]),
    ],
    ids=["rows", "rows-and-rest", "of-the-same-rows", "root-of-a-size"],
)  # fmt: skip
def test_sizes_from_layer_to_layer(
    operations: list[Any], output: str, made: list[tuple[str, dict[str, Any], list[Any]]]
) -> None:
    """A shape, its parts, and what is computed of them are known, and need no layer."""
    architecture = in_a_row(*operations, output=output)
    done = convert(Stored("architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"))
    assert done.model is not None, done.refusal
    assert done.model.architecture is not None
    config: Any = done.model.architecture["config"]
    written = [
        (
            entry["class_name"],
            {key: value for key, value in entry["config"].items() if key != "name"},
            [arg for arg in entry["inbound_nodes"][0]["args"] if isinstance(arg, float)],
        )
        for entry in config["layers"][1:]
    ]
    assert written == made


@pytest.mark.parametrize(
    ("operations", "output", "why"),
    [
        ([SHAPE], "s", "where a layer needs a tensor"),
        ([SHAPE, ROWS], "n", "where a layer needs a tensor"),
        ([SHAPE, LAST], "d", "where a layer needs a tensor"),
        ([SHAPE, ROWS, ("h", "reshape", [["x", 0, 0, {"shape": [-1, 4]}]]),
          ("r", "reshape", [["h", 0, 0, {"shape": [["n", 0, 0], -1]}]])], "r", "several unknown sizes"),
        ([SHAPE, ROWS, ("c", "cast", [["n", 0, 0, {"dtype": "float32"}]])], "c", "a size that is not known"),
    ],
    ids=["shape", "rows", "number", "other-rows", "rows-as-a-number"],
)  # fmt: skip
def test_sizes_that_a_tensor_is_needed_of(operations: list[Any], output: str, why: str) -> None:
    """An output, or what other rows than its own are counted by."""
    architecture = in_a_row(*operations, output=output)
    done = convert(Stored("architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"))
    assert done.refusal is not None
    assert why in done.refusal.message


@pytest.mark.parametrize(("cast", "why"), [("int32", "a reduction of int32"), ("float32", None)])
def test_integers_of_a_layer_before(cast: str, why: str | None) -> None:
    """TensorFlow's mean of integers is an integer, Keras 3's is not: the dtype is handed from layer to layer."""

    def operation(name: str, function: str, node: list[Any]) -> dict[str, Any]:
        config = {"name": name, "trainable": True, "dtype": "float32", "function": function}
        return {"class_name": "TFOpLambda", "name": name, "config": config, "inbound_nodes": [node]}

    x = {"batch_input_shape": [None, 4], "dtype": "float32", "sparse": False, "ragged": False, "name": "x"}
    layers = [
        {"class_name": "InputLayer", "name": "x", "config": x, "inbound_nodes": []},
        operation("c", "cast", ["x", 0, 0, {"dtype": cast}]),
        operation("r", "math.reduce_mean", ["c", 0, 0, {"axis": 1}]),
    ]
    model: dict[str, Any] = {
        "name": "m",
        "layers": layers,
        "input_layers": [["x", 0, 0]],
        "output_layers": [["r", 0, 0]],
    }
    architecture: JsonObject = {"class_name": "Functional", "config": model}
    done = convert(Stored("architecture", architecture=architecture, keras_version="2.7.0", backend="tensorflow"))
    assert (None if done.refusal is None else done.refusal.message.rpartition(": ")[2]) == why
