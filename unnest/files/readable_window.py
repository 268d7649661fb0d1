"""A read-only file object of known size over whatever a subclass reads, for libraries to read and seek in."""

from __future__ import annotations

import io


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
