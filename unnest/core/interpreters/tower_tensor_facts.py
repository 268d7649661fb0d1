"""Facts on a tower's tensors: the rows that their numbers depend on, their sizes, and plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias

import numpy as np

from unnest.core.interpreters.batch_size_values import BatchSizeValues
from unnest.core.interpreters.numbered_rows import Values
from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW, each_its_own, every
from unnest.core.interpreters.tensor_graph import TensorGraph
from unnest.core.model import Ref, Shape, Unknown
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array
from unnest.core.ops.operation_kinds import JOINS, MOVES, SLICES
from unnest.core.ops.read_whole_numbers import whole_numbers
from unnest.core.ops.registry import contents, kind_of

TRIAL_BATCH_ROWS = 60
"""Of the batch that is tried: many numbers of parts divide it."""


class RowFacts(Enum):
    """Facts on a tensor for which there is no array of rows."""

    PLAIN = "that it depends on no row"
    UNKNOWN = "nothing"


TensorRows: TypeAlias = "Array | BatchSizeValues | RowFacts"
"""The rows that numbers are made of, or what else is known."""


def batch_size(fixed: Sequence[int | None]) -> int:
    """Return the number of rows to try: that of all inputs if the file fixes it, else `TRIAL_BATCH_ROWS`."""
    sizes = {*fixed}
    size = sizes.pop() if len(sizes) == 1 else None
    return size if size is not None and size > 1 else TRIAL_BATCH_ROWS


class TowerTensors:
    """Facts on the tensors behind some entries: the rows that each of their numbers depends on.

    `rank` and `size` stand for those that are not known; `guesses_ranks`: whether a rank was.
    """

    def __init__(
        self, graph: TensorGraph, entries: Mapping[Ref, Shape | None], rank: int, size: int
    ) -> None:
        self.graph, self.rank, self.size = graph, rank, size
        self.guesses_ranks = False
        #: Shapes by tensor, those of the entries first; the others are added as they are worked out.
        self.shapes: dict[Ref, Shape | None] = {
            ref: shape for ref, shape in entries.items() if shape is not None
        }
        self.rows = batch_size([self._row_count(ref) for ref in entries])
        self.constants = Values(graph, self.rows, 0, {})
        self.tensors: dict[Ref, TensorRows] = {}
        #: Tensors with sizes that were guessed.
        self.guessed: set[Ref] = set()
        #: Tensors of rows that code took, unknown in number.
        self.of_unknown_count: set[Ref] = set()
        #: Tensors whose rows may differ at another batch size.
        self.of_one_batch: set[Ref] = set()
        #: The first tensor that is computed as each is, perhaps of other rows: itself if no earlier one is.
        self.first_alike: dict[Ref, Ref] = {ref: ref for ref in entries}
        self._computed: dict[tuple[str, int, tuple[Ref, ...]], list[Ref]] = {}
        for ref in entries:
            self.tensors[ref] = each_its_own((self.rows, *self.sizes(ref)[1:]))

    def _row_count(self, ref: Ref) -> int | None:
        """Return the number of rows of a tensor; None if unknown."""
        shape = (
            None
            if self.graph.rank_of(ref, self.shapes) is None
            else self.graph.shape(ref, self.shapes)
        )
        return shape[0] if shape else None

    def add_first(self, here: Ref, op_call: OpCall, reads: Sequence[Ref]) -> None:
        """Note what a tensor is computed as; what is only moved, or put together of one that is, is as that was."""
        moved = refs_in(contents(op_call)) if kind_of(op_call) in SLICES | MOVES | JOINS else ()
        of_moved = {self.first_alike.get(ref, ref) for ref in moved}
        if len(of_moved) == 1:
            self.first_alike[here] = of_moved.pop()
            return
        alike = self._computed.setdefault(
            (op_call.name, here.tensor, tuple(self.first_alike.get(r, r) for r in reads)), []
        )
        first = next(
            (ref for ref in alike if reads and self.graph.differ((ref, here)) is None), here
        )
        self.first_alike[here] = first
        if first == here:
            alike.append(here)

    def first(self, op_call: OpCall) -> Array:
        """Return the row dependence of the first tensor that an operation reads. Raises Unknown."""
        for ref in refs_in([*op_call.args, *op_call.kwargs.values()]):
            return self.rows_of(ref)
        raise Unknown("the tensor that an operation reads")

    def rows_of(self, value: Value, rank: int | None = None) -> Array:
        """Return the row dependence of an argument; `rank` is that of one without rows, if it is unknown.

        Raises Unknown.
        """
        if not isinstance(value, Ref):
            return every(NO_ROW, np.shape(value))
        tensor = self.tensors[value]
        if isinstance(tensor, np.ndarray):
            return tensor
        if isinstance(tensor, BatchSizeValues):
            return tensor.row_dependence
        if tensor is RowFacts.UNKNOWN:
            raise Unknown("the rows of a tensor")
        is_unknown = rank is not None and self.graph.rank_of(value, self.shapes) is None
        return every(NO_ROW, [1] * (rank or 0) if is_unknown else self.sizes(value, rows=1))

    def axes_of(self, value: Value) -> int | None:
        """Return the number of axes of an argument; None if it is unknown."""
        if not isinstance(value, Ref):
            return np.ndim(value)
        tensor = self.tensors[value]
        if isinstance(tensor, np.ndarray):
            return tensor.ndim
        return (
            tensor.at_batch.ndim
            if isinstance(tensor, BatchSizeValues)
            else self.graph.rank_of(value, self.shapes)
        )

    def sizes(self, ref: Ref, rows: int | None = None) -> tuple[int, ...]:
        """Return the shape of a tensor, with stand-ins for unknown sizes."""
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

    def sized(self, here: Ref, tensor: Array) -> Array:
        """Return a tensor's row dependence at its own sizes, as far as they are known, in place of single entries."""
        if self.graph.rank_of(here, self.shapes) != tensor.ndim:
            return tensor
        shape = self.graph.shape(here, self.shapes) or ()
        return np.broadcast_to(
            tensor,
            [
                size if size > 1 or own is None else own
                for size, own in zip(tensor.shape, shape, strict=True)
            ],
        )

    def counted(self, ref: Ref) -> BatchSizeValues | Array:
        """Return the numbers of a tensor that depends on no row. Raises DataDependent, Unknown."""
        tensor = self.tensors[ref]
        if isinstance(tensor, BatchSizeValues):
            return tensor
        if tensor is not RowFacts.PLAIN:
            raise Unknown("the numbers of a tensor")
        numbers = self.constants.of(ref)
        if numbers.dtype == ELEMENT:
            raise Unknown("the numbers of a tensor")
        return numbers

    def number(self, ref: Ref) -> Array:
        """Return the plain numbers of a tensor at the batch size that is tried. Raises DataDependent, Unknown."""
        counted = self.counted(ref)
        return counted.at_batch if isinstance(counted, BatchSizeValues) else counted

    def numbers(self, value: Value) -> list[int]:
        """Return the whole numbers of an argument. Raises NOT_COMPUTED."""
        return whole_numbers(self.number(value) if isinstance(value, Ref) else value)

    def whole_number(self, value: Value) -> int:
        """Return the first whole number of an argument; 0 for None. Raises NOT_COMPUTED."""
        return 0 if value is None else self.numbers(value)[0]
