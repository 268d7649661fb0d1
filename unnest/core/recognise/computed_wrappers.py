"""Wrappers of a layer graph whose slices and joins are operations: found by numbering rows and following them.

A tensor joins towers where what it puts together is one computation (`tower_copies`), called on parts of the rows of
its sources, and the parts, put in the towers' places, come together as all rows in order for every batch tried. How
rows are cut and joined does not matter: end to end, stacked and reshaped, gathered, scattered, stitched. Outputs of the
same towers that are numbers, losses say, are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from unnest.budget import spend
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.model import NearMiss
from unnest.core.recognise import layer_facts
from unnest.core.recognise.kernels import ByContents, Unreadable, literal_axis
from unnest.core.recognise.layer_values import Array, Operations, Values, numbered, row_sizes, rows_of
from unnest.core.recognise.symbolic_rows import DIVISIBLE, MISFITS, Outcome, Rows, Taken, batches, outcome_of, verdict
from unnest.core.recognise.tower_copies import Column, Copies, Unlike, behind, walk_back

SLICES = frozenset({
    "getitem", "stridedslice", "slice", "k3slice", "split", "k3split", "unstack", "gather", "gatherv2", "take",
    "booleanmask", "dynamicpartition",
})  # fmt: skip
"""Operations that take rows out of a tensor."""

MOVES = frozenset({"reshape", "transpose", "expanddims", "squeeze", "gather", "gatherv2", "take"})
"""Operations that may stand between the parts and what is put together of them."""

LINES_UP = frozenset({
    "concat", "concatenate", "stack", "dynamicstitch", "paralleldynamicstitch", "scatternd", "scatter",
    "tensorscatterndupdate", "tensorscatterupdate", "scatterupdate",
})  # fmt: skip
"""Operations that put rows of several tensors together."""

ADDS = frozenset({"add", "addv2", "addn"})
"""Operations that do so where every operand holds the rows of others as zeros."""

AVERAGES = ADDS | {"stack", "reducemean", "mean", "average", "realdiv", "truediv", "divide", "multiply", "mul"}
"""Operations that a mean of numbers is made of."""

ZEROS = frozenset({"zeros", "fill", "zeroslike", "oneslike"})
"""Operations that make what rows are scattered over."""

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
    is_mean: bool = False


@dataclass(frozen=True)
class ComputedWrapper:
    """Towers with their joins. `sources`: for every place where the towers part, what their parts are rows of."""

    copies: Copies
    joins: tuple[Joined, ...]
    sources: dict[Column, Ref]
    slices: frozenset[CallId]
    sentence: str


@dataclass
class _Search:
    wrappers: list[ComputedWrapper] = field(default_factory=list)
    near_misses: list[NearMiss] = field(default_factory=list)


def find(graph: Graph) -> tuple[list[ComputedWrapper], list[NearMiss]]:
    """The wrappers of one graph whose slices and joins can be computed, outermost first, and the near misses."""
    operations = Operations(graph)
    may_join = {name for name, layer in graph.layers.items() if layer_facts.may_join(layer)}
    roots = [ref for ref in _backwards(graph) if ref.layer in may_join and _joined_by(operations, ref)]
    search = _Search()
    used: set[CallId] = set()
    for root in roots:
        if root.call in used:
            continue
        judged = _judged(operations, root)
        if isinstance(judged, NearMiss):
            search.near_misses.append(judged)
        elif judged is not None:
            _add(search.wrappers, judged)
            used |= judged.joins[0].calls
    if not search.wrappers:
        return [], search.near_misses
    whole = [_with_means(operations, wrapper) for wrapper in search.wrappers]
    closed = []
    for wrapper in whole:
        reader = _read_by_others(graph, wrapper)
        if reader is None:
            closed.append(wrapper)
        else:
            search.near_misses.append(NearMiss(wrapper.joins[0].root.layer, reader))
    return closed, search.near_misses


def _backwards(graph: Graph) -> Iterator[Ref]:
    """The first tensor of every call from the graph's outputs back, breadth first."""
    met: set[CallId] = set()
    pending = [*graph.outputs]
    for ref in pending:
        if ref.call not in met:
            met.add(ref.call)
            spend()
            yield Ref(ref.layer, ref.rank, 0)
            pending += graph.call(ref.call).reads


def _joined_by(operations: Operations, ref: Ref) -> list[Ref]:
    """What the operation behind a tensor puts together, or moves where a join lies behind it; else nothing."""
    moved_on: list[Ref] = []
    while len(moved_on) < MAX_LEVELS:
        what = operations.of(ref.call)
        moved = operations.moved(ref.call)
        if what.name in LINES_UP:
            is_across = what.name in ("concat", "concatenate") and literal_axis(what) not in (0, 1)
            return [] if is_across else moved_on[:1] or moved
        if what.name in ADDS:
            scattered = all(operations.of(r.call).name in LINES_UP - {"concat", "concatenate", "stack"} for r in moved)
            return (moved_on[:1] or moved) if scattered else []
        if what.name not in MOVES or len(moved) != 1:
            return []
        moved_on.append(moved[0])
        ref = moved[0]
    return []


