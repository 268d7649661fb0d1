"""A file is complete or absent: what Keras writes goes beside the target first, then takes its name.

A workspace beside the target takes whatever the save makes of the name that it is given: a file, a folder (SavedModel),
or several files with the name as prefix (TF checkpoint). They are moved when the save has returned, everything written
to the disk first. Where the save fails the target stays as it was; what a killed run had begun to move, the next save
under the same name completes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unnest.files import system
from unnest.files.interrupts import Held
from unnest.files.workspace import Workspace

INDEX = ".index"
STATE = "checkpoint"
"""TF's note of the latest checkpoint in a folder; it names files relative to itself."""


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """Give out a path to write to; what was written there becomes `path` when the block ends well.

    A remote path (`gs://..`) is given out as it is. Raises OSError where a file would replace a folder or
    the other way round.
    """
    if "://" in path:
        yield path
        return
    with Held() as held, Workspace(os.path.realpath(path)) as work:
        with held.released():
            yield work.made
            folder = Path(work.made).parent
            for written in sorted(folder.rglob("*")):
                system.sync_folder(str(written)) if written.is_dir() else system.sync(str(written))
        parts = _parts(folder, work.name)
        if parts:
            work.move(parts, replace=True, stale=_stale(Path(work.folder), work.name, parts))


def remove(path: str) -> None:
    """Delete a model that was written under this name, in whatever container; what is gone already is fine."""
    target = Path(path)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target, ignore_errors=True)
    for part in [target, *(target.parent / name for name in _shards(target.parent, target.name))]:
        if part.is_file() or part.is_symlink():
            part.unlink(missing_ok=True)


def _parts(folder: Path, name: str) -> list[str]:
    """What a save made under this name, in the order in which it takes its place."""
    if (folder / name).exists():
        return [name]
    # The index goes last: without it the shards are nothing. `checkpoint` points to both.
    state = [STATE] if (folder / STATE).exists() else []
    return [*state, *sorted(_shards(folder, name), key=lambda n: n.endswith(INDEX))]


def _stale(folder: Path, name: str, parts: list[str]) -> list[str]:
    """Shards of the checkpoint that was there which the new one has not; a file or a folder has none."""
    return [] if name in parts else sorted(set(_shards(folder, name)) - set(parts))


def _shards(folder: Path, prefix: str) -> list[str]:
    """The names of the files of the TF checkpoint with this prefix."""
    if not folder.is_dir():
        return []
    names = [p.name for p in folder.iterdir()]
    return [n for n in names if n == prefix + INDEX or n.startswith(f"{prefix}.data-")]
