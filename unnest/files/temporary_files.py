"""Temporary files without a name, for what is written before its place in the output is known, beside the output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO

from unnest.errors import Failed

_FOLDER: ContextVar[str | None] = ContextVar("folder of unnamed files", default=None)


@contextlib.contextmanager
def unnamed_files_in(folder: str) -> Iterator[None]:
    """Make `unnamed_file` use this folder within the block: it must have room for the output anyway."""
    token = _FOLDER.set(folder or ".")
    try:
        yield
    finally:
        _FOLDER.reset(token)


def unnamed_file() -> IO[bytes]:
    """Return an empty unnamed file, unbuffered, deleted on closing. Raises Failed.

    Where nothing is written (`inspect`), or the folder may not be written, it is in the system's temporary folder.
    """
    import tempfile

    # The suffix shows only where the system cannot make files without a name, and only for a moment.
    with contextlib.suppress(OSError):
        return tempfile.TemporaryFile(dir=_FOLDER.get(), suffix=".unnest-tmp", buffering=0)
    try:
        return tempfile.TemporaryFile(buffering=0)
    except OSError as e:
        raise no_room_error(e) from e


def no_room_error(error: OSError) -> Failed:
    """Translate an error of writing a temporary file into `Failed`."""
    where = _FOLDER.get() or os.environ.get("TMPDIR") or "the folder for temporary files"
    reason = os.strerror(error.errno) if error.errno else str(error)
    return Failed(
        "no-space", f"{where}: no room for a temporary file ({reason}); free some, or set TMPDIR"
    )
