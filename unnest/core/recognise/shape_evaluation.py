"""Which rows does a slice take? The shape arithmetic of a graph, computed for a given number of rows.

Every wrapper computes its slices' bounds in its own way; what they come to is the same. So the few operations that
such arithmetic is made of are evaluated with NumPy, in place of looking for known chains of operations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from unnest import budget
from unnest.core.recognise.op_graph import Op, Place, View, number

#: The numbers of rows of a batch, in the order in which they are taken; a range wherever they are one.
Rows: TypeAlias = "range | np.ndarray"
#: Stand-ins for unknown dimensions: unlike each other, so that a mix-up of axes shows.
UNKNOWN = (0, 17, 19, 23, 29, 31, 37)
#: Operations that one slice's bounds may take; real ones take a dozen or two.
MAX_STEPS = 4000
#: Elements of any value: a batch's rows and then some. Small graphs may ask for large ones.
MAX_ELEMENTS = 4_000_000
#: Axes of a value; NumPy takes no more.
MAX_RANK = 32


class NotArithmetic(Exception):
    """The value depends on more than shapes and constants."""


def same_rows(one: Rows, two: Rows) -> bool:
    """Whether the same rows are taken in the same order."""
    if isinstance(one, range) and isinstance(two, range):
        return one == two
    return len(one) == len(two) and bool(np.array_equal(one, two))


def fits(elements: int) -> None:
    """Raises NotArithmetic for more than a value may have."""
    if elements > MAX_ELEMENTS:
        raise NotArithmetic


def _fits_together(values: list[np.ndarray]) -> None:
    """What comes of these, lined up or one against all others, has to fit too."""
    fits(sum(v.size for v in values))
    with contextlib.suppress(ValueError):  # shapes that do not go together
        fits(prod(np.broadcast_shapes(*(v.shape for v in values))))


class Arithmetic:
    """Evaluates shape arithmetic for batches of `rows` rows; unknown ranks are taken to be `rank`."""

    def __init__(
        self, view: View, rows: int, rank: int, given: Mapping[Place, np.ndarray] | None = None, *, far: bool = False
    ) -> None:
        """`given` are values at resolved places that are not computed; `far`: sources are looked for furthest back."""
        self.view, self.rows, self.rank, self.far = view, rows, rank, far
        self._known: dict[Place, np.ndarray] = dict(given or {})
        self._lengths: dict[Place, int] = {}
        self._grids: dict[Place, tuple[Place, Rows] | None] = {}
        self._steps = 0
        #: Bytes of the values that are known.
        self._held = 0

    def knowing(self, lengths: Mapping[Place, int]) -> Arithmetic:
        """The same, for tensors at some places that have another number of rows."""
        other = Arithmetic(self.view, self.rows, self.rank)
        other._lengths = {self.view.resolve(place): length for place, length in lengths.items()}
        return other

    def dims(self, place: Place) -> tuple[int, ...]:
        """The shape of a tensor whose first dimension is the batch, or rows of it."""
        shape = self.view.shape(place) or (-1,) * self.rank
        if not shape:
            return ()
        rest = tuple(d if d >= 0 else UNKNOWN[k % 7] or 41 for k, d in enumerate(shape[1:], 1))
        return (shape[0] if shape[0] >= 0 else self._length(self.view.resolve(place)), *rest)

    def _length(self, place: Place) -> int:
        """How many rows a tensor has whose first dimension the graph does not tell."""
        if place in self._lengths:
            return self._lengths[place]
        taken = self.grid_of(place)
        return self.rows if taken is None else len(taken[1])

    def value(self, place: Place) -> np.ndarray:
        """The value at a place. Raises NotArithmetic."""
        place = self.view.resolve(place)
        if place not in self._known:
            self._steps += 1
            op = self.view.op(place)
            if op is None and place.tensor in self.view.root.known:
                return self.view.root.known[place.tensor]
            if op is None or self._steps > MAX_STEPS:
                raise NotArithmetic
            try:
                value = np.asarray(self._compute(op, place))
            except (NotArithmetic, budget.OverBudget):
                raise
            except Exception as e:  # NumPy's many ways to say that operands do not fit
                raise NotArithmetic from e
            self._held += value.nbytes
            budget.spend_bytes(value.nbytes)
            budget.fits(self._held)
            self._known[place] = value
        return self._known[place]

    def _compute(self, op: Op, place: Place) -> Any:  # noqa: ANN401 - NumPy scalars and arrays
        if op.kind == "Const" and op.value is not None:
            return op.value
        if op.kind in ("Shape", "Size", "Rank", "ShapeN"):
            dims = self.dims(Place(place.frame, op.inputs[number(place.tensor) if op.kind == "ShapeN" else 0]))
            return {"Size": np.prod(dims, dtype=np.int64), "Rank": len(dims)}.get(op.kind, np.array(dims, np.int64))
        if op.kind == "DynamicPartition":
            data, parts = (self.value(p) for p in self.view.inputs(place))
            return data[parts == number(place.tensor)]
        if op.kind == "Unpack":
            return np.take(
                self.value(self.view.inputs(place)[0]), number(place.tensor), int(str(op.attrs.get("axis", 0)))
            )
        if op.kind not in ARITHMETIC:
            raise NotArithmetic
        values = [self.value(p) for p in self.view.inputs(place)]
        _fits_together(values)
        return ARITHMETIC[op.kind](op, values)

    def rows_of(self, place: Place) -> tuple[Place, Rows] | None:
        """(what is taken apart, the numbers of the rows taken) where a place takes rows; else None.

        Where it is looked for furthest back, slices of slices count as slices of what the first of them cuts.
        """
        op = self.view.op(place)
        grid = self.grid_of(place) if op is not None and op.kind in SLICES else None
        # NumPy would make an array of a range to tell its dimensions.
        return grid if grid is not None and (isinstance(grid[1], range) or grid[1].ndim == 1) else None

    def grid_of(self, place: Place) -> tuple[Place, Rows] | None:
        """(source, row numbers) of a tensor that is made of whole rows of another one, on one axis or on several."""
        if place in self._grids:
            return self._grids[place]
        self._grids[place] = None  # for loops
        op = self.view.op(place)
        if op is not None and op.kind in MOVES and len(self._grids) < MAX_STEPS:
            self._grids[place] = self._moved(op, place)
        return self._grids[place]

    def _moved(self, op: Op, place: Place) -> tuple[Place, Rows] | None:
        data = self.view.resolve(self.view.inputs(place)[1 if op.kind == "Split" else 0])
        below = self.grid_of(data)
        readings = [(data, None), *([] if below is None else [below])]
        for source, rows in readings[::-1] if self.far else readings:
            if (taken := self._move(op, place, source, rows)) is not None:
                return taken
        return None

    def _move(self, op: Op, place: Place, source: Place, rows: Rows | None) -> tuple[Place, Rows] | None:
        """One operation on rows of a source, or on all of it."""
        try:
            dims = self.dims(source)
            grid = Grid(range(dims[0]) if rows is None else rows, dims[1:])
            return source, MOVES[op.kind](self, op, place, grid)
        except (NotArithmetic, IndexError, ValueError, TypeError, ZeroDivisionError):
            return None

    def is_known(self, place: Place) -> bool:
        """Whether a value follows from shapes and constants."""
        try:
            self.value(place)
        except NotArithmetic:
            return False
        return True

    def ints(self, place: Place) -> list[int]:
        """A value as a list of whole numbers."""
        return [int(v) for v in self.value(place).reshape(-1)]


class Grid(NamedTuple):
    """A tensor made of whole rows: their numbers, on its first axes, and the shape of a row."""

    rows: Rows
    row: tuple[int, ...]

    @property
    def lead(self) -> tuple[int, ...]:
        """The lengths of the axes that count rows."""
        return (len(self.rows),) if isinstance(self.rows, range) else self.rows.shape

    @property
    def rank(self) -> int:
        """How many axes the tensor has."""
        return len(self.lead) + len(self.row)

    def axis(self, axis: int) -> int:
        """One of the axes that count rows, from the front. Raises NotArithmetic for any other."""
        axis = axis + self.rank if axis < 0 else axis
        if axis >= len(self.lead):
            raise NotArithmetic
        return axis

    def part(self, axis: int, part: slice) -> Rows:
        """A run of row numbers on one axis."""
        if isinstance(self.rows, range):
            return self.rows[part]
        return self.rows[(slice(None),) * axis + (part,)]


def _slice(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    begin, size = at.view.inputs(place)[1:3]
    starts, sizes, dims = at.ints(begin), at.ints(size), (*grid.lead, *grid.row)
    if len(starts) != len(dims):
        raise NotArithmetic
    rows, lead = grid.rows, len(grid.lead)
    for axis, (start, length, whole) in enumerate(zip(starts, sizes, dims, strict=True)):
        if axis < lead:
            rows = Grid(rows, grid.row).part(axis, slice(start, whole if length == -1 else start + length))
        elif start or length not in (-1, whole):
            raise NotArithmetic
    return rows


def _strided(at: Arithmetic, op: Op, place: Place, grid: Grid) -> Rows:
    begin, end, stride = (at.ints(p) for p in at.view.inputs(place)[1:4])
    masks = {k: int(str(op.attrs.get(k + "_mask", 0))) for k in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    lead, dims = len(grid.lead), (*grid.lead, *grid.row)
    ellipsis = next((k for k in range(len(begin)) if masks["ellipsis"] >> k & 1), None)
    if masks["new_axis"] or (ellipsis is not None and ellipsis < lead):
        raise NotArithmetic
    keys: list[slice | int] = []
    for k, (first, last, step) in enumerate(zip(begin, end, stride, strict=True)):
        low = None if masks["begin"] >> k & 1 else first
        high = None if masks["end"] >> k & 1 else last
        if ellipsis is not None and k >= ellipsis:
            axis = k - len(begin) + len(dims)
            is_whole = k == ellipsis or (low in (None, 0) and high in (None, dims[axis]) and step == 1)
        else:
            is_whole = k >= lead and low in (None, 0) and high in (None, dims[k]) and step == 1
        if k < lead:
            keys.append(first if masks["shrink_axis"] >> k & 1 else slice(low, high, step))
        elif not is_whole or masks["shrink_axis"] >> k & 1:
            raise NotArithmetic
    if isinstance(grid.rows, range):
        if not isinstance(keys[0], slice):
            raise NotArithmetic
        return grid.rows[keys[0]]
    taken = np.asarray(grid.rows[tuple(keys)])
    if taken.ndim == 0:
        raise NotArithmetic
    return taken


def _split(at: Arithmetic, op: Op, place: Place, grid: Grid) -> Rows:
    axis = grid.axis(at.ints(at.view.inputs(place)[0])[0])
    parts, k = int(str(op.attrs["num_split"])), number(place.tensor)
    if grid.lead[axis] % parts:
        raise NotArithmetic
    share = grid.lead[axis] // parts
    return grid.part(axis, slice(share * k, share * (k + 1)))


def _splitv(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    sizes, along = at.view.inputs(place)[1:3]
    axis, shares, k = grid.axis(at.ints(along)[0]), at.ints(sizes), number(place.tensor)
    shares = [grid.lead[axis] - sum(s for s in shares if s >= 0) if s < 0 else s for s in shares]
    return grid.part(axis, slice(sum(shares[:k]), sum(shares[: k + 1])))


def _gathered(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    indices, *along = at.view.inputs(place)[1:]
    axis, which = grid.axis(at.ints(along[0])[0] if along else 0), at.value(indices)
    if which.ndim != 1 or (which.size and not 0 <= which.min() <= which.max() < grid.lead[axis]):
        raise NotArithmetic
    is_whole = isinstance(grid.rows, range) and grid.rows == range(grid.lead[0])
    return which if is_whole else np.asarray(np.take(np.asarray(grid.rows), which, axis))


def _dealt(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    parts = at.value(at.view.inputs(place)[1])
    if parts.shape != grid.lead or parts.ndim != 1:
        raise NotArithmetic
    return np.asarray(grid.rows)[np.flatnonzero(parts == number(place.tensor))]


def _unpacked(_: Arithmetic, op: Op, place: Place, grid: Grid) -> Rows:
    axis = grid.axis(int(str(op.attrs.get("axis", 0))))
    if len(grid.lead) == 1:
        raise NotArithmetic
    return np.asarray(np.take(np.asarray(grid.rows), number(place.tensor), axis))


def _reshaped(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    """Rows on other axes, where every row stays whole."""
    shape = at.ints(at.view.inputs(place)[1])
    lead, row = shape[: len(shape) - len(grid.row)], shape[len(shape) - len(grid.row) :]
    hidden = [k for k, d in enumerate(row) if d == -1]
    if not lead or any(d not in (-1, w) for d, w in zip(row, grid.row, strict=True)) or (hidden and -1 in lead):
        raise NotArithmetic
    if hidden and prod(lead) != prod(grid.lead):
        raise NotArithmetic
    if len(lead) == 1 == len(grid.lead):
        if lead[0] not in (-1, grid.lead[0]):
            raise NotArithmetic
        return grid.rows
    fits(prod(grid.lead))
    return np.reshape(np.asarray(grid.rows), lead)


def _transposed(at: Arithmetic, _: Op, place: Place, grid: Grid) -> Rows:
    order, lead = at.ints(at.view.inputs(place)[1]), len(grid.lead)
    if sorted(order[:lead]) != list(range(lead)) or order[lead:] != list(range(lead, grid.rank)):
        raise NotArithmetic
    return np.transpose(np.asarray(grid.rows), order[:lead])


Move: TypeAlias = "Callable[[Arithmetic, Op, Place, Grid], Rows]"

#: The operations that take rows out of a tensor.
SLICES: dict[str, Move] = {
    "Slice": _slice, "StridedSlice": _strided, "Split": _split, "SplitV": _splitv, "Gather": _gathered,
    "GatherV2": _gathered, "DynamicPartition": _dealt, "Unpack": _unpacked,
}  # fmt: skip
#: All that may stand between a tensor and rows of it.
MOVES: dict[str, Move] = {**SLICES, "Reshape": _reshaped, "Transpose": _transposed}


def _take(op: Op, x: list[np.ndarray]) -> np.ndarray:
    """StridedSlice of a vector."""
    masks = {k: int(str(op.attrs.get(k + "_mask", 0))) for k in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if x[0].ndim != 1 or masks["ellipsis"] or masks["new_axis"]:
        raise NotArithmetic
    begin, end, stride = (int(v.reshape(-1)[0]) for v in x[1:4])
    if masks["shrink_axis"] & 1:
        return np.asarray(x[0][begin])
    return np.asarray(x[0][slice(None if masks["begin"] & 1 else begin, None if masks["end"] & 1 else end, stride)])


def _fill(_: Op, x: list[np.ndarray]) -> np.ndarray:
    """One number several times: a slice's steps, where none were given."""
    shape = [int(d) for d in x[0].reshape(-1)]
    if len(shape) > MAX_RANK or any(d < 0 for d in shape):
        raise NotArithmetic
    fits(prod(shape))
    return np.full(shape, x[1])


