"""Write into the headers of datasets that HDF5 has only declared where in the file their bytes are.

HDF5 packs tensors one behind the other. Here a large one begins at the same place within a block of the disk as in the
file that it comes from, so that file systems can let the two files share the blocks between.

(Source: the HDF5 file format specification, version 3: II.A superblock version 0, whose end of file is at byte 40;
IV.A.1.a object headers version 1; IV.A.2.i data layout message, version 3, contiguous: address and size. None of them
has a checksum.)
"""

from __future__ import annotations

from typing import IO, NamedTuple

from unnest.files.portable_file_operations import write_all
from unnest.formats.hdf5.plain_layouts import (
    ADDRESS,
    HEADER,
    IN_ONE_PIECE,
    LAYOUT,
    MESSAGE,
    PAIR,
    SUPERBLOCK,
    UNDEFINED,
)

#: Where the superblock says how long the file is.
END_OF_FILE = len(SUPERBLOCK) + 2 * ADDRESS.size


class DatasetSpace(NamedTuple):
    """Space for one dataset: the address of its object header, and the offset at which its `size` bytes begin."""

    header: int
    offset: int
    size: int


def write_addresses(file: IO[bytes], spaces: list[DatasetSpace]) -> None:
    """Write into an HDF5 file the address of each dataset's bytes (`spaces`), and the end of the file.

    The HDF5 library has closed the file; it is open here unbuffered. The bytes of datasets are not touched.

    Raises:
        ValueError: a header is not that of a dataset without allocated space, or the superblock is of another version.

    """
    for space in spaces:
        _write_address(file, _address_field_offset(file, space), space.offset)
    if _read(file, 0, len(SUPERBLOCK)) != SUPERBLOCK:
        raise ValueError("HDF5 wrote a superblock of another version")
    _write_address(file, END_OF_FILE, max(space.offset + space.size for space in spaces))


def _address_field_offset(file: IO[bytes], space: DatasetSpace) -> int:
    """Return the offset of the address field in a dataset's layout message; the field must still be undefined.

    Raises ValueError.
    """
    *_, size, _ = HEADER.unpack(_read(file, space.header, HEADER.size))
    messages, position = _read(file, space.header + HEADER.size, size), 0
    while position < size:
        kind, length, *_ = MESSAGE.unpack_from(messages, position)
        position += MESSAGE.size
        if kind == LAYOUT and messages[position:].startswith(
            IN_ONE_PIECE + PAIR.pack(UNDEFINED, space.size)
        ):
            return space.header + HEADER.size + position + len(IN_ONE_PIECE)
        position += length
    raise ValueError("HDF5 gave a dataset another layout than was asked for")


def _write_address(file: IO[bytes], offset: int, address: int) -> None:
    file.seek(offset)
    write_all(file, ADDRESS.pack(address))


def _read(file: IO[bytes], offset: int, count: int) -> bytes:
    file.seek(offset)
    return file.read(count)
