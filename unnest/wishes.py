"""What a caller of fix wants, and which wishes contradict each other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from unnest import naming
from unnest.containers.interface import Target
from unnest.core.model import JsonObject
from unnest.errors import Unreadable, UsageError

Architecture: TypeAlias = "str | os.PathLike[str] | JsonObject | None"


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of fix, as given."""

    output: str | None = None
    in_place: bool = False
    backup: str = naming.BACKUP
    force: bool = False
    dry_run: bool = False
    to: Target | None = None
    architecture: JsonObject | None = None
    keep_nested: bool = False


def check_usage(path: str, wishes: Wishes) -> None:
    """Options that contradict each other, whatever the file holds."""
    if wishes.in_place and wishes.output is not None:
        raise UsageError("usage", "--in-place and -o contradict each other: one writes here, the other there")
    if wishes.in_place and os.path.isdir(path):
        raise UsageError("usage", f"{path}: --in-place is for single files, and this is a folder; use -o")
    if not naming.is_suffix(wishes.backup):
        raise UsageError("usage", f"--backup {wishes.backup!r}: a suffix is something like .bak, without a slash")
    place = path if wishes.in_place else wishes.output
    if place is not None and wishes.to is not None and not naming.agrees(place, wishes.to):
        raise UsageError("usage", f"{place}: the suffix contradicts --to {wishes.to}; drop one of the two")
    if wishes.output is not None and _same_place(path, wishes.output):
        raise UsageError("usage", f"{wishes.output}: is the input itself; use --in-place to replace it")


def given_architecture(architecture: Architecture) -> JsonObject | None:
    """The JSON that --architecture names. Not readable means that the caller named the wrong file."""
    if architecture is None or isinstance(architecture, Mapping):
        return architecture
    from unnest.containers.json import read_architecture

    try:
        return read_architecture(os.fspath(architecture))
    except Unreadable as e:
        raise UsageError("usage", f"--architecture: {e.message}") from e


def _same_place(a: str, b: str) -> bool:
    """Whether writing `b` would write `a`: the same file by any of its names."""
    try:
        return os.path.samefile(a, b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)
