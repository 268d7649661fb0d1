"""The rows that each tower reads of its sources, and that a join gives back, computed for several batch sizes.

Whatever a slice is made of (bounds from shapes, masks, indices, reshapes), it takes a list of rows. So the operations
between a source and the towers, and those of a join, are applied to an array that holds, in place of the source, a
number for every element of it (`numbered_rows`). Such numbers cannot be calculated with: a tower whose rows are chosen
by their contents, or that gets something else than rows, shows at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import lcm
from typing import NamedTuple

import numpy as np

from unnest.core.interpreters.numbered_rows import (
    Rows,
    Values,
    numbered,
    row_sizes,
    rows_of,
    same_rows,
)
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, DataDependent, Ref, Shape, Unknown
from unnest.core.ops.element_dtype_and_checks import MISFITS, Array
from unnest.core.wrappers.search.searched_graph import SearchedGraph

DIVISIBLE = 2520
"""A batch that 1 to 10 towers, and shares in tenths, divide without rest."""


class RowOrder(Enum):
    """The order of the rows that the towers read, taken together in the towers' order."""

    CONSECUTIVE = "all rows of the source, in order"
    DEALT = "all rows of the source, in another order"
    NOT = "something else than the rows of the source"
    UNKNOWN = "what cannot be computed"


class TrialAnswer(NamedTuple):
    """The answer of all batch sizes tried, with a sentence for the report where it is evidence.

    `reach`: where bounds are numbers, how many rows are read of any larger batch, in order from the first.
    """

    rows: RowOrder
    sentence: str | None = None
    reach: int | None = None


UNLIKE_ROWS = ((5,), (3, 4))
"""Shapes of a row, tried for outputs the shape of which the file does not store: what holds for both holds for any."""


class Joined(NamedTuple):
    """A tensor, the towers' tensors that it puts together in their order, and the calls that do so."""

    root: Ref
    operands: Column
    calls: frozenset[CallId]


def batches(towers: int, longest: int) -> list[int]:
    """Return batch sizes to try: some divisible by towers and small shares, some not."""
    k = towers
    return sorted(
        {1, k, k + 1, 2 * k, 2 * k + 1, 3 * k, 5 * k - 1, beyond(k, longest), lcm(DIVISIBLE, k)}
    )


def beyond(towers: int, longest: int) -> int:
    """Return a batch size that is larger than every bound that is written down."""
    return 2 * (longest + towers)


class BatchOutcome(Enum):
    """The result for one batch size."""

    ALL = "every row, in order"
    FIRST = "rows in order from the first on, but not the last ones"
    DEALT = "every row, in another order"
    OTHER = "rows twice, or missing, or no rows"


def outcome_of(joined: Rows | None, n: int) -> BatchOutcome:
    """Return how a batch of `n` rows comes together; None stands for something else than whole rows."""
    if joined is None:
        return BatchOutcome.OTHER
    if np.array_equal(joined, np.arange(len(joined))):
        return BatchOutcome.ALL if len(joined) == n else BatchOutcome.FIRST
    in_order = np.array_equal(np.sort(joined), np.arange(n))
    return BatchOutcome.DEALT if in_order else BatchOutcome.OTHER


class BatchTrial(NamedTuple):
    """The result for one batch of `batch` rows: the numbers of rows that the towers read, and that the joins give back.

    `shares` has one number for each tower, or is one 0 if the towers read no whole rows.
    """

    batch: int
    shares: list[int]
    joined: int
    outcome: BatchOutcome

    @property
    def is_telling(self) -> bool:
        """True if the batch is large enough to show an order, or something else than its rows comes together."""
        return self.outcome is BatchOutcome.OTHER or max(self.shares) > 1


def _reach(trials: Sequence[BatchTrial]) -> int | None:
    """Return how many rows are read of any larger batch, from the first on; None where that depends on its size."""
    if not all(trial.outcome in (BatchOutcome.ALL, BatchOutcome.FIRST) for trial in trials):
        return None
    lengths = {trial.joined for trial in trials if trial.outcome is BatchOutcome.FIRST}
    return lengths.pop() if len(lengths) == 1 else None


def common_answer(found: Mapping[int, BatchOutcome], towers: int, *, is_fixed: bool) -> TrialAnswer:
    """Return the common result of all batch sizes."""
    outcomes = set(found.values())
    if BatchOutcome.OTHER in outcomes or {BatchOutcome.DEALT, BatchOutcome.FIRST} <= outcomes:
        return TrialAnswer(RowOrder.NOT)
    if BatchOutcome.DEALT in outcomes:
        return TrialAnswer(RowOrder.DEALT)
    sizes = f"{min(found)} to {max(found)} rows" if len(found) > 1 else f"{max(found)} rows"
    sentence = f"computed for batches of {sizes}: the towers read all rows in order"
    if BatchOutcome.FIRST not in outcomes:
        return TrialAnswer(RowOrder.CONSECUTIVE, sentence)
    if BatchOutcome.ALL not in outcomes and not is_fixed:
        return TrialAnswer(RowOrder.NOT)
    # Bounds that are written down cover batches up to a size; shares of the batch cover every batch that they divide.
    divided = max((n for n in found if n % towers == 0), default=None)
    if divided is not None and found[divided] is BatchOutcome.ALL:
        return TrialAnswer(
            RowOrder.CONSECUTIVE,
            f"{sentence}, and none of those that are left when a batch does not divide",
        )
    return TrialAnswer(RowOrder.UNKNOWN)


