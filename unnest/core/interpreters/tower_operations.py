"""What operations make of tensors whose numbers are rows, or are made of some.

As in `tensor_graph`, what moves numbers about moves these (`kernels`); what computes with some depends on the rows of
all of them (`row_dependence`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.interpreters import product_axes, row_dependence
from unnest.core.interpreters.product_axes import MATRIX
from unnest.core.interpreters.row_counts import Counts, computed
from unnest.core.interpreters.row_dependence import (
    NO_ROW,
    THEIR_NUMBER,
    RowsMixed,
    along,
    combined,
    each_its_own,
    every,
)
from unnest.core.interpreters.tower_tensors import Known, Tensor, TowerTensors
from unnest.core.ops.apply import apply, contents
from unnest.core.ops.call import OpCall, UnreadableCall, Value, refs_in
from unnest.core.ops.elements import NOT_COMPUTED, Array, ByContents, check_size
from unnest.core.ops.registry import IN_PLACE, JOINS, OPERATIONS, ROW_BY_ROW, Kind, argument, kind_of, operation_of

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
        #: Operations of which more counts than the rows that they are made of.
        self._whole: dict[str, Callable[[Ref, OpCall], Tensor]] = {
            **dict.fromkeys(("mixes", "takes", "timemajor"), self._in_another_order),
            **dict.fromkeys(_names(Kind.SIZE), lambda _, what: _size(what, self._tensors.first(what))),
            **dict.fromkeys(_names(Kind.FILL), lambda _, what: every(NO_ROW, self._tensors.first(what).shape)),
        }

    def made(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """What a call makes of tensors, all outputs of operations that have several. Raises RowsMixed, NOT_COMPUTED."""
        if kind_of(what) is Kind.CONTROL:
            return Known.LOST
        if not any(isinstance(tensor, np.ndarray) for tensor in given.values()):
            return self._of_numbers(here, what, given)
        if what.name in self._whole:
            return self._whole[what.name](here, what)
        try:
            moved = self._moved(what, given)
        except ByContents:
            return self._computed(here, what, given)
        if self._is_of_one_batch(what, given) or (kind_of(what) in JOINS and self._is_by_place(what, moved)):
            self._tensors.of_one_batch.add(here)
        return [*moved]

    # What is made of no rows

    def _of_numbers(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """What is made of no rows, but perhaps of how many there are."""
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

    def _moved(self, what: OpCall, given: Mapping[Ref, Tensor]) -> list[Array]:
        """What an operation makes that moves numbers about. Raises ByContents where it does something else."""
        operation = operation_of(what)
        if operation is None or operation.compute is None or operation.takes_all:
            raise ByContents
        if (
            what.name == "reshape" and not self._tensors.guessed.isdisjoint(given)
        ) or not self._tensors.taken.isdisjoint(given):
            raise UnreadableCall
        moved = {*refs_in(contents(what))}
        has_rows = any(isinstance(given[ref], np.ndarray) for ref in moved)
        check_size(sum(tensor.size for tensor in map(given.get, moved) if isinstance(tensor, np.ndarray)))

        def lookup(ref: Ref) -> Array:
            is_number = not isinstance(given[ref], np.ndarray) and not (ref in moved and has_rows)
            return self._tensors.number(ref) if is_number else self._tensors.rows_of(ref)

        return [*apply(what, lookup)]

    def _is_of_one_batch(self, what: OpCall, given: Mapping[Ref, Tensor]) -> bool:
        """Whether bounds that are written down may cut a larger batch elsewhere."""
        tensors = (given[ref] for ref in refs_in(contents(what)))
        return any(_reaches_the_end(what, tensor) for tensor in tensors if isinstance(tensor, np.ndarray))

    def _is_by_place(self, what: OpCall, made: Sequence[Array]) -> bool:
        """Whether rows of one and of another computation, or zeros, are put in different places along the rows."""
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

    def _computed(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor:
        """What an operation makes that computes. Raises RowsMixed, NOT_COMPUTED."""
        kind = kind_of(what)
        if what.name == "where" and len(given) == 1:
            raise RowsMixed
        if kind is Kind.MASK:
            return self._elsewhere(self._tensors.first(what).shape)
        if kind is Kind.TAKE:
            return self._by_index(what)
        if kind in IN_PLACE:
            known = [ref for ref in given if given[ref] is not Known.LOST]
            made = combined([self._tensors.rows_of(ref, 0) for ref in known])
            return made if len(known) == len(given) else Known.LOST
        if kind in ROW_BY_ROW:
            return self._row_by_row(here, what, given)
        if kind is Kind.PRODUCT:
            return self._tensors.sized(here, row_dependence.product(*self._letters(what)))
        return self._worked_along(here, what, self._tensors.first(what))

    def _by_index(self, what: OpCall) -> Array:
        """Entries that are chosen by what is in other tensors."""
        first, second = (self._tensors.rows_of(value) for value in (argument(what, "x"), argument(what, "indices")))
        axis, within = (self._tensors.whole_number(argument(what, key)) for key in ("axis", "batch_dims"))
        chosen = along(first, [axis])
        if within:
            if first.ndim != second.ndim or axis % first.ndim != within:
                raise UnreadableCall
            return combined([chosen, second])
        axis %= first.ndim
        around = chosen.reshape((*first.shape[:axis], *[1] * second.ndim, *first.shape[axis + 1 :]))
        return combined([around, second.reshape((*second.shape, *[1] * (first.ndim - axis - 1)))])

    def _row_by_row(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor:
        """What is made of each entry along the first axis by itself; beside convolutions, of what lies on the last."""
        tensors = [tensor for tensor in given.values() if isinstance(tensor, np.ndarray)]
        sizes = self._tensors.sizes(here)[1:]
        try:
            of_rows = combined([along(tensor, range(1, tensor.ndim)).reshape(-1) for tensor in tensors])
        except RowsMixed:
            if kind_of(what) is Kind.WINDOW:
                raise
            whole = combined([along(tensor, [-1]) for tensor in tensors])
            return np.broadcast_to(whole, (*whole.shape[:-1], *sizes[-1:]))
        if not _are_known(given):
            return Known.LOST
        return np.broadcast_to(of_rows.reshape(-1, *[1] * len(sizes)), (len(of_rows), *sizes))

    def _worked_along(self, here: Ref, what: OpCall, tensor: Array) -> Tensor:
        """What is made of all that lies along some axes."""
        operation = operation_of(what)
        if operation is None:
            return Known.LOST
        if operation.kind is Kind.MATRIX:
            return Known.LOST if tensor.ndim > MATRIX else along(tensor, range(MATRIX))
        if operation.kind is Kind.SEGMENT:
            along(tensor, [self._tensors.whole_number(what.kwargs.get("axis"))])
            return Known.LOST
        is_reduced = operation.kind is Kind.REDUCTION
        if not is_reduced and operation.kind not in (Kind.ALONG, Kind.FOLD):
            return Known.LOST
        keeps = bool(argument(what, "keepdims"))
        axes = self._axes_of(what, operation.axis, tensor.ndim)
        if any(tensor.shape[axis] == self._tensors.rows for axis in axes) and np.all(tensor["element"] == NO_ROW):
            raise UnreadableCall  # of as many as there are rows
        made = along(tensor, axes, keepdims=keeps or not is_reduced)
        if is_reduced:
            return made
        return np.broadcast_to(made, tensor.shape) if operation.keeps_shape else self._tensors.sized(here, made)

    def _letters(self, what: OpCall) -> tuple[list[tuple[str, Array]], str]:
        """A product's tensors, each with the letters of its axes, and the letters of what it gives."""
        if what.name == "einsum":
            equation = argument(what, "subscripts")
            if not isinstance(equation, str):
                raise UnreadableCall
            refs = refs_in([*what.args, *what.kwargs.values()])
            operands = product_axes.operands_of(equation)
            tensors = [self._tensors.rows_of(ref, len(each)) for ref, each in zip(refs, operands, strict=True)]
            letters, output = product_axes.of_einsum(equation, [tensor.ndim for tensor in tensors])
            return [*zip(letters, tensors, strict=True)], output
        first, second = self._tensors.first(what), self._tensors.rows_of(argument(what, "y"), MATRIX)
        ranks = first.ndim, second.ndim
        if what.name == "tensordot":
            summed = self._summed(argument(what, "axes"), first.ndim)
            letters, output = product_axes.of_tensordot(ranks, summed)
        elif what.name == "dot":  # of every matrix of the one with every matrix of the other
            letters, output = product_axes.of_tensordot(ranks, ([ranks[0] - 1], [max(ranks[1] - MATRIX, 0)]))
        elif what.name != "matmul":
            raise UnreadableCall
        else:
            letters, output = product_axes.of_matrices(ranks, (_is_turned(what, "a"), _is_turned(what, "b")))
        return [*zip(letters, (first, second), strict=True)], output

    def _summed(self, axes: Value, rank: int) -> tuple[list[int], list[int]]:
        """The axes of two tensors that a product is summed over; the last of one and the first of the other."""
        if isinstance(axes, (list, tuple)):
            one, other = (self._tensors.numbers(each) for each in axes)
            return one, other
        number = 2 if axes is None else self._tensors.whole_number(axes)
        return [*range(rank - number, rank)], [*range(number)]

    def _in_another_order(self, here: Ref, what: OpCall) -> Array:
        """Rows that were mixed, or stand elsewhere; layers whose first axis is time take the rows for it."""
        tensor = self._tensors.first(what)
        combined([tensor, each_its_own(tensor.shape)])
        if what.name != "takes":
            raise RowsMixed
        self._tensors.taken.add(here)
        return self._elsewhere((self._tensors.rows, *self._tensors.sizes(here)[1:]))

    def _elsewhere(self, shape: Sequence[int]) -> Array:
        """Some of the rows, or in another order: what stands for them is that every one stands a place further."""
        return each_its_own(shape, np.roll(np.arange(self._tensors.rows), 1))

    def _axes_of(self, what: OpCall, default: int | None, rank: int) -> Collection[int]:
        """The axes that an operation works along. Raises NOT_COMPUTED where they are computed of rows."""
        axis = default if (named := argument(what, "axis")) is None else named
        numbers = range(rank) if axis is None else self._tensors.numbers(axis)
        if any(not -rank <= number < rank for number in numbers):
            raise ValueError("an axis that a tensor does not have")
        return numbers


