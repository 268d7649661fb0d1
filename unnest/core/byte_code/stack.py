"""The values that the machine is working on, as CPython's own stack holds them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic

from unnest.core.byte_code.interpretation import NotFollowed, Value
from unnest.core.byte_code.opcodes import Impossible

MAX_WORK = 100_000
"""The sizes of all values that one run takes from the stack."""


class Null(Enum):
    """What CPython pushes where a method's object would stand."""

    NULL = "null"


class OperandStack(Generic[Value]):
    """At most `limit` values; what they cost to handle is the interpretation's to say.

    Its methods raise Impossible where no compiler writes such code, NotFollowed where it is more work than anyone's.
    """

    def __init__(self, limit: int, size: Callable[[Value], int]) -> None:
        self._limit, self._size = limit, size
        self._held: list[Value | Null] = []
        self._new_list: int | None = None  # where a list is that nothing else holds
        self._work = 0

    def __len__(self) -> int:
        """With the nulls among them."""
        return len(self._held)

    @property
    def values(self) -> list[Value]:
        """The last on top."""
        return [value for value in self._held if not isinstance(value, Null)]

    def push(self, *values: Value | Null) -> None:
        """The last of them on top."""
        self._held += values
        if len(self._held) > self._limit:
            raise Impossible

    def take(self, count: int) -> list[Value | Null]:
        """The last `count`, in the order they were pushed."""
        start = len(self._held) - count
        if start < 0:
            raise Impossible
        if self._new_list is not None and start <= self._new_list:
            self._new_list = None
        taken = self._held[start:]
        del self._held[start:]
        self._work += sum(1 if isinstance(value, Null) else self._size(value) for value in taken)
        if self._work > MAX_WORK:
            raise NotFollowed("more work than anyone's function")
        return taken

    def pop_many(self, count: int) -> list[Value]:
        """The last `count`, none of them a null."""
        taken = self.take(count)
        values = [value for value in taken if not isinstance(value, Null)]
        if len(values) < count:
            raise Impossible
        return values

    def pop(self) -> Value:
        """The last."""
        return self.pop_many(1)[0]

    def rotate(self, count: int) -> None:
        """The last below the `count` - 1 before it."""
        *lower, top = self.take(count)
        self.push(top, *lower)

    def copy(self, depth: int) -> None:
        """The value at a depth once more; 1 is the last."""
        self.push(self._held[-self._checked(depth)])

    def swap(self, depth: int) -> None:
        """The last and the value at a depth, each in the other's place."""
        place = -self._checked(depth)
        self._held[-1], self._held[place] = self._held[place], self._held[-1]

    def _checked(self, depth: int) -> int:
        if not 1 <= depth <= len(self._held):
            raise Impossible
        self._new_list = None
        return depth

    def push_new_list(self, value: Value) -> None:
        """A list that nothing else holds yet."""
        self.push(value)
        self._new_list = len(self._held) - 1

    def extend_new_list(self, extended: Callable[[Value, Value], Value]) -> None:
        """What is on top becomes part of the list below it, if nothing else holds that."""
        if self._new_list is None or self._new_list != len(self._held) - 2:
            raise NotFollowed("a list that grows")
        parts, more = self._held[self._new_list :]
        if isinstance(parts, Null) or isinstance(more, Null):
            raise Impossible
        longer = extended(parts, more)
        self.take(2)
        self.push_new_list(longer)
