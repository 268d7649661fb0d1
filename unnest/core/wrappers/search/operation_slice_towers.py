"""Towers whose slices and joins are operations: found by numbering rows and following them.

A tensor joins towers where what it puts together is one computation, called on parts of the rows of its sources. How
rows are cut and joined does not matter: end to end, stacked and reshaped, gathered, scattered, stitched. Outputs of the
same towers that are numbers, losses say, are averaged (`averaged_tower_scalars`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import tee

from unnest.core.interpreters.numbered_rows import Rows, Values, rows_of, same_rows
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED
from unnest.core.ops.operation_kinds import JOINS, MOVES, SLICES, Kind
from unnest.core.ops.registry import kind_of, literal_axis, operation_of
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph.wrapper_records import NotAWrapper
from unnest.core.wrappers.search.averaged_tower_scalars import averages
from unnest.core.wrappers.search.batch_trials import (
    Joined,
    RowOrder,
    RowTrial,
    TrialAnswer,
    batches,
    beyond,
    longest,
)
from unnest.core.wrappers.search.match_towers import Copies, Unlike, expand_join, walk_back
from unnest.core.wrappers.search.searched_graph import SearchedGraph
from unnest.core.wrappers.search.tower_search import Candidate, TowerSet, find, with_rows_kept

MAX_LEVELS = 6
"""Joins of joins that are looked through."""


def find_towers(graph: SearchedGraph) -> tuple[list[TowerSet], list[NearMiss]]:
    """Return the towers of one graph whose slices and joins can be computed, outermost first, and the near misses.

    Towers with a `reader` are among the near misses too.
    """
    found, misses = find(_attempts(graph))
    sets = [_whole(graph, towers) for towers in _by_parts(graph, found)]
    whole = [towers for towers in sets if isinstance(towers, TowerSet)]
    misses += [miss for miss in sets if isinstance(miss, NearMiss)]
    misses += [
        NearMiss(towers.joins[0].root.layer, towers.reader) for towers in whole if towers.reader
    ]
    return whole, misses


def _whole(graph: SearchedGraph, towers: TowerSet) -> TowerSet | NearMiss:
    """Return towers that keep rows apart with the means that they give, or their near miss."""
    try:
        kept = with_rows_kept(graph, towers)
    except NotAWrapper as reason:
        return reason.near_miss(towers.joins[0].root.layer)
    return _with_reader(graph, _with_means(graph, kept))


def _attempts(graph: SearchedGraph) -> Iterator[Iterator[Candidate]]:
    """Yield the candidates of every tensor that may join towers, level by level, for near and far sources."""
    sources = [_Sources(graph, far=far) for far in graph.reaches]
    roots = dict.fromkeys(ref for ref in graph.backwards() if graph.may_join(ref))
    for root in roots:
        if operands := join_operands(graph, root):
            levels = tee(_levels(graph, root, operands), len(sources))
            yield (
                OperationTowers(graph, joined, source)
                for source, joins in zip(sources, levels, strict=True)
                for joined in joins
            )


class OperationTowers(Candidate):
    """One join of operations, with the sources that the towers' parts may be cut from."""

    def __init__(self, graph: SearchedGraph, joined: Joined, sources: _Sources) -> None:
        self.graph, self.joined, self.sources = graph, joined, sources
        self.joins = (joined,)

    def towers(self) -> Copies:
        """Return the towers that end in the operands. Raises Unlike."""
        return walk_back(self.graph, self.joined.operands, self.sources.of)

    def is_near(self, reason: NotAWrapper) -> bool:
        """Return True unless the operands differ at once, of a tensor that may be no join of rows at all."""
        return (
            not isinstance(reason, Unlike)
            or bool(reason.after)
            or self.graph.says_batch_axis(self.root)
        )

    def judge(self, copies: Copies) -> TowerSet:
        """Return the towers if the join gives all rows back, in order. Raises NotAWrapper."""
        if not copies.cut_points:
            raise NotAWrapper(f"the towers of {self.root.layer} read no parts of anything")
        trial = RowTrial(self.graph, copies.cut_points, self.joins)
        taken = trial.answer()
        by_numbers = (
            self.graph.takes_numbers
            and taken.reach is not None
            and not _are_split(self.graph, copies)
        )
        if taken.rows is not RowOrder.CONSECUTIVE and not by_numbers:
            raise NotAWrapper(_why_not(self.joined, copies, taken))
        sentences = (taken.sentence or "",)
        slices = _slices(self.graph, copies)
        return TowerSet(
            copies, (self.joined,), slices, sentences, share=trial.share, reach=taken.reach
        )


