"""Errors that end a run of stored code, and the cost of a run: limits of instructions, values and calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from unnest.budget import charge_steps
from unnest.core.byte_code.value_domain import BEYOND_EXPRESSIONS
from unnest.core.model import Unknown

MAX_INSTRUCTIONS = 5_000
"""Of one function, with all that it repeats and calls."""


MAX_STACK_WORK = 100_000
"""The sizes of all values that one run takes from its stacks."""


MAX_NESTED = 20
"""Functions that are under way within each other."""


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


Entry = TypeVar("Entry")


class Impossible(Exception):
    """No compiler of this Python writes this."""


class Stopped(Unknown):
    """Unknown however the rest is read: another setting of the same run would mislead, or cost too much."""


class TooMuch(Stopped):
    """More work than anyone's function."""


class MayBeCaught(Stopped):
    """An exception, possibly, in code that handles exceptions: it may go on anywhere."""


def entry(values: Sequence[Entry], index: int) -> Entry:
    """Return a constant or name of the code's lists, by an instruction's argument. Raises Impossible outside them."""
    if index >= len(values):
        raise Impossible
    return values[index]
