"""The wrappers of a graph whose slices and joins are operations: found by numbering rows and following them.

A tensor joins towers where what it puts together is one computation (`tower_copies`), called on parts of the rows of
its sources, and the parts, put in the towers' places, come together as all rows in order for every batch tried. How
rows are cut and joined does not matter: end to end, stacked and reshaped, gathered, scattered, stitched. Outputs of the
same towers that are numbers, losses say, are averaged (`mean_outputs`). Graphs of layers and of operations are one to
it (`tensor_graph`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from unnest.core.architecture.graph import CallId, Ref
from unnest.core.model import NearMiss
from unnest.core.recognise.kernels import Array, ByContents, literal_axis
from unnest.core.recognise.mean_outputs import averages
from unnest.core.recognise.op_calls import Unreadable
from unnest.core.recognise.op_kinds import ADDS, CONCATENATES, LINES_UP, MOVES, SCATTERS, SLICES, ZEROS
from unnest.core.recognise.symbolic_rows import MISFITS, Outcome, Rows, Taken, batches, outcome_of, verdict
from unnest.core.recognise.tensor_graph import Column, TensorGraph, Values, numbered, row_sizes, rows_of
from unnest.core.recognise.tower_copies import Copies, Unlike, walk_back

MAX_LEVELS = 6
"""Joins of joins that are looked through."""

UNLIKE_ROWS = ((5,), (3, 4))
"""Rows that stand for those of an output whose shape the file does not tell: what holds for both holds for any."""


@dataclass(frozen=True)
class Joined:
    """A tensor, the towers' tensors that it puts together in their order, and the calls that do so."""

    root: Ref
    operands: Column
    calls: frozenset[CallId]


@dataclass(frozen=True)
class ComputedWrapper:
    """Towers with their joins, and the calls that cut; `sentence` says for which batches it was computed.

    `share`: the rows of the first tower where the batch is fixed. `reach`: where bounds are numbers, how many rows the
    towers read of a larger batch. `reader`: why it cannot be cut, if somebody else reads what would go.
    """

    copies: Copies
    joins: tuple[Joined, ...]
    slices: frozenset[CallId]
    sentence: str
    share: int | None = None
    reach: int | None = None
    reader: str | None = None

    @property
    def sources(self) -> dict[Column, Ref]:
        """For every place where the towers part, what their parts are rows of."""
        return self.copies.entries


@dataclass
class _Search:
    wrappers: list[ComputedWrapper] = field(default_factory=list)
    near_misses: list[NearMiss] = field(default_factory=list)


def find(graph: TensorGraph) -> tuple[list[ComputedWrapper], list[NearMiss]]:
    """The wrappers of one graph whose slices and joins can be computed, outermost first, and the near misses.

    A wrapper with a `reader` is among the near misses too.
    """
    search = _Search()
    used: set[CallId] = set()
    for root in dict.fromkeys(ref for ref in graph.backwards() if graph.may_join(ref)):
        if root.call in used or not joined_by(graph, root):
            continue
        judged = _judged(graph, root)
        if isinstance(judged, NearMiss):
            search.near_misses.append(judged)
        elif judged is not None:
            _add(search.wrappers, judged)
            used |= judged.joins[0].calls
    whole = [_with_reader(graph, _with_means(graph, wrapper)) for wrapper in search.wrappers]
    read = [NearMiss(wrapper.joins[0].root.layer, wrapper.reader) for wrapper in whole if wrapper.reader]
    return whole, [*search.near_misses, *read]


def joined_by(graph: TensorGraph, ref: Ref) -> list[Ref]:
    """What the operation behind a tensor puts together, or moves where a join lies behind it; else nothing."""
    moved_on: list[Ref] = []
    while len(moved_on) < MAX_LEVELS:
        what = graph.of(ref.call)
        moved = graph.moved(ref.call)
        if what.name in LINES_UP:
            is_across = what.name in CONCATENATES and not _is_of_rows(graph, ref, literal_axis(what))
            return [] if is_across else moved_on[:1] or moved
        if what.name in ADDS:
            return (moved_on[:1] or moved) if all(graph.of(r.call).name in SCATTERS for r in moved) else []
        if what.name not in MOVES or len(moved) != 1:
            return []
        moved_on.append(moved[0])
        ref = moved[0]
    return []


def _is_of_rows(graph: TensorGraph, ref: Ref, axis: int | None) -> bool:
    """Whether an axis is the batch's, or the next one, along which rows may be stacked."""
    shape = graph.shape(ref) if axis is not None and axis < 0 else None
    return axis in (0, 1) or (axis is not None and shape is not None and axis + len(shape) == 0)


