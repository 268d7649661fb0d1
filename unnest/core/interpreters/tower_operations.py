"""Results of operations on tensors, the numbers of which are rows, or depend on some.

As in `tensor_graph`, what moves numbers about moves these (`kernels`); what computes with some depends on the rows of
all of them (`row_dependence`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.interpreters import row_rules
from unnest.core.interpreters.row_counts import Counts, computed
from unnest.core.interpreters.row_dependence import NO_ROW, THEIR_NUMBER, every
from unnest.core.interpreters.row_rules import RowStep
from unnest.core.interpreters.tower_tensors import Known, Tensor, TowerTensors
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.apply import apply, contents
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.elements import NOT_COMPUTED, Array, check_size
from unnest.core.ops.registry import IN_PLACE, JOINS, Kind, Operation, argument, kind_of, operation_of

PARTS_OF_SHAPES = frozenset({Kind.SLICE, Kind.TAKE})
"""Operations that may take sizes out of a shape, the number of rows or others."""

COUNTING = (IN_PLACE | PARTS_OF_SHAPES | {
    Kind.ROWWISE, Kind.REDUCTION, Kind.ALONG, Kind.FOLD, Kind.MOVE, Kind.REPEAT, Kind.CONCATENATE, Kind.STACK,
    Kind.FILL, Kind.NUMBERS,
})  # fmt: skip
"""Operations whose values depend on numbers that they are given; all others may only make a tensor of that size."""


class TowerOperations:
    """The operations of a tower, carried out on the tensors that are known."""

    def __init__(self, tensors: TowerTensors) -> None:
        self._tensors = tensors

    def apply(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """Return the outputs of a call, all of those that have several. Raises RowsMixed, NOT_COMPUTED."""
        operation = operation_of(what)
        if kind_of(what) is not Kind.CONTROL and not any(isinstance(each, np.ndarray) for each in given.values()):
            return self._of_numbers(here, what, given)
        if operation is None or operation.kind is Kind.CONTROL:
            return Known.LOST
        if operation.kind is Kind.SIZE:
            return _size(what, self._tensors.first(what))
        if operation.kind is Kind.FILL and operation.position("x") is not None:
            return every(NO_ROW, self._tensors.first(what).shape)
        try:
            moved = self._moved(what, operation, given)
        except DataDependent:
            return row_rules.computed(self._tensors, RowStep(here, what, operation, given))
        if self._is_of_one_batch(what, given) or (kind_of(what) in JOINS and self._is_by_place(what, moved)):
            self._tensors.of_one_batch.add(here)
        return [*moved]

    # What is made of no rows

    def _of_numbers(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """Return the result of a call without rows, which may depend on how many there are."""
        if all(tensor is Known.PLAIN for tensor in given.values()):
            return Known.PLAIN
        if not _are_known(given) or kind_of(what) not in COUNTING:
            return Known.LOST
        try:
            return [*computed(what, self._tensors.counted, self._tensors.rows)]
        except NOT_COMPUTED:
            if not any(isinstance(tensor, Counts) and tensor.depends for tensor in given.values()):
                return Known.PLAIN
            return Known.LOST if kind_of(what) in PARTS_OF_SHAPES else every(THEIR_NUMBER, self._tensors.sizes(here))

    # What is made of rows

    def _moved(self, what: OpCall, operation: Operation, given: Mapping[Ref, Tensor]) -> list[Array]:
        """Return the result of an operation that moves numbers. Raises DataDependent for other operations."""
        if operation.compute is None or operation.takes_all:
            raise DataDependent
        is_shaped = operation.kind is Kind.MOVE and operation.names_shape
        is_guess = is_shaped and not self._tensors.guessed.isdisjoint(given)
        if is_guess or not self._tensors.taken.isdisjoint(given):
            raise Unknown
        moved = {*refs_in(contents(what))}
        has_rows = any(isinstance(given[ref], np.ndarray) for ref in moved)
        check_size(sum(tensor.size for tensor in map(given.get, moved) if isinstance(tensor, np.ndarray)))

        def lookup(ref: Ref) -> Array:
            is_number = not isinstance(given[ref], np.ndarray) and not (ref in moved and has_rows)
            return self._tensors.number(ref) if is_number else self._tensors.rows_of(ref)

        return [*apply(what, lookup)]

    def _is_of_one_batch(self, what: OpCall, given: Mapping[Ref, Tensor]) -> bool:
        """Return True if literal bounds may cut a larger batch elsewhere."""
        tensors = (given[ref] for ref in refs_in(contents(what)))
        return any(_reaches_the_end(what, tensor) for tensor in tensors if isinstance(tensor, np.ndarray))

    def _is_by_place(self, what: OpCall, made: Sequence[Array]) -> bool:
        """True if rows of one and of another computation, or zeros, are put in different places along the rows."""
        moved = [*dict.fromkeys(refs_in(contents(what)))]
        firsts = [*dict.fromkeys(self._tensors.firsts[ref] for ref in moved)]

        def lookup(ref: Ref) -> Array:
            if ref not in moved:
                return self._tensors.number(ref)
            return every(firsts.index(self._tensors.firsts[ref]), self._tensors.rows_of(ref).shape)

        (whose,) = apply(what, lookup)
        (rows,) = made
        rows_lie = [axis for axis in range(rows.ndim) if rows.shape[axis] > 1 and _has_several(rows, axis)]
        as_many = [axis for axis, size in enumerate(rows.shape) if size == self._tensors.rows > 1]
        return any(_varies(whose, axis) for axis in rows_lie or as_many)


def _axes_of_rows(tensor: Array) -> list[int]:
    """The axes along which its numbers are made of other rows."""
    return [axis for axis, stride in enumerate(tensor.strides) if stride and tensor.shape[axis] > 1]


def _varies(tensor: Array, axis: int) -> bool:
    """Return True if the values vary along an axis."""
    return bool(np.any(tensor["element"] != tensor["element"].take([0], axis)))


def _has_several(tensor: Array, axis: int) -> bool:
    """Return True if different rows stand along an axis."""
    entries = tensor["element"]
    return bool(np.any((entries != entries.max(axis, keepdims=True)) & (entries != NO_ROW)))


def _reaches_the_end(what: OpCall, tensor: Array) -> bool:
    """True if rows are taken up to a number that is as many as are tried, or more: of a larger tower, not all are."""
    if kind_of(what) is not Kind.SLICE:
        return False
    bounds = [_literal_bounds(argument(what, name), tensor.ndim) for name in ("key", "begin", "end", "size")]
    return any(
        abs(bound) >= tensor.shape[axis] for axis in _axes_of_rows(tensor) for each in bounds for bound in each[axis]
    )


def _literal_bounds(value: Value, rank: int) -> list[list[int]]:
    """The numbers that an argument bounds each axis by; all of them for each, where it has places for other axes."""
    parts = value.tolist() if isinstance(value, np.ndarray) else value
    parts = parts if isinstance(parts, (list, tuple)) and not isinstance(parts, Ref) else [parts]
    ends = [(part.start, part.stop) if isinstance(part, slice) else (part,) for part in parts]
    by_axis = [[end for end in each if isinstance(end, int)] for each in ends]
    if any(part is None or part is ... for part in parts):
        return [[bound for each in by_axis for bound in each]] * rank
    return [*by_axis, *[[] for _ in range(rank)]][:rank]


def _size(what: OpCall, tensor: Array) -> Counts:
    """The sizes of a tensor, one of whose axes are the rows. Raises Unknown for others."""
    axes = _axes_of_rows(tensor)
    if len(axes) != 1:
        raise Unknown
    larger = [2 * size if axis == axes[0] else size for axis, size in enumerate(tensor.shape)]
    one, other = (_size_of(what, shape) for shape in (tensor.shape, larger))
    return Counts(one, other, one != other)


def _size_of(what: OpCall, shape: Sequence[int]) -> Array:
    """Return the values of an operation on the sizes of a tensor of that shape."""
    (size,) = apply(what._replace(args=[np.broadcast_to(False, shape)], kwargs={}), _no_tensor)  # noqa: FBT003 - a number
    return size


def _no_tensor(_: Ref) -> Array:
    raise Unknown


def _are_known(given: Mapping[Ref, Tensor]) -> bool:
    return not any(tensor is Known.LOST for tensor in given.values())
