"""On which rows of a batch each row of an operation's result depends: as the core says, and as the real function does.

The first tensor of a call is a batch. The core's answer is that of `TowerRows` for a tower of this one operation. The
real answer is tried: one row after the other gets other numbers, and rows of the result change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.operations.real import Function, call_real
from unnest.core.interpreters.row_mixing import TowerRows
from unnest.core.interpreters.tensor_graph import NO_CALL, Column, TensorGraph
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.call import OpCall, refs_in

BATCH, RESULT = Ref("batch", 0, 0), Ref("result", 0, 0)


class OneCall(TensorGraph):
    """A graph of one call, which reads a batch."""

    def __init__(self, call: OpCall, shape: Shape) -> None:
        super().__init__()
        self._call, self._shape = call, shape

    def reads(self, at: CallId) -> Sequence[Ref]:
        """The batch."""
        is_call = at == RESULT.call
        return [*refs_in([*self._call.args, *self._call.kwargs.values()])] if is_call else []

    def shape(self, ref: Ref, known: dict[Ref, Shape | None] | None = None) -> Shape | None:
        """The shape of the batch, and what was worked out."""
        return self._shape if ref == BATCH else (known or {}).get(ref)

    def parsed(self, at: CallId) -> OpCall:
        """The call."""
        return self._call if at == RESULT.call else NO_CALL

    def computed(self, at: CallId, known: dict[Ref, Shape | None] | None = None) -> OpCall:
        """The call."""
        del known
        return self.parsed(at)

    def rank_of(self, ref: Ref, known: dict[Ref, Shape | None] | None = None) -> int | None:
        """The number of axes of the batch, and of what was worked out."""
        shape = self.shape(ref, known)
        return None if shape is None else len(shape)

    def differ(self, column: Column) -> str | None:
        """One call is like none."""
        return column[0].layer


def rows_differ(function: Function, call: OpCall) -> str | None:
    """Return how the answers differ, no text where they agree; None without a batch, or an answer of the core."""
    batch = next(_tensors([*call.args, *call.kwargs.values()]), None)
    if batch is None or len(batch) < 2:
        return None

    def replaced(value: Any, new: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(replaced(each, new) for each in value)
        return new if value is batch else value

    def with_batch(new: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
        kwargs = {key: replaced(value, new) for key, value in call.kwargs.items()}
        return [replaced(value, new) for value in call.args], kwargs

    args, kwargs = with_batch(BATCH)
    graph = OneCall(OpCall(call.name, args, kwargs), batch.shape)
    kept = TowerRows(graph, {BATCH: batch.shape}, 2, 7).rows_up_to(RESULT)
    if not kept.are_kept and kept.mixing is None:
        return None
    results = [call_real(function, *with_batch(each)) for each in _batches(batch)]
    same = call_real(function, *with_batch(batch))
    first, *others = results
    if first is None or same is None or any(other is None for other in others):
        return None
    if not np.array_equal(first[0], same[0], equal_nan=True):
        return None  # random numbers; outputs behind the first may be memory that nothing has written to
    is_kept = all(
        _keeps(first[0], other[0], row, len(batch)) for row, other in enumerate(others) if other
    )
    return (
        ""
        if is_kept == kept.are_kept
        else f"{kept} where rows are {'kept' if is_kept else 'mixed'}"
    )


def _tensors(values: Sequence[Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays among arguments."""
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim:
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _batches(batch: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield a batch, and it with other numbers in each of its rows in turn."""
    yield batch
    for row in range(len(batch)):
        other = batch.copy()
        other[row] = _unlike(other[row])
        yield other


def _keeps(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], row: int, rows: int) -> bool:
    """True if of two results nothing differs but what belongs to a row, or to the entries that it became."""
    if one.shape != other.shape or not one.ndim or len(one) % rows:
        return False
    of_rows = ~np.isclose(one, other, equal_nan=True).reshape(rows, -1).all(axis=1)
    of_rows[row] = False
    return not of_rows.any()


def _unlike(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return other numbers of the same dtype, in the range of the first."""
    if numbers.dtype == np.bool_:
        return np.asarray(~numbers)
    return np.asarray(numbers // 2 + 1 if numbers.dtype.kind in "iu" else numbers * 0.7 + 0.1)
