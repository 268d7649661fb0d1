"""Exceptions of the machine: what no compiler writes, and what stops a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from unnest.core.model import Unknown

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
