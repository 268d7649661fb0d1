"""The split of a batch among the towers of a layer graph: slices of each input, their claims, their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim


@dataclass(eq=False, repr=False)
class InputSlices:
    """The way from one source to the towers.

    `parts`: the tensors that the towers read of it; empty if all read the whole. `steps`: the calls between, one per
    tower, the nearest to the towers first. `passed`: layers that hand the source on before it is cut. `claims`: those
    of opaque slices, each with its slices. `shown`: the code of all opaque slices can be read and cuts rows.
    """

    source: Ref
    parts: Column = ()
    steps: list[tuple[CallId, ...]] = field(default_factory=list)
    passed: set[CallId] = field(default_factory=set)
    claims: list[tuple[SliceClaim, list[Ref]]] = field(default_factory=list)
    shown: bool = True

    @property
    def calls(self) -> set[CallId]:
        """The calls of the slices, and of layers that only hand a tensor on."""
        return self.passed.union(*self.steps)


class BatchSplit(NamedTuple):
    """The slices of all sources of the towers, some of which may be read whole.

    `name`: the layer that the towers are calls of, or end in. `calls`: the slices, and the calls that compute their
    bounds. `dealt_out`: every tower takes each k-th row, so that only a merge that deals them back restores their
    order. `computed`: the sentence on the batches tried, if some slices are operations; `reach`: the number of rows
    that the towers read of a larger batch, if bounds are numbers.
    """

    name: str
    inputs: tuple[InputSlices, ...]
    calls: frozenset[CallId]
    dealt_out: bool = False
    computed: str | None = None
    reach: int | None = None

    @property
    def sources(self) -> tuple[Ref, ...]:
        """The tensors that are sliced, or read whole, one per input."""
        return tuple(each.source for each in self.inputs)

    @property
    def sliced(self) -> list[InputSlices]:
        """The inputs of which every tower reads a part."""
        return [each for each in self.inputs if each.parts]

    @property
    def claims(self) -> list[SliceClaim]:
        """The claims of all opaque slices."""
        return [claim for each in self.inputs for claim, _ in each.claims]

    @property
    def is_proven(self) -> bool:
        """True if it is stored, or computed, of every input that the towers read all its rows in order."""
        if not self.claims:
            return self.computed is not None
        return all(each.shown for each in self.sliced) and self.statuses == {ClaimStatus.ROWS}

    @property
    def nearest(self) -> tuple[tuple[Ref, tuple[CallId, ...]], ...]:
        """The slices nearest to the towers, by their source."""
        return tuple((each.source, each.steps[0]) for each in self.sliced)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The evidence on the rows that the towers read, as sentences."""
        sentences = dict.fromkeys(claim.sentence for claim in self.claims if claim.sentence)
        if self.computed:
            sentences[self.computed] = None
        if self.reach is not None:
            sentences[
                f"bounds are numbers: no tower reads more than the first {self.reach} rows"
            ] = None
        return tuple(sentences)

    @property
    def statuses(self) -> set[ClaimStatus]:
        """The statuses of the claims of all slices."""
        return {claim.status for claim in self.claims}
