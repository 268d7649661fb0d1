"""The rows of a tower's tensors, worked out call by call: whether each keeps its place, and which call mixes rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unnest.budget import charge_steps
from unnest.core.interpreters.apply_operations_to_rows import TowerOperations
from unnest.core.interpreters.batch_size_values import BatchSizeValues
from unnest.core.interpreters.row_dependence_arithmetic import (
    NO_ROW,
    RowsMixed,
    combined,
    each_its_own,
)
from unnest.core.interpreters.tensor_graph import TensorGraph
from unnest.core.interpreters.tower_tensor_facts import RowFacts, TowerTensors
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import kind_of


class RowsKept(NamedTuple):
    """The answer whether each row keeps its place on the way from some tensors to another.

    `are_kept`: all calls between are known to keep every row where it is. `mixing`: the first call that is known to mix
    rows, None without one. Neither holds where a call is unknown.
    """

    mixing: CallId | None
    are_kept: bool

    @property
    def objection(self) -> str | None:
        """Return why this is not a wrapper, or None if no operation is known to mix rows."""
        return (
            None
            if self.mixing is None
            else f"{self.mixing.layer}, a part of the towers, works along the batch"
        )


class TowerRows:
    """The rows of the tensors between some entries and the ends that are asked for; `facts` holds those worked out.

    `rank` is tried for unknown ranks, `size` for unknown sizes.
    """

    def __init__(
        self, graph: TensorGraph, entries: Mapping[Ref, Shape | None], rank: int, size: int
    ) -> None:
        self.facts = TowerTensors(graph, entries, rank, size)
        self._operations = TowerOperations(self.facts)

    def rows_up_to(self, end: Ref) -> RowsKept:
        """Return whether each row keeps its place from the entries to one tensor."""
        entered: set[Ref] = set()
        pending = [end]
        while pending:
            charge_steps()
            here = pending[-1]
            if here in self.facts.tensors:
                pending.pop()
                continue
            at = here.call
            op_call = self.facts.graph.computed(at, self.facts.shapes)
            reads = [] if kind_of(op_call) is Kind.CONTROL else [*self.facts.graph.reads(at)]
            missing = [ref for ref in reads if ref not in self.facts.tensors and ref not in entered]
            if here not in entered and missing:
                entered.add(here)
                pending += missing
                continue
            pending.pop()
            try:
                self._make(here, op_call, reads)
            except RowsMixed:
                return RowsKept(at, are_kept=False)
        return self._rows_kept(end)

    def _rows_kept(self, end: Ref) -> RowsKept:
        """Return whether one tensor, the rows of which are worked out, has every row in its place."""
        tensor = self.facts.tensors[end]
        if (
            not isinstance(tensor, np.ndarray)
            or not tensor.ndim
            or not np.any(tensor["element"] != NO_ROW)
        ):
            return RowsKept(None, are_kept=False)
        a_row, rest = divmod(len(tensor), self.facts.rows)
        # Rows that were flattened have several entries each.
        order = np.repeat(np.arange(self.facts.rows), a_row)
        try:
            combined([tensor, each_its_own((len(tensor), *tensor.shape[1:]), order)])
        except (RowsMixed, ValueError):
            rest = 1
        return RowsKept(
            end.call if rest else None, are_kept=not rest and end not in self.facts.of_one_batch
        )

    def _make(self, here: Ref, op_call: OpCall, reads: Sequence[Ref]) -> None:
        """Work out the rows of all tensors that one call gives, and note them. Raises RowsMixed."""
        given = {ref: self.facts.tensors.get(ref, RowFacts.UNKNOWN) for ref in reads}
        for tensors in (self.facts.guessed, self.facts.of_unknown_count, self.facts.of_one_batch):
            if not tensors.isdisjoint(reads):
                tensors.add(here)
        try:
            made = self._operations.apply(here, op_call, given)
        except NOT_COMPUTED:
            made = RowFacts.UNKNOWN
        for number, tensor in enumerate(made) if isinstance(made, list) else [(here.tensor, made)]:
            output = Ref(here.layer, here.call_index, number)
            self.facts.tensors[output] = tensor
            self.facts.add_first(output, op_call, reads)
        self.facts.tensors.setdefault(here, RowFacts.UNKNOWN)
        tensor = self.facts.tensors[here]
        if isinstance(tensor, BatchSizeValues) and tensor.any_depends and not tensor.is_linear:
            self.facts.of_one_batch.add(here)
        if isinstance(tensor, np.ndarray) and self.facts.shapes.get(here) is None:
            guessed = (self.facts.rows, self.facts.size)
            self.facts.shapes[here] = tuple(
                None if size in guessed else size for size in tensor.shape
            )
