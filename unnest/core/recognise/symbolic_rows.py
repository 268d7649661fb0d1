"""Which rows of its source does every tower read? Computed, where slices are made of operations.

Whatever a slice is made of (bounds from shapes, masks, indices, reshapes), what it comes to is a list of rows. So the
operations between a source and the towers are carried out with NumPy on an array that holds, in place of the source,
a number for every element of it. Those numbers cannot be calculated with: a tower whose rows are chosen by what is
in them, or that gets something else than rows, shows at once.

Sizes stand in for sizes: an axis is as long as it needs to be for every number that the operations mention to make a
difference, so that a batch of thousands of images takes no memory to speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import lcm
from typing import Any, TypeAlias

import numpy as np

from unnest.core.architecture import is_model, tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.model import Json
from unnest.core.recognise import layer_facts
from unnest.core.recognise.kernels import ELEMENT, ByContents, Unreadable, carry_out, is_known
from unnest.core.recognise.op_calls import Said, said

Shape: TypeAlias = "tuple[int | None, ...]"
Array: TypeAlias = "np.ndarray[Any, Any]"

MAX_CALLS = 2000
"""Operations between the sources and the towers; real ones have a few per tower."""

MAX_ELEMENTS = 2_000_000
"""Of all stand-ins for one batch: batches that take more are not tried."""

MAX_WORK = 30_000_000
"""Elements that one answer may cost: some tenths of a second."""

DIVISIBLE = 2520
"""A batch that 1 to 10 towers, and shares in tenths, divide without rest."""

MISFITS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""The ways in which NumPy, and arguments of a form not met before, say that something does not fit."""


class Rows(Enum):
    """What the rows that the towers read come to, taken together in the towers' order."""

    CONSECUTIVE = "all rows of the source, in order"
    DEALT = "all rows of the source, in another order"
    NOT = "something else than the rows of the source"
    UNKNOWN = "what cannot be computed"


@dataclass(frozen=True)
class Taken:
    """The answer, with a sentence for the report where it is evidence."""

    rows: Rows
    sentence: str | None = None


UNKNOWN = Taken(Rows.UNKNOWN)
NOTHING = Said("", (), {})


@dataclass(frozen=True)
class Input:
    """One input of the template: what every tower reads, the tensor that it comes from, and its shape.

    Where the source's shape is not stored, `expected` is what the template takes. Without towers it is an input
    that all towers read whole; bounds may be computed from its shape.
    """

    source: Ref
    towers: tuple[Ref, ...]
    shape: Shape | None
    expected: Shape | None


def taken(graph: Graph, inputs: Sequence[Input]) -> Taken:
    """What rows of their sources the towers read."""
    try:
        inputs = [_with_stored_shape(graph, i) for i in inputs]
        calls = _calls_between(graph, inputs)
        if not inputs or calls is None:
            return UNKNOWN
        trial = _Trial(graph, inputs, calls)
        shapes = [i.shape for i in inputs]
        if None not in shapes:
            return trial.answer([s for s in shapes if s is not None])
        return _supposing(trial, inputs)
    except (Unreadable, *MISFITS):
        return UNKNOWN


def _supposing(trial: _Trial, inputs: Sequence[Input]) -> Taken:
    """Where a source's shape is not stored: it is as the template takes it, but perhaps larger.

    Larger axes show every cut through a row, but may not fit a reshape; so only a cut that both show is one.
    """
    shapes = [i.shape or i.expected for i in inputs]
    if None in shapes:
        return UNKNOWN
    expected = [s for s in shapes if s is not None]
    larger = [s if i.shape else (s[0], *(None for _ in s[1:])) for i, s in zip(inputs, expected, strict=True)]
    answer = trial.answer(larger)
    if answer.rows is Rows.NOT and trial.answer(expected).rows is not Rows.NOT:
        return UNKNOWN
    return answer


def _with_stored_shape(graph: Graph, one: Input) -> Input:
    """Keras 3 writes its shape beside every tensor."""
    if one.shape is not None:
        return one
    for at, _ in graph.readers.get(one.source.call, ()):
        for ref, shape in _shapes_beside(graph, graph.call(at).stored):
            if ref == one.source:
                return Input(one.source, one.towers, shape, one.expected)
    return one


