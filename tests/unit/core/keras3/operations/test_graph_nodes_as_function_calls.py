"""Nodes of TensorFlow's graph whose inputs are a function's, and what is refused of nodes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.core.keras3.operations.calling import (
    BIAS,
    CORE,
    NN,
    NUMPY,
    PLACES,
    X,
    Y,
    node,
    outputs,
    turned,
)
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import NodeTree
from unnest.core.keras3_op_node import OpNode, Part
from unnest.core.ops.keras3_nodes.expression_values import Size, SymbolicValue, constant, items


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
def test_nodes(
    op: str,
    args: list[NodeTree],
    constants: dict[str, Any],
    attributes: dict[str, Any],
    made: OpNode,
) -> None:
    """Constants stand at their place among the inputs."""
    assert node(op, *args, constants=constants, **attributes) == [made]


@pytest.mark.parametrize(
    ("op", "args", "constants", "attributes", "why"),
    [
        ("NoSuch", [X], {}, {}, "the operation NoSuch"),
        ("Relu", [X, Y], {}, {}, "the operation Relu of so many inputs"),
        ("Relu", [X], {}, {"limit": {"f": 1.0}}, "the operation Relu"),
        ("Mod", [X, Y], {}, {}, "the operation Mod"),
        ("TruncateDiv", [X, Y], {}, {}, "the operation TruncateDiv"),
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
        (
            "BiasAdd",
            [X],
            {"1": [1.0]},
            {"data_format": {"s": "TkNIVw=="}},
            "another axis than the last",
        ),
        ("MatrixBandPart", [X], {"1": -1, "2": -1}, {}, "all of a matrix"),
        ("MatrixDiagPartV3", [X], {"1": 1, "2": 0.0}, {}, "another diagonal"),
        (
            "MaxPool",
            [X],
            {},
            {
                "ksize": {"list": {"i": ["1", "2", "2", "1"]}},
                "strides": {"list": {"i": ["1"]}},
                "padding": {"s": "VkFMSUQ="},
                "data_format": {"s": "TkNIVw=="},
            },
            "`data_format='NCHW'`",
        ),
    ],
)
def test_nodes_that_are_refused(
    op: str, args: list[NodeTree], constants: dict[str, Any], attributes: dict[str, Any], why: str
) -> None:
    with pytest.raises(
        CannotConvert, match=rf"^'op' \(TensorFlowOpLayer\): {op} is not translated: .*{why}"
    ):
        node(op, *args, constants=constants, **attributes)


@pytest.mark.parametrize("stored", ["{", "[1]", None])
def test_a_node_that_cannot_be_read(stored: str | None) -> None:
    with pytest.raises(CannotConvert, match="the operation None"):
        outputs("TensorFlowOpLayer", {"node_def": stored}, [X], Context())


def test_a_split_gives_its_parts() -> None:
    """Its axis comes first in TensorFlow's graph."""
    split = OpNode(NUMPY, "Split", {"indices_or_sections": 2, "axis": 1}, (X,))
    assert node("Split", X, constants={"0": 1}, num_split={"i": "2"}) == [
        Part(split, 0),
        Part(split, 1),
    ]


@pytest.mark.parametrize(
    ("masks", "keys"),
    [
        ({}, [(0, 2, 1), (1, 3, 1)]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "2"}}, [(None, 2, 1), (1, None, 1)]),
        (
            {"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "shrink_axis_mask": {"i": "2"}},
            [(None, None, 1), 1],
        ),
        (
            {"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "new_axis_mask": {"i": "2"}},
            [(None, None, 1), None],
        ),
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


@pytest.mark.parametrize(("begin", "why"), [(constant(1), None), (Size("n"), "are computed")])
def test_a_slice_whose_ends_are_sizes(begin: SymbolicValue, why: str | None) -> None:
    """What an operation before gave: known sizes are numbers, those that only a run knows are none."""
    context = Context()
    context.graph.results["y"] = items("list", [constant(0), begin])
    stored = json.dumps({"name": "op", "op": "StridedSlice", "attr": {"end_mask": {"i": "3"}}})
    config = {"node_def": stored, "constants": {"2": [0, 0], "3": [1, 1]}}
    if why is not None:
        with pytest.raises(CannotConvert, match=why):
            outputs("TensorFlowOpLayer", config, [[X, Y]], context)
        return
    (sliced,) = outputs("TensorFlowOpLayer", config, [[X, Y]], context)
    key = [{"start": 0, "stop": None, "step": 1}, {"start": 1, "stop": None, "step": 1}]
    by_function = outputs(
        "SlicingOpLambda", {"function": "__operators__.getitem"}, [X, key], Context()
    )
    assert [sliced] == by_function
