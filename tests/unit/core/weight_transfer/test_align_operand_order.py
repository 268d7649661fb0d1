"""Operands of sums in another order, nested sums among them."""

from __future__ import annotations

from unnest.core.weight_transfer.align_operand_order import OperandOrder
from unnest.core.weight_transfer.model_expressions import Node, NodeOutput


def node(kind: str, *inputs: NodeOutput) -> Node:
    return Node(kind, inputs)


def test_sums_within_sums() -> None:
    x = NodeOutput(Node("InputLayer", (), argument=0), 0)
    a, b, c = (NodeOutput(node(kind, x), 0) for kind in ("Dense", "Conv1D", "GRU"))
    old = node("Add", NodeOutput(node("Add", a, b), 0), c)
    inner = NodeOutput(node("Add", b, a), 0)
    new = node("Add", c, inner)
    assert OperandOrder().matched(old, new) == [inner, c]
    assert OperandOrder().matched(old, node("Add", c, c)) == (c, c)
    assert OperandOrder().matched(node("Concatenate", a, b), node("Concatenate", b, a)) == (b, a)
