"""Nodes are values: a node that stands twice in an expression is one."""

from __future__ import annotations

from unnest.core.keras3_op_node import Input, OpNode, Part


def test_nodes_are_told_apart_by_their_contents() -> None:
    split = OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(0), 2))
    assert split == OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(0), 2))
    assert Part(split, 0) != Part(split, 1)
    assert split != OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(1), 2))
