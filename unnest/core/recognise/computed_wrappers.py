"""The wrappers of a graph whose slices and joins are operations: found by numbering rows and following them.

A tensor joins towers where what it puts together is one computation (`match_towers`), called on parts of the rows of
its sources, and the parts, put in the towers' places, come together as all rows in order for every batch tried. How
rows are cut and joined does not matter: end to end, stacked and reshaped, gathered, scattered, stitched. Outputs of the
same towers that are numbers, losses say, are averaged (`mean_outputs`). Graphs of layers and of operations are one to
it (`tensor_graph`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.core.architecture.graph import CallId, Ref
from unnest.core.interpreters.tensor_graph import Column, Values, rows_of
from unnest.core.model import MixedRows, NearMiss
from unnest.core.ops.apply import literal_axis
from unnest.core.ops.elements import NOT_COMPUTED
from unnest.core.ops.registry import JOINS, MOVES, SLICES, Kind, kind_of, operation_of
from unnest.core.recognise.batch_axis import rows_kept
from unnest.core.recognise.batch_trials import Joined, RowOrder, RowTrial, Taken, batches, beyond, longest
from unnest.core.recognise.match_towers import Copies, Unlike, walk_back
from unnest.core.recognise.mean_outputs import averages
from unnest.core.recognise.searched_graph import SearchedGraph

MAX_LEVELS = 6
"""Joins of joins that are looked through."""


class ComputedWrapper(NamedTuple):
    """Towers with their joins, and the calls that cut; `sentence` says for which batches it was computed.

    `share`: the rows of the first tower where the batch is fixed. `reach`: where bounds are numbers, how many rows the
    towers read of a larger batch. `keeps_rows`: whether all in a tower is known to keep every row where it is.
    `reader`: why it cannot be cut, if another layer reads what would go.
    """

    copies: Copies
    joins: tuple[Joined, ...]
    slices: frozenset[CallId]
    sentence: str
    share: int | None = None
    reach: int | None = None
    keeps_rows: bool = False
    reader: str | None = None

    @property
    def sources(self) -> dict[Column, Ref]:
        """For every place where the towers part, what their parts are rows of."""
        return self.copies.entries


@dataclass
class _Search:
    wrappers: list[ComputedWrapper] = field(default_factory=list)
    near_misses: list[NearMiss] = field(default_factory=list)


def find(graph: SearchedGraph) -> tuple[list[ComputedWrapper], list[NearMiss]]:
    """The wrappers of one graph whose slices and joins can be computed, outermost first, and the near misses.

    A wrapper with a `reader` is among the near misses too.
    """
    search, all_sources = _Search(), [_Sources(graph, far=far) for far in graph.reaches]
    used: set[CallId] = set()
    for root in dict.fromkeys(ref for ref in graph.backwards() if graph.may_join(ref)):
        if root.call in used or not joined_by(graph, root):
            continue
        judged = _judge(graph, root, all_sources)
        if isinstance(judged, NearMiss):
            search.near_misses.append(judged)
        elif judged is not None:
            _add(graph, search.wrappers, judged)
            used |= judged.joins[0].calls
    whole: list[ComputedWrapper] = []
    for wrapper in search.wrappers:
        judged = _row_by_row(graph, wrapper)
        if isinstance(judged, NearMiss):
            search.near_misses.append(judged)
        else:
            whole.append(_with_reader(graph, _with_means(graph, judged)))
    read = [NearMiss(wrapper.joins[0].root.layer, wrapper.reader) for wrapper in whole if wrapper.reader]
    return whole, [*search.near_misses, *read]


def _row_by_row(graph: SearchedGraph, wrapper: ComputedWrapper) -> ComputedWrapper | NearMiss:
    """The wrapper, or its near miss: a row's result must not depend on which rows are in its part."""
    entries = {column[0]: graph.rows_of_part(column[0], source) for column, source in wrapper.sources.items()}
    kept = rows_kept(graph, [joined.operands[0] for joined in wrapper.joins], entries)
    if kept.objection is not None:
        return MixedRows(wrapper.joins[0].root.layer, kept.objection)
    return wrapper._replace(keeps_rows=kept.is_told)