def _shapes_beside(graph: Graph, value: Json) -> Iterator[tuple[Ref, Shape]]:
    if isinstance(value, Mapping):
        config = value.get("config")
        if value.get("class_name") == tensor_refs.KERAS_3_TENSOR and isinstance(config, Mapping):
            shape = config.get("shape")
            for raw in tensor_refs.reads(value, graph.layers):
                if isinstance(shape, Sequence):
                    yield _ref(graph, raw), tuple(d if isinstance(d, int) else None for d in shape)
            return
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _shapes_beside(graph, part)


def _ref(graph: Graph, raw: tensor_refs.RawRef) -> Ref:
    return Ref(raw[0], raw[1] - graph.layers[raw[0]].first, raw[2])


def _calls_between(graph: Graph, inputs: Sequence[Input]) -> list[tuple[CallId, Said]] | None:
    """The calls that make the towers' inputs, in an order to carry them out; None if there is one not understood."""
    sources = {i.source.call for i in inputs}
    order: dict[CallId, Said] = {}
    entered: set[CallId] = set()
    todo = [(ref.call, False) for i in inputs for ref in i.towers]
    while todo:
        at, is_done = todo.pop()
        if is_done:
            order[at] = _said(graph, at)
        elif at not in entered and at not in sources:
            entered.add(at)
            if len(entered) > MAX_CALLS or not is_known(_said(graph, at)):
                return None
            todo.append((at, True))
            todo += [(ref.call, False) for ref in graph.call(at).reads]
    return list(order.items())


def _said(graph: Graph, at: CallId) -> Said:
    layer, call = graph.layers[at.layer], graph.call(at)
    if is_model(layer.stored):
        return NOTHING
    what = said(layer, call)
    if what is None and "function" not in layer.settings and layer_facts.passes_on(layer, call):
        return Said("identity", [_stored_ref(graph, call.reads[0])], {})
    return what or NOTHING


def _stored_ref(graph: Graph, ref: Ref) -> Json:
    return [ref.layer, ref.rank + graph.layers[ref.layer].first, ref.tensor]


