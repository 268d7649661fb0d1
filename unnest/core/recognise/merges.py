"""How a serving graph puts the towers' rows together again: in which order, computed as their slices' rows are.

joined end to end    ConcatV2 along the batch
dealt back           DynamicStitch, each row to its number
stacked              Pack along axis 1 and Reshape: the first rows of all towers, then the second ones
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from unnest.core.recognise.equivalence import BATCH
from unnest.core.recognise.op_graph import CALLS, Op, Place, View
from unnest.core.recognise.shape_evaluation import Arithmetic, NotArithmetic, Rows, fits


@dataclass(frozen=True)
class Join:
    """What is put together, as tensors of the root graph, and into which order of rows that comes."""

    operands: tuple[str, ...]
    #: (arithmetic for a batch, the towers' rows) -> all rows in their order. Raises NotArithmetic.
    order: Callable[[Arithmetic, Sequence[Rows]], Rows]


def join(view: View, tensor: str) -> Join | None:
    """What a tensor of the root graph puts together along the batch."""
    op = view.root.producer(tensor)
    if op is None or not (op.kind in CALLS or op.kind in JOINS):
        return None
    place = view.resolve(Place((), tensor))
    merge = view.op(place)
    try:
        found = JOINS[merge.kind](view, place, merge) if merge is not None and merge.kind in JOINS else None
    except (NotArithmetic, TypeError, ValueError, IndexError):
        return None
    if found is None:
        return None
    places, order = found
    named = [view.at_root(p, last=False) for p in places]
    operands = tuple(n for n in named if n is not None)
    return Join(operands, order) if len(operands) == len(named) > 1 else None


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
    "Reshape": _stacked,
}  # fmt: skip
