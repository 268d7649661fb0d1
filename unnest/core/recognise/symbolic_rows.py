"""Which rows of its source does every tower read? Computed, where slices are made of operations.

Whatever a slice is made of (bounds from shapes, masks, indices, reshapes), what it comes to is a list of rows. So the
operations between a source and the towers are carried out with NumPy on an array that holds, in place of the source,
a number for every element of it. Those numbers cannot be calculated with: a tower whose rows are chosen by what is
in them, or that gets something else than rows, shows at once.

Sizes stand in for sizes: an axis is as long as it needs to be for every number that the operations mention to make a
difference, so that a batch of thousands of images takes no memory to speak of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import lcm, prod
from typing import TypeAlias

from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.recognise.kernels import ByContents
from unnest.core.recognise.layer_tensors import LayerTensors
from unnest.core.recognise.op_calls import Unreadable
from unnest.core.recognise.tensor_graph import Values, numbered, row_sizes, rows_of

Shape: TypeAlias = "tuple[int | None, ...]"

MAX_CALLS = 2000
"""Operations between the sources and the towers; real ones have a few per tower."""

MAX_ELEMENTS = 2_000_000
"""Of all stand-ins for one batch: batches that take more are not tried."""

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
    operations = LayerTensors(graph)
    try:
        inputs = [i if i.shape else replace(i, shape=operations.noted(i.source)) for i in inputs]
        calls = operations.behind([ref for i in inputs for ref in i.towers], [i.source for i in inputs])
        if not inputs or len(calls) > MAX_CALLS or not all(operations.of(at).name for at in calls):
            return UNKNOWN
        trial = _Trial(operations, inputs, sorted(calls))
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


def batches(towers: int, longest: int) -> list[int]:
    """Numbers of rows to try: some that towers and small shares divide, some that they do not."""
    k = towers
    return sorted({1, k, k + 1, 2 * k, 2 * k + 1, 3 * k, 5 * k - 1, 2 * (longest + k), lcm(DIVISIBLE, k)})


class Outcome(Enum):
    """What came of one batch size."""

    ALL = "every row, in order"
    FIRST = "rows in order from the first on, but not the last ones"
    DEALT = "every row, in another order"
    OTHER = "rows twice, or missing, or no rows"


class _Trial:
    """The operations, carried out for one batch size after the other."""

    def __init__(self, operations: LayerTensors, inputs: Sequence[Input], calls: Sequence[CallId]) -> None:
        self.operations, self.inputs = operations, inputs
        self.towers = max(len(i.towers) for i in inputs)
        self.longest = max(operations.literals(calls), default=0)

    def answer(self, shapes: Sequence[Shape]) -> Taken:
        """The verdict over all batch sizes that can be tried with sources of these shapes."""
        fixed = next((s[0] for s in shapes if s[0] is not None), None)
        rows = [row_sizes(shape[1:], self.longest) for shape in shapes]
        found: dict[int, Outcome] = {}
        is_telling = False  # one row per tower is in order however it is taken
        for n in batches(self.towers, self.longest) if fixed is None else [fixed]:
            if n * sum(prod(row) for row in rows) > MAX_ELEMENTS:
                break
            shares = self._shares(n, rows)
            if shares is not None:
                found[n] = outcome_of(shares, n)
                is_telling |= fixed is not None or found[n] is Outcome.OTHER or min(map(len, shares)) > 1
        return verdict(found, self.towers, is_fixed=fixed is not None) if is_telling else UNKNOWN

    def _shares(self, n: int, rows: Sequence[tuple[int, ...]]) -> list[list[int]] | None:
        """The rows that every tower reads of n rows, empty where it reads no whole rows; None if n does not fit."""
        sources = {i.source: numbered((n, *row)) for i, row in zip(self.inputs, rows, strict=True)}
        values = Values(self.operations, n, self.longest, sources)
        try:
            shares = [[rows_of(values.of(ref), sources[i.source]) for ref in i.towers] for i in self.inputs if i.towers]
        except ByContents:
            return []
        except MISFITS:
            return None
        # Every input must be cut alike, or towers would pair rows that do not belong together.
        alike = all(share == shares[0] for share in shares[1:])
        return [share for share in shares[0] if share is not None] if alike and None not in shares[0] else []


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