def longest(graph: SearchedGraph, ends: Sequence[Ref], stops: Sequence[Ref] = ()) -> int:
    """Return the largest number that calls between `ends` and `stops` mention."""
    if not stops:
        return max(map(graph.largest_behind, ends), default=0)
    return max(graph.literals(graph.calls_needed_for(ends, stops)), default=0)


class RowTrial:
    """The towers' reads and the joins' results, carried out for one batch size after the other."""

    def __init__(
        self, graph: SearchedGraph, sources: Mapping[Column, Ref], joins: Sequence[Joined] = ()
    ) -> None:
        """Try batches of the `sources`, of which the towers read rows; without a join rows are taken tower by tower."""
        self.graph, self.sources, self.joins = graph, sources, joins
        self.towers = len(next(iter(sources)))
        self._of_parts = {
            ref: graph.shape(source) for column, source in sources.items() for ref in column
        }
        self.longest = max(
            [
                longest(graph, [ref for column in sources for ref in column]),
                *(longest(graph, [joined.root], joined.operands) for joined in joins),
            ]
        )
        self.share: int | None = None
        self._tried_rows: dict[Joined, Sequence[Shape]] = {}

    def answer(self, sizes: Sequence[int] = ()) -> TrialAnswer:
        """Return the rows that come together, over all batch sizes that can be tried, or some alone."""
        if sizes:  # shares of the batch: no shape of a row matters, and asking for one walks through all templates
            self._tried_rows = dict.fromkeys(self.joins, UNLIKE_ROWS[:1])
        trials: list[BatchTrial] = []
        is_fixed = False
        for rows in sizes or batches(self.towers, self.longest):
            try:
                trial = self._try_batch(rows)
            except DataDependent:
                return TrialAnswer(RowOrder.NOT)
            except Unknown:
                break
            except MISFITS:
                continue
            trials.append(trial)
            is_fixed = is_fixed or trial.batch != rows
        if not is_fixed and not any(trial.is_telling for trial in trials):
            return TrialAnswer(RowOrder.UNKNOWN)
        self.share = trials[-1].shares[0] if is_fixed else None
        outcomes = {trial.batch: trial.outcome for trial in trials}
        answer = common_answer(outcomes, self.towers, is_fixed=is_fixed)
        if answer.rows is RowOrder.CONSECUTIVE or is_fixed:
            return answer
        return answer._replace(reach=_reach(trials))

    def _try_batch(self, rows: int) -> BatchTrial:
        """Return the rows of every tower, and those after the joins, for `rows` rows, or for the one fixed size."""
        values = Values(self.graph, rows, self.longest, {})
        wholes = {source: values.of(source) for source in self.sources.values()}
        lengths = {len(whole) for whole in wholes.values()}
        parts = [
            [rows_of(values.of(ref), wholes[source]) for ref in column]
            for column, source in self.sources.items()
        ]
        batch = min(lengths)
        shares = [share for share in parts[0] if share is not None]
        alike = all(all(map(same_rows, part, parts[0])) for part in parts[1:])
        if len(lengths) > 1 or not alike or len(shares) < len(parts[0]):
            return BatchTrial(batch, [0], 0, BatchOutcome.OTHER)
        together = [self._together(rows, joined, shares, batch) for joined in self.joins] or [
            np.concatenate(shares)
        ]
        joined = _common(together)
        read = [len(share) for share in shares]
        return BatchTrial(
            batch, read, 0 if joined is None else len(joined), outcome_of(joined, batch)
        )

    def _rows_to_try(self, joined: Joined) -> Sequence[Shape]:
        """Return shapes to try for one row of the towers' outputs: the stored one, or several unlike ones."""
        if joined not in self._tried_rows:
            shape = self.graph.shape(joined.operands[0], self._of_parts)
            is_told = bool(shape) and shape is not None and None not in shape[1:]
            self._tried_rows[joined] = [shape[1:]] if is_told and shape is not None else UNLIKE_ROWS
        return self._tried_rows[joined]

    def _together(
        self, rows: int, joined: Joined, shares: Sequence[Rows], batch: int
    ) -> Rows | None:
        """Return the rows that a join gives, in its order; None if they are no whole rows."""
        answers: list[Rows | None] = []
        for row in self._rows_to_try(joined):
            whole = numbered((batch, *row_sizes(row, self.longest)))
            given: dict[Ref, Array] = {
                ref: whole[s] for ref, s in zip(joined.operands, shares, strict=True)
            }
            result = Values(self.graph, rows, self.longest, given).of(joined.root)
            answers.append(rows_of(result, whole))
        return _common(answers)


def _common(answers: Sequence[Rows | None]) -> Rows | None:
    """Return the rows that all answers are; None where they differ."""
    return answers[0] if all(same_rows(answer, answers[0]) for answer in answers[1:]) else None
