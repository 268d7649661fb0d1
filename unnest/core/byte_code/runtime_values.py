"""Values that only the machine sees (loops, inner functions, cells), and the cost of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from unnest.budget import charge_steps
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.byte_code.value_domain import BEYOND_EXPRESSIONS, DomainValue
from unnest.core.model import Unknown

MAX_INSTRUCTIONS = 5_000
"""Of one function, with all that it repeats and calls."""

MAX_STACK_WORK = 100_000
"""The sizes of all values that one run takes from its stacks."""

MAX_NESTED = 20
"""Functions that are under way within each other."""


class Impossible(Exception):
    """No compiler of this Python writes this."""


class Stopped(Unknown):
    """Unknown however the rest is read: another setting of the same run would mislead, or cost too much."""


class TooMuch(Stopped):
    """More work than anyone's function."""


class MayBeCaught(Stopped):
    """An exception, possibly, in code that handles exceptions: it may go on anywhere."""


Entry = TypeVar("Entry")


def entry(values: Sequence[Entry], index: int) -> Entry:
    """Return a constant or name of the code's lists, by an instruction's argument. Raises Impossible outside them."""
    if index >= len(values):
        raise Impossible
    return values[index]


@dataclass(eq=False, repr=False)
class RunCost:
    """The cost of a run so far: instructions, the sizes of values, and the number of functions that are running.

    `has_handlers`: one of them handles exceptions.
    """

    instructions: int = 0
    values: int = 0
    nested: int = 0
    has_handlers: bool = False

    def step(self) -> None:
        """Charge one more instruction. Raises TooMuch."""
        self.instructions += 1
        if self.instructions > MAX_INSTRUCTIONS:
            raise TooMuch(BEYOND_EXPRESSIONS)

    def handle(self, size: int) -> None:
        """Charge the handling of values of that size. Raises TooMuch."""
        self.values += size
        if self.values > MAX_STACK_WORK:
            raise TooMuch("more work than anyone's function")

    def enter(self) -> None:
        """Charge one more nested function call. Raises TooMuch."""
        if self.nested == MAX_NESTED:
            raise TooMuch("functions within functions")
        self.nested += 1

    def leave(self) -> None:
        """Note that the innermost call returned, or yielded and waits."""
        self.nested -= 1


def spend_on(count: int) -> None:
    """Charge the file's budget for executing `count` more bytes of code: a loop may run few bytes often."""
    charge_steps(count // 2)


class Internal:
    """Base of what stack and locals hold beside values; value domains never see it."""


class Null(Internal, Enum):
    """A place without a value."""

    NULL = "where a method's object would stand"
    UNSET = "what a variable has before it has a value"


class Exit(Internal, Enum):
    """The exit of a `with` block, on the stack below the values that are computed in it; since 3.14 its object, too."""

    EXIT = "what leaves a with block"


@dataclass(eq=False)
class Entrance(Internal, Generic[DomainValue]):
    """The method that enters a `with` block, before it is called."""

    value: DomainValue


class CommonConstant(Internal, Enum):
    """A builtin that 3.14 has at hand, to see whether a name still means it."""

    TUPLE = "tuple"
    ALL = "all"
    ANY = "any"


@dataclass(eq=False)
class Iteration(Internal, Generic[DomainValue]):
    """The result of GET_ITER: the values still to come."""

    values: Iterator[DomainValue]


@dataclass(eq=False)
class InnerCode(Internal):
    """The code of an inner function, before it is one."""

    code: CodeObject


@dataclass(eq=False)
class Cell(Internal, Generic[DomainValue]):
    """A variable that a function shares with those inside of it."""

    held: StackValue[DomainValue]


@dataclass(eq=False)
class Cells(Internal, Generic[DomainValue]):
    """The cells that an inner function captures, in its order."""

    cells: tuple[Cell[DomainValue], ...] = ()


@dataclass(eq=False)
class InnerFunction(Internal, Generic[DomainValue]):
    """An inner function: its code, the cells that it captured, and the defaults of its last arguments."""

    code: CodeObject
    captured: tuple[Cell[DomainValue], ...]
    defaults: tuple[DomainValue, ...] = ()


StackValue: TypeAlias = "DomainValue | Internal"
