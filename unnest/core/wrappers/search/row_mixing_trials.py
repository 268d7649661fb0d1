"""The search for operations of a tower that mix rows: which reduce, sort, or weigh rows against each other.

Such a tower does not compute row by row: its result for a row depends on the other rows of its part. So the rows of
every tensor of a tower are worked out (`row_mixing`), for several ranks and sizes where the file does not store these.
Where the effect of an operation is unknown, nothing proves that the tower computes row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unnest.core.interpreters.row_mixing import RowsKept, TowerRows
from unnest.core.model import CallId, Ref, Shape
from unnest.core.wrappers.search.searched_graph import SearchedGraph

RANKS = (2, 4, 3, 5)
"""Of tensors whose number of axes is not known, tried in turn."""

UNKNOWN_SIZES = (7, 1)
"""Of axes whose size is not known, tried in turn: one that has entries to take, and one that fits any other."""


def rows_kept(
    graph: SearchedGraph, ends: Sequence[Ref], entries: Mapping[Ref, Shape | None]
) -> RowsKept:
    """Return whether rows keep their places from `entries` (axis 0; with shapes known beside the graph) to `ends`.

    A loss is reduced over the batch, beside the facts about rows: it counts only without another fact.
    """
    return _of_ends(graph, ends, _of_ranks([*_by_rank(graph, ends, entries)]))


def mixing_call(
    graph: SearchedGraph, ends: Sequence[Ref], entries: Mapping[Ref, Shape | None]
) -> CallId | None:
    """Return `rows_kept(...).mixing`, without the trials that only show whether rows are kept.

    Rows count as mixed if they are for every rank: after one for which no end is mixed, no other is tried.
    """
    by_rank: list[list[RowsKept]] = []
    for answers in _by_rank(graph, ends, entries):
        if not any(answer.mixing for answer in answers):
            return None
        by_rank.append(answers)
    return _of_ends(graph, ends, _of_ranks(by_rank)).mixing


def _of_ends(graph: SearchedGraph, ends: Sequence[Ref], rows: Sequence[RowsKept]) -> RowsKept:
    """Combine the answers for all ends."""
    calls = [each.mixing for each in rows]
    losses = [
        call
        for call, end in zip(calls, ends, strict=True)
        if call and None in calls and _is_loss(graph, end)
    ]
    mixing = next((call for call in calls if call is not None and call not in losses), None)
    return RowsKept(mixing, all(each.are_kept or each.mixing in losses for each in rows))


def _by_rank(
    graph: SearchedGraph, ends: Sequence[Ref], entries: Mapping[Ref, Shape | None]
) -> Iterator[list[RowsKept]]:
    """Yield the answers for the ends, for one rank after the other as long as there are unknown ones."""
    for rank in RANKS:
        trials = []
        for size in UNKNOWN_SIZES:
            rows = TowerRows(graph, entries, rank, size)
            trials.append([rows.rows_up_to(end) for end in ends])
            if not rows.facts.guessed or all(
                answer.mixing or answer.are_kept for answer in trials[-1]
            ):
                break
        yield [_of_trials(answers) for answers in zip(*trials, strict=True)]
        if not rows.facts.guesses_ranks:
            break


def _of_ranks(by_rank: Sequence[Sequence[RowsKept]]) -> list[RowsKept]:
    """Combine the answers for each end; rows count as mixed if they are for every rank tried."""
    return [_of_trials(ranks, may_fail=False) for ranks in zip(*by_rank, strict=True)]


def _of_trials(trials: Sequence[RowsKept], *, may_fail: bool = True) -> RowsKept:
    """Combine trials with several shapes; unless `may_fail`, one trial without an answer leaves all without."""
    answers = [trial for trial in trials if trial.mixing is not None or trial.are_kept]
    is_mixed = bool(answers) and not any(answer.are_kept for answer in answers)
    is_mixed = is_mixed and (may_fail or len(answers) == len(trials))
    are_kept = bool(answers) and all(answer.are_kept for answer in answers)
    return RowsKept(answers[0].mixing if is_mixed else None, are_kept)


def _is_loss(graph: SearchedGraph, ref: Ref) -> bool:
    """Return True if a tensor is a number, or one in a row of its own."""
    return graph.is_number(ref) or (graph.shape(ref) or (None,))[0] == 1
