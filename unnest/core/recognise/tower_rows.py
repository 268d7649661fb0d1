"""The tensors of a tower, carried out on the numbers of their rows: what becomes of rows on their way through it.

As in `tensor_graph`, what moves numbers about moves these; what computes with some depends on the rows of all of them
(`row_dependence`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.budget import spend
from unnest.core.architecture.graph import CallId, Ref
from unnest.core.keras_facts.shape_rules import Shape
from unnest.core.recognise import product_axes, row_dependence
from unnest.core.recognise.carried_out import carry_out, contents
from unnest.core.recognise.elements import ELEMENT, NOT_COMPUTED, Array, ByContents, check_size, whole_numbers
from unnest.core.recognise.followed_slices import RowsMade
from unnest.core.recognise.kernels import TABLE
from unnest.core.recognise.layer_tensors import OF_CODE
from unnest.core.recognise.op_calls import OpCall, UnreadableCall, Value, argument, refs_in
from unnest.core.recognise.op_kinds import (
    ALONG,
    MATRIX,
    MATRIX_PRODUCTS,
    OF_ALL_ROWS,
    OF_MATRICES,
    REDUCING,
    TAKING_NO_AXIS,
)
from unnest.core.recognise.op_shapes import KEEPING_SHAPE
from unnest.core.recognise.row_dependence import NO_ROW, THEIR_NUMBER, RowsMixed, along, combined, each_its_own, every
from unnest.core.recognise.row_keeping import KEEPING, NUMBER_BY_NUMBER, OVER_STEPS
from unnest.core.recognise.tensor_graph import TensorGraph, Values

CHOOSING = frozenset({
    "merge", "switch", "if", "statelessif", "while", "statelesswhile", "exit", "sequencemask", "shapen", "rank",
})  # fmt: skip
"""Operations that need not hand on what is in their tensors: one of two branches (training or not), a size."""

SIZES = frozenset({"shape", "size"})
"""Operations that tell how many rows there are."""

ALIKE = frozenset({"zeroslike", "oneslike"})
"""Operations that give the same number everywhere."""

PARTS_OF_SHAPES = frozenset({"getitem", "stridedslice", "slice", "gather", "gatherv2", "unstack", "split"})
"""Operations that may take sizes out of a shape, the number of rows or others."""

COUNTING = (KEEPING - OVER_STEPS - {"rowwise"}) | REDUCING | PARTS_OF_SHAPES | frozenset({
    "range", "arange", "linspace", "stack", "pack", "expanddims", "squeeze", "reshape", "concat", "concatenate",
    "zeros", "ones", "fill", "tile", "broadcastto",
})  # fmt: skip
"""Operations whose values depend on numbers that they are given; all others may only make a tensor of that size."""

BY_INDEX = frozenset({"gather", "gatherv2", "take", "embeddinglookup"})
"""Operations that take entries of their first tensor by numbers in their second."""

BY_MASK = frozenset({"booleanmask", "dynamicpartition"})
"""Operations that give those rows of their first tensor that their second one chooses."""

ROWS = 60
"""Of the batch that is tried: many numbers of parts divide it."""


class RowsKept(NamedTuple):
    """What becomes of the rows of some tensors on their way to others.

    `mixing` is the first call that works along them, None if none is known to; `is_told`: whether all is known to keep
    every row where it is.
    """

    mixing: CallId | None
    is_told: bool

    @property
    def objection(self) -> str | None:
        """Why towers of such rows are none; None where nothing is known to mix them."""
        return None if self.mixing is None else f"{self.mixing.layer}, a part of the towers, works along the batch"


class Known(Enum):
    """What else than the rows that it is made of can be known of a tensor."""

    PLAIN = "that it is made of none"
    LOST = "nothing"


class Counts(NamedTuple):
    """Numbers that are made of sizes: in the batch that is tried, and in one of twice as many rows."""

    one: Array
    other: Array

    @property
    def are_same(self) -> bool:
        """Whether they are the same in both, or one number everywhere."""
        if self.one.shape == self.other.shape:
            return np.array_equal(self.one, self.other)
        return self.one.size > 0 and bool(np.all(np.append(self.one, self.other) == self.one.flat[0]))


Tensor: TypeAlias = "Array | Counts | Known"
"""The rows that numbers are made of, or what else is known."""


class TowerRows:
    """The tensors behind some entries, carried out on the numbers of their rows.

    `rank` and `size` stand for those that are not known; `guesses_ranks`: whether a rank was.
    """

    def __init__(self, graph: TensorGraph, entries: Mapping[Ref, Shape | None], rank: int, size: int) -> None:
        self.graph, self.rank, self.size = graph, rank, size
        self.guesses_ranks = False
        #: Shapes by tensor, those of the entries first; the others are added as they are worked out.
        self.shapes: dict[Ref, Shape | None] = {ref: shape for ref, shape in entries.items() if shape is not None}
        told = {self._told_rows(ref) for ref in entries}
        fixed = told.pop() if len(told) == 1 else None
        self.rows = fixed if fixed is not None and fixed > 1 else ROWS
        self.constants = Values(graph, self.rows, 0, {})
        self.tensors: dict[Ref, Tensor] = {}
        #: Those with sizes that are made up.
        self.guessed: set[Ref] = set()
        #: Those of rows that code took, nobody knows how many.
        self.taken: set[Ref] = set()
        #: Operations of which more counts than the rows that they are made of.
        self._whole: dict[str, Callable[[Ref, OpCall], Tensor]] = {
            **dict.fromkeys((OF_CODE[RowsMade.MIXED], OF_CODE[RowsMade.OTHERS], "timemajor"), self._in_another_order),
            **dict.fromkeys(SIZES, lambda _, what: _size(what, self._first(what))),
            **dict.fromkeys(ALIKE, lambda _, what: every(NO_ROW, self._first(what).shape)),
        }
        for ref in entries:
            self.tensors[ref] = each_its_own((self.rows, *self._sizes(ref)[1:]))

    def _told_rows(self, ref: Ref) -> int | None:
        """How many rows a tensor has, where that is told."""
        shape = None if self.graph.rank_of(ref, self.shapes) is None else self.graph.shape(ref, self.shapes)
        return shape[0] if shape else None

    def kept_up_to(self, end: Ref) -> RowsKept:
        """What becomes of the rows up to one tensor."""
        entered: set[Ref] = set()
        pending = [end]
        while pending:
            spend()
            here = pending[-1]
            if here in self.tensors:
                pending.pop()
                continue
            what = self.graph.computed(here.call, self.shapes)
            reads = [] if what.name in CHOOSING else [*self.graph.reads(here.call)]
            missing = [ref for ref in reads if ref not in self.tensors and ref not in entered]
            if here not in entered and missing:
                entered.add(here)
                pending += missing
                continue
            pending.pop()
            try:
                self._make(here, what, reads)
            except RowsMixed:
                return RowsKept(here.call, is_told=False)
        return self._told_of(end)

    def _told_of(self, end: Ref) -> RowsKept:
        """Whether rows stand where they did."""
        tensor = self.tensors[end]
        if not isinstance(tensor, np.ndarray) or not tensor.ndim or not np.any(tensor["element"] != NO_ROW):
            return RowsKept(None, is_told=False)
        a_row, rest = divmod(len(tensor), self.rows)
        order = np.repeat(np.arange(self.rows), a_row)  # of rows that were flattened, several entries each
        try:
            combined([tensor, each_its_own((len(tensor), *tensor.shape[1:]), order)])
        except (RowsMixed, ValueError):
            rest = 1
        return RowsKept(end.call if rest else None, is_told=not rest)

    def _make(self, here: Ref, what: OpCall, reads: Sequence[Ref]) -> None:
        """Carry out one call, for all of its tensors. Raises RowsMixed."""
        given = {ref: self.tensors.get(ref, Known.LOST) for ref in reads}
        for tensors in (self.guessed, self.taken):
            if not tensors.isdisjoint(reads):
                tensors.add(here)
        try:
            made = self._made(here, what, given)
        except NOT_COMPUTED:
            made = Known.LOST
        for number, tensor in enumerate(made) if isinstance(made, list) else [(here.tensor, made)]:
            self.tensors[Ref(here.layer, here.rank, number)] = tensor
        self.tensors.setdefault(here, Known.LOST)
        tensor = self.tensors[here]
        if isinstance(tensor, np.ndarray) and self.shapes.get(here) is None:
            guessed = (self.rows, self.size)
            self.shapes[here] = tuple(None if size in guessed else size for size in tensor.shape)

    def _made(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """What a call makes of tensors, all outputs of operations that have several. Raises RowsMixed, NOT_COMPUTED."""
        if what.name in CHOOSING:
            return Known.LOST
        if not any(isinstance(tensor, np.ndarray) for tensor in given.values()):
            return self._of_numbers(here, what, given)
        if what.name in self._whole:
            return self._whole[what.name](here, what)
        try:
            return self._moved(what, given)
        except ByContents:
            return self._computed(here, what, given)

    # What is made of no rows

    def _of_numbers(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """What is made of no rows, but perhaps of how many there are."""
        if all(tensor is Known.PLAIN for tensor in given.values()):
            return Known.PLAIN
        if not _are_known(given) or what.name not in COUNTING:
            return Known.LOST
        try:
            one, other = (carry_out(what, partial(self._number, batch=batch)) for batch in range(2))
        except NOT_COMPUTED:
            if not any(isinstance(tensor, Counts) and not tensor.are_same for tensor in given.values()):
                return Known.PLAIN
            return Known.LOST if what.name in PARTS_OF_SHAPES else every(THEIR_NUMBER, self._sizes(here))
        return [Counts(*pair) for pair in zip(one, other, strict=True)]

    def _number(self, ref: Ref, batch: int = 0) -> Array:
        """The numbers of a tensor that is made of no rows. Raises ByContents, UnreadableCall."""
        tensor = self.tensors[ref]
        if isinstance(tensor, Counts):
            return tensor[batch]
        if tensor is not Known.PLAIN:
            raise UnreadableCall
        numbers = self.constants.of(ref)
        if numbers.dtype == ELEMENT:
            raise UnreadableCall
        return numbers

    # What is made of rows

    def _moved(self, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor | list[Tensor]:
        """What an operation makes that moves numbers about. Raises ByContents where it does something else."""
        if what.name not in TABLE:
            raise ByContents
        if (what.name == "reshape" and not self.guessed.isdisjoint(given)) or not self.taken.isdisjoint(given):
            raise UnreadableCall
        moved = {*refs_in(contents(what))}
        has_rows = any(isinstance(given[ref], np.ndarray) for ref in moved)
        check_size(sum(tensor.size for tensor in map(given.get, moved) if isinstance(tensor, np.ndarray)))

        def lookup(ref: Ref) -> Array:
            is_number = not isinstance(given[ref], np.ndarray) and not (ref in moved and has_rows)
            return self._number(ref) if is_number else self._rows_of(ref)

        return [*carry_out(what, lookup)]

    def _computed(self, here: Ref, what: OpCall, given: Mapping[Ref, Tensor]) -> Tensor:
        """What an operation makes that computes. Raises RowsMixed, NOT_COMPUTED."""
        name = what.name
        if name == "where" and len(given) == 1:
            raise RowsMixed
        if name in BY_MASK:
            return self._elsewhere(self._first(what).shape)
        if name in BY_INDEX:
            return self._by_index(what)
        if name in NUMBER_BY_NUMBER:
            known = [ref for ref in given if given[ref] is not Known.LOST]
            made = combined([self._rows_of(ref, 0) for ref in known])
            return made if len(known) == len(given) else Known.LOST
        if name in KEEPING:
            return self._row_by_row(here, what, given)
        if name in MATRIX_PRODUCTS or name in ("tensordot", "einsum"):
            return self._sized(here, row_dependence.product(*self._letters(what)))
        return self._worked_along(here, what, self._first(what))

    def _by_index(self, what: OpCall) -> Array:
        """Entries that are chosen by what is in other tensors."""
        first, second = (self._rows_of(value) for value in (argument(what, 0, "params", "x"), _indices(what)))
        axis, within = (self._whole_number(argument(what, 99, key)) for key in ("axis", "batch_dims"))
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
        sizes = self._sizes(here)[1:]
        try:
            of_rows = combined([along(tensor, range(1, tensor.ndim)).reshape(-1) for tensor in tensors])
        except RowsMixed:
            if what.name in OVER_STEPS:
                raise
            whole = combined([along(tensor, [-1]) for tensor in tensors])
            return np.broadcast_to(whole, (*whole.shape[:-1], *sizes[-1:]))
        if not _are_known(given):
            return Known.LOST
        return np.broadcast_to(of_rows.reshape(-1, *[1] * len(sizes)), (len(of_rows), *sizes))

    def _worked_along(self, here: Ref, what: OpCall, tensor: Array) -> Tensor:
        """What is made of all that lies along some axes."""
        if what.name in OF_MATRICES:
            return Known.LOST if tensor.ndim > MATRIX else along(tensor, range(MATRIX))
        if what.name in OF_ALL_ROWS:
            along(tensor, [self._whole_number(what.kwargs.get("axis"))])
            return Known.LOST
        is_reduced = what.name in REDUCING or (what.name == "moments" and bool(what.kwargs))
        if not is_reduced and what.name not in ALONG:
            return Known.LOST
        keeps = any(what.kwargs.get(key) for key in ("keepdims", "keep_dims"))
        made = along(tensor, self._axes_of(what, tensor.ndim), keepdims=keeps or not is_reduced)
        if is_reduced:
            return made
        return np.broadcast_to(made, tensor.shape) if what.name in KEEPING_SHAPE else self._sized(here, made)

    def _letters(self, what: OpCall) -> tuple[list[tuple[str, Array]], str]:
        """A product's tensors, each with the letters of its axes, and the letters of what it gives."""
        if what.name == "einsum":
            equation = what.kwargs.get("subscripts", what.args[0])
            if not isinstance(equation, str):
                raise UnreadableCall
            refs = refs_in([*what.args, *what.kwargs.values()])
            operands = product_axes.operands_of(equation)
            tensors = [self._rows_of(ref, len(each)) for ref, each in zip(refs, operands, strict=True)]
            letters, output = product_axes.of_einsum(equation, [tensor.ndim for tensor in tensors])
            return [*zip(letters, tensors, strict=True)], output
        first, second = self._first(what), self._rows_of(argument(what, 1, "b", "x2", "y"), MATRIX)
        ranks = first.ndim, second.ndim
        if what.name in MATRIX_PRODUCTS:
            letters, output = product_axes.of_matrices(ranks, (_is_turned(what, "a", "x"), _is_turned(what, "b", "y")))
        else:
            summed = self._summed(argument(what, 2, "axes"), first.ndim)
            letters, output = product_axes.of_tensordot(ranks, summed)
        return [*zip(letters, (first, second), strict=True)], output

    def _summed(self, axes: Value, rank: int) -> tuple[list[int], list[int]]:
        """The axes of two tensors that a product is summed over; the last of one and the first of the other."""
        if isinstance(axes, (list, tuple)):
            one, other = (self._numbers(each) for each in axes)
            return one, other
        number = 2 if axes is None else self._whole_number(axes)
        return [*range(rank - number, rank)], [*range(number)]

    def _in_another_order(self, here: Ref, what: OpCall) -> Array:
        """Rows that were mixed, or stand elsewhere; layers whose first axis is time take the rows for it."""
        tensor = self._first(what)
        combined([tensor, each_its_own(tensor.shape)])
        if what.name != OF_CODE[RowsMade.OTHERS]:
            raise RowsMixed
        self.taken.add(here)
        return self._elsewhere((self.rows, *self._sizes(here)[1:]))

    def _elsewhere(self, shape: Sequence[int]) -> Array:
        """Some of the rows, or in another order: what stands for them is that every one stands a place further."""
        return each_its_own(shape, np.roll(np.arange(self.rows), 1))

    # Shapes and arguments

    def _first(self, what: OpCall) -> Array:
        """The rows of the first tensor that an operation is given."""
        for ref in refs_in([*what.args, *what.kwargs.values()]):
            return self._rows_of(ref)
        raise UnreadableCall

    def _rows_of(self, value: Value, rank: int | None = None) -> Array:
        """The rows that a tensor's numbers are made of; `rank`: of one without any, if it is not known."""
        if not isinstance(value, Ref):
            return every(NO_ROW, np.shape(value))
        tensor = self.tensors[value]
        if isinstance(tensor, np.ndarray):
            return tensor
        if isinstance(tensor, Counts):
            return every(NO_ROW if tensor.are_same else THEIR_NUMBER, tensor.one.shape)
        if tensor is Known.LOST:
            raise UnreadableCall
        is_unknown = rank is not None and self.graph.rank_of(value, self.shapes) is None
        return every(NO_ROW, [1] * (rank or 0) if is_unknown else self._sizes(value, rows=1))

    def _sizes(self, ref: Ref, rows: int | None = None) -> tuple[int, ...]:
        """The shape of a tensor, with what stands for sizes that are not known."""
        if self.graph.rank_of(ref, self.shapes) is None:
            self.guesses_ranks = True
            self.guessed.add(ref)
            shape: Shape = (None,) * self.rank
        else:
            shape = self.graph.shape(ref, self.shapes) or ()
        if None in shape[1:]:
            self.guessed.add(ref)
        first = [self.rows if size is None and rows is None else size or 1 for size in shape[:1]]
        return (*first, *(self.size if size is None else size for size in shape[1:]))

    def _sized(self, here: Ref, tensor: Array) -> Array:
        """A tensor with its own sizes in place of single entries, as far as they are known."""
        if self.graph.rank_of(here, self.shapes) != tensor.ndim:
            return tensor
        shape = self.graph.shape(here, self.shapes) or ()
        return np.broadcast_to(
            tensor, [size if size > 1 or own is None else own for size, own in zip(tensor.shape, shape, strict=True)]
        )

    def _axes_of(self, what: OpCall, rank: int) -> Collection[int]:
        """The axes that an operation works along. Raises NOT_COMPUTED where they are computed of rows."""
        position = len(what.args) if what.name in TAKING_NO_AXIS else 1
        given = argument(what, position, "axis", "axes", "reduction_indices", "dim")
        given = ALONG.get(what.name) if given is None else given
        numbers = range(rank) if given is None else self._numbers(given)
        if any(not -rank <= number < rank for number in numbers):
            raise ValueError("an axis that a tensor does not have")
        return numbers

    def _numbers(self, value: Value) -> list[int]:
        """The whole numbers of an argument. Raises NOT_COMPUTED."""
        return whole_numbers(self._number(value) if isinstance(value, Ref) else value)

    def _whole_number(self, value: Value) -> int:
        """One of them; 0 where there is none."""
        return 0 if value is None else self._numbers(value)[0]


def _size(what: OpCall, tensor: Array) -> Counts:
    """The sizes of a tensor, one of whose axes are the rows. Raises UnreadableCall for others."""
    axes = [axis for axis, stride in enumerate(tensor.strides) if stride and tensor.shape[axis] > 1]
    if len(axes) != 1:
        raise UnreadableCall
    one, other = np.array(tensor.shape), np.array(tensor.shape)
    other[axes[0]] *= 2
    return Counts(one, other) if what.name == "shape" else Counts(one.prod(), other.prod())


def _are_known(given: Mapping[Ref, Tensor]) -> bool:
    return not any(tensor is Known.LOST for tensor in given.values())


def _is_turned(what: OpCall, *sides: str) -> bool:
    """Whether a product takes a matrix transposed."""
    return any(what.kwargs.get(f"{how}_{side}") for how in ("transpose", "adjoint", "adj") for side in sides)


def _indices(what: OpCall) -> Value:
    return argument(what, 1, "indices", "ids")