def join_operands(graph: SearchedGraph, ref: Ref) -> list[Ref]:
    """Return the operands of the join behind a tensor, or of a move with a join behind it; else none."""
    moved_on: list[Ref] = []
    while len(moved_on) < MAX_LEVELS:
        at = ref.call
        op_call = graph.of(at)
        operation = operation_of(op_call)
        if operation is None:
            return []
        moved = graph.moved(at)
        if operation.kind in JOINS:
            is_across = operation.kind is Kind.CONCATENATE and not _is_of_rows(
                graph, moved, literal_axis(op_call)
            )
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


def _levels(graph: SearchedGraph, root: Ref, joined: Sequence[Ref]) -> Iterator[Joined]:
    """Yield the operands of a join of some tensors, expanding nested joins one level at a time.

    Some of them may be turned, or cut out of another join, and put in their places again: the rows that come together
    show it, so that an operand counts once.
    """
    met: list[Ref] = []
    for depth in range(MAX_LEVELS):
        expanded, calls = expand_join(
            joined, lambda ref: join_operands(graph, ref) or _moved_alone(graph, ref), depth
        )
        operands = [ref for ref in expanded if kind_of(graph.of(ref.call)) is not Kind.FILL]
        if (depth == 0 and len({*operands}) < len(operands)) or expanded == met:
            return
        met, operands = expanded, [*dict.fromkeys(operands)]
        if len(operands) > 1:
            yield Joined(root, tuple(operands), frozenset([root.call, *calls]))


def _moved_alone(graph: SearchedGraph, ref: Ref) -> list[Ref]:
    """Return [the tensor] that an operation slices or moves; [] for other operations."""
    moved = graph.moved(ref.call) if kind_of(graph.of(ref.call)) in SLICES | MOVES else []
    return moved if len(moved) == 1 else []


def _are_split(graph: SearchedGraph, copies: Copies) -> bool:
    """Return True if the towers' parts are those of a split, which leaves no rows over."""
    return any(graph.of(ref.call).name == "split" for column in copies.cut_points for ref in column)


def _slices(graph: SearchedGraph, copies: Copies) -> frozenset[CallId]:
    """Return the calls that cut the towers' parts, and those that compute their bounds."""
    return frozenset(
        graph.calls_needed_for(
            [ref for column in copies.cut_points for ref in column], copies.cut_points.values()
        )
    )


def _why_not(joined: Joined, copies: Copies, taken: TrialAnswer) -> str:
    source = next(iter(copies.cut_points.values()))
    if taken.rows is RowOrder.DEALT:
        return f"{joined.root.layer} gives all rows of {source.layer}, in another order"
    if taken.rows is RowOrder.NOT:
        return f"{joined.root.layer} does not give back the rows of {source.layer}, each once and in order"
    return (
        f"it cannot be computed whether {joined.root.layer} gives back the rows of {source.layer}"
    )


MAX_ELEMENTS_KEPT = 10_000_000
"""Elements of the tensors that are kept from one column to the next: 40 MB."""