def _range(_: Op, x: list[np.ndarray]) -> np.ndarray:
    numbers = range(*(int(v) for v in x))
    fits(len(numbers))
    return np.array(numbers, np.int64)


def _cut(_: Op, x: list[np.ndarray]) -> np.ndarray:
    start, size = int(x[1].reshape(-1)[0]), int(x[2].reshape(-1)[0])
    return np.asarray(x[0][start : None if size < 0 else start + size])


def _cast(op: Op, x: list[np.ndarray]) -> np.ndarray:
    to = op.attrs.get("DstT")
    return np.asarray(x[0], np.float64 if to in FLOATS else np.bool_ if to == BOOL else np.int64)


def _reduction(function: Callable[..., np.ndarray]) -> Callable[[Op, list[np.ndarray]], np.ndarray]:
    """Over the axes given."""

    def reduced(op: Op, x: list[np.ndarray]) -> np.ndarray:
        axes = tuple(int(a) for a in x[1].reshape(-1))
        return np.asarray(function(x[0], axis=axes, keepdims=bool(op.attrs.get("keep_dims", False))))

    return reduced


def _truncate(_: Op, x: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.trunc(x[0] / x[1]), np.int64)


#: TensorFlow's numbers of the types that arithmetic casts to.
FLOATS, BOOL = (1, 2, 19), 10

