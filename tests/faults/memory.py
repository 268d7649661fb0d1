"""Too little memory: an allocation that fails, or a process that may not grow.

Python's own allocations are failed by CPython's own means (`_testcapi`, which some builds leave out). HDF5, NumPy's
arrays and protobuf ask the system themselves: for these the address space is limited (Linux).
"""

from __future__ import annotations

import importlib
import resource
from pathlib import Path
from types import ModuleType


def testcapi() -> ModuleType | None:
    """CPython's module for tests, where it is there."""
    try:
        module = importlib.import_module("_testcapi")
    except ImportError:
        return None
    return module if hasattr(module, "set_nomemory") else None


class Allocation:
    """`count` allocations of Python's own fail, from the n-th on."""

    def __init__(self, point: int, count: int = 1) -> None:
        self.point, self.count = point, count
        self.hit: str | None = "an allocation"

    def arm(self) -> None:
        """Count from here."""
        module = testcapi()
        assert module is not None
        module.set_nomemory(self.point, self.point + self.count)

    def disarm(self) -> None:
        """Memory is there again."""
        module = testcapi()
        assert module is not None
        module.remove_mem_hooks()


class Room:
    """The process may take so many bytes of address space more than it has."""

    def __init__(self, more: int) -> None:
        self.more = more
        self.hit: str | None = "the limit"

    def arm(self) -> None:
        """From here on."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        _limit(pages * resource.getpagesize() + self.more)

    def disarm(self) -> None:
        """Memory is there again."""
        _limit(resource.getrlimit(resource.RLIMIT_AS)[1])


def _limit(most: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