def _levels(graph: TensorGraph, root: Ref) -> Iterator[Joined]:
    """What a tensor puts together: of what it reads itself, of what these read in turn, and so on."""
    operands, calls = joined_by(graph, root), {root.call}
    for _ in range(MAX_LEVELS):
        operands = [ref for ref in operands if graph.of(ref.call).name not in ZEROS]
        if len(operands) > 1 and len(set(operands)) == len(operands):
            yield Joined(root, tuple(operands), frozenset(calls))
        deeper: list[Ref] = []
        for ref in operands:
            parts = joined_by(graph, ref)
            deeper += parts or [ref]
            calls |= {ref.call} if parts else set()
        if deeper == operands:
            return
        operands = deeper


def _judged(graph: TensorGraph, root: Ref) -> ComputedWrapper | NearMiss | None:
    """The wrapper that a tensor joins, or why it is none; None where nothing looks like towers."""
    miss: NearMiss | None = None
    for joined in _levels(graph, root):
        for far in graph.reaches:
            try:
                copies = walk_back(graph, joined.operands, _Sources(graph, far=far).of)
            except Unlike as reason:
                if reason.after and miss is None:
                    miss = NearMiss(root.layer, str(reason))
                continue
            trial = _Trial(graph, copies, [joined])
            taken = trial.answer()
            by_numbers = graph.takes_numbers and trial.reach is not None and not _are_split(graph, copies)
            if copies.entries and (taken.rows is Rows.CONSECUTIVE or by_numbers):
                reach = None if taken.rows is Rows.CONSECUTIVE else trial.reach
                return ComputedWrapper(
                    copies, (joined,), _slices(graph, copies), taken.sentence or "", share=trial.share, reach=reach
                )
            miss = NearMiss(root.layer, _why_not(joined, copies, taken))
    return miss


def _are_split(graph: TensorGraph, copies: Copies) -> bool:
    """Whether the towers' parts are those of a split, which leaves no rows over."""
    return any(graph.of(ref.call).name == "split" for column in copies.entries for ref in column)


def _slices(graph: TensorGraph, copies: Copies) -> frozenset[CallId]:
    """The calls that cut the towers' parts, and what they compute their bounds from."""
    return frozenset(graph.behind([ref for column in copies.entries for ref in column], copies.entries.values()))


def _why_not(joined: Joined, copies: Copies, taken: Taken) -> str:
    source = next(iter(copies.entries.values()), None)
    if source is None:
        return f"the towers of {joined.root.layer} read no parts of anything"
    if taken.rows is Rows.DEALT:
        return f"computed: {joined.root.layer} gives all rows of {source.layer}, in another order"
    if taken.rows is Rows.NOT:
        return f"computed: {joined.root.layer} does not give back the rows of {source.layer}, each once and in order"
    return f"it cannot be computed whether {joined.root.layer} gives back the rows of {source.layer}"


class _Sources:
    """What columns of tensors are rows of: the nearest tensor that they are cut from, or, if `far`, the furthest."""

    def __init__(self, graph: TensorGraph, *, far: bool) -> None:
        self.graph, self.far = graph, far

    def of(self, column: Column) -> Ref | None:
        """The tensor that all of a column are different rows of, where they are cut from one; else None."""
        names = {self.graph.of(ref.call).name for ref in column}
        if not names <= SLICES | MOVES or names.isdisjoint(SLICES):
            return None
        chains = [self._chain(ref) for ref in column]
        common = [ref for ref in chains[0] if all(ref in chain for chain in chains[1:])]
        if not self.far:
            nearest = {self._nearest(ref, chain) for ref, chain in zip(column, chains, strict=True)} if common else ()
            common = [ref for ref in nearest if ref in common] if len(nearest) == 1 else []
        return next((source for source in reversed(common) if self._are_parts(column, source)), None)

    def _chain(self, ref: Ref) -> list[Ref]:
        """What a tensor is moved out of, nearest first."""
        chain: list[Ref] = []
        while len(chain) < MAX_LEVELS * 2 and self.graph.of(ref.call).name in SLICES | MOVES:
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
        """The rows of a source that some tensors are, for the largest batch that can be tried."""
        longest = _longest(self.graph, column)
        for rows in reversed(batches(len(column), longest)):
            values = Values(self.graph, rows, longest, {})
            try:
                whole = values.of(source)
                return [rows_of(values.of(ref), whole) for ref in column]
            except (Unreadable, ByContents, *MISFITS):
                continue
        return None


def _longest(graph: TensorGraph, ends: Sequence[Ref], stops: Sequence[Ref] = ()) -> int:
    """The largest number that is mentioned between some tensors and others."""
    return max(graph.literals(graph.behind(ends, stops)), default=0)


