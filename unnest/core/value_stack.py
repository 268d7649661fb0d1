"""The stack that CPython's instructions work on, for whoever follows them with values of his own."""

from __future__ import annotations

from typing import Generic, TypeVar

from unnest.core.opcodes import Impossible

Item = TypeVar("Item")


class ValueStack(Generic[Item]):
    """Values, the last on top. What takes more than there is raises Impossible: no compiler writes such code."""

    def __init__(self) -> None:
        self._stack: list[Item] = []

    def _push(self, *values: Item) -> None:
        self._stack += values

    def _pop(self) -> Item:
        return self._pop_many(1)[0]

    def _pop_many(self, count: int) -> list[Item]:
        """The last `count`, in the order they were pushed."""
        start = len(self._stack) - count
        if start < 0:
            raise Impossible
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _rotate(self, count: int) -> None:
        values = self._pop_many(count)
        self._push(values[-1], *values[:-1])

    def _copy(self, depth: int) -> None:
        if not 1 <= depth <= len(self._stack):
            raise Impossible
        self._push(self._stack[-depth])

    def _swap(self, depth: int) -> None:
        if not 1 <= depth <= len(self._stack):
            raise Impossible
        self._stack[-1], self._stack[-depth] = self._stack[-depth], self._stack[-1]
