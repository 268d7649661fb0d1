"""A file is complete or absent: what Keras writes goes beside the target first, then takes its name.

One folder beside the target takes whatever the save makes of the name that it is given: a file,
a folder (SavedModel), or several files with the name as prefix (TF checkpoint). They are moved when
the save has returned, everything written to the disk first. Where the save fails the target stays as it was.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    target = Path(os.path.realpath(path))
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield str(folder / target.name)
        for written in sorted(folder.rglob("*")):
            _to_disk(written)
        _publish(folder, target)
        _to_disk(target.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove(path: str) -> None:
    """Delete a model that was written under this name, in whatever container; what is gone already is fine."""
    target = Path(path)
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target, ignore_errors=True)
    for part in [target, *_shards(target.parent, target.name)]:
        if part.is_file() or part.is_symlink():
            part.unlink(missing_ok=True)


def _publish(folder: Path, target: Path) -> None:
    written = folder / target.name
    if written.is_dir():
        _swap(written, target)
    elif written.exists():
        os.replace(written, target)
    else:
        # The index goes last: without it the shards are nothing. `checkpoint` then points to both.
        parts = sorted(_shards(folder, target.name), key=lambda p: p.name.endswith(INDEX))
        state = folder / STATE
        for part in [*parts, *([state] if state.exists() else [])]:
            os.replace(part, target.parent / part.name)


def _shards(folder: Path, prefix: str) -> list[Path]:
    """The files of the TF checkpoint with this prefix."""
    if not folder.is_dir():
        return []
    return [p for p in folder.iterdir() if p.name == prefix + INDEX or p.name.startswith(f"{prefix}.data-")]


def _swap(written: Path, target: Path) -> None:
    """Folders cannot be replaced in one step: the old one steps aside and comes back if that fails."""
    if not target.is_dir():
        os.rename(written, target)
        return
    aside = written.parent / f"{target.name}.old"
    os.rename(target, aside)
    try:
        os.rename(written, target)
    except OSError:
        os.rename(aside, target)
        raise


def _to_disk(path: Path) -> None:
    """fsync; a system that cannot open folders (Windows) goes without for those."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)
