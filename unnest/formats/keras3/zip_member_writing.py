"""A zip member that is written where it lies, and not copied there.

A zip is written from front to back, HDF5 is not. So HDF5 writes to the rest of the file as to a file of its own, and
the member's header gets its length and checksum from the bytes that lie there then.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import IO, Any

from zlib_ng import zlib_ng

from unnest.files.os_calls import write_all
from unnest.formats.base import BLOCK

#: Permission bits of a member that names none, as `zipfile` gives them.
PRIVATE = 0o600


class Rest(io.RawIOBase):
    """A file-like view of an unbuffered file from an offset on, for HDF5 to read, write and truncate."""

    def __init__(self, file: IO[bytes], start: int) -> None:
        self._file, self._start = file, start

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
        return self._file.write(data)

    def truncate(self, size: int | None = None) -> int:
        """Set the size of the view, in bytes, and return it."""
        return self._file.truncate(None if size is None else self._start + size) - self._start


class ZipTarget(io.RawIOBase):
    """The unbuffered file that `zipfile` writes to: whole blocks."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def seekable(self) -> bool:
        """So that headers are completed where they are."""
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
        """A member of the archive that is written to this, last and uncompressed, with what `fill` writes.

        Source: PKWARE's APPNOTE 4.3.7. The archive goes on from `start_dir`, as after members of its own.
        """
        info.header_offset = self.tell()
        info.external_attr = PRIVATE << 16
        info.CRC = info.file_size = info.compress_size = 0
        self.write(info.FileHeader(zip64=True))
        start = self.tell()
        fill(Rest(self._file, start))  # type: ignore[arg-type] # as much of a file as is needed
        archive.start_dir = self.seek(0, io.SEEK_END)
        info.file_size = info.compress_size = archive.start_dir - start
        info.CRC = crc32_of(self._file, start, info.file_size)
        self.seek(info.header_offset)
        self.write(info.FileHeader(zip64=True))
        self.seek(archive.start_dir)
        archive.filelist.append(info)
        archive.NameToInfo[info.filename] = info


def crc32_of(file: IO[bytes], start: int, size: int) -> int:
    """CRC-32 of `size` bytes of an unbuffered file, or of those there are; moves the file's position.

    Python's own zlib takes a quarter of a second for each GiB (4 GiB/s), as much as reading it does; zlib-ng a fifth of
    that.
    """
    file.seek(start)
    buffer, crc = bytearray(min(BLOCK, size)), 0
    view = memoryview(buffer)
    while size and (count := file.readinto(view[:size])):  # type: ignore[attr-defined] # of what is unbuffered
        crc = zlib_ng.crc32(view[:count], crc)
        size -= count
    return crc