#: What shape arithmetic is made of: (operation, operands) -> value.
ARITHMETIC: dict[str, Callable[[Op, list[np.ndarray]], Any]] = {
    "StridedSlice": _take, "Slice": _cut, "Fill": _fill, "Cast": _cast, "TruncateDiv": _truncate, "Div": _truncate,
    "ConcatV2": lambda _, x: np.concatenate(x[:-1], int(x[-1])),
    "Concat": lambda _, x: np.concatenate(x[1:], int(x[0])),
    "Pack": lambda o, x: np.stack(x, int(str(o.attrs.get("axis", 0)))),
    "Add": lambda _, x: x[0] + x[1], "AddV2": lambda _, x: x[0] + x[1], "Sub": lambda _, x: x[0] - x[1],
    "Mul": lambda _, x: x[0] * x[1], "FloorDiv": lambda _, x: x[0] // x[1], "RealDiv": lambda _, x: x[0] / x[1],
    "FloorMod": lambda _, x: x[0] % x[1], "Mod": lambda _, x: x[0] % x[1], "Neg": lambda _, x: -x[0],
    "Minimum": lambda _, x: np.minimum(x[0], x[1]), "Maximum": lambda _, x: np.maximum(x[0], x[1]),
    "Floor": lambda _, x: np.floor(x[0]), "Round": lambda _, x: np.round(x[0]), "Ceil": lambda _, x: np.ceil(x[0]),
    "Prod": _reduction(np.prod), "Sum": _reduction(np.sum), "Mean": _reduction(np.mean),
    "AddN": lambda _, x: np.sum(x, axis=0), "Cumsum": lambda _, x: np.cumsum(x[0]),
    "Equal": lambda _, x: x[0] == x[1], "Less": lambda _, x: x[0] < x[1], "Greater": lambda _, x: x[0] > x[1],
    "LessEqual": lambda _, x: x[0] <= x[1], "GreaterEqual": lambda _, x: x[0] >= x[1],
    "Select": lambda _, x: np.where(x[0], x[1], x[2]), "SelectV2": lambda _, x: np.where(x[0], x[1], x[2]),
    "ExpandDims": lambda _, x: np.expand_dims(x[0], int(x[1])), "Squeeze": lambda _, x: np.squeeze(x[0]),
    "Reshape": lambda _, x: np.reshape(x[0], [int(v) for v in x[1].reshape(-1)]),
    "ZerosLike": lambda _, x: np.zeros_like(x[0]), "OnesLike": lambda _, x: np.ones_like(x[0]),
    "GatherV2": lambda _, x: np.take(x[0], x[1], int(x[2])), "Range": _range,
    "Where": lambda _, x: np.argwhere(x[0]), "LogicalNot": lambda _, x: np.logical_not(x[0]),
    "LogicalAnd": lambda _, x: np.logical_and(x[0], x[1]), "LogicalOr": lambda _, x: np.logical_or(x[0], x[1]),
    "NotEqual": lambda _, x: x[0] != x[1],
    "InvertPermutation": lambda _, x: np.argsort(x[0]), "Transpose": lambda _, x: np.transpose(x[0], x[1]),
}  # fmt: skip
