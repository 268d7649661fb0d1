"""Faults of a process that runs our command."""

from __future__ import annotations

from typing import Protocol


class Fault(Protocol):
    """Something that goes wrong in a process."""

    #: Where it did; None where it did not come to that.
    hit: str | None

    def arm(self) -> None:
        """From now on it may happen."""

    def disarm(self) -> None:
        """Switch the faults off: the run is over."""