class _Sources:
    """The source of columns of tensors: the nearest that they are cut from or, if `far`, the furthest."""

    def __init__(self, graph: SearchedGraph, *, far: bool) -> None:
        self.graph, self.far = graph, far
        #: By the rows of the batch and the longest axis: what was computed for one column serves others.
        self._computed: dict[tuple[int, int], Values] = {}

    def of(self, column: Column) -> Ref | None:
        """Return the source of a column, which has one tensor a tower: the tensor of which these are different rows.

        Of several sources the furthest. None if the tensors are not sliced, moved or joined out of one tensor.
        """
        chains = self._chains(column)
        if not chains:
            return None
        sources = self._common_sources(chains) if self.far else self._one_nearest(column, chains)
        return next(
            (source for source in reversed(sources) if self._are_parts(column, source)), None
        )

    def _chains(self, column: Column) -> list[list[Ref]]:
        """Return what each tensor of the column is moved out of, nearest first; [] unless a step cuts or joins rows."""
        if any(kind_of(self.graph.of(ref.call)) not in SLICES | MOVES | JOINS for ref in column):
            return []
        chains = [self._chain(ref) for ref in column]
        moves = [self.graph.of(ref.call) for chain in [column, *chains] for ref in chain]
        if any(kind_of(move) in SLICES | JOINS or move.name == "identity" for move in moves):
            return chains
        return []

    def _common_sources(self, chains: Sequence[Sequence[Ref]]) -> list[Ref]:
        """Return the tensors that stand in every chain, in the order of the first chain."""
        return [ref for ref in chains[0] if all(ref in chain for chain in chains[1:])]

    def _one_nearest(self, column: Column, chains: Sequence[Sequence[Ref]]) -> list[Ref]:
        """Return the nearest tensor of which each tensor of the column is rows, if it is one for all; else []."""
        common = self._common_sources(chains)
        if not common:
            return []
        nearest = {self._nearest(ref, chain) for ref, chain in zip(column, chains, strict=True)}
        return [ref for ref in nearest if ref in common] if len(nearest) == 1 else []

    def _chain(self, ref: Ref) -> list[Ref]:
        """Return the tensors that a tensor is moved out of, nearest first; behind a join those of all its operands."""
        chain = self._moved_out_of(ref)
        end = chain[-1] if chain else ref
        if kind_of(self.graph.of(end.call)) not in JOINS:
            return chain
        parts = [[part, *self._moved_out_of(part)] for part in self.graph.moved(end.call)]
        first, others = parts[:1], parts[1:]
        return chain + [ref for part in first for ref in part if all(ref in o for o in others)]

    def _moved_out_of(self, ref: Ref) -> list[Ref]:
        """Return the tensors that a tensor is moved out of, one after the other."""
        chain: list[Ref] = []
        while len(chain) < MAX_LEVELS * 2 and kind_of(self.graph.of(ref.call)) in SLICES | MOVES:
            moved = self.graph.moved(ref.call)
            if len(moved) != 1:
                break
            chain.append(ref := moved[0])
        return chain

    def _nearest(self, ref: Ref, chain: Sequence[Ref]) -> Ref | None:
        """Return the first tensor of a chain of which a tensor is whole rows; None without one."""
        return next((source for source in chain if self._is_of(ref, source)), None)

    def _is_of(self, ref: Ref, source: Ref) -> bool:
        """Return True if a tensor is whole rows of the source."""
        parts = self._rows([ref], source)
        return parts is not None and parts[0] is not None

    def _are_parts(self, column: Column, source: Ref) -> bool:
        """Return True if every tensor of the column is whole rows of the source, and not all are the same rows."""
        parts = self._rows(column, source)
        if parts is None or any(part is None for part in parts):
            return False
        return not all(same_rows(part, parts[0]) for part in parts)

    def _rows(self, column: Sequence[Ref], source: Ref) -> list[Rows | None] | None:
        """Row indices of `source` that each tensor of the column holds: [0, 1] and [2, 3] for two towers and four rows.

        Tried at a batch that no bound in the graph reaches; if that cannot be computed, at smaller ones, largest first.
        """
        number = longest(self.graph, column)
        for rows in dict.fromkeys(
            (beyond(len(column), number), *reversed(batches(len(column), number)))
        ):
            for values in self._values(rows, number):
                with suppress(*NOT_COMPUTED):
                    whole = values.of(source)
                    return [rows_of(values.of(ref), whole) for ref in column]
        return None

    def _values(self, rows: int, longest: int) -> Iterator[Values]:
        """Yield the tensors' values for a batch: the ones computed before, or new ones if these grew too large."""
        known = self._computed.get((rows, longest))
        if known is not None:
            yield known
            if known.size <= MAX_ELEMENTS_KEPT:
                return
        if sum(values.size for values in self._computed.values()) > MAX_ELEMENTS_KEPT:
            self._computed.clear()
        values = self._computed[rows, longest] = Values(self.graph, rows, longest, {})
        yield values