def _levels(operations: Operations, root: Ref) -> Iterator[Joined]:
    """What a tensor puts together: of what it reads itself, of what these read in turn, and so on."""
    operands, calls = _joined_by(operations, root), {root.call}
    for _ in range(MAX_LEVELS):
        operands = [ref for ref in operands if operations.of(ref.call).name not in ZEROS]
        if len(operands) > 1 and len(set(operands)) == len(operands):
            yield Joined(root, tuple(operands), frozenset(calls))
        deeper: list[Ref] = []
        for ref in operands:
            parts = _joined_by(operations, ref)
            deeper += parts or [ref]
            calls |= {ref.call} if parts else set()
        if deeper == operands:
            return
        operands = deeper


def _judged(operations: Operations, root: Ref) -> ComputedWrapper | NearMiss | None:
    """The wrapper that a tensor joins, or why it is none; None where nothing looks like towers."""
    miss: NearMiss | None = None
    for joined in _levels(operations, root):
        sources = _Sources(operations)
        try:
            copies = walk_back(operations.graph, joined.operands, sources.of)
        except Unlike as reason:
            if reason.after and miss is None:
                miss = NearMiss(root.layer, str(reason))
            continue
        taken = _Trial(operations, copies, [joined]).answer()
        if copies.entries and taken.rows is Rows.CONSECUTIVE:
            ends = [ref for column in copies.entries for ref in column]
            slices = frozenset(behind(operations.graph, ends, [*copies.entries.values(), *operations.graph.inputs]))
            return ComputedWrapper(copies, (joined,), dict(copies.entries), slices, taken.sentence or "")
        miss = NearMiss(root.layer, _why_not(joined, copies, taken))
    return miss


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
    """What columns of tensors are rows of, asked for one batch."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations

    def of(self, column: Column) -> Ref | None:
        """The tensor that all of a column are different rows of, where they are cut from one; else None."""
        names = {self.operations.of(ref.call).name for ref in column}
        if not names <= SLICES | MOVES or names.isdisjoint(SLICES):
            return None
        chains = [self._chain(ref) for ref in column]
        common = [ref for ref in chains[0] if all(ref in chain for chain in chains[1:])]
        for source in reversed(common):
            if self._are_parts(column, source):
                return source
        return None

    def _chain(self, ref: Ref) -> list[Ref]:
        """What a tensor is moved out of, nearest first."""
        chain: list[Ref] = []
        while len(chain) < MAX_LEVELS * 2 and self.operations.of(ref.call).name in SLICES | MOVES:
            moved = self.operations.moved(ref.call)
            if len(moved) != 1:
                break
            chain.append(ref := moved[0])
        return chain

    def _are_parts(self, column: Column, source: Ref) -> bool:
        longest = _longest(self.operations, column)
        for rows in reversed(batches(len(column), longest)):
            values = Values(self.operations, rows, longest, {})
            try:
                whole = values.of(source)
                parts = [rows_of(values.of(ref), whole) for ref in column]
            except (Unreadable, ByContents, *MISFITS):
                continue
            return None not in parts and any(part != parts[0] for part in parts)
        return False


def _longest(operations: Operations, ends: Sequence[Ref]) -> int:
    return max(operations.literals([*behind(operations.graph, ends, operations.graph.inputs)]), default=0)


class _Trial:
    """Towers and joins, carried out for one batch size after the other."""

    def __init__(self, operations: Operations, copies: Copies, joins: Sequence[Joined]) -> None:
        self.operations, self.copies, self.joins = operations, copies, joins
        self.towers = len(joins[0].operands)
        self._of_parts = {ref: operations.shape(s) for column, s in copies.entries.items() for ref in column}
        self.longest = max(
            _longest(operations, [ref for column in copies.entries for ref in column]),
            max((_between(operations, joined) for joined in joins), default=0),
        )

    def answer(self) -> Taken:
        """What comes together, over all batch sizes that can be tried."""
        outcomes: dict[int, Outcome] = {}
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
        return verdict(outcomes, self.towers, is_fixed=is_fixed) if is_telling else Taken(Rows.UNKNOWN)

    def _tried(self, rows: int) -> tuple[int, list[list[int]], list[int] | None]:
        """The batch, the rows of every tower, and those that come together; None where that are no whole rows."""
        values = Values(self.operations, rows, self.longest, {})
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
        shape = self.operations.shape(joined.operands[0], self._of_parts)
        told = shape is not None and len(shape) > 0 and None not in shape[1:]
        trials = [shape[1:]] if told and shape is not None else UNLIKE_ROWS
        answers: list[list[int] | None] = []
        for row in trials:
            whole = numbered((batch, *row_sizes(row, self.longest)))
            given: dict[Ref, Array] = {ref: whole[s] for ref, s in zip(joined.operands, shares, strict=True)}
            result = Values(self.operations, rows, self.longest, given).of(joined.root)
            answers.append(rows_of(result, whole))
        return answers[0] if all(answer == answers[0] for answer in answers) else None


def _between(operations: Operations, joined: Joined) -> int:
    calls = behind(operations.graph, [joined.root], [*joined.operands, *operations.graph.inputs])
    return max(operations.literals([*calls]), default=0)


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
    return ComputedWrapper(
        copies, (*old.joins, *new.joins), {**old.sources, **new.sources}, old.slices | new.slices, old.sentence
    )


def _with_means(operations: Operations, wrapper: ComputedWrapper) -> ComputedWrapper:
    """The wrapper with the means of numbers that its towers give beside rows."""
    joined = {call for join in wrapper.joins for call in join.calls}
    for root in _backwards(operations.graph):
        if root.call in joined or operations.of(root.call).name not in AVERAGES:
            continue
        for mean in _mean_levels(operations, root, len(wrapper.copies.calls)):
            if not all(_is_number(operations, ref) for ref in mean.operands) or not _is_mean(operations, mean):
                continue
            try:
                copies = walk_back(operations.graph, mean.operands, _Sources(operations).of)
            except Unlike:
                continue
            if copies.entries and copies.entries.items() <= wrapper.sources.items():
                wrapper = _together(wrapper, ComputedWrapper(copies, (mean,), {}, frozenset(), ""))
                joined |= mean.calls
                break
    return wrapper


def _mean_levels(operations: Operations, root: Ref, towers: int) -> Iterator[Joined]:
    operands, calls = [root], set[CallId]()
    for _ in range(MAX_LEVELS):
        deeper: list[Ref] = []
        for ref in operands:
            is_step = operations.of(ref.call).name in AVERAGES and len(operands) < towers
            deeper += operations.moved(ref.call) if is_step else [ref]
            calls |= {ref.call} if is_step else set()
        if deeper == operands:
            return
        operands = deeper
        if len(operands) == towers and len(set(operands)) == towers:
            yield Joined(root, tuple(operands), frozenset(calls), is_mean=True)


def _is_number(operations: Operations, ref: Ref) -> bool:
    """Whether a tensor has no rows: it is noted as a single number, or reduced over the batch."""
    while is_model((layer := operations.graph.layers[ref.layer]).stored):
        inner = read(layer.stored)
        if ref.tensor >= len(inner.outputs):
            return False
        operations, ref = Operations(inner), inner.outputs[ref.tensor]
    if operations.shape(ref) == ():
        return True
    what = operations.of(ref.call)
    if what.name not in ("reducemean", "reducesum", "mean", "sum"):
        return False
    axes = what.kwargs.get("axis", what.args[1] if len(what.args) > 1 else None)
    keeps = any(what.kwargs.get(key) for key in ("keepdims", "keep_dims"))
    return not keeps and (axes is None or axes == 0 or (isinstance(axes, Sequence) and 0 in axes))


def _is_mean(operations: Operations, mean: Joined) -> bool:
    """Whether a tensor is the mean of others, whatever their values."""
    for values in np.random.default_rng(len(mean.operands)).uniform(1.0, 2.0, (2, len(mean.operands))):
        given: dict[Ref, Array] = {ref: np.asarray(v) for ref, v in zip(mean.operands, values, strict=True)}
        try:
            result = Values(operations, DIVISIBLE, 0, given).of(mean.root)
        except (Unreadable, ByContents, *MISFITS):
            return False
        if result.shape != () or result.dtype.kind != "f" or not np.isclose(float(result), values.mean(), rtol=1e-5):
            return False
    return True


def _read_by_others(graph: Graph, wrapper: ComputedWrapper) -> str | None:
    """Why towers, slices or joins of some towers are needed by others than the wrapper; None where they are not."""
    towers = set().union(*wrapper.copies.calls)
    operands = [ref for joined in wrapper.joins for ref in joined.operands]
    sources = [*wrapper.sources.values(), *graph.inputs]
    inside = behind(graph, [joined.root for joined in wrapper.joins], [*operands, *sources])
    cut = {ref.call for column in wrapper.sources for ref in column}
    allowed = towers | inside | wrapper.slices
    given_out = {ref.call for ref in graph.outputs}
    joins = {call for joined in wrapper.joins for call in joined.calls} - {j.root.call for j in wrapper.joins}
    for at in sorted(towers | cut | joins):
        others = [user.layer for user, _ in graph.readers.get(at, ()) if user not in allowed]
        if others or at in given_out:
            part = "a part of a tower" if at in towers else "a slice" if at in cut else "a join of some towers"
            return f"{at.layer}, {part}, is read by others too"
    return None
