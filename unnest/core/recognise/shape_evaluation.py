"""Which rows does a slice take? The shape arithmetic of a graph, computed for a given number of rows.

Every wrapper computes its slices' bounds in its own way; what they come to is the same. So the few operations that
such arithmetic is made of are evaluated with NumPy, in place of looking for known chains of operations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, TypeAlias

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

    def __init__(self, view: View, rows: int, rank: int, given: Mapping[Place, np.ndarray] | None = None) -> None:
        """`given` are values at resolved places that are not computed."""
        self.view, self.rows, self.rank = view, rows, rank
        self._known: dict[Place, np.ndarray] = dict(given or {})
        self._lengths: dict[Place, int] = {}
        self._steps = 0
        #: Bytes of the values that are known.
        self._held = 0

    def knowing(self, lengths: Mapping[Place, int]) -> Arithmetic:
        """The same, for tensors at some places that have another number of rows."""
        other = Arithmetic(self.view, self.rows, self.rank)
        other._lengths = {self.view.resolve(place): length for place, length in lengths.items()}
        return other

    def dims(self, place: Place) -> tuple[int, ...]:
        """The shape of a tensor whose first dimension is the batch."""
        shape = self.view.shape(place) or (-1,) * self.rank
        if not shape:
            return ()
        rest = tuple(d if d >= 0 else UNKNOWN[k % 7] or 41 for k, d in enumerate(shape[1:], 1))
        rows = self._lengths.get(self.view.resolve(place), self.rows) if self._lengths else self.rows
        return (shape[0] if shape[0] >= 0 else rows, *rest)

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
        """(what is taken apart, the numbers of the rows taken) where a place takes rows; else None."""
        op = self.view.op(place)
        if op is None or op.kind not in SLICES:
            return None
        try:
            source, rows = SLICES[op.kind](self, op, place)
        except (NotArithmetic, IndexError, ValueError, TypeError):
            return None
        return self.view.resolve(source), rows

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


def _slice(at: Arithmetic, _: Op, place: Place) -> tuple[Place, Rows]:
    source, begin, size = at.view.inputs(place)[:3]
    dims, starts, sizes = at.dims(source), at.ints(begin), at.ints(size)
    if len(starts) != len(dims) or any(
        b or n not in (-1, d) for b, n, d in list(zip(starts, sizes, dims, strict=True))[1:]
    ):
        raise NotArithmetic
    return source, range(starts[0], dims[0] if sizes[0] == -1 else starts[0] + sizes[0])


def _strided(at: Arithmetic, op: Op, place: Place) -> tuple[Place, Rows]:
    source = at.view.inputs(place)[0]
    begin, end, stride = (at.ints(p) for p in at.view.inputs(place)[1:4])
    dims = at.dims(source)
    masks = {k: int(str(op.attrs.get(k + "_mask", 0))) for k in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if masks["new_axis"] or masks["shrink_axis"] or masks["ellipsis"] & 1 or any(s != 1 for s in stride[1:]):
        raise NotArithmetic
    for k in range(1, len(begin)):
        whole = masks["ellipsis"] >> k & 1 or (
            (masks["begin"] >> k & 1 or begin[k] == 0) and (masks["end"] >> k & 1 or end[k] == dims[k])
        )
        if not whole:
            raise NotArithmetic
    start, stop = None if masks["begin"] & 1 else begin[0], None if masks["end"] & 1 else end[0]
    return source, range(dims[0])[start : stop : stride[0]]


def _split(at: Arithmetic, op: Op, place: Place) -> tuple[Place, Rows]:
    axis, source = at.view.inputs(place)[:2]
    dims, parts, k = at.dims(source), int(str(op.attrs["num_split"])), number(place.tensor)
    if at.ints(axis)[0] not in (0, -len(dims)) or dims[0] % parts:
        raise NotArithmetic
    return source, range(dims[0] // parts * k, dims[0] // parts * (k + 1))


def _splitv(at: Arithmetic, _: Op, place: Place) -> tuple[Place, Rows]:
    source, sizes, axis = at.view.inputs(place)[:3]
    dims, shares, k = at.dims(source), at.ints(sizes), number(place.tensor)
    if at.ints(axis)[0] not in (0, -len(dims)):
        raise NotArithmetic
    shares = [dims[0] - sum(s for s in shares if s >= 0) if s < 0 else s for s in shares]
    return source, range(sum(shares[:k]), sum(shares[: k + 1]))


def _gathered(at: Arithmetic, _: Op, place: Place) -> tuple[Place, Rows]:
    source, indices, *axis = at.view.inputs(place)
    rows = at.value(indices)
    if rows.ndim != 1 or (axis and at.ints(axis[0])[0] not in (0, -len(at.dims(source)))):
        raise NotArithmetic
    if rows.size and not 0 <= rows.min() <= rows.max() < at.dims(source)[0]:
        raise NotArithmetic
    return source, rows


def _dealt(at: Arithmetic, _: Op, place: Place) -> tuple[Place, Rows]:
    source, parts = at.view.inputs(place)
    return source, np.flatnonzero(at.value(parts) == number(place.tensor))


#: The operations that take rows out of a tensor.
SLICES: dict[str, Callable[[Arithmetic, Op, Place], tuple[Place, Rows]]] = {
    "Slice": _slice, "StridedSlice": _strided, "Split": _split, "SplitV": _splitv, "Gather": _gathered,
    "GatherV2": _gathered, "DynamicPartition": _dealt,
}  # fmt: skip


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
}  # fmt: skip
