"""What the values are that a function computes with, and what Python's operations make of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import EllipsisType
from typing import ClassVar, Generic, Literal, TypeAlias, TypeVar

Plain: TypeAlias = "bool | int | float | str | EllipsisType | None"
"""A constant of one of the plain types."""

Value = TypeVar("Value")

BEYOND_EXPRESSIONS = "a jump, a loop, or another instruction beyond plain expressions"


class NotFollowed(Exception):
    """What the code does there is not known; with the reason in words, where one is told."""


class Interpretation(ABC, Generic[Value]):
    """Values of one kind for the machine, which hands them about and looks into none of them.

    Every method may raise NotFollowed. `branches` tells whether jumps and inner functions are followed; without it code
    is read straight on, and what follows `call` is never asked.
    """

    branches: ClassVar[bool] = False

    @abstractmethod
    def constant(self, value: Plain) -> Value:
        """A constant of the code; tuples come as sequences of them."""

    @abstractmethod
    def plain(self, value: Value) -> object:
        """The Python value of a constant, tuples included; anything else for what is none."""

    @abstractmethod
    def size(self, value: Value) -> int:
        """The work that it is to handle, 1 or more: counted for each value that leaves the stack."""

    @abstractmethod
    def sequence(self, kind: Literal["list", "tuple"], parts: Sequence[Value]) -> Value:
        """`[a, b]` or `(a, b)`."""

    @abstractmethod
    def extended(self, parts: Value, more: Value) -> Value:
        """`[*parts, *more]` for a list that nothing else holds."""

    @abstractmethod
    def unpacked(self, value: Value, count: int) -> Sequence[Value]:
        """The so many parts of `a, b = value`, in order."""

    @abstractmethod
    def slice_of(self, ends: Sequence[Value]) -> Value:
        """`start:stop` or `start:stop:step`."""

    @abstractmethod
    def subscript(self, of: Value, key: Value) -> Value:
        """`of[key]`."""

    @abstractmethod
    def unary(self, symbol: Literal["+", "-", "~"], value: Value) -> Value:
        """`-value`."""

    @abstractmethod
    def binary(self, symbol: str, left: Value, right: Value) -> Value:
        """`left symbol right`; `classic /` is Python 2's division."""

    @abstractmethod
    def compare(self, symbol: str, left: Value, right: Value) -> Value:
        """`left < right` and the like."""

    @abstractmethod
    def named(self, name: str) -> Value:
        """A global or builtin."""

    @abstractmethod
    def attribute(self, of: Value, name: str) -> Value:
        """`of.name`."""

    @abstractmethod
    def call(self, function: Value, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """`function(*positional, **keywords)`."""

    @abstractmethod
    def module(self, path: str) -> Value:
        """`import path`, the innermost module."""

    def entered(self, value: Value) -> Value:  # noqa: ARG002 - for those that follow `with` blocks
        """What `with value as name` binds, where leaving the block does nothing to what was computed in it."""
        raise NotFollowed(BEYOND_EXPRESSIONS)

    def truth(self, value: Value) -> bool:  # noqa: ARG002 - for those that follow branches
        """What a branch takes a value for."""
        raise NotFollowed(BEYOND_EXPRESSIONS)

    def in_place(self, symbol: str, left: Value, right: Value) -> Value:
        """What `left symbol= right` makes of `left`: another value, unless it can be changed."""
        return self.binary(symbol, left, right)

    def iterator(self, value: Value) -> Iterator[Value]:  # noqa: ARG002 - for those that follow loops
        """The values that a loop over `value` has, one after the other, as Python's own iterator would give them."""
        raise NotFollowed(BEYOND_EXPRESSIONS)

    def generator(self, values: Iterator[Value]) -> Value:  # noqa: ARG002 - for those that follow loops
        """What a generator expression is, of which these values can be had, each when it is asked for."""
        raise NotFollowed(BEYOND_EXPRESSIONS)