def joined_by(graph: SearchedGraph, ref: Ref) -> list[Ref]:
    """Return the operands of the join behind a tensor, or of a move with a join behind it; else none."""
    moved_on: list[Ref] = []
    while len(moved_on) < MAX_LEVELS:
        what = graph.of(ref.call)
        moved = graph.moved(ref.call)
        operation = operation_of(what)
        if operation is None:
            return []
        if operation.kind in JOINS:
            is_across = operation.kind is Kind.CONCATENATE and not _is_of_rows(graph, moved, literal_axis(what))
            return [] if is_across else moved_on[:1] or moved
        if operation.adds:
            is_scattered = all(kind_of(graph.of(r.call)) is Kind.SCATTER for r in moved)
            return (moved_on[:1] or moved) if is_scattered else []
        if operation.kind not in MOVES or len(moved) != 1:
            return []
        moved_on.append(moved[0])
        ref = moved[0]
    return []


def _is_of_rows(graph: SearchedGraph, operands: Sequence[Ref], axis: int | None) -> bool:
    """True if an axis is the batch's, or the next one, along which rows may be stacked; the last one is a row's own."""
    if axis is None or axis >= 0 or not operands:
        return axis in (0, 1)
    rank = graph.rank_of(operands[0])
    return axis + rank == 0 if rank is not None else axis < -1


def _levels(graph: SearchedGraph, root: Ref) -> Iterator[Joined]:
    """Yield the operands of a join, expanding nested joins one level at a time.

    Some of them may be turned, or cut out of another join, and put in their places again.
    """
    operands, calls = joined_by(graph, root), {root.call}
    for _ in range(MAX_LEVELS):
        operands = [ref for ref in operands if kind_of(graph.of(ref.call)) is not Kind.FILL]
        if len(operands) > 1 and len(set(operands)) == len(operands):
            yield Joined(root, tuple(operands), frozenset(calls))
        deeper: list[Ref] = []
        for ref in operands:
            parts = joined_by(graph, ref) or _moved_alone(graph, ref)
            deeper += parts or [ref]
            calls |= {ref.call} if parts else set()
        if deeper == operands:
            return
        operands = deeper if len(set(operands)) < len(operands) else [*dict.fromkeys(deeper)]


def _moved_alone(graph: SearchedGraph, ref: Ref) -> list[Ref]:
    """The one tensor that an operation cuts or moves; nothing where it is no such operation."""
    moved = graph.moved(ref.call) if kind_of(graph.of(ref.call)) in SLICES | MOVES else []
    return moved if len(moved) == 1 else []


def _judge(graph: SearchedGraph, root: Ref, all_sources: Sequence[_Sources]) -> ComputedWrapper | NearMiss | None:
    """The wrapper that a tensor joins, or its near miss; None where nothing looks like towers."""
    miss: NearMiss | None = None
    for sources in all_sources:
        for joined in _levels(graph, root):
            try:
                copies = walk_back(graph, joined.operands, sources.of)
            except Unlike as reason:
                if miss is None and (reason.after or graph.says_batch_axis(root)):
                    miss = NearMiss(root.layer, str(reason))
                continue
            if not copies.entries:
                miss = NearMiss(root.layer, f"the towers of {root.layer} read no parts of anything")
                continue
            trial = RowTrial(graph, copies.entries, [joined])
            taken = trial.answer()
            by_numbers = graph.takes_numbers and taken.reach is not None and not _are_split(graph, copies)
            if taken.rows is RowOrder.CONSECUTIVE or by_numbers:
                return ComputedWrapper(
                    copies,
                    (joined,),
                    _slices(graph, copies),
                    taken.sentence or "",
                    share=trial.share,
                    reach=taken.reach,
                )
            miss = NearMiss(root.layer, _why_not(joined, copies, taken))
    return miss


