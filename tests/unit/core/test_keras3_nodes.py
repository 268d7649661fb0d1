"""Nodes are values: a node that stands twice in an expression is one."""

from __future__ import annotations

from unnest.core.keras3_nodes import MODULE_BY_CLASS, ROOT, Input, OpNode, Part


def test_nodes_are_told_apart_by_their_contents() -> None:
    split = OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(0), 2))
    assert split == OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(0), 2))
    assert Part(split, 0) != Part(split, 1)
    assert split != OpNode("keras.src.ops.numpy", "Split", {"axis": 1}, (Input(1), 2))


def test_modules() -> None:
    assert MODULE_BY_CLASS["Exp"] == f"{ROOT}.numpy"
    assert MODULE_BY_CLASS["Relu"] == f"{ROOT}.nn"
    assert MODULE_BY_CLASS["Rearrange"] == f"{ROOT}.einops"
    assert {module.rpartition(".")[0] for module in MODULE_BY_CLASS.values()} == {ROOT}
