"""A file is complete or absent: what Keras writes goes beside the target first, then takes its name.

A staging folder beside the target takes whatever the save makes of the name that it is given: a file, a folder
(SavedModel), or several files with the name as prefix (TF checkpoint). They are moved when the save has returned,
everything written to the disk first. Where the save fails the target stays as it was; what a killed run had begun to
move, the next save under the same name completes.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Formatter

from unnest.files import staging_folder
from unnest.files.background_sync import BackgroundSync
from unnest.files.interrupts import DeferredSignals
from unnest.files.staging_folder import StagingFolder
from unnest.keras import checkpoint_storage

INDEX = ".index"
STATE = "checkpoint"
"""TF's note of the latest checkpoint in a folder; it names files relative to itself."""


@contextmanager
def new_file_for(path: str) -> Iterator[str]:
    """Yield a temporary path to write to; what is there becomes `path` when the block ends without an exception.

    What goes to a remote path (`gs://..`, or whatever fsspec serves) is written here and copied there. Raises OSError
    where a file would replace a folder or the other way round, ValueError for a scheme that nothing serves.
    """
    if checkpoint_storage.is_remote(path):
        store, name = checkpoint_storage.store_of(path), path.rpartition("/")[2]
        with tempfile.TemporaryDirectory(prefix="unnest-") as local:
            yield os.path.join(local, name)
            _upload(Path(local), name, store, path.removesuffix(name))
        return
    with DeferredSignals() as signals, StagingFolder(os.path.realpath(path)) as work:
        folder = Path(work.new_path).parent
        with signals.allowed(), BackgroundSync(str(folder)) as sync:
            yield work.new_path
            sync.writing_is_over()
        parts = _parts(folder, work.name)
        for part in parts:
            _keep_mode(folder / part, Path(work.folder, part))
        if parts:
            work.move(parts, replace=True, stale=_stale(Path(work.folder), work.name, parts))


def _keep_mode(new: Path, old: Path) -> None:
    """Give a file the permissions of the one that it replaces, as writing into it would leave them."""
    if new.is_file() and old.is_file():
        new.chmod(old.stat().st_mode & 0o777)


def sweep(pattern: str) -> None:
    """Complete and remove the leftovers of killed saves under a checkpoint's path, placeholders included."""
    folder, name = pattern[: pattern.rfind("/") + 1], pattern[pattern.rfind("/") + 1 :]
    if "{" in folder:
        return
    file_names = re.compile(
        "".join(
            re.escape(text) + (".+?" if field else "")
            for text, field, *_ in Formatter().parse(name)
        )
    )
    if not checkpoint_storage.is_remote(pattern):
        staging_folder.sweep_folder(folder or ".", file_names)
        return
    store = checkpoint_storage.store_of(pattern)
    for entry in store.names(folder):
        if entry.endswith(checkpoint_storage.PARTIAL_SUFFIX) and file_names.fullmatch(
            entry.removesuffix(checkpoint_storage.PARTIAL_SUFFIX)
        ):
            store.remove(folder + entry)


def _upload(local: Path, name: str, store: checkpoint_storage.Store, folder: str) -> None:
    """Copy what was written under a name into a remote folder, what decides whether it is complete last."""
    files = [
        path
        for part in _parts(local, name)
        for path in [local / part, *sorted((local / part).rglob("*"))]
    ]
    files = sorted(
        (path for path in files if path.is_file()), key=lambda path: path.name == "saved_model.pb"
    )
    for path in files:
        store.upload(str(path), folder + path.relative_to(local).as_posix())


def _parts(folder: Path, name: str) -> list[str]:
    """Return the files that a save made under this name, in the order in which they must be moved into place."""
    if (folder / name).exists():
        return [name]
    # The index goes last: without it the shards are nothing. `checkpoint` points to both.
    state = [STATE] if (folder / STATE).exists() else []
    return [*state, *sorted(_shards(folder, name), key=lambda n: n.endswith(INDEX))]


def _stale(folder: Path, name: str, parts: list[str]) -> list[str]:
    """Return the old checkpoint's shards that the new one lacks; [] for a file or a folder."""
    return [] if name in parts else sorted(set(_shards(folder, name)) - set(parts))


def _shards(folder: Path, prefix: str) -> list[str]:
    """Return the file names of the TF checkpoint with this prefix."""
    if not folder.is_dir():
        return []
    names = [p.name for p in folder.iterdir()]
    return [n for n in names if n == prefix + INDEX or n.startswith(f"{prefix}.data-")]
