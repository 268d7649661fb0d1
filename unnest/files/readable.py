"""Read-only files of a known size that are made of something else, for libraries to read and seek in."""

from __future__ import annotations

import io


class Readable(io.RawIOBase):
    """A file of `size` bytes with a position; a subclass says, in `readinto`, what is there."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.position = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As any file."""
        self.position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.position, io.SEEK_END: self.size}[whence]
        return self.position

    def tell(self) -> int:
        """As any file."""
        return self.position

    def next_count(self, asked_for: int) -> int:
        """How many of so many bytes there are from the position on."""
        return max(0, min(asked_for, self.size - self.position))
