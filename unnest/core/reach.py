"""Sets of nodes that can be reached in a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], leads_to: Callable[[T], Iterable[T]]) -> set[T]:
    """Everything that is reached from `starts`, themselves included, by following `leads_to` on and on.

    Each is asked once where it leads to. Without recursion: graphs are deep.
    """
    met: set[T] = set()
    pending = list(starts)
    while pending:
        item = pending.pop()
        if item not in met:
            met.add(item)
            pending += leads_to(item)
    return met
