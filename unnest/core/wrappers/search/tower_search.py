"""The search for towers, in graphs of layers and of operations alike.

A candidate is a tensor, or several, that may join towers. Its operands are walked back in step (`match_towers`): they
must be one computation, called on parts of the rows of its sources. The parts, put in the towers' places, must come
together as all rows in order for every batch tried (`batch_trials`). No other layer may read the towers.

    candidates of              joins                              parts of the rows
    operations (here)          computed: concatenated, stacked,   computed on numbered rows
                               gathered, scattered, stitched
    layers (`opaque_slice_towers`)   as configs and code describe them  computed, or claimed by opaque slices

Operations are asked first, in both kinds of graph; layers only where operations give no answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph.wrapper_records import Merge, MixesRows, NotAWrapper
from unnest.core.wrappers.search.batch_trials import Joined
from unnest.core.wrappers.search.match_towers import Copies, Unlike
from unnest.core.wrappers.search.row_mixing_trials import rows_kept
from unnest.core.wrappers.search.searched_graph import SearchedGraph


class TowerSet(NamedTuple):
    """Towers with their joins, and the calls that cut.

    `sentences`: the evidence on the rows that the towers read. `is_known`: which rows are read, and given back, is
    computed or stored. `keeps_rows`: all in a tower is known to keep every row where it is. `share`: the rows of the
    first tower where the batch is fixed. `reach`: where bounds are numbers, how many rows the towers read of a larger
    batch. `reader`: why it cannot be cut, if another layer reads what would go.

    Of layers: `merges` if they say which outputs they join, `cuts` the slices nearest to the towers by their source,
    `sources` and `called_on` those of the inputs of a nested model and of all tensors that it is called on.
    """

    copies: Copies
    joins: tuple[Joined, ...]
    slices: frozenset[CallId]
    sentences: tuple[str, ...]
    is_known: bool = True
    keeps_rows: bool = False
    share: int | None = None
    reach: int | None = None
    reader: str | None = None
    merges: tuple[Merge, ...] = ()
    cuts: tuple[tuple[Ref, tuple[CallId, ...]], ...] = ()
    sources: tuple[Ref, ...] = ()
    called_on: tuple[Ref, ...] = ()

    @property
    def cut_points(self) -> dict[Column, Ref]:
        """Column of tensors at which the towers diverge -> the source tensor of which these are rows."""
        return self.copies.cut_points

    @property
    def join_calls(self) -> frozenset[CallId]:
        """The calls of all joins."""
        return frozenset().union(*(joined.calls for joined in self.joins))


class Candidate(ABC):
    """Tensors that may join towers."""

    joins: Sequence[Joined]

    @property
    def root(self) -> Ref:
        """The tensor that near misses name."""
        return self.joins[0].root

    @abstractmethod
    def towers(self) -> Copies:
        """Return the towers that end in the operands. Raises NotAWrapper, Unlike where they are not alike."""

    @abstractmethod
    def judge(self, copies: Copies) -> TowerSet:
        """Return towers that `towers` found, with their slices.

        Raises:
            NotAWrapper: all rows of the sources are not known to come together in order.

        """

    def is_near(self, reason: NotAWrapper) -> bool:
        """Return True if the reason why it joins no towers is worth a near miss."""
        del reason
        return True


def find(
    attempts: Iterable[Iterator[Candidate]], used: Iterable[CallId] = ()
) -> tuple[list[TowerSet], list[NearMiss]]:
    """Return the first tower set of each attempt, and the near misses of attempts without one.

    An attempt is one tensor, or several, that join towers, read in one way or another. Its candidates are not asked if
    they join by calls that are `used`, or that a tower set found before joins by.
    """
    found: list[TowerSet] = []
    misses: list[NearMiss] = []
    taken = {*used}
    for candidates in attempts:
        judged = _judge(candidates, taken)
        if isinstance(judged, NearMiss):
            misses.append(judged)
        elif judged is not None:
            found.append(judged)
            taken |= judged.join_calls
    return found, misses


def _judge(candidates: Iterator[Candidate], taken: set[CallId]) -> TowerSet | NearMiss | None:
    """Return the first towers among some candidates, or their near miss; None if nothing looks like towers."""
    miss: NearMiss | None = None
    for candidate in candidates:
        if candidate.root.call in taken:
            break
        try:
            return candidate.judge(candidate.towers())
        except NotAWrapper as reason:
            is_first = miss is None or not isinstance(reason, Unlike)
            if is_first and candidate.is_near(reason):
                miss = reason.near_miss(candidate.root.layer)
    return miss


def with_rows_kept(graph: SearchedGraph, towers: TowerSet) -> TowerSet:
    """Return towers with the answer whether they keep rows.

    Raises:
        MixesRows: the result for a row depends on which rows are in its part.

    """
    parts = {
        column[0]: graph.rows_of_part(column[0], source)
        for column, source in towers.cut_points.items()
    }
    kept = rows_kept(graph, [joined.operands[0] for joined in towers.joins], parts)
    if kept.objection is not None:
        raise MixesRows(kept.objection)
    return towers._replace(keeps_rows=kept.are_kept)
