"""Nodes of a TensorFlow graph as calls."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.ops.call import OpCall
from unnest.core.ops.nodes import may_join_rows, node_call, node_operation


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "call"),
    [
        ("Split", [0, "x"], {"num_split": 2}, OpCall("split", ["x", 2, 0], {})),
        ("ConcatV2", ["x", "y", 0], {}, OpCall("concat", [["x", "y"], 0], {})),
        ("Concat", [0, "x", "y"], {}, OpCall("concat", [["x", "y"], 0], {})),
        ("Pack", ["x", "y"], {"axis": 1}, OpCall("stack", [["x", "y"]], {"axis": 1})),
        ("DynamicStitch", ["i", "j", "x", "y"], {}, OpCall("dynamicstitch", [["i", "j"], ["x", "y"]], {})),
        ("Einsum", ["x", "y"], {"equation": b"ij,jk"}, OpCall("einsum", ["ij,jk", "x", "y"], {})),
        ("BatchMatMulV2", ["x", "y"], {"adj_x": True}, OpCall("matmul", ["x", "y"], {"transpose_a": True})),
        ("Squeeze", ["x"], {"squeeze_dims": []}, OpCall("squeeze", ["x"], {})),
        ("FloorDiv", ["x", 2], {}, OpCall("floordiv", ["x", 2], {})),
        ("GatherV2", ["x"], {}, OpCall("gatherv2", (), {})),
    ],
)
def test_nodes(op: str, inputs: list[Any], attributes: dict[str, Any], call: OpCall) -> None:
    assert node_call(op, inputs, attributes) == call


@pytest.mark.parametrize(
    ("op", "answer"),
    [("ConcatV2", True), ("Pack", True), ("Reshape", True), ("DynamicStitch", True), ("AddV2", True), ("Relu", False),
     ("Split", False), ("MatMul", False), ("Unheard", False)],
)  # fmt: skip
def test_nodes_that_may_join_rows(op: str, answer: bool) -> None:
    assert may_join_rows(op) is answer


def test_the_operation_behind_a_node() -> None:
    unpack = node_operation("Unpack")
    assert unpack is not None
    assert unpack.name == "unstack"
    assert node_operation("Unheard") is None
