"""Entries of the registry for what computes no tensor: control flow, the effect of layers on rows, and claimed rows.

Conditions and loops; what a layer or stored code does to the rows of a batch (`over_steps`, `mixes`); and the rows that
a slice claims to take whose code nothing can follow: the record `ClaimedRows`, and the operation `claimed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import define, define_all, operation

define_all("merge switch if|stateless_if while|stateless_while exit", "*x", Kind.CONTROL)
define_all("over_steps", "*x", Kind.WINDOW)
define_all("row_wise", "*x", Kind.ROWWISE)
define(
    "mirror_pad",
    "x paddings mode",
    Kind.OPAQUE,
    nodes={"MirrorPad": "x paddings @mode"},
    function_name="tf.pad",
)
define("identity_n", "*x", Kind.OPAQUE)
define("unknown", "", Kind.CONTROL)
define("batch_moments", "*x", Kind.OPAQUE)
define("takes", "*x", Kind.OPAQUE, reorders_rows=True)
define("mixes", "*x", Kind.OPAQUE, reorders_rows=True, mixes_rows=True)
define("time_major", "*x", Kind.OPAQUE, reorders_rows=True, mixes_rows=True)


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