def _literals(value: Json) -> Iterator[int]:
    """The whole numbers among arguments, without those that belong to tensors."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield abs(value)
    elif isinstance(value, Mapping):
        if value.get("class_name") != tensor_refs.KERAS_3_TENSOR:
            for part in value.values():
                yield from _literals(part)
    elif isinstance(value, Sequence) and not isinstance(value, str) and not _is_tensor(value):
        for part in value:
            yield from _literals(part)


def _is_tensor(value: Sequence[Json]) -> bool:
    """Whether this is `["layer", node, tensor]`, whose numbers count nothing."""
    return bool(value) and isinstance(value[0], str)


class Outcome(Enum):
    """What came of one batch size."""

    ALL = "every row, in order"
    FIRST = "rows in order from the first on, but not the last ones"
    DEALT = "every row, in another order"
    OTHER = "rows twice, or missing, or no rows"


class _Trial:
    """The operations, carried out for one batch size after the other."""

    def __init__(self, graph: Graph, inputs: Sequence[Input], calls: Sequence[tuple[CallId, Said]]) -> None:
        self.graph, self.inputs, self.calls = graph, inputs, calls
        self.towers = max(len(i.towers) for i in inputs)
        self.top = max((n for _, what in calls for n in _literals([what.args, what.kwargs])), default=0)
        self.work = 0

    def answer(self, shapes: Sequence[Shape]) -> Taken:
        """The verdict over all batch sizes that can be tried with sources of these shapes."""
        self.work = 0
        fixed = next((s[0] for s in shapes if s[0] is not None), None)
        rows = [self._row(shape) for shape in shapes]
        found: dict[int, Outcome] = {}
        is_telling = False  # one row per tower is in order however it is taken
        for n in self._batches(fixed):
            if n * sum(int(np.prod(row)) for row in rows) > MAX_ELEMENTS:
                break
            shares = self._shares(n, rows)
            if shares is not None:
                found[n] = outcome_of(shares, n)
                is_telling |= fixed is not None or found[n] is Outcome.OTHER or min(map(len, shares)) > 1
        return verdict(found, self.towers, is_fixed=fixed is not None) if is_telling else UNKNOWN

    def _batches(self, fixed: int | None) -> list[int]:
        if fixed is not None:
            return [fixed]
        k = self.towers
        return sorted({1, k, k + 1, 2 * k, 2 * k + 1, 3 * k, 5 * k - 1, 2 * (self.top + k), lcm(DIVISIBLE, k)})

    def _row(self, shape: Shape) -> tuple[int, ...]:
        """The shape of one row. An axis that is longer than any number that is mentioned may as well be shorter."""
        unlike = range(max(self.top, 2) + 1, max(self.top, 2) + 1 + len(shape))
        return tuple(u if d is None else min(d, u) for d, u in zip(shape[1:], unlike, strict=False))

    def _shares(self, n: int, rows: Sequence[tuple[int, ...]]) -> list[list[int]] | None:
        """The rows that every tower reads of n rows, empty where it reads no whole rows; None if n does not fit."""
        sources = {i.source: _elements((n, *row)) for i, row in zip(self.inputs, rows, strict=True)}
        try:
            lookup = self._carry_out(sources)
            shares = [[_rows(lookup(ref), sources[i.source]) for ref in i.towers] for i in self.inputs if i.towers]
        except ByContents:
            return []
        except MISFITS:
            return None
        # Every input must be cut alike, or towers would pair rows that do not belong together.
        alike = all(share == shares[0] for share in shares[1:])
        return [share for share in shares[0] if share is not None] if alike and None not in shares[0] else []

    def _carry_out(self, sources: Mapping[Ref, Array]) -> Callable[[Ref], Array]:
        results: dict[CallId, tuple[Array, ...]] = {}

        def lookup(ref: Ref) -> Array:
            return sources[ref] if ref in sources else results[ref.call][ref.tensor]

        def lookup_stored(raw: tensor_refs.RawRef) -> Array:
            return lookup(_ref(self.graph, raw))

        with np.errstate(all="ignore"):
            for at, what in self.calls:
                results[at] = carry_out(what, self.graph.layers, lookup_stored)
                self.work += sum(array.size for array in results[at])
                if self.work > MAX_WORK:
                    raise Unreadable
        return lookup


def _elements(shape: tuple[int, ...]) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.int32).view(ELEMENT).reshape(shape)


def _rows(part: Array, source: Array) -> list[int] | None:
    """Which rows of the source a tensor is made of; None if it is not made of whole rows."""
    if part.dtype != ELEMENT or part.shape[1:] != source.shape[1:] or not source.size:
        return None
    firsts = part.reshape(len(part), -1)[:, 0] if len(part) else part.reshape(-1)
    rows = firsts["element"] // (source.size // len(source))
    return [int(r) for r in rows] if np.array_equal(part, source[rows]) else None


def outcome_of(shares: Sequence[Sequence[int]], n: int) -> Outcome:
    """What the towers' rows are, one tower after the other; no towers stand for none with whole rows."""
    joined = [row for share in shares for row in share]
    if not shares:
        return Outcome.OTHER
    if joined == list(range(len(joined))):
        return Outcome.ALL if len(joined) == n else Outcome.FIRST
    return Outcome.DEALT if sorted(joined) == list(range(n)) else Outcome.OTHER


def verdict(found: Mapping[int, Outcome], towers: int, *, is_fixed: bool) -> Taken:
    """What all batch sizes say together."""
    outcomes = set(found.values())
    if Outcome.OTHER in outcomes or {Outcome.DEALT, Outcome.FIRST} <= outcomes:
        return Taken(Rows.NOT)
    if Outcome.DEALT in outcomes:
        return Taken(Rows.DEALT)
    sizes = f"{min(found)} to {max(found)} rows" if len(found) > 1 else f"{max(found)} rows"
    sentence = f"computed for batches of {sizes}: the towers read all rows in order"
    if Outcome.FIRST not in outcomes:
        return Taken(Rows.CONSECUTIVE, sentence)
    if Outcome.ALL not in outcomes and not is_fixed:
        return Taken(Rows.NOT)
    # Bounds that are written down cover batches up to a size; shares of the batch cover every batch that they divide.
    divided = max((n for n in found if n % towers == 0), default=None)
    if divided is not None and found[divided] is Outcome.ALL:
        return Taken(Rows.CONSECUTIVE, f"{sentence}, and none of those that are left when a batch does not divide")
    return UNKNOWN
