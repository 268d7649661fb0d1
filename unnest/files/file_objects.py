"""File objects: nameless files, and read-only windows that are made of something else.

A nameless file is for what is written before its place in the output is known, beside the output; a window has a known
size, for libraries to read and seek in.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO

from unnest.errors import Failed


class Readable(io.RawIOBase):
    """A file of `size` bytes with a position; a subclass says, in `readinto`, what is there."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.position = 0

    def readable(self) -> bool:
        """Return True: every such file can be read."""
        return True

    def seekable(self) -> bool:
        """Return True: every such file can seek."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position, in bytes, and return it."""
        self.position = (
            offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        )
        return self.position

    def tell(self) -> int:
        """Return the position, in bytes."""
        return self.position

    def next_count(self, asked_for: int) -> int:
        """Return how many of `asked_for` bytes exist from the position on."""
        return max(0, min(asked_for, self.size - self.position))


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
