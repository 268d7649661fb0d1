"""The operands of a sum and its like, which have no order: those of one model in the order of another's."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.budget import charge_steps
from unnest.core.weight_transfer.model_expressions import Node, NodeOutput

#: Merge layers that compute the same whatever the order of their inputs.
COMMUTATIVE = frozenset({"Add", "Multiply", "Average", "Maximum", "Minimum"})


class OperandOrder:
    """Digests of expressions by the kinds of their operations, each worked out once."""

    def __init__(self) -> None:
        self._digests: dict[Node, int] = {}

    def matched(self, old: Node, new: Node) -> Sequence[NodeOutput]:
        """Return the operands of `new`, in the order of those of `old` with the same operations above them.

        The order stays where the node is no sum, where it agrees already, and where the two have not the same operands.
        """
        if old.kind not in COMMUTATIVE or new.kind != old.kind:
            return new.inputs
        wanted = [self._digest(value) for value in old.inputs]
        given = [(self._digest(value), value) for value in new.inputs]
        if [digest for digest, _ in given] == wanted or sorted(
            digest for digest, _ in given
        ) != sorted(wanted):
            return new.inputs
        operands: list[NodeOutput] = []
        for digest in wanted:
            place = next(k for k, (other, _) in enumerate(given) if other == digest)
            operands.append(given.pop(place)[1])
        return operands

    def _digest(self, value: NodeOutput) -> int:
        """Return the digest of an expression; iterative, as graphs are deep."""
        pending = [value.node]
        while pending:
            node = pending[-1]
            missing = [each.node for each in node.inputs if each.node not in self._digests]
            if missing and node not in self._digests:
                pending += missing
                continue
            pending.pop()
            if node not in self._digests:
                charge_steps()
                operands = [hash((self._digests[each.node], each.tensor)) for each in node.inputs]
                in_order = sorted(operands) if node.kind in COMMUTATIVE else operands
                self._digests[node] = hash((node.kind, str(node.argument), *in_order))
        return hash((self._digests[value.node], value.tensor))
