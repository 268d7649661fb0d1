"""Answers about stored code: which rows it returns (`traced_rows`), and what it makes of rows (`code_dependence`)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class CodeRows(NamedTuple):
    """Rows that code returns, by their numbers, in order.

    `change`: what it does beside moving whole rows, as in `reverses axis 1`; then `numbers` are empty. `is_partly`:
    whether they may be parts of rows, because a size or a bound along another axis is not known, or of another type,
    because the code casts them. `first`: how many
    entries are left of axes that may be longer.
    """

    numbers: tuple[int, ...] = ()
    change: str = ""
    is_partly: bool = False
    first: tuple[int, ...] = ()


class RowsMade(Enum):
    """The effect of stored code on its rows, as far as it can be followed."""

    KEPT = "each of its own, where it was"
    MIXED = "rows that depend on each other"
    ONE = "one row that depends on all, a loss say"
    OTHERS = "some of them, or more, or in another order"
    UNKNOWN = "not known; or a number made of all, a loss say"
