"""Claimed rows as an operation: the record of the rows that an opaque slice claims, and its entry in the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import operation


class ClaimedRows(NamedTuple):
    """The rows that a slice claims: those between two shares of the batch, or `every` so many-th, from `start` on."""

    start: float
    stop: float = 1
    every: int | None = None

    def of(self, batch: int) -> slice:
        """Return the rows that the claim takes of a batch of `batch` rows."""
        if self.every is not None:
            return slice(int(self.start), None, self.every)
        return slice(round(self.start * batch), round(self.stop * batch))


@operation("claimed", "x claims", Kind.OPAQUE)
def claimed(x: Array, claims: Sequence[ClaimedRows]) -> list[Array]:
    """Return the rows of `x` that layers which are not operations claim to take, an array for each claim."""
    return [x[claim.of(len(x))] for claim in claims]
