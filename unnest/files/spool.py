"""Temporary files without a name, for what is written before its place in the output is known, beside the output."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO

from unnest.errors import Failed

_FOLDER: ContextVar[str | None] = ContextVar("spool folder", default=None)


@contextlib.contextmanager
def spool_in(folder: str) -> Iterator[None]:
    """Make `spool` use this folder within the block: it must have room for the output anyway."""
    token = _FOLDER.set(folder or ".")
    try:
        yield
    finally:
        _FOLDER.reset(token)


def spool() -> IO[bytes]:
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
        raise full(e) from e


def full(error: OSError) -> Failed:
    """Translate an error of writing a spool file into `Failed`."""
    where = _FOLDER.get() or os.environ.get("TMPDIR") or "the folder for temporary files"
    reason = os.strerror(error.errno) if error.errno else str(error)
    return Failed(
        "no-space", f"{where}: no room for a temporary file ({reason}); free some, or set TMPDIR"
    )
