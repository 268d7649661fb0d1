"""Operations of a tower that work along the batch: rows are reduced, sorted, weighed against each other.

Such a tower does not compute row by row: what it gives for a row depends on which rows it got with it, on its place
among them, or on their number. The axis of the rows is followed from the slices on, through what is known of each
operation. Where it is lost, nothing proves that the tower computes row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from unnest.budget import remembered, spend
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.keras_facts.shape_rules import Shape
from unnest.core.recognise.carried_out import literal_axis
from unnest.core.recognise.elements import NOT_COMPUTED, Array, check_size, whole_numbers
from unnest.core.recognise.followed_slices import RowsMade
from unnest.core.recognise.layer_tensors import OF_CODE, LayerTensors
from unnest.core.recognise.op_calls import OpCall, Value
from unnest.core.recognise.op_kinds import (
    ALONG,
    CONCATENATES,
    MATRIX,
    MATRIX_PRODUCTS,
    OF_ALL_ROWS,
    OF_MATRICES,
    REDUCING,
    TAKING_NO_AXIS,
)
from unnest.core.recognise.row_keeping import KEEPING, OVER_STEPS, TAKING
from unnest.core.recognise.symbolic_rows import DIVISIBLE
from unnest.core.recognise.tensor_graph import TensorGraph, Values, numbered, row_sizes, rows_of

CHOOSING = frozenset({
    "merge", "switch", "if", "statelessif", "while", "statelesswhile", "exit", "sequencemask", "shapen", "rank",
    "zeroslike", "oneslike", "zeros", "ones", "fill",
})  # fmt: skip
"""Operations that need not hand on what is in their tensors: one of two branches (training or not), a size."""

PADDING = frozenset({"pad", "padv2", "mirrorpad"})
"""Operations that put something around a tensor, so much before and behind it along each axis."""

SIZES = frozenset({"shape", "size"})
"""Operations that tell how many rows there are."""

PARTS_OF_SHAPES = frozenset({"getitem", "stridedslice", "slice", "gather", "gatherv2", "unstack", "split"})
"""Operations that may take sizes out of a shape, the number of rows or others."""

COUNTING = (KEEPING - OVER_STEPS - {"rowwise"}) | REDUCING | frozenset({
    "range", "arange", "linspace", "stack", "pack", "expanddims", "squeeze", "reshape",
}) | PARTS_OF_SHAPES  # fmt: skip
"""Operations whose values depend on numbers that they are given; all others may only make a tensor of that size."""

LOST = -1
"""The axis of rows that nobody knows the place of."""

MIXED = -2
"""Stands for rows that were mixed."""

COUNT = -3
"""Of numbers that are made of the number of rows."""

SOME = -4
"""Of rows that stand elsewhere than they did, or for others."""


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


def rows_kept(graph: TensorGraph, ends: Collection[Ref], entries: Mapping[Ref, Shape | None]) -> RowsKept:
    """What becomes of rows (`entries`, on axis 0, with the shapes that are known beside the graph) up to the ends.

    A loss is reduced over the batch, beside what is told of rows: it counts where nothing else is told.
    """
    calls, axes = zip(*(_RowAxes(graph, entries).followed_to(end) for end in ends), strict=True)
    losses = [call for call, end in zip(calls, ends, strict=True) if call and None in calls and _is_loss(graph, end)]
    mixing = next((call for call in calls if call is not None and call not in losses), None)
    return RowsKept(mixing, all(axis == 0 or call in losses for call, axis in zip(calls, axes, strict=True)))


def _is_loss(graph: TensorGraph, ref: Ref) -> bool:
    """Whether a tensor is a number, or one in a row of its own."""
    return graph.is_number(ref) or (graph.shape(ref) or (None,))[0] == 1


def mixing_layer(model: Graph) -> str | None:
    """The layer of a model, or of one nested in it, that works along the batch for certain; None if none.

    Asked once, however many models it is in.
    """
    return remembered(_mixing_layer, model)


def _mixing_layer(model: Graph) -> str | None:
    at = rows_kept(LayerTensors(model), model.outputs, dict.fromkeys(model.inputs)).mixing if model.outputs else None
    if at is not None:
        return at.layer
    nested = (layer for layer in model.layers.values() if is_model(layer.stored) and layer.calls)
    return next((name for layer in nested if (name := mixing_layer(read(layer.stored))) is not None), None)


class _RowAxes:
    """Where the rows of some entries lie in what is made of them: an axis, None for no rows, or one of the above."""

    def __init__(self, graph: TensorGraph, entries: Mapping[Ref, Shape | None]) -> None:
        self.graph = graph
        self.axes: dict[Ref, int | None] = dict.fromkeys(entries, 0)
        #: Shapes by tensor, those of the entries first; the others are added as they are worked out.
        self.shapes: dict[Ref, Shape | None] = {ref: shape for ref, shape in entries.items() if shape is not None}
        #: Numbers that are made of sizes, in a batch of DIVISIBLE rows and in one of twice as many.
        self.counts: dict[Ref, tuple[Array, Array]] = {}
        #: Operations on several tensors that are alike -> where the rows lie behind them.
        self._of_several: dict[str, Callable[[Ref, OpCall, Mapping[Ref, int | None]], int]] = {
            **dict.fromkeys((OF_CODE[RowsMade.MIXED], OF_CODE[RowsMade.OTHERS]), _of_code),
            **dict.fromkeys(CONCATENATES, self._concatenated),
            "einsum": _of_einsum,
        }

    def followed_to(self, end: Ref) -> tuple[CallId | None, int | None]:
        """(the first call that mixes rows, None if none does; where the rows lie in a tensor)."""
        entered: set[Ref] = set()
        pending = [end]
        while pending:
            spend()
            here = pending[-1]
            if here in self.axes:
                pending.pop()
                continue
            what = self.graph.computed(here.call, self.shapes)
            reads = [] if what.name in CHOOSING else [*self.graph.reads(here.call)]
            missing = [ref for ref in reads if ref not in self.axes and ref not in entered]
            if here not in entered and missing:
                entered.add(here)
                pending += missing
                continue
            pending.pop()
            axis = self._axis(here, what, {ref: self.axes.get(ref, LOST) for ref in reads})
            if axis == MIXED or (axis == SOME and here == end):
                return here.call, axis
            self.axes[here] = axis
        return None, self.axes[end]

    def _rank(self, ref: Ref) -> int | None:
        return self.graph.rank_of(ref, self.shapes)

    def _axis(self, here: Ref, what: OpCall, reads: Mapping[Ref, int | None]) -> int | None:
        """Where the rows lie in a tensor; MIXED where its operation works along them, LOST where it does not say."""
        if what.name in CHOOSING:
            return LOST
        if {*reads.values()} <= {None, COUNT} or what.name in SIZES:
            return self._of_sizes(here, what, reads)
        if what.name in KEEPING:
            is_mixed = what.name in OVER_STEPS and any(axis is not None and axis > 0 for axis in reads.values())
            return MIXED if is_mixed else self._together(reads)
        if what.name in self._of_several:
            return self._of_several[what.name](here, what, reads)
        first = next((value for value in what.args if isinstance(value, Ref)), None)
        axis = None if first is None else reads.get(first)
        is_lost = axis is None or (axis < 0 and not (axis == SOME and what.name in MATRIX_PRODUCTS))
        return LOST if first is None or axis is None or is_lost else self._of_first(here, what, first, axis, reads)

    def _of_first(self, here: Ref, what: OpCall, first: Ref, axis: int, reads: Mapping[Ref, int | None]) -> int:
        """The same of an operation on its first tensor, whose rows lie on some axis."""
        if what.name in MATRIX_PRODUCTS:
            return self._of_product(what, first, reads)
        if what.name == "tensordot":
            return _of_tensordot(what, axis, reads)
        if what.name in TAKING:
            return self._taken(here, first) if axis == 0 else LOST
        behind = self._worked_along(what, first, axis)
        return self._moved(here, what, first, axis) if behind is None else behind

    def _shape(self, ref: Ref) -> Shape | None:
        return None if self._rank(ref) is None else self.graph.shape(ref, self.shapes)

    def _of_sizes(self, here: Ref, what: OpCall, reads: Mapping[Ref, int | None]) -> int | None:
        """The same of an operation that reads no rows, but perhaps how many there are."""
        if {*reads.values()} <= {None}:
            return None
        return self._size(here, what) if what.name in SIZES else self._counted(here, what)

    def _size(self, here: Ref, what: OpCall) -> int:
        """The sizes of a tensor; LOST where they are not known, or the rows lie elsewhere."""
        first = what.args[0]
        shape = self._shape(first) if isinstance(first, Ref) and self.axes[first] == 0 else None
        if shape is None:
            return LOST
        sizes = [(rows, *row_sizes(shape[1:], DIVISIBLE)) for rows in (DIVISIBLE, 2 * DIVISIBLE)]
        one, other = (np.array(each if what.name == "shape" else np.prod(each)) for each in sizes)
        self.counts[here] = one, other
        return COUNT

    def _counted(self, here: Ref, what: OpCall) -> int | None:
        """What is made of sizes: nothing of the rows where it is the same for another number of them."""
        if what.name not in COUNTING:
            return LOST
        try:
            one, other = (
                Values(self.graph, rows, 0, {ref: arrays[k] for ref, arrays in self.counts.items()}).of(here)
                for k, rows in enumerate((DIVISIBLE, 2 * DIVISIBLE))
            )
        except NOT_COMPUTED:
            return LOST if what.name in PARTS_OF_SHAPES else COUNT
        if np.array_equal(one, other):
            return None
        self.counts[here] = one, other
        return COUNT

    def _taken(self, here: Ref, first: Ref) -> int:
        """Rows of a tensor: LOST where they cannot be computed."""
        shape = self._shape(first)
        if shape is None:
            return LOST
        sizes = (DIVISIBLE, *row_sizes(shape[1:], DIVISIBLE))
        try:
            check_size(prod(sizes))
            whole = numbered(sizes)
            part = Values(self.graph, DIVISIBLE, 0, {first: whole}).of(here)
        except NOT_COMPUTED:
            return LOST
        self.shapes[here] = (None,) * part.ndim
        if part.ndim < whole.ndim:  # one row, or one entry of every row
            return 0 if part.shape[:1] == whole.shape[:1] and _keeps_rows(part, whole) else SOME
        rows = rows_of(part, whole)
        if rows is None:
            return LOST if part.shape[:1] != whole.shape[:1] else 0 if _keeps_rows(part, whole) else SOME
        return 0 if rows == [*range(DIVISIBLE)] else SOME

    def _worked_along(self, what: OpCall, first: Ref, axis: int) -> int | None:
        """Where the rows lie behind an operation that works along some axes; None where it is none."""
        if what.name in OF_MATRICES:
            return MIXED if axis == 0 and self._rank(first) == MATRIX else LOST
        if what.name in OF_ALL_ROWS:
            return MIXED if axis == what.kwargs.get("axis", 0) else LOST
        if what.name not in REDUCING and what.name not in ALONG and not (what.name == "moments" and what.kwargs):
            return None
        along = self._axes_of(what, self._rank(first))
        if along is None:
            return LOST
        if axis in along:
            return MIXED
        return axis if what.name in ALONG or axis == 0 else LOST

    def _moved(self, here: Ref, what: OpCall, first: Ref, axis: int) -> int:
        """Where the rows lie behind an operation that may move them; MIXED where time lies on their axis."""
        if what.name == "timemajor":
            return MIXED if axis == 0 else LOST
        if what.name in PADDING:
            return self._padded(here, what, first, axis)
        if what.name == "expanddims":
            at = self._numbers(_argument(what, 1, "axis", "dim"))
            if not at or at[0] < 0:
                return LOST
            self._set_rank(here, first, 1)
            return axis + (at[0] <= axis)
        order = self._order(what, first) if what.name == "transpose" else None
        self._set_rank(here, first, 0)
        return order.index(axis) if order is not None and axis in order else LOST

    def _padded(self, here: Ref, what: OpCall, first: Ref, axis: int) -> int:
        """The same axis, whose rows are some of more where it is padded itself."""
        paddings = _argument(what, 1, "paddings", "pad_width")
        around = self._numbers(paddings[axis]) if isinstance(paddings, list) and len(paddings) > axis else None
        self._set_rank(here, first, 0)
        return LOST if around is None else SOME if any(around) else axis

    def _set_rank(self, here: Ref, first: Ref, more: int) -> None:
        """Note how many axes a tensor has: those of another one, and some more."""
        rank = self._rank(first)
        if rank is not None and self.shapes.get(here) is None:
            self.shapes[here] = (None,) * (rank + more)

    def _order(self, what: OpCall, first: Ref) -> list[int] | None:
        """The old axes in their new order; turned round where none is named."""
        named = _argument(what, 1, "perm", "axes")
        if named is not None:
            return self._numbers(named)
        rank = self._rank(first)
        return None if rank is None else [*reversed(range(rank))]

    def _together(self, reads: Mapping[Ref, int | None]) -> int:
        """The axis of rows where tensors are combined number by number: the same in all that have some.

        What is computed with other rows, or with the number of rows, is another result in another batch.
        """
        axes = {axis for axis in reads.values() if axis is not None}
        if 0 in axes and axes & {COUNT, SOME}:
            return MIXED
        if LOST in axes or axes <= {COUNT, SOME}:
            return SOME if axes == {SOME} else LOST
        axes -= {COUNT, SOME}
        ranks = {self._rank(ref) for ref, axis in reads.items() if axis in axes}
        if len(axes) == 1:
            is_one = sum(axis in axes for axis in reads.values()) == 1
            return axes.pop() if is_one or len(ranks) == 1 else LOST
        return MIXED if len(ranks) == 1 and None not in ranks else LOST

    def _concatenated(self, here: Ref, what: OpCall, reads: Mapping[Ref, int | None]) -> int:
        """Beside others along another axis rows stay where they are; along their own, parts of them may be all."""
        operands = what.args[0] if what.args and isinstance(what.args[0], list) else []
        axis = literal_axis(what)
        if axis is not None and axis < 0:
            ranks = {self._rank(ref) for ref in reads}
            axis += (ranks.pop() or 0) if len(ranks) == 1 else 0
        if axis is None or axis < 0:
            return LOST
        if axis > 0:
            return 0 if {*reads.values()} == {0} else LOST
        if len(operands) > 1 and 0 in reads.values():
            return SOME
        taken = {self._taken_from(ref) for ref in operands if isinstance(ref, Ref)}
        source = taken.pop() if len(taken) == 1 else None
        return LOST if source is None or self.axes.get(source) != 0 else self._taken(here, source)

    def _taken_from(self, ref: Ref) -> Ref | None:
        """The tensor that rows are taken out of."""
        what = self.graph.computed(ref.call, self.shapes)
        first = what.args[0] if what.name in TAKING and what.args else None
        return first if isinstance(first, Ref) else None

    def _of_product(self, what: OpCall, first: Ref, reads: Mapping[Ref, int | None]) -> int:
        """The product of two matrices: rows of the second, or columns of the first, are added up or compared."""
        second = _argument(what, 1, "b", "x2", "y")
        of_first, of_second = reads[first], reads[second] if isinstance(second, Ref) else None
        if of_first == SOME:
            return SOME if of_second is None else LOST
        is_turned = any(what.kwargs.get(key) for key in ("transpose_a", "adjoint_a"))
        if of_first == 0 and of_second is None and not is_turned:
            return 0
        if of_second is not None and of_second < 0:
            return LOST
        is_matrix = self._rank(first) == MATRIX
        return MIXED if is_matrix and (of_second is not None or of_first == int(not is_turned)) else LOST

    def _axes_of(self, what: OpCall, rank: int | None) -> Collection[int] | None:
        """The axes that an operation works along; None where they are computed. Some of unknown ranks are left out."""
        position = len(what.args) if what.name in TAKING_NO_AXIS else 1
        given = _argument(what, position, "axis", "axes", "reduction_indices", "dim")
        given = ALONG.get(what.name) if given is None else given
        if given is None and what.name != "moments":
            return range(rank or 1)
        numbers = self._numbers(given)
        if numbers is None:
            return None
        if rank is not None:
            return [number + rank if number < 0 else number for number in numbers]
        return [number for number in numbers if number >= 0]

    def _numbers(self, value: Value) -> list[int] | None:
        """The whole numbers of an argument that is written down, or computed of such; None for any other."""
        try:
            if isinstance(value, Ref):
                value = Values(self.graph, DIVISIBLE, 0, {}).of(value)
            return whole_numbers(value)
        except NOT_COMPUTED:
            return None


def _keeps_rows(part: Array, whole: Array) -> bool:
    """Whether every row is a part of the one that stood there."""
    size = whole[0].size
    rows = part["element"].reshape(len(part), -1) // size
    return bool((rows == np.arange(len(part))[:, None]).all())


def _of_code(_here: Ref, what: OpCall, reads: Mapping[Ref, int | None]) -> int:
    """Where the rows lie in what stored code makes of them, which is not each of its own."""
    if 0 not in reads.values():
        return LOST
    return MIXED if what.name == OF_CODE[RowsMade.MIXED] else SOME


def _of_einsum(_here: Ref, what: OpCall, reads: Mapping[Ref, int | None]) -> int:
    """Where the rows lie in a sum of products; MIXED where it runs over them, or pairs them."""
    equation = what.kwargs.get("subscripts", what.args[0])
    operands = [value for value in (*what.args, *what.kwargs.values()) if isinstance(value, Ref)]
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return LOST
    inputs, _, output = equation.replace(" ", "").partition("->")
    letters = set()
    for labels, operand in zip(inputs.split(","), operands, strict=False):
        axis = reads.get(operand)
        if axis is None:
            continue
        if not 0 <= axis < len(labels):
            return LOST
        letters.add(labels[axis])
    if len(letters) != 1:
        return MIXED if letters else LOST
    return output.index(letters.pop()) if letters <= {*output} else MIXED


def _of_tensordot(what: OpCall, axis: int, reads: Mapping[Ref, int | None]) -> int:
    """The same of a product summed over the axes that are named of both tensors."""
    second, axes = _argument(what, 1, "b", "x2"), _argument(what, 2, "axes")
    of_second = reads[second] if isinstance(second, Ref) else None
    if of_second is not None or not isinstance(axes, list) or not axes or not isinstance(axes[0], list):
        return LOST if of_second is None or of_second < 0 else MIXED
    return MIXED if axis in axes[0] else LOST


def _argument(what: OpCall, position: int, *names: str) -> Value:
    named = next((what.kwargs[name] for name in names if what.kwargs.get(name) is not None), None)
    return named if named is not None else what.args[position] if position < len(what.args) else None
