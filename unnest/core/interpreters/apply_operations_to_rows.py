"""Apply the operations of a tower to arrays of rows: what moves numbers moves their rows, what computes has a rule.

The rules by kind are in `operation_row_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unnest.core.interpreters.batch_size_values import BatchSizeValues, apply_to_batch_size_values
from unnest.core.interpreters.operation_row_rules import RowStep, computed_rows
from unnest.core.interpreters.row_dependence_arithmetic import (
    NO_ROW,
    THEIR_NUMBER,
    every,
)
from unnest.core.interpreters.tower_tensor_facts import RowFacts, TensorRows, TowerTensors
from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED, Array, check_size
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import IN_PLACE, JOINS, Kind
from unnest.core.ops.registry import argument, contents, kind_of, operation_of

PARTS_OF_SHAPES = frozenset({Kind.SLICE, Kind.TAKE})
"""Operations that may take sizes out of a shape, the number of rows or others."""


COUNTING_KINDS = (IN_PLACE | PARTS_OF_SHAPES | {
    Kind.ROWWISE, Kind.REDUCTION, Kind.ALONG, Kind.FOLD, Kind.MOVE, Kind.REPEAT, Kind.CONCATENATE, Kind.STACK,
    Kind.FILL, Kind.NUMBERS,
})  # fmt: skip
"""Operations whose values depend on numbers that they are given; all others may only make a tensor of that size."""


class TowerOperations:
    """The operations of a tower, carried out on the tensors that are known."""

    def __init__(self, tensors: TowerTensors) -> None:
        self._tensors = tensors

    def apply(
        self, here: Ref, op_call: OpCall, given: Mapping[Ref, TensorRows]
    ) -> TensorRows | list[TensorRows]:
        """Return the outputs of a call, all of those that have several. Raises RowsMixed, NOT_COMPUTED."""
        operation = operation_of(op_call)
        if kind_of(op_call) is not Kind.CONTROL and not any(
            isinstance(each, np.ndarray) for each in given.values()
        ):
            return self._of_numbers(here, op_call, given)
        if operation is None or operation.kind is Kind.CONTROL:
            return RowFacts.UNKNOWN
        if operation.kind is Kind.SIZE:
            return _size(op_call, self._tensors.first(op_call))
        if operation.kind is Kind.FILL and operation.position("x") is not None:
            return every(NO_ROW, self._tensors.first(op_call).shape)
        try:
            moved = self._moved(op_call, operation, given)
        except DataDependent:
            return computed_rows(self._tensors, RowStep(here, op_call, operation, given))
        if self._is_of_one_batch(op_call, given) or (
            kind_of(op_call) in JOINS and self._is_by_place(op_call, moved)
        ):
            self._tensors.of_one_batch.add(here)
        return [*moved]

    # What is made of no rows

    def _of_numbers(
        self, here: Ref, op_call: OpCall, given: Mapping[Ref, TensorRows]
    ) -> TensorRows | list[TensorRows]:
        """Return the result of a call without rows, which may depend on how many there are."""
        if all(tensor is RowFacts.PLAIN for tensor in given.values()):
            return RowFacts.PLAIN
        if not _are_known(given) or kind_of(op_call) not in COUNTING_KINDS:
            return RowFacts.UNKNOWN
        try:
            return [*apply_to_batch_size_values(op_call, self._tensors.counted, self._tensors.rows)]
        except NOT_COMPUTED:
            if not any(
                isinstance(tensor, BatchSizeValues) and tensor.any_depends
                for tensor in given.values()
            ):
                return RowFacts.PLAIN
            if kind_of(op_call) in PARTS_OF_SHAPES:
                return RowFacts.UNKNOWN
            return every(THEIR_NUMBER, self._tensors.sizes(here))

    # What is made of rows

    def _moved(
        self, op_call: OpCall, operation: Operation, given: Mapping[Ref, TensorRows]
    ) -> list[Array]:
        """Return the result of an operation that moves numbers: its function applied to rows in place of numbers.

        Arguments that say where to move them (indices, sizes) are numbers. So is what is moved beside no rows.

        Raises:
            DataDependent: the operation computes new numbers.
            Unknown: it moves by sizes that were guessed, or rows of an unknown number.

        """
        if operation.compute is None or operation.takes_all:
            raise DataDependent
        moves_by_sizes = operation.kind is Kind.MOVE and operation.names_shape
        if moves_by_sizes and not self._tensors.guessed.isdisjoint(given):
            raise Unknown("a move by a size that was guessed")
        if not self._tensors.of_unknown_count.isdisjoint(given):
            raise Unknown("how many rows code returns")
        with_rows = {ref for ref, tensor in given.items() if isinstance(tensor, np.ndarray)}
        moved = {*refs_in(contents(op_call))}
        check_size(
            sum(tensor.size for ref in moved if isinstance(tensor := given[ref], np.ndarray))
        )
        as_rows = with_rows | moved if with_rows & moved else with_rows

        def lookup(ref: Ref) -> Array:
            return self._tensors.rows_of(ref) if ref in as_rows else self._tensors.number(ref)

        return [*apply(op_call, lookup)]

    def _is_of_one_batch(self, op_call: OpCall, given: Mapping[Ref, TensorRows]) -> bool:
        """Return True if literal bounds may cut a larger batch elsewhere."""
        tensors = (given[ref] for ref in refs_in(contents(op_call)))
        return any(
            _reaches_the_end(op_call, tensor)
            for tensor in tensors
            if isinstance(tensor, np.ndarray)
        )

    def _is_by_place(self, op_call: OpCall, made: Sequence[Array]) -> bool:
        """Return True if a join (of result `made`) puts different computations, or zeros, in different rows.

        Each operand is replaced by the number of its computation, and joined once more: so each place of the result
        holds the number of the computation that it is from. Different computations within one row are no matter. Rows
        lie along the axes on which different rows stand; without any, along those that are as long as the batch.
        """
        operands = [*dict.fromkeys(refs_in(contents(op_call)))]
        computations = [*dict.fromkeys(self._tensors.first_alike[ref] for ref in operands)]

        def lookup(ref: Ref) -> Array:
            if ref not in operands:
                return self._tensors.number(ref)
            computation = computations.index(self._tensors.first_alike[ref])
            return every(computation, self._tensors.rows_of(ref).shape)

        (computation_at,) = apply(op_call, lookup)
        (rows,) = made
        row_axes = [
            axis for axis in range(rows.ndim) if rows.shape[axis] > 1 and _has_several(rows, axis)
        ]
        batch_long = [
            axis for axis, size in enumerate(rows.shape) if size == self._tensors.rows > 1
        ]
        return any(_varies(computation_at, axis) for axis in row_axes or batch_long)


def _axes_of_rows(tensor: Array) -> list[int]:
    """Return the axes along which a tensor's numbers depend on different rows."""
    return [axis for axis, stride in enumerate(tensor.strides) if stride and tensor.shape[axis] > 1]


