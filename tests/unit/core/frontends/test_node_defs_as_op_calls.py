"""Nodes of a TensorFlow graph as calls."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.frontends.node_defs_as_op_calls import (
    may_join_rows,
    node_attributes,
    node_call,
    node_inputs,
    node_operation,
    parse_node_def,
)
from unnest.core.ops.call import OpCall


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "call"),
    [
        ("Split", [0, "x"], {"num_split": 2}, OpCall("split", ["x", 2, 0], {})),
        ("ConcatV2", ["x", "y", 0], {}, OpCall("concat", [["x", "y"], 0], {})),
        ("Concat", [0, "x", "y"], {}, OpCall("concat", [["x", "y"], 0], {})),
        ("Pack", ["x", "y"], {"axis": 1}, OpCall("stack", [["x", "y"]], {"axis": 1})),
        (
            "DynamicStitch",
            ["i", "j", "x", "y"],
            {},
            OpCall("dynamicstitch", [["i", "j"], ["x", "y"]], {}),
        ),
        ("Einsum", ["x", "y"], {"equation": b"ij,jk"}, OpCall("einsum", ["ij,jk", "x", "y"], {})),
        (
            "BatchMatMulV2",
            ["x", "y"],
            {"adj_x": True},
            OpCall("matmul", ["x", "y"], {"transpose_a": True}),
        ),
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


@pytest.mark.parametrize(
    ("stored", "plain"),
    [
        ({"i": "-1"}, -1),
        ({"b": True}, True),
        ({"f": 0.25}, 0.25),
        ({"s": "U0FNRQ=="}, "SAME"),
        ({"s": "no base 64"}, "no base 64"),
        ({"list": {"i": ["1", "2"]}}, [1, 2]),
        ({"list": {}}, []),
        ({"type": "DT_FLOAT"}, "DT_FLOAT"),
        ({}, None),
        (None, None),
    ],
)
def test_attributes_in_json(stored: Any, plain: Any) -> None:
    assert node_attributes({"attr": {"a": stored}}) == {"a": plain}
    assert node_attributes({}) == {}


def test_a_node_as_it_is_stored() -> None:
    """As an object, its JSON, or protobuf's text."""
    for stored in ({"op": "Neg"}, '{"op": "Neg"}', 'name: "n"\nop: "Neg"\n'):
        assert parse_node_def(stored) == {"op": "Neg"}
    assert [parse_node_def(stored) for stored in (None, "no node", "[1]")] == [None] * 3


def test_constants_have_numbers() -> None:
    assert node_inputs({"0": 1, "2": 3}, ["x"], 3) == [1, "x", 3]
    assert node_inputs({}, ["x"], 2) == ["x", None]
    for number in ("3", "first"):
        with pytest.raises(ValueError, match=r"."):
            node_inputs({number: 1}, ["x"], 3)
