"""How a serving graph puts the towers' rows together again: in which order, computed as their slices' rows are.

joined end to end    ConcatV2 along the batch
dealt back           DynamicStitch, each row to its number
stacked              Pack along axis 1 and Reshape: the first rows of all towers, then the second ones
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from unnest.core.recognise.equivalence import BATCH
from unnest.core.recognise.op_graph import CALLS, Op, Place, View
from unnest.core.recognise.shape_evaluation import MOVES, Arithmetic, Grid, NotArithmetic, Rows, fits


@dataclass(frozen=True)
class Join:
    """What is put together, as tensors of the root graph, and into which order of rows that comes."""

    operands: tuple[str, ...]
    #: (arithmetic for a batch, the towers' rows) -> all rows in their order. Raises NotArithmetic.
    order: Callable[[Arithmetic, Sequence[Rows]], Rows]


def joins(view: View, tensor: str, *, deep: bool = True) -> Iterator[Join]:
    """What a tensor of the root graph puts together along the batch: what it reads or, if `deep`, what lies behind."""
    op = view.root.producer(tensor)
    if op is None or not (op.kind in CALLS or op.kind in JOINS):
        return
    place = view.resolve(Place((), tensor))
    merge = view.op(place)
    if merge is None or merge.kind not in JOINS:
        return
    for reading in (JOINS[merge.kind], _behind) if deep else (JOINS[merge.kind],):
        try:
            found = reading(view, place, merge)
        except (NotArithmetic, TypeError, ValueError, IndexError):
            continue
        if found is not None:
            places, order = found
            named = [view.at_root(p, last=False) for p in places]
            operands = tuple(n for n in named if n is not None)
            if len(operands) == len(named) > 1:
                yield Join(operands, order)


def join(view: View, tensor: str) -> Join | None:
    """What a tensor of the root graph puts together along the batch, of what it reads itself."""
    return next(joins(view, tensor, deep=False), None)


def _behind(view: View, place: Place, _: Op) -> Found:
    """Joins of joins, and whatever else brings rows into another order: the tensors at the end of it all."""
    leaves = [*dict.fromkeys(_leaves(view, place))]

    def order(at: Arithmetic, rows: Sequence[Rows]) -> Rows:
        known = at.knowing({leaf: len(r) for leaf, r in zip(leaves, rows, strict=True)})
        return _Joined(view, known, dict(zip((view.resolve(leaf) for leaf in leaves), rows, strict=True))).rows(place)

    return (leaves, order) if len(leaves) > 1 else None


def _leaves(view: View, place: Place) -> Iterator[Place]:
    """What is joined, in the order in which it is met; operations of one tensor only where a join lies behind them."""
    for read in _joined_by(view, place):
        if any(True for _ in _joined_by(view, view.resolve(read))):
            yield from _leaves(view, view.resolve(read))
        else:
            yield read


def _joined_by(view: View, place: Place) -> Sequence[Place]:
    """The tensors that the operation at a resolved place puts together; none where it does something else."""
    op = view.op(place)
    known = JOINED_BY.get(op.kind) if op is not None else None
    return known(view, list(view.inputs(place))) if known is not None else ()


def _on_first_axes(view: View, axis: Place, reads: Sequence[Place]) -> Sequence[Place]:
    op = view.op(view.resolve(axis))
    return reads if op is not None and op.value is not None and int(op.value) in (0, 1) else ()


def _overlaid(view: View, inputs: Sequence[Place]) -> Sequence[Place]:
    below = view.op(view.resolve(inputs[0]))
    return (inputs[0], inputs[2]) if below is not None and below.kind == "TensorScatterUpdate" else inputs[2:3]


def _added(view: View, inputs: Sequence[Place]) -> Sequence[Place]:
    """A sum joins where every operand holds the rows of others as zeros."""
    made = [view.op(view.resolve(read)) for read in inputs]
    return inputs if all(op is not None and op.kind in ("ScatterNd", "Add", "AddV2") for op in made) else ()


def _moved(view: View, inputs: Sequence[Place]) -> Sequence[Place]:
    return inputs[:1] if _joined_by(view, view.resolve(inputs[0])) else ()


JOINED_BY: dict[str, Callable[[View, Sequence[Place]], Sequence[Place]]] = {
    "ConcatV2": lambda view, x: _on_first_axes(view, x[-1], x[:-1]),
    "Concat": lambda view, x: _on_first_axes(view, x[0], x[1:]),
    "Pack": lambda _, x: x,
    "DynamicStitch": lambda _, x: x[len(x) // 2 :], "ParallelDynamicStitch": lambda _, x: x[len(x) // 2 :],
    "ScatterNd": lambda _, x: x[1:2], "TensorScatterUpdate": _overlaid, "Add": _added, "AddV2": _added,
    "Reshape": _moved, "Transpose": _moved, "GatherV2": _moved,
}  # fmt: skip
"""(the view, what an operation reads) -> what of it is put together."""


class _Joined:
    """The rows of tensors that are joined, computed from those of the towers."""

    def __init__(self, view: View, at: Arithmetic, given: Mapping[Place, Rows]) -> None:
        self.view, self.at, self.given = view, at, given

    def rows(self, place: Place) -> Rows:
        """Row numbers of a tensor with one axis of rows. Raises NotArithmetic."""
        grid, _ = self._grid(place)
        if not isinstance(grid, range) and grid.ndim != 1:
            raise NotArithmetic
        return grid

    def _grid(self, read: Place) -> tuple[Rows, tuple[int, ...]]:
        """Row numbers on the first axes, and the shape of a row."""
        place = self.view.resolve(read)
        if place in self.given:
            shape = self.view.shape(read)
            if shape is None or any(d < 0 for d in shape[1:]):
                raise NotArithmetic
            return self.given[place], shape[1:]
        op, inputs = self.view.op(place), list(self.view.inputs(place))
        if op is None:
            raise NotArithmetic
        parts = [self._grid(p) for p in _joined_by(self.view, place)]
        if not parts or len({row for _, row in parts}) != 1:
            raise NotArithmetic
        fits(sum(len(grid) if isinstance(grid, range) else grid.size for grid, _ in parts))
        row, grids = parts[0][1], [np.asarray(grid) for grid, _ in parts]
        if op.kind in ("ConcatV2", "Concat", "Pack"):
            return self._lined_up(op, inputs, grids), row
        if op.kind in MOVES:
            return MOVES[op.kind](self.at, op, place, Grid(grids[0], row)), row
        return self._scattered(op, inputs, grids), row

    def _lined_up(self, op: Op, inputs: Sequence[Place], grids: Sequence[np.ndarray]) -> np.ndarray:
        if op.kind == "Pack":
            axis = int(str(op.attrs.get("axis", 0)))
            if not 0 <= axis <= grids[0].ndim:
                raise NotArithmetic
            return np.stack(grids, axis)
        axis = int(self.at.value(inputs[-1] if op.kind == "ConcatV2" else inputs[0]))
        if axis >= grids[0].ndim:
            raise NotArithmetic
        return np.concatenate(grids, axis)

    def _scattered(self, op: Op, inputs: Sequence[Place], grids: Sequence[np.ndarray]) -> np.ndarray:
        """Each row to its number; -1 where none is put."""
        if op.kind in ("Add", "AddV2"):
            if grids[0].shape != grids[1].shape or np.any((grids[0] >= 0) & (grids[1] >= 0)):
                raise NotArithmetic
            return np.asarray(np.maximum(grids[0], grids[1]))
        if op.kind in ("DynamicStitch", "ParallelDynamicStitch"):
            places = [self.at.value(i) for i in inputs[: len(inputs) // 2]]
            result = np.full(sum(p.size for p in places), -1)
            for where, taken in zip(places, grids, strict=True):
                result[where] = taken
            return result
        where = self.at.value(inputs[0] if op.kind == "ScatterNd" else inputs[1]).reshape(-1)
        if op.kind == "ScatterNd":
            length = self.at.ints(inputs[2])[0]
            fits(length)
            result = np.full(length, -1)
        else:
            result = grids[0].copy() if len(grids) > 1 else np.full(self.at.dims(inputs[0])[0], -1)
        result[where] = grids[-1]
        return result


def end_to_end(_: Arithmetic, rows: Sequence[Rows]) -> Rows:
    """One tower's rows after the other's."""
    runs = [r for r in rows if isinstance(r, range) and r.step == 1]
    if len(runs) == len(rows) and all(a.stop == b.start for a, b in pairwise(runs)):
        return range(runs[0].start, runs[-1].stop)
    fits(sum(map(len, rows)))
    return np.concatenate(rows)


def _interleaved(_: Arithmetic, rows: Sequence[Rows]) -> Rows:
    if len({len(r) for r in rows}) != 1:
        raise NotArithmetic
    fits(sum(map(len, rows)))
    return np.stack(rows, axis=1).reshape(-1)


def _concatenated(view: View, place: Place, merge: Op) -> Found:
    inputs = list(view.inputs(place))
    axis, operands = (inputs[-1], inputs[:-1]) if merge.kind == "ConcatV2" else (inputs[0], inputs[1:])
    where = int(Arithmetic(view, BATCH, 2).value(axis))
    rank = len(view.shape(place) or ())
    return None if where and (not rank or where != -rank) else (operands, end_to_end)


def _stitched(view: View, place: Place, _: Op) -> Found:
    inputs = list(view.inputs(place))
    indices, operands = inputs[: len(inputs) // 2], inputs[len(inputs) // 2 :]

    def order(at: Arithmetic, rows: Sequence[Rows]) -> Rows:
        known = at.knowing({place: len(r) for place, r in zip(operands, rows, strict=True)})
        places = [known.value(i) for i in indices]
        fits(sum(map(len, rows)))
        result = np.full(sum(map(len, places)), -1)
        for where, taken in zip(places, rows, strict=True):
            result[where] = taken
        return result

    return operands, order


def _stacked(view: View, place: Place, _: Op) -> Found:
    stack, shape = view.inputs(place)
    stacked = view.resolve(stack)
    pack = view.op(stacked)
    if pack is None or pack.kind != "Pack" or int(str(pack.attrs.get("axis", 0))) != 1:
        return None
    operands = list(view.inputs(stacked))
    rest = [view.shape(p) for p in operands]
    wanted = Arithmetic(view, BATCH, 2).ints(shape)
    same = all(r is not None and list(r[1:]) == wanted[1:] for r in rest)
    return (operands, _interleaved) if same and wanted[0] in (-1, BATCH) else None


Found: TypeAlias = "tuple[Sequence[Place], Callable[[Arithmetic, Sequence[Rows]], Rows]] | None"
JOINS: dict[str, Callable[[View, Place, Op], Found]] = {
    "ConcatV2": _concatenated, "Concat": _concatenated, "DynamicStitch": _stitched, "ParallelDynamicStitch": _stitched,
    "Reshape": _stacked, "GatherV2": _behind, "Transpose": _behind, "TensorScatterUpdate": _behind, "Add": _behind,
    "AddV2": _behind,
}  # fmt: skip
