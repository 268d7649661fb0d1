"""Numbers that are made of how many rows a tower has: sizes, and what is computed of them.

Two batches show what they are. Which of them depend on the number of rows, and whether as a * rows + b, follows from
how they are computed: so it holds for every number of rows. (`rows > 5` is true in both batches, and no constant.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from unnest.core.interpreters.row_dependence_arrays import NO_ROW, THEIR_NUMBER, every
from unnest.core.model import Ref
from unnest.core.ops.apply import apply
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.numbered_elements import (
    ELEMENT,
    Array,
    truncated_quotient,
    whole_numbers,
    whole_quotient,
)
from unnest.core.ops.operation_entry import CONTENTS, IDLE_ARGUMENTS
from unnest.core.ops.operation_kinds import IN_PLACE, Kind
from unnest.core.ops.registry import OPERATIONS, function_of, kind_of

SIZING = ("shape", "multiples")
"""The arguments that only say how large a tensor is."""

SUMS = (np.add, np.subtract, np.negative)
QUOTIENTS = (np.floor_divide, np.true_divide, truncated_quotient, whole_quotient)


class Counts(NamedTuple):
    """Numbers made of sizes: in the batch that is tried (`tried`), and in one of twice as many rows (`doubled`).

    `of_rows`: which of `tried` depend on how many rows there are. `is_linear`: whether those are a * rows + b, for
    whole numbers a and b, whatever the number of rows.
    """

    tried: Array
    doubled: Array
    of_rows: Array
    is_linear: bool = True

    @property
    def depends(self) -> bool:
        """Return True if any of them, or how many they are, depends on the number of rows."""
        return bool(self.of_rows.any()) or self.tried.shape != self.doubled.shape

    @property
    def rows(self) -> Array:
        """Rows on which the numbers depend; all of them, unless alike, if how many there are depends on the batch."""
        if self.tried.shape != self.doubled.shape and not self._are_alike:
            return every(THEIR_NUMBER, self.tried.shape)
        return np.where(self.of_rows, THEIR_NUMBER, NO_ROW).astype(np.int32).view(ELEMENT)

    @property
    def _are_alike(self) -> bool:
        return self.tried.size > 0 and bool(
            np.all(np.append(self.tried, self.doubled) == self.tried.flat[0])
        )


def apply_to_counts(
    op_call: OpCall, lookup: Callable[[Ref], Counts | Array], rows: int
) -> list[Counts]:
    """Return the result of an operation on counts and plain numbers; the first batch has so many `rows`.

    Raises NOT_COMPUTED.
    """
    known = {ref: lookup(ref) for ref in refs_in([*op_call.args, *op_call.kwargs.values()])}
    counts = {ref: value for ref, value in known.items() if isinstance(value, Counts)}

    def number(ref: Ref, batch: int = 0) -> Array:
        value = known[ref]
        if not isinstance(value, Counts):
            return value
        return value.doubled if batch else value.tried

    def of_rows(ref: Ref) -> Array:
        return counts[ref].of_rows if ref in counts else np.zeros(np.shape(number(ref)), bool)

    tried_results, doubled_results = (
        apply(op_call, partial(number, batch=batch)) for batch in range(2)
    )
    marks = _of_rows(op_call, tried_results, number, of_rows)
    are_linear = all(value.is_linear for value in counts.values()) and _keeps_linear(
        op_call, known, of_rows, rows
    )
    return [
        Counts(tried, doubled, mark, is_linear=are_linear and _is_whole(tried, doubled, mark, rows))
        for tried, doubled, mark in zip(tried_results, doubled_results, marks, strict=True)
    ]


def _of_rows(
    op_call: OpCall,
    results: tuple[Array, ...],
    number: Callable[[Ref], Array],
    of_rows: Callable[[Ref], Array],
) -> list[Array]:
    """Return which numbers of each result depend on how many rows there are."""
    refs = [*refs_in([*op_call.args, *op_call.kwargs.values()])]
    if kind_of(op_call) in IN_PLACE:
        mark = reduce(np.logical_or, map(of_rows, refs))
        if np.broadcast_shapes(mark.shape, results[0].shape) == results[0].shape:
            return [np.broadcast_to(mark, results[0].shape)]
        return [
            np.full(result.shape, bool(mark.any())) for result in results
        ]  # places, of `where` alone
    given = OPERATIONS[op_call.name].bind(op_call.args, op_call.kwargs)
    beside = refs_in([value for name, value in given.items() if name not in (*CONTENTS, *SIZING)])
    if any(of_rows(ref).any() for ref in beside):
        return [np.ones(result.shape, bool) for result in results]
    contents = {name: _marked(given[name], of_rows) for name in CONTENTS if name in given}
    if not contents:
        return [np.zeros(result.shape, bool) for result in results]
    if (
        kind_of(op_call) is Kind.REDUCTION
    ):  # it depends on it where any of those that it is made of does
        axis = given.get("axis")
        axes = (
            None
            if axis is None
            else tuple(whole_numbers(number(axis) if isinstance(axis, Ref) else axis))
        )
        return [np.asarray(np.any(contents["x"], axis=axes, keepdims=bool(given.get("keepdims"))))]
    return [
        mark.astype(bool) for mark in apply(OpCall(op_call.name, (), {**given, **contents}), number)
    ]


def _marked(value: Value, of_rows: Callable[[Ref], Array]) -> Value:
    """Return an argument with the marks of tensors, and of plain numbers, in their places."""
    if isinstance(value, Ref):
        return of_rows(value)
    return (
        [_marked(part, of_rows) for part in value]
        if isinstance(value, list)
        else np.zeros(np.shape(value), bool)
    )


def _keeps_linear(
    op_call: OpCall, known: Mapping[Ref, Counts | Array], of_rows: Callable[[Ref], Array], rows: int
) -> bool:
    """Return True if the result of an operation is a * rows + b too; `_is_whole` checks that a is a whole number."""
    function = function_of(op_call)
    operands = [
        *op_call.args,
        *(value for key, value in op_call.kwargs.items() if key not in IDLE_ARGUMENTS),
    ]
    if function is np.multiply:
        return not np.any(np.logical_and(*(_marked(value, of_rows) for value in operands)))
    if function in QUOTIENTS:
        dividend, divisor = (
            known[value] if isinstance(value, Ref) else value for value in operands
        )
        if isinstance(divisor, Counts) and divisor.depends:
            return False
        by = divisor.tried if isinstance(divisor, Counts) else np.asarray(divisor)
        return not isinstance(dividend, Counts) or not np.any(
            (dividend.doubled - dividend.tried) % (by * rows)
        )
    if function is np.prod:
        return sum(int(np.count_nonzero(of_rows(ref))) for ref in known) <= 1
    hands_on = kind_of(op_call) is Kind.MAP and function is None  # a cast, numbers as they are
    return function in SUMS or hands_on or kind_of(op_call) not in IN_PLACE


def _is_whole(tried: Array, doubled: Array, of_rows: Array, rows: int) -> bool:
    """True if two batches show a whole number of times the rows, and little beside it: else 2 * rows - 60 is as 60."""
    if tried.dtype.kind == "b":
        return False
    if tried.shape != doubled.shape:
        return True
    times, rest = (doubled - tried) / rows, 2 * tried - doubled
    return not np.any(of_rows & ((times != np.floor(times)) | (np.abs(rest) >= rows)))