def _are_split(graph: SearchedGraph, copies: Copies) -> bool:
    """Return True if the towers' parts are those of a split, which leaves no rows over."""
    return any(graph.of(ref.call).name == "split" for column in copies.entries for ref in column)


def _slices(graph: SearchedGraph, copies: Copies) -> frozenset[CallId]:
    """The calls that cut the towers' parts, and what they compute their bounds from."""
    return frozenset(graph.behind([ref for column in copies.entries for ref in column], copies.entries.values()))


def _why_not(joined: Joined, copies: Copies, taken: Taken) -> str:
    source = next(iter(copies.entries.values()))
    if taken.rows is RowOrder.DEALT:
        return f"computed: {joined.root.layer} gives all rows of {source.layer}, in another order"
    if taken.rows is RowOrder.NOT:
        return f"computed: {joined.root.layer} does not give back the rows of {source.layer}, each once and in order"
    return f"it cannot be computed whether {joined.root.layer} gives back the rows of {source.layer}"


MOST_KEPT = 10_000_000
"""Elements of the tensors that are kept from one column to the next: 40 MB."""


class _Sources:
    """Return the source of columns of tensors: the nearest that they are cut from or, if `far`, the furthest."""

    def __init__(self, graph: SearchedGraph, *, far: bool) -> None:
        self.graph, self.far = graph, far
        #: By the rows of the batch and the longest axis: what was computed for one column serves others.
        self._computed: dict[tuple[int, int], Values] = {}

    def of(self, column: Column) -> Ref | None:
        """The tensor that all of a column are different rows of, where they are cut from one; else None."""
        if any(kind_of(self.graph.of(ref.call)) not in SLICES | MOVES for ref in column):
            return None
        chains = [self._chain(ref) for ref in column]
        moves = [self.graph.of(ref.call) for chain in [column, *chains] for ref in chain]
        if not any(kind_of(move) in SLICES or move.name == "identity" for move in moves):
            return None
        common = [ref for ref in chains[0] if all(ref in chain for chain in chains[1:])]
        if not self.far:
            nearest = {self._nearest(ref, chain) for ref, chain in zip(column, chains, strict=True)} if common else ()
            common = [ref for ref in nearest if ref in common] if len(nearest) == 1 else []
        return next((source for source in reversed(common) if self._are_parts(column, source)), None)

    def _chain(self, ref: Ref) -> list[Ref]:
        """Yield the tensors that a tensor is moved out of, nearest first."""
        chain: list[Ref] = []
        while len(chain) < MAX_LEVELS * 2 and kind_of(self.graph.of(ref.call)) in SLICES | MOVES:
            moved = self.graph.moved(ref.call)
            if len(moved) != 1:
                break
            chain.append(ref := moved[0])
        return chain

    def _nearest(self, ref: Ref, chain: Sequence[Ref]) -> Ref | None:
        return next((source for source in chain if self._rows([ref], source) not in (None, [None])), None)

    def _are_parts(self, column: Column, source: Ref) -> bool:
        parts = self._rows(column, source)
        return parts is not None and None not in parts and any(part != parts[0] for part in parts)

    def _rows(self, column: Sequence[Ref], source: Ref) -> list[list[int] | None] | None:
        """The rows of a source that some tensors are, for a batch that no bound reaches beyond.

        For others where this one cannot be computed, the largest first: they cost as much more as they are larger.
        """
        number = longest(self.graph, column)
        for rows in dict.fromkeys((beyond(len(column), number), *reversed(batches(len(column), number)))):
            for values in self._values(rows, number):
                with suppress(*NOT_COMPUTED):
                    whole = values.of(source)
                    return [rows_of(values.of(ref), whole) for ref in column]
        return None

    def _values(self, rows: int, longest: int) -> Iterator[Values]:
        """The tensors for a batch: those that were computed before; new ones where these are too many by now."""
        known = self._computed.get((rows, longest))
        if known is not None:
            yield known
            if known.size <= MOST_KEPT:
                return
        if sum(values.size for values in self._computed.values()) > MOST_KEPT:
            self._computed.clear()
        values = self._computed[rows, longest] = Values(self.graph, rows, longest, {})
        yield values


