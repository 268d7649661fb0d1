"""Interface of a graph for the search: of layers (`layer_tensor_graph`) or of operations (`serving_tensor_graph`).

One search finds wrappers in both (`tower_search`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from unnest.budget import charge_steps
from unnest.core.interpreters.tensor_graph import Column, TensorGraph
from unnest.core.json_tree import LEAVES
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.registry import contents


class SearchedGraph(TensorGraph):
    """A graph whose wrappers are looked for.

    `outputs` are the tensors that the graph gives. `reaches`: whether slices of slices are looked through to what the
    first of them cuts, in the order in which that is tried. `takes_numbers`: whether bounds may be numbers of rows.
    `is_cut_apart`: whether outputs of the same towers may be made of slices of their own.
    """

    outputs: Sequence[Ref]
    reaches: Sequence[bool] = (True,)
    takes_numbers = False
    is_cut_apart = False

    def __init__(self) -> None:
        super().__init__()
        self._moved: dict[CallId, list[Ref]] = {}
        self._largest: dict[Ref, int] = {}

    def rows_alone(self, ref: Ref) -> Shape | None:
        """Return the shape of a tensor with any number of rows; None if the file does not store it."""
        shape = None if self.rank_of(ref) is None else self.shape(ref)
        return (None, *shape[1:]) if shape else None

    def rows_of_part(self, part: Ref, source: Ref) -> Shape | None:
        """Return the shape of some rows of a tensor, of any number of them if the file does not say how many."""
        shape = self.rows_alone(source)
        told = None if shape is None or self.rank_of(part) is None else self.shape(part)
        return (told[0], *shape[1:]) if shape and told else shape

    def unread(self, column: Column) -> str:
        """Return why calls of which some read no tensor are not the same computation."""
        names = [*dict.fromkeys(ref.layer for ref in column)]
        return f"the towers read different tensors: {', '.join(names[:4])}"

    @abstractmethod
    def is_given(self, ref: Ref) -> bool:
        """Return True if a tensor holds rows as the caller gives them."""

    @abstractmethod
    def is_number(self, ref: Ref) -> bool:
        """Return True if a tensor has no rows, a loss say."""

    @abstractmethod
    def backwards(self) -> Iterator[Ref]:
        """Yield the tensors that may be outputs of a wrapper, from the graph's outputs back, breadth first."""

    @abstractmethod
    def may_join(self, ref: Ref) -> bool:
        """Return True if a tensor may put rows of others together, at a glance."""

    def says_batch_axis(self, ref: Ref) -> bool:
        """Return True if the graph itself says that a tensor is joined along the batch: a near miss is reported."""
        del ref
        return False

    def moved(self, at: CallId) -> list[Ref]:
        """Return the tensors whose content an operation moves; [] for a call that is no operation."""
        if at not in self._moved:
            self._moved[at] = [
                value for value in _flat(contents(self.of(at))) if isinstance(value, Ref)
            ]
        return self._moved[at]

    def literals(self, calls: Iterable[CallId]) -> Iterator[int]:
        """Yield the absolute values of whole numbers among the calls' arguments; of an array the largest."""
        for value in _flat([[*self.of(at).args, *self.of(at).kwargs.values()] for at in calls]):
            if isinstance(value, int) and not isinstance(value, bool):
                yield abs(value)
            elif isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
                yield int(max(-int(value.min()), int(value.max())))

    def calls_needed_for(self, ends: Iterable[Ref], stops: Iterable[Ref]) -> set[CallId]:
        """Return the calls that tensors depend on, no further than `stops` and the graph's inputs."""
        calls: set[CallId] = set()
        met = {*stops}
        pending = [*ends]
        while pending:
            charge_steps()
            ref = pending.pop()
            if ref in met or self.is_given(ref):
                continue
            met.add(ref)
            calls.add(ref.call)
            pending += self.reads(ref.call)
        return calls

    def read_by_others(self, calls: Iterable[CallId], readers: Container[CallId]) -> CallId | None:
        """Return the first of some calls that the graph gives out, or that another call than `readers` reads."""
        given_out = {ref.call for ref in self.outputs}
        for at in sorted(calls):
            if at in given_out or not all(reader in readers for reader in self.readers.get(at, ())):
                return at
        return None

    def largest_behind(self, ref: Ref) -> int:
        """Return the largest of the `literals` of the calls behind a tensor; 0 without any.

        In a circle, of which nothing can be computed, it may be that of a part.
        """
        pending, entered = [ref], set[Ref]()
        while pending:
            here = pending[-1]
            reads = () if self.is_given(here) else self.reads(here.call)
            if here not in entered and here not in self._largest:
                charge_steps()
                entered.add(here)
                pending += [read for read in reads if read not in self._largest]
                continue
            pending.pop()
            if here not in self._largest:
                own = () if self.is_given(here) else self.literals([here.call])
                self._largest[here] = max(
                    [*own, *(self._largest.get(read, 0) for read in reads)], default=0
                )
        return self._largest[ref]

    @cached_property
    def readers(self) -> Mapping[CallId, set[CallId]]:
        """Return the readers of each call's outputs, among calls that the graph's outputs need."""
        ends = {ref.call for ref in self.outputs}
        found: dict[CallId, set[CallId]] = {at: set() for at in ends}
        pending = [*ends]
        while pending:
            charge_steps()
            at = pending.pop()
            for made in {ref.call for ref in self.reads(at)}:
                if made in found:
                    found[made].add(at)
                else:
                    found[made] = {at}
                    pending.append(made)
        return found


def _flat(value: object) -> Iterator[object]:
    """Yield the leaves of nested lists, slices and objects of any depth, in their order."""
    pending = [value]
    while pending:
        part = pending.pop()
        if type(part) in LEAVES or isinstance(part, Ref):
            yield part
        elif isinstance(part, (list, tuple)):
            pending += reversed(part)
        elif isinstance(part, slice):
            pending += (part.step, part.stop, part.start)
        elif isinstance(part, Mapping):
            pending += reversed([*part.values()])
        else:
            yield part
