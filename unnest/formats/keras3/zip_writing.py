"""A zip member that is written where it lies, and not copied there.

A zip is written from front to back, HDF5 is not. So HDF5 writes to the rest of the file as to a file of its own, and
`zipfile` is then shown the bytes that lie there, of which it takes the checksum and the length.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import IO, Any

from unnest.files.system import write_all
from unnest.formats.base import BLOCK


class Rest(io.RawIOBase):
    """What follows a place in an unbuffered file, as a file of its own, for HDF5 to read, write and cut."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file, self._start = file, start

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As any file."""
        return self._file.seek(offset + (self._start if whence == io.SEEK_SET else 0), whence) - self._start

    def tell(self) -> int:
        """As any file."""
        return self._file.tell() - self._start

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any writable buffer
        """As any file."""
        count: int | None = self._file.readinto(buffer)  # type: ignore[attr-defined] # of what is unbuffered
        return count

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """As any file."""
        return self._file.write(data)

    def truncate(self, size: int | None = None) -> int:
        """As any file."""
        return self._file.truncate(None if size is None else self._start + size) - self._start


class ZipTarget(io.RawIOBase):
    """The unbuffered file that `zipfile` writes to: whole blocks, but for those that lie there already."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._is_there = False

    def seekable(self) -> bool:
        """So that headers are completed where they are."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As any file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """As any file."""
        return self._file.tell()

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """All of it."""
        if self._is_there:
            self._file.seek(len(data), io.SEEK_CUR)
        else:
            write_all(self._file, data)
        return len(data)

    def add(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, fill: Callable[[IO[bytes]], None]) -> None:
        """A member of the archive that is written to this, last and uncompressed, with what `fill` writes."""
        with archive.open(info, "w", force_zip64=True) as member:
            start = self.tell()
            fill(Rest(self._file, start))  # type: ignore[arg-type] # as much of a file as is needed
            self._file.seek(start)
            self._is_there = True
            try:
                while block := self._file.read(BLOCK):
                    self._file.seek(-len(block), io.SEEK_CUR)
                    member.write(block)
            finally:
                self._is_there = False