def _add(graph: SearchedGraph, wrappers: list[ComputedWrapper], new: ComputedWrapper) -> None:
    """A further output of the towers of one of the wrappers found, or else a new one."""
    for at, old in enumerate(wrappers):
        if len(old.copies.calls) == len(new.copies.calls) and _belong_together(graph, old, new):
            wrappers[at] = _together(old, new)
            return
    wrappers.append(new)


def _belong_together(graph: SearchedGraph, old: ComputedWrapper, new: ComputedWrapper) -> bool:
    """Return True if two joins are of the same parts, or of parts of one source that are the same rows."""
    if old.sources.keys() & new.sources.keys():
        return True
    is_of_one_source = not {*old.sources.values()}.isdisjoint(new.sources.values())
    return graph.is_cut_apart and is_of_one_source and _is_cut_alike(graph, _together(old, new))


def _is_cut_alike(graph: SearchedGraph, wrapper: ComputedWrapper) -> bool:
    """Return True if the parts of all sources are the same rows."""
    taken = RowTrial(graph, wrapper.sources, wrapper.joins).answer()
    return taken.rows is RowOrder.CONSECUTIVE or (wrapper.reach is not None and taken.reach == wrapper.reach)


def _together(old: ComputedWrapper, new: ComputedWrapper) -> ComputedWrapper:
    copies = Copies(
        {**old.copies.entries, **new.copies.entries},
        [mine | theirs for mine, theirs in zip(old.copies.calls, new.copies.calls, strict=True)],
        old.copies.shared | new.copies.shared,
    )
    return old._replace(copies=copies, joins=(*old.joins, *new.joins), slices=old.slices | new.slices)


def _with_means(graph: SearchedGraph, wrapper: ComputedWrapper) -> ComputedWrapper:
    """The wrapper with the means of numbers that its towers give beside rows."""
    joins = wrapper.joins
    for root, numbers, calls in averages(graph, wrapper.sources, [joined.root for joined in joins]):
        for far in graph.reaches:
            try:
                copies = walk_back(graph, numbers, _Sources(graph, far=far).of)
            except Unlike:
                continue
            mean = wrapper._replace(copies=copies, joins=(Joined(root, numbers, calls),), slices=_slices(graph, copies))
            together = _together(wrapper, mean)
            is_cut_alike = _is_cut_alike(graph, together._replace(joins=joins))
            if copies.entries.keys() & wrapper.sources.keys() and is_cut_alike:
                wrapper = together
                break
    return wrapper


def _with_reader(graph: SearchedGraph, wrapper: ComputedWrapper) -> ComputedWrapper:
    """The wrapper with the reason, where towers, slices or joins of some towers are needed by others than itself."""
    towers = set().union(*wrapper.copies.calls)
    operands = [ref for joined in wrapper.joins for ref in joined.operands]
    inside = graph.behind([joined.root for joined in wrapper.joins], [*operands, *wrapper.sources.values()])
    cut = {ref.call for column in wrapper.sources for ref in column}
    allowed = towers | inside | wrapper.slices
    given_out = {ref.call for ref in graph.outputs}
    joins = {call for joined in wrapper.joins for call in joined.calls} - {j.root.call for j in wrapper.joins}
    for at in sorted(towers | cut | joins):
        if at in given_out or not graph.readers.get(at, set()) <= allowed:
            part = "a part of a tower" if at in towers else "a slice" if at in cut else "a join of some towers"
            return wrapper._replace(reader=f"{at.layer}, {part}, is read by others too")
    return wrapper
