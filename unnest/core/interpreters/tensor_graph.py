"""Tensors and the calls that make them, of whichever file or code: what interpreters ask of a graph of operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

from unnest.budget import charge_steps
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import is_known

Column: TypeAlias = "tuple[Ref, ...]"
"""One tensor of every tower, in the towers' order."""

NO_CALL = OpCall("", (), {})
"""The call in place of one that is not an operation."""


STEPS_PER_CALL = 20
"""Steps for parsing one call."""


class TensorGraph(ABC):
    """A graph of tensors: for each the call that makes it, the inputs of that call, and the known facts on it."""

    def __init__(self) -> None:
        self._said: dict[CallId, OpCall] = {}

    @abstractmethod
    def reads(self, at: CallId) -> Sequence[Ref]:
        """Return the tensors that a call reads."""

    @abstractmethod
    def shape(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> Shape | None:
        """Return the shape of a tensor as far as the file stores it, else None.

        `known_shapes` are some beside those in the file; what is worked out with them is added to it.
        """

    @abstractmethod
    def parsed(self, at: CallId) -> OpCall:
        """Return a call as an operation, else `NO_CALL`."""

    @abstractmethod
    def computed(self, at: CallId, known_shapes: dict[Ref, Shape | None] | None = None) -> OpCall:
        """Return a call as an operation, computable or not; `NO_CALL` if it cannot be read.

        `known_shapes` are shapes beside those in the file, as in `shape`.
        """

    @abstractmethod
    def rank_of(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> int | None:
        """Return the number of axes of a tensor; None if the file does not say."""

    @abstractmethod
    def differ(self, column: Column) -> str | None:
        """Return why calls that read as many tensors are not the same computation on them; None if they are."""

    def of(self, at: CallId) -> OpCall:
        """Return the operation behind a call; `NO_CALL` if it is unknown."""
        if at not in self._said:
            charge_steps(STEPS_PER_CALL)
            op_call = self.parsed(at)
            self._said[at] = op_call if is_known(op_call) else NO_CALL
        return self._said[at]
