"""Values computed from the batch size (`tf.shape(x)[0] // 2`), and which of their numbers depend on it.

Each value is computed twice: at the batch size that is tried, and at the double of it. Two batches do not prove how a
number depends on the batch size (`rows > 5` is true at both, and no constant). So two facts follow from the operations
themselves, and hold at every batch size: which numbers depend on it, and whether they are a * rows + b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW, THEIR_NUMBER, every
from unnest.core.model import Ref
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array
from unnest.core.ops.operation_entry import CONTENTS, IDLE_ARGUMENTS
from unnest.core.ops.operation_kinds import IN_PLACE, Kind
from unnest.core.ops.read_whole_numbers import whole_numbers
from unnest.core.ops.registry import OPERATIONS, function_of, kind_of
from unnest.core.ops.shape_arithmetic import truncated_quotient, whole_quotient

SIZE_ARGUMENTS = ("shape", "multiples")
"""Arguments that only say how large a tensor is: its numbers do not depend on them."""

SUMS = (np.add, np.subtract, np.negative)
QUOTIENTS = (np.floor_divide, np.true_divide, truncated_quotient, whole_quotient)


class BatchSizeValues(NamedTuple):
    """An array of numbers that may depend on the batch size.

    `at_batch`: the numbers at the batch size that is tried; `at_double`: at twice as many rows, perhaps in another
    shape. `depends`: booleans in the shape of `at_batch`, True for a number that depends on the batch size.
    `is_linear`: whether those are a * rows + b at every number of rows, for whole numbers a and b.
    """

    at_batch: Array
    at_double: Array
    depends: Array
    is_linear: bool = True

    @property
    def any_depends(self) -> bool:
        """Return True if any of the numbers, or how many there are, depends on the batch size."""
        return bool(self.depends.any()) or self.at_batch.shape != self.at_double.shape

    @property
    def row_dependence(self) -> Array:
        """Array of `ELEMENT`s in the shape of `at_batch`: the pseudo row THEIR_NUMBER, or NO_ROW, for each number.

        All depend on the batch size if their count does, unless they are all equal.
        """
        if self.at_batch.shape != self.at_double.shape and not self._are_all_equal:
            return every(THEIR_NUMBER, self.at_batch.shape)
        return np.where(self.depends, THEIR_NUMBER, NO_ROW).astype(np.int32).view(ELEMENT)

    @property
    def _are_all_equal(self) -> bool:
        all_numbers = np.append(self.at_batch, self.at_double)
        return self.at_batch.size > 0 and bool(np.all(all_numbers == self.at_batch.flat[0]))


BatchSizeOperands: TypeAlias = Mapping[Ref, "BatchSizeValues | Array"]
"""The operands of a call: values that may depend on the batch size, and plain numbers."""


def apply_to_batch_size_values(
    op_call: OpCall, lookup: Callable[[Ref], BatchSizeValues | Array], rows: int
) -> list[BatchSizeValues]:
    """Return the results of an operation; `rows` is the batch size that is tried.

    Raises:
        NOT_COMPUTED: the operation cannot be computed on these numbers.

    """
    operands = {ref: lookup(ref) for ref in _refs(op_call)}
    results = apply(op_call, lambda ref: _at_batch(operands[ref]))
    results_at_double = apply(op_call, lambda ref: _at_double(operands[ref]))
    depends = _depends_of_results(op_call, results, operands)
    are_linear = all(
        operand.is_linear for operand in operands.values() if isinstance(operand, BatchSizeValues)
    ) and _keeps_linear(op_call, operands, rows)
    return [
        BatchSizeValues(
            result, at_double, mark, are_linear and _is_near_linear(result, at_double, mark, rows)
        )
        for result, at_double, mark in zip(results, results_at_double, depends, strict=True)
    ]


def _refs(op_call: OpCall) -> list[Ref]:
    return [*refs_in([*op_call.args, *op_call.kwargs.values()])]


def _at_batch(operand: BatchSizeValues | Array) -> Array:
    return operand.at_batch if isinstance(operand, BatchSizeValues) else operand


def _at_double(operand: BatchSizeValues | Array) -> Array:
    return operand.at_double if isinstance(operand, BatchSizeValues) else operand


def _depends(operand: BatchSizeValues | Array) -> Array:
    """Return which numbers of an operand depend on the batch size: booleans in its shape."""
    if isinstance(operand, BatchSizeValues):
        return operand.depends
    return np.zeros(np.shape(operand), bool)


# ---- which numbers of a result depend on the batch size ----


def _depends_of_results(
    op_call: OpCall, results: Sequence[Array], operands: BatchSizeOperands
) -> list[Array]:
    """Return for each result which of its numbers depend on the batch size: booleans in its shape."""
    if kind_of(op_call) in IN_PLACE:
        return _depends_in_place(results, [_depends(operands[ref]) for ref in _refs(op_call)])
    arguments = OPERATIONS[op_call.name].bind(op_call.args, op_call.kwargs)
    choosing = [
        value for name, value in arguments.items() if name not in (*CONTENTS, *SIZE_ARGUMENTS)
    ]
    if any(_depends(operands[ref]).any() for ref in refs_in(choosing)):
        # The batch size decides which entries are taken, or where to: any number may be another one.
        return [np.ones(result.shape, bool) for result in results]
    marks = {
        name: _depends_of_argument(arguments[name], operands)
        for name in CONTENTS
        if name in arguments
    }
    if not marks:
        return [np.zeros(result.shape, bool) for result in results]
    if kind_of(op_call) is Kind.REDUCTION:
        return [_depends_of_reduction(marks["x"], arguments, operands)]
    # An operation that moves numbers moves their marks in the same way.
    on_marks = OpCall(op_call.name, (), {**arguments, **marks})
    moved = apply(on_marks, lambda ref: _at_batch(operands[ref]))
    return [mark.astype(bool) for mark in moved]


def _depends_in_place(results: Sequence[Array], marks: Sequence[Array]) -> list[Array]:
    """Return the marks of numbers that are computed from those in the same place of the operands, which broadcast."""
    mark = reduce(np.logical_or, marks)
    if np.broadcast_shapes(mark.shape, results[0].shape) == results[0].shape:
        return [np.broadcast_to(mark, results[0].shape)]
    # `where` with one operand gives the places of its nonzero numbers, in a shape of its own.
    return [np.full(result.shape, bool(mark.any())) for result in results]


def _depends_of_reduction(
    mark: Value, arguments: Mapping[str, Value], operands: BatchSizeOperands
) -> Array:
    """Return the marks of numbers each of which is computed from all numbers along some axes."""
    axis = arguments.get("axis")
    if isinstance(axis, Ref):
        axis = _at_batch(operands[axis])
    axes = None if axis is None else tuple(whole_numbers(axis))
    return np.asarray(np.any(mark, axis=axes, keepdims=bool(arguments.get("keepdims"))))


def _depends_of_argument(value: Value, operands: BatchSizeOperands) -> Value:
    """Return an argument with booleans in the place of each tensor and each plain number."""
    if isinstance(value, Ref):
        return _depends(operands[value])
    if isinstance(value, list):
        return [_depends_of_argument(part, operands) for part in value]
    return np.zeros(np.shape(value), bool)


# ---- whether they depend on it as a * rows + b ----


def _keeps_linear(op_call: OpCall, operands: BatchSizeOperands, rows: int) -> bool:
    """Return True if an operation on numbers a * rows + b gives such numbers.

    That the new a is a whole number is left to `_is_near_linear`, but for quotients.
    """
    function = function_of(op_call)
    arguments = [
        *op_call.args,
        *(value for key, value in op_call.kwargs.items() if key not in IDLE_ARGUMENTS),
    ]
    if function is np.multiply:
        both_depend = np.logical_and(
            *(_depends_of_argument(value, operands) for value in arguments)
        )
        return not np.any(both_depend)
    if function in QUOTIENTS:
        dividend, divisor = (
            operands[value] if isinstance(value, Ref) else value for value in arguments
        )
        return _is_linear_quotient(dividend, divisor, rows)
    if function is np.prod:
        depending = [int(np.count_nonzero(_depends(operand))) for operand in operands.values()]
        return sum(depending) <= 1
    is_cast = kind_of(op_call) is Kind.MAP and function is None
    return function in SUMS or is_cast or kind_of(op_call) not in IN_PLACE


def _is_linear_quotient(
    dividend: BatchSizeValues | Value, divisor: BatchSizeValues | Value, rows: int
) -> bool:
    """Return True if a divisor that is the same in every batch divides what each row adds to the dividend."""
    if isinstance(divisor, BatchSizeValues):
        if divisor.any_depends:
            return False
        divisor = divisor.at_batch
    if not isinstance(dividend, BatchSizeValues):
        return True
    added_by_rows = dividend.at_double - dividend.at_batch
    return not np.any(added_by_rows % (np.asarray(divisor) * rows))


def _is_near_linear(at_batch: Array, at_double: Array, depends: Array, rows: int) -> bool:
    """Return True if numbers a * rows + b have a whole a, and a b of less than `rows`.

    A larger b hides what depends on the rows: 2 * rows - 60 is 60 at a batch of 60.
    """
    if at_batch.dtype.kind == "b":
        return False
    if at_batch.shape != at_double.shape:
        return True
    a = (at_double - at_batch) / rows
    b = 2 * at_batch - at_double
    return not np.any(depends & ((a != np.floor(a)) | (np.abs(b) >= rows)))