class _Trial:
    """Towers and joins, carried out for one batch size after the other."""

    def __init__(self, graph: TensorGraph, copies: Copies, joins: Sequence[Joined]) -> None:
        self.graph, self.copies, self.joins = graph, copies, joins
        self.towers = len(joins[0].operands)
        self._of_parts = {ref: graph.shape(s) for column, s in copies.entries.items() for ref in column}
        self.longest = max(
            _longest(graph, [ref for column in copies.entries for ref in column]),
            *(_longest(graph, [joined.root], joined.operands) for joined in joins),
        )
        self.share: int | None = None
        self.reach: int | None = None

    def answer(self) -> Taken:
        """What comes together, over all batch sizes that can be tried."""
        outcomes: dict[int, Outcome] = {}
        lengths: dict[Outcome, set[int]] = {}
        is_telling = is_fixed = False
        for rows in batches(self.towers, self.longest):
            try:
                tried = self._tried(rows)
            except ByContents:
                return Taken(Rows.NOT)
            except Unreadable:
                break
            except MISFITS:
                continue
            batch, shares, joined = tried
            is_fixed = batch != rows or is_fixed
            outcomes[batch] = outcome_of([joined] if joined is not None else [], batch)
            is_telling |= is_fixed or outcomes[batch] is Outcome.OTHER or min(map(len, shares)) > 1
            lengths.setdefault(outcomes[batch], set()).add(len(joined or ()))
            self.share = len(shares[0]) if is_fixed else None
        if not is_telling:
            return Taken(Rows.UNKNOWN)
        is_reached = lengths.keys() <= {Outcome.ALL, Outcome.FIRST} and len(lengths.get(Outcome.FIRST, ())) == 1
        self.reach = max(lengths[Outcome.FIRST]) if is_reached and not is_fixed else None
        return verdict(outcomes, self.towers, is_fixed=is_fixed)

    def _tried(self, rows: int) -> tuple[int, list[list[int]], list[int] | None]:
        """The batch, the rows of every tower, and those that come together; None where that are no whole rows."""
        values = Values(self.graph, rows, self.longest, {})
        wholes = {source: values.of(source) for source in self.copies.entries.values()}
        lengths = {len(whole) for whole in wholes.values()}
        parts = [
            [rows_of(values.of(ref), wholes[source]) for ref in column]
            for column, source in self.copies.entries.items()
        ]
        batch = min(lengths)
        shares = [share for share in parts[0] if share is not None]
        if len(lengths) > 1 or any(part != parts[0] for part in parts) or None in parts[0]:
            return batch, [[]], None
        together = [self._together(rows, joined, shares, batch) for joined in self.joins]
        return batch, shares, together[0] if all(t == together[0] for t in together) else None

    def _together(self, rows: int, joined: Joined, shares: Sequence[list[int]], batch: int) -> list[int] | None:
        """The rows that a join gives, in the order in which it does."""
        shape = self.graph.shape(joined.operands[0], self._of_parts)
        told = shape is not None and len(shape) > 0 and None not in shape[1:]
        trials = [shape[1:]] if told and shape is not None else UNLIKE_ROWS
        answers: list[list[int] | None] = []
        for row in trials:
            whole = numbered((batch, *row_sizes(row, self.longest)))
            given: dict[Ref, Array] = {ref: whole[s] for ref, s in zip(joined.operands, shares, strict=True)}
            result = Values(self.graph, rows, self.longest, given).of(joined.root)
            answers.append(rows_of(result, whole))
        return answers[0] if all(answer == answers[0] for answer in answers) else None


def _add(wrappers: list[ComputedWrapper], new: ComputedWrapper) -> None:
    """A further output of the towers of one of the wrappers found, or else a new one."""
    for at, old in enumerate(wrappers):
        if old.sources.keys() & new.sources.keys() and len(old.joins[0].operands) == len(new.joins[0].operands):
            wrappers[at] = _together(old, new)
            return
    wrappers.append(new)


def _together(old: ComputedWrapper, new: ComputedWrapper) -> ComputedWrapper:
    copies = Copies(
        {**old.copies.entries, **new.copies.entries},
        [mine | theirs for mine, theirs in zip(old.copies.calls, new.copies.calls, strict=True)],
        old.copies.shared | new.copies.shared,
    )
    return replace(old, copies=copies, joins=(*old.joins, *new.joins), slices=old.slices | new.slices)


def _with_means(graph: TensorGraph, wrapper: ComputedWrapper) -> ComputedWrapper:
    """The wrapper with the means of numbers that its towers give beside rows."""
    joins = wrapper.joins
    for root, numbers, calls in averages(graph, wrapper.sources, [joined.root for joined in joins]):
        for far in graph.reaches:
            try:
                copies = walk_back(graph, numbers, _Sources(graph, far=far).of)
            except Unlike:
                continue
            mean = replace(wrapper, copies=copies, joins=(Joined(root, numbers, calls),), slices=_slices(graph, copies))
            together = _together(wrapper, mean)
            cut = _Trial(graph, together.copies, joins)
            is_alike = cut.answer().rows is Rows.CONSECUTIVE or (
                wrapper.reach is not None and cut.reach == wrapper.reach
            )
            if copies.entries.keys() & wrapper.sources.keys() and is_alike:
                wrapper = together
                break
    return wrapper


def _with_reader(graph: TensorGraph, wrapper: ComputedWrapper) -> ComputedWrapper:
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
            return replace(wrapper, reader=f"{at.layer}, {part}, is read by others too")
    return wrapper
