"""Read-only file objects of a known size, for libraries to read and seek in: part of an open file, for one."""

from __future__ import annotations

import io
from typing import IO, Any

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
