"""Tensors with as many rows as each other: shapes are computed for batch sizes that nothing else can come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.model import Shape
from unnest.core.ops.call import OpCall, Value
from unnest.core.ops.shape_arithmetic import Sized


class Steps(NamedTuple):
    """The batch sizes of one trial: `first`, and `step` more for each group of tensors."""

    first: int
    step: int


TRIALS = (Steps(2**50, 2**32 + 15), Steps(2**51, 2**33 + 17))
"""Two trials; their steps have no common divisor, so that rows which are cut or added never pass for others in both."""


class BatchSizeTrial:
    """Batch sizes in place of unknown ones: one for each `rows`, and one of its own for a tensor without."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._rows_by_size: dict[int, int] = {}
        self._others = 0

    def sized(self, value: Value) -> Value:
        """Return an argument with batch sizes in the tensors in it."""
        if isinstance(value, Sized):
            return Sized(self.shape(value))
        return [self.sized(part) for part in value] if isinstance(value, list) else value

    def shape(self, tensor: Sized) -> Shape | None:
        """Return a tensor's shape, its first size known."""
        if not tensor.shape or tensor.shape[0] is not None:
            return tensor.shape
        first, step = self._steps
        if tensor.rows is None:
            self._others += 1
            return (first - self._others * step, *tensor.shape[1:])
        size = first + tensor.rows * step
        self._rows_by_size[size] = tensor.rows
        return (size, *tensor.shape[1:])

    def rows(self, shape: Shape | None) -> int | None:
        """Return the `rows` of the tensors whose first size is this shape's; None if no tensor has it."""
        return self._rows_by_size.get(shape[0]) if shape and shape[0] is not None else None


def rows_in_trials(shape_in: Callable[[BatchSizeTrial], Shape | None]) -> int | None:
    """Return the `rows` that a shape has in every trial; None where it is not known, or depends on the batch size."""
    found = set()
    for steps in TRIALS:
        trial = BatchSizeTrial(steps)
        found.add(trial.rows(shape_in(trial)))
    return found.pop() if len(found) == 1 else None


def result_rows(call: OpCall) -> int | None:
    """Return the `rows` of the tensors with as many rows as a call's result; None where it is not known.

    Each tensor among the arguments is a `Sized`.
    """

    def shape_in(trial: BatchSizeTrial) -> Shape | None:
        kwargs = {key: trial.sized(value) for key, value in call.kwargs.items()}
        return result_shape(OpCall(call.name, [*map(trial.sized, call.args)], kwargs))

    return rows_in_trials(shape_in)