def _by_parts(graph: SearchedGraph, found: Sequence[TowerSet]) -> list[TowerSet]:
    """Return towers with all their outputs: those that read the same parts are one set.

    An output that reads parts of two sources makes one set of outputs that read parts of either.
    """
    sets: list[TowerSet] = []
    for new in found:
        places = [
            place
            for place, old in enumerate(sets)
            if len(old.copies.calls) == len(new.copies.calls) and _belong_together(graph, old, new)
        ]
        if not places:
            sets.append(new)
            continue
        whole = reduce(_together, (*(sets[place] for place in places), new))
        sets[places[0]] = whole
        sets = [each for place, each in enumerate(sets) if place not in places[1:]]
    return sets


def _belong_together(graph: SearchedGraph, old: TowerSet, new: TowerSet) -> bool:
    """Return True if two joins are of the same parts, or of parts of one source that are the same rows."""
    if old.cut_points.keys() & new.cut_points.keys():
        return True
    is_of_one_source = not {*old.cut_points.values()}.isdisjoint(new.cut_points.values())
    return graph.is_cut_apart and is_of_one_source and _is_cut_alike(graph, _together(old, new))


def _is_cut_alike(graph: SearchedGraph, towers: TowerSet) -> bool:
    """Return True if the parts of all sources are the same rows."""
    taken = RowTrial(graph, towers.cut_points, towers.joins).answer()
    return taken.rows is RowOrder.CONSECUTIVE or (
        towers.reach is not None and taken.reach == towers.reach
    )


def _together(old: TowerSet, new: TowerSet) -> TowerSet:
    copies = Copies(
        {**old.cut_points, **new.cut_points},
        [mine | theirs for mine, theirs in zip(old.copies.calls, new.copies.calls, strict=True)],
        old.copies.shared | new.copies.shared,
    )
    return old._replace(
        copies=copies, joins=(*old.joins, *new.joins), slices=old.slices | new.slices
    )


def _with_means(graph: SearchedGraph, towers: TowerSet) -> TowerSet:
    """Return the towers with the means of numbers that they give beside rows."""
    joins = towers.joins
    for root, numbers, calls in averages(
        graph, towers.cut_points, [joined.root for joined in joins]
    ):
        for far in graph.reaches:
            try:
                copies = walk_back(graph, numbers, _Sources(graph, far=far).of)
            except Unlike:
                continue
            mean = towers._replace(
                copies=copies, joins=(Joined(root, numbers, calls),), slices=_slices(graph, copies)
            )
            together = _together(towers, mean)
            is_cut_alike = _is_cut_alike(graph, together._replace(joins=joins))
            if copies.cut_points.keys() & towers.cut_points.keys() and is_cut_alike:
                towers = together
                break
    return towers


def _with_reader(graph: SearchedGraph, towers: TowerSet) -> TowerSet:
    """Return the towers with the reason, where another layer reads a part of them, a slice or a join of some towers."""
    calls = set().union(*towers.copies.calls)
    operands = [ref for joined in towers.joins for ref in joined.operands]
    roots = [joined.root for joined in towers.joins]
    inside = graph.calls_needed_for(roots, [*operands, *towers.cut_points.values()])
    slices = {ref.call for column in towers.cut_points for ref in column}
    joins = towers.join_calls - {root.call for root in roots}
    at = graph.read_by_others(calls | slices | joins, calls | inside | towers.slices)
    if at is None:
        return towers
    part = (
        "a part of a tower"
        if at in calls
        else "a slice"
        if at in slices
        else "a join of some towers"
    )
    return towers._replace(reader=f"{at.layer}, {part}, is read by other layers too")
