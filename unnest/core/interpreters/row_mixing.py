"""The fate of rows on their way through a tower: its tensors are computed on the rows' numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unnest.budget import charge_steps
from unnest.core.interpreters.batch_size_values import Counts
from unnest.core.interpreters.operation_row_rules import TowerOperations
from unnest.core.interpreters.row_dependence_arrays import NO_ROW, RowsMixed, combined, each_its_own
from unnest.core.interpreters.tensor_graph import TensorGraph
from unnest.core.interpreters.tower_tensor_facts import Known, TowerTensors
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.numbered_elements import NOT_COMPUTED
from unnest.core.ops.registry import Kind, kind_of


class RowsKept(NamedTuple):
    """The fate of the rows of some tensors on their way to others.

    `mixing` is the first call that works along them, None if none is known to; `is_told`: whether all is known to keep
    every row where it is.
    """

    mixing: CallId | None
    is_told: bool

    @property
    def objection(self) -> str | None:
        """Return why this is not a wrapper, or None if no operation is known to mix rows."""
        return (
            None
            if self.mixing is None
            else f"{self.mixing.layer}, a part of the towers, works along the batch"
        )


class TowerRows:
    """The tensors behind some entries, each worked out when it is asked for; `known` are those so far.

    `rank` and `size` stand for those that are not known.
    """

    def __init__(
        self, graph: TensorGraph, entries: Mapping[Ref, Shape | None], rank: int, size: int
    ) -> None:
        self.known = TowerTensors(graph, entries, rank, size)
        self._operations = TowerOperations(self.known)

    def rows_up_to(self, end: Ref) -> RowsKept:
        """Return the fate of the rows up to one tensor."""
        entered: set[Ref] = set()
        pending = [end]
        while pending:
            charge_steps()
            here = pending[-1]
            if here in self.known.tensors:
                pending.pop()
                continue
            what = self.known.graph.computed(here.call, self.known.shapes)
            reads = [] if kind_of(what) is Kind.CONTROL else [*self.known.graph.reads(here.call)]
            missing = [ref for ref in reads if ref not in self.known.tensors and ref not in entered]
            if here not in entered and missing:
                entered.add(here)
                pending += missing
                continue
            pending.pop()
            try:
                self._make(here, what, reads)
            except RowsMixed:
                return RowsKept(here.call, is_told=False)
        return self._rows_kept(end)

    def _rows_kept(self, end: Ref) -> RowsKept:
        """Return True if rows stand where they did."""
        tensor = self.known.tensors[end]
        if (
            not isinstance(tensor, np.ndarray)
            or not tensor.ndim
            or not np.any(tensor["element"] != NO_ROW)
        ):
            return RowsKept(None, is_told=False)
        a_row, rest = divmod(len(tensor), self.known.rows)
        order = np.repeat(
            np.arange(self.known.rows), a_row
        )  # of rows that were flattened, several entries each
        try:
            combined([tensor, each_its_own((len(tensor), *tensor.shape[1:]), order)])
        except (RowsMixed, ValueError):
            rest = 1
        return RowsKept(
            end.call if rest else None, is_told=not rest and end not in self.known.of_one_batch
        )

    def _make(self, here: Ref, what: OpCall, reads: Sequence[Ref]) -> None:
        """Carry out one call, for all of its tensors. Raises RowsMixed."""
        given = {ref: self.known.tensors.get(ref, Known.LOST) for ref in reads}
        for tensors in (self.known.guessed, self.known.of_unknown_count, self.known.of_one_batch):
            if not tensors.isdisjoint(reads):
                tensors.add(here)
        try:
            made = self._operations.apply(here, what, given)
        except NOT_COMPUTED:
            made = Known.LOST
        for number, tensor in enumerate(made) if isinstance(made, list) else [(here.tensor, made)]:
            output = Ref(here.layer, here.rank, number)
            self.known.tensors[output] = tensor
            self.known.add_first(output, what, reads)
        self.known.tensors.setdefault(here, Known.LOST)
        tensor = self.known.tensors[here]
        if isinstance(tensor, Counts) and tensor.depends and not tensor.is_linear:
            self.known.of_one_batch.add(here)
        if isinstance(tensor, np.ndarray) and self.known.shapes.get(here) is None:
            guessed = (self.known.rows, self.known.size)
            self.known.shapes[here] = tuple(
                None if size in guessed else size for size in tensor.shape
            )