def _varies(tensor: Array, axis: int) -> bool:
    """Return True if the values vary along an axis."""
    return bool(np.any(tensor["element"] != tensor["element"].take([0], axis)))


def _has_several(tensor: Array, axis: int) -> bool:
    """Return True if different rows stand along an axis."""
    entries = tensor["element"]
    return bool(np.any((entries != entries.max(axis, keepdims=True)) & (entries != NO_ROW)))


def _reaches_the_end(op_call: OpCall, tensor: Array) -> bool:
    """True if rows are taken up to a number that is as many as are tried, or more: of a larger tower, not all are."""
    if kind_of(op_call) is not Kind.SLICE:
        return False
    bounds = [
        _literal_bounds(argument(op_call, name), tensor.ndim)
        for name in ("key", "begin", "end", "size")
    ]
    return any(
        abs(bound) >= tensor.shape[axis]
        for axis in _axes_of_rows(tensor)
        for each in bounds
        for bound in each[axis]
    )


def _literal_bounds(value: Value, rank: int) -> list[list[int]]:
    """Return the numbers that an argument bounds each axis by; all of them for each axis if it does not say which."""
    parts = value.tolist() if isinstance(value, np.ndarray) else value
    parts = parts if isinstance(parts, (list, tuple)) and not isinstance(parts, Ref) else [parts]
    ends = [(part.start, part.stop) if isinstance(part, slice) else (part,) for part in parts]
    by_axis = [[end for end in each if isinstance(end, int)] for each in ends]
    if any(part is None or part is ... for part in parts):
        return [[bound for each in by_axis for bound in each]] * rank
    return [*by_axis, *[[] for _ in range(rank)]][:rank]


def _size(op_call: OpCall, tensor: Array) -> BatchSizeValues:
    """Return the sizes of a tensor of which one axis is the batch. Raises Unknown for others."""
    axes = _axes_of_rows(tensor)
    if len(axes) != 1:
        raise Unknown("the axis of the rows")
    larger = [2 * size if axis == axes[0] else size for axis, size in enumerate(tensor.shape)]
    one, other = (_size_of(op_call, shape) for shape in (tensor.shape, larger))
    return BatchSizeValues(one, other, one != other)


def _size_of(op_call: OpCall, shape: Sequence[int]) -> Array:
    """Return the values of an operation on the sizes of a tensor of that shape."""
    (size,) = apply(op_call._replace(args=[np.broadcast_to(False, shape)], kwargs={}), _no_tensor)  # noqa: FBT003 - a number
    return size


def _no_tensor(_: Ref) -> Array:
    raise Unknown("the contents of a tensor")


def _are_known(given: Mapping[Ref, TensorRows]) -> bool:
    return not any(tensor is RowFacts.UNKNOWN for tensor in given.values())
