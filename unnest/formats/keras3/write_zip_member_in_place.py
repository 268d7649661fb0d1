"""A zip member that is written where it lies, and not copied there.

A zip is written from front to back, HDF5 is not. So HDF5 writes to the rest of the file as to a file of its own, and
the member's header gets its length and checksum when they are known.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from zlib_ng import zlib_ng

from unnest.files.portable_file_operations import write_all
from unnest.formats.container_interface import TRANSFER_BLOCK

#: Permission bits of a member that names none, as `zipfile` gives them.
PRIVATE = 0o600


class _Run(NamedTuple):
    """Bytes between two offsets that were written from front to back, and their CRC-32."""

    start: int
    end: int
    crc: int


class OffsetFile(io.RawIOBase):
    """A file-like view of an unbuffered file from an offset on, for HDF5 to read, write and truncate.

    It keeps the checksums of what is written, so that tensors are not read again for the checksum of the whole.
    """

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file, self._start = file, start
        self._runs: list[_Run] = []

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position, in bytes from the start of the view, and return it."""
        return (
            self._file.seek(offset + (self._start if whence == io.SEEK_SET else 0), whence)
            - self._start
        )

    def tell(self) -> int:
        """Return the position, in bytes from the start of the view."""
        return self._file.tell() - self._start

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any writable buffer
        """Read into a buffer and return the number of bytes."""
        count: int | None = self._file.readinto(buffer)  # type: ignore[attr-defined] # of what is unbuffered
        return count

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """Write a buffer and return the number of bytes written."""
        start = self.tell()
        count = self._file.write(data)
        last = self._runs.pop() if self._forget(start) == start else _Run(start, start, 0)
        crc = zlib_ng.crc32(memoryview(data).cast("B")[:count], last.crc)
        self._runs.append(_Run(last.start, start + count, crc))
        return count

    def truncate(self, size: int | None = None) -> int:
        """Set the size of the view, in bytes, and return it."""
        size = self._file.truncate(None if size is None else self._start + size) - self._start
        self._forget(size)
        return size

    def _forget(self, offset: int) -> int | None:
        """Forget the runs that reach beyond an offset, and return the end of the last one before it."""
        while self._runs and self._runs[-1].end > offset:
            self._runs.pop()
        return self._runs[-1].end if self._runs else None

    def crc32(self, size: int) -> int:
        """CRC-32 of the first `size` bytes, all that were written among them; moves the position."""
        crc = end = 0
        for run in (*self._runs, _Run(size, size, 0)):
            between = crc32_of(self._file, self._start + end, run.start - end)
            crc = zlib_ng.crc32_combine(crc, between, run.start - end)
            crc = zlib_ng.crc32_combine(crc, run.crc, run.end - run.start)
            end = run.end
        return crc


class ZipTarget(io.RawIOBase):
    """The unbuffered file that `zipfile` writes to: whole blocks."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def seekable(self) -> bool:
        """Return True, so that `zipfile` completes headers in place."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position, in bytes, and return it."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position, in bytes."""
        return self._file.tell()

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        """Write all of a buffer and return its size."""
        write_all(self._file, data)
        return len(data)

    def add(
        self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, fill: Callable[[IO[bytes]], None]
    ) -> None:
        """Write this member of the archive, last and uncompressed, with what `fill` writes.

        Source: PKWARE's APPNOTE 4.3.7. The archive goes on from `start_dir`, as after members of its own.
        """
        info.header_offset = self.tell()
        info.external_attr = PRIVATE << 16
        info.CRC = info.file_size = info.compress_size = 0
        self.write(info.FileHeader(zip64=True))
        start = self.tell()
        rest = OffsetFile(self._file, start)
        fill(rest)  # type: ignore[arg-type] # as much of a file as is needed
        archive.start_dir = self.seek(0, io.SEEK_END)
        info.file_size = info.compress_size = archive.start_dir - start
        info.CRC = rest.crc32(info.file_size)
        self.seek(info.header_offset)
        self.write(info.FileHeader(zip64=True))
        self.seek(archive.start_dir)
        archive.filelist.append(info)
        archive.NameToInfo[info.filename] = info


def crc32_of(file: IO[bytes], start: int, size: int) -> int:
    """Return the CRC-32 of `size` bytes of an unbuffered file, or of those there are; moves the file's position.

    Python's own zlib takes a quarter of a second for each GiB (4 GiB/s), as much as reading it does; zlib-ng a fifth of
    that.
    """
    file.seek(start)
    buffer, crc = bytearray(min(TRANSFER_BLOCK, size)), 0
    view = memoryview(buffer)
    while size and (count := file.readinto(view[:size])):  # type: ignore[attr-defined] # of what is unbuffered
        crc = zlib_ng.crc32(view[:count], crc)
        size -= count
    return crc