def _axes_of_rows(tensor: Array) -> list[int]:
    """The axes along which its numbers are made of other rows."""
    return [axis for axis, stride in enumerate(tensor.strides) if stride and tensor.shape[axis] > 1]


def _varies(tensor: Array, axis: int) -> bool:
    """Whether what stands along an axis is not the same."""
    return bool(np.any(tensor["element"] != tensor["element"].take([0], axis)))


def _has_several(tensor: Array, axis: int) -> bool:
    """Whether different rows stand along an axis."""
    entries = tensor["element"]
    return bool(np.any((entries != entries.max(axis, keepdims=True)) & (entries != NO_ROW)))


def _reaches_the_end(what: OpCall, tensor: Array) -> bool:
    """Whether rows are taken up to a number that is as many as are tried, or more: of a larger tower, not all are."""
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
    """The sizes of a tensor, one of whose axes are the rows. Raises UnreadableCall for others."""
    axes = _axes_of_rows(tensor)
    if len(axes) != 1:
        raise UnreadableCall
    one, other = np.array(tensor.shape), np.array(tensor.shape)
    other[axes[0]] *= 2
    if what.name == "shape":
        return Counts(one, other, np.arange(tensor.ndim) == axes[0])
    return Counts(one.prod(), other.prod(), np.ones((), bool))


def _are_known(given: Mapping[Ref, Tensor]) -> bool:
    return not any(tensor is Known.LOST for tensor in given.values())


def _is_turned(what: OpCall, side: str) -> bool:
    """Whether a product takes a matrix transposed."""
    return any(argument(what, f"{how}_{side}") for how in ("transpose", "adjoint"))


def _names(kind: Kind) -> Iterator[str]:
    """The names of operations of a kind that are made of a tensor."""
    return (name for name, operation in OPERATIONS.items() if operation.kind is kind and "x" in operation.parameters)
