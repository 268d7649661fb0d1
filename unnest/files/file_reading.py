"""Files to read: objects of a known size for libraries to read and seek in, and a model's small files, read whole."""

from __future__ import annotations

import io
import os
import stat
from typing import IO, Any

from unnest.budget import charge_memory
from unnest.errors import Unreadable
from unnest.files.portable_file_operations import pread_into


class ReadableFile(io.RawIOBase):
    """A file of `size` bytes with a position. A subclass reads the bytes there, in `readinto`."""

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


class FileWindow(ReadableFile):
    """`size` bytes of an open file, from `start` on, as a file of its own."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__(size)
        self._file, self._start = file, start

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Read into a buffer, up to the end of the window, and return the number of bytes."""
        window = memoryview(buffer)[: self.next_count(len(buffer))]
        count = pread_into(self._file.fileno(), window, self._start + self.position)
        self.position += count
        return count


def open_plain_file(path: str) -> int:
    """Open a regular file that is not a link; return its descriptor. Raises Unreadable."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise Unreadable("link", f"{path}: not a plain file; put the file itself there")
        return os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
    except FileNotFoundError as e:
        raise Unreadable(
            "missing-file", f"{path}: missing; the model is not complete without it: copy it, too"
        ) from e
    except OSError as e:
        raise Unreadable("cannot-open", f"{path}: cannot be opened ({e.strerror})") from e


def read_plain_file(path: str, limit: int) -> bytes:
    """Return the content of a small plain file. Raises Unreadable if it is larger than `limit` bytes."""
    descriptor = open_plain_file(path)
    with os.fdopen(descriptor, "rb") as f:
        if os.fstat(descriptor).st_size > limit:
            raise Unreadable(
                "too-large", f"{path}: larger than {limit >> 20} MB, which no such file is"
            )
        charge_memory(os.fstat(descriptor).st_size)
        return f.read()
