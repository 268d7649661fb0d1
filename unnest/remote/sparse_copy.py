"""A local copy of an object in which the bytes of tensors may be missing, and where in the object these are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from unnest.budget import charge_steps
from unnest.errors import Unreadable
from unnest.files.file_reading import ReadableFile
from unnest.formats.detect_container import HDF5_MAGIC, ZIP_MAGIC

#: Bytes that are asked for at once; HDF5 asks for a few hundred at a time.
SMALLEST_REQUEST = 8 << 10
#: The most bytes that are asked for at once.
PIECE = 8 << 20
#: Bytes before the name in the local header of a zip's member.
LOCAL_HEADER = 30
#: Tensors that are smaller are copied, too.
COPIED_TENSOR_BYTES = 4096


class SparseCopy(ReadableFile):
    """A local file that becomes the copy of an object as it is read."""

    def __init__(self, file: IO[bytes], size: int, read: Callable[[int, int], bytes]) -> None:
        super().__init__(size)
        self._file, self._read = file, read
        self._has_block = bytearray(-(-size // SMALLEST_REQUEST))
        file.truncate(size)

    def fetch(self, start: int, end: int) -> None:
        """Fetch these bytes, in whole blocks, unless they are there."""
        block, last = start // SMALLEST_REQUEST, -(-min(end, self.size) // SMALLEST_REQUEST)
        while block < last:
            if self._has_block[block]:
                block += 1
                continue
            stop = block
            while (
                stop < last
                and not self._has_block[stop]
                and (stop - block) * SMALLEST_REQUEST < PIECE
            ):
                stop += 1
            charge_steps(stop - block)
            self._file.seek(block * SMALLEST_REQUEST)
            self._file.write(
                self._read(block * SMALLEST_REQUEST, min(stop * SMALLEST_REQUEST, self.size))
            )
            self._has_block[block:stop] = b"\1" * (stop - block)
            block = stop

    def complete(self, holes: Iterable[tuple[int, int]]) -> None:
        """Fetch everything that lies outside these ranges of bytes, each a start and an end."""
        for start, end in self._gaps(holes):
            self.fetch(start, end)

    def size_outside(self, holes: Iterable[tuple[int, int]]) -> int:
        """Return how many bytes lie outside these ranges."""
        return sum(end - start for start, end in self._gaps(holes))

    def _gaps(self, holes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        end_of_hole = 0
        for start, end in [*sorted(holes), (self.size, self.size)]:
            if start > end_of_hole:
                yield end_of_hole, start
            end_of_hole = max(end_of_hole, end)

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Read into a buffer, fetching what is missing, and return the number of bytes."""
        count = self.next_count(len(buffer))
        self.fetch(self.position, self.position + count)
        self._file.seek(self.position)
        data = self._file.read(count)
        buffer[: len(data)] = data
        self.position += len(data)
        return len(data)


class _Part(ReadableFile):
    """Part of a copy as a file of its own."""

    def __init__(self, copy: SparseCopy, start: int, size: int) -> None:
        super().__init__(size)
        self._copy, self._start = copy, start

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Read into a buffer, up to the end of the part, and return the number of bytes."""
        view = memoryview(buffer)[: self.next_count(len(buffer))]
        self._copy.seek(self._start + self.position)
        count = self._copy.readinto(view)
        self.position += count
        return count


def tensor_ranges(copy: SparseCopy, local: str, name: str) -> list[tuple[int, int]]:
    """Return the ranges of a file that are tensors' bytes; [] for what is neither HDF5 nor a zip with HDF5."""
    copy.seek(0)
    start = copy.read(max(len(HDF5_MAGIC), len(ZIP_MAGIC))) or b""
    if start.startswith(HDF5_MAGIC):
        return _in_hdf5(_Part(copy, 0, copy.size), copy.size, name)
    if start.startswith(ZIP_MAGIC) and local.lower().endswith(".keras"):
        return _in_zip(copy, name)
    return []


def _in_hdf5(window: _Part, size: int, name: str) -> list[tuple[int, int]]:
    """Return the byte ranges of contiguous datasets in HDF5; [] if it cannot be read."""
    from h5py import h5d

    from unnest.formats.hdf5.guarded_file import GuardedFile

    ranges: list[tuple[int, int]] = []
    try:
        hdf5 = GuardedFile(name, window, size)
    except Unreadable:
        return ranges  # the whole file is copied, and whoever reads that says what is wrong with it
    with contextlib.closing(hdf5):
        for path, node in hdf5.datasets.items():
            if node.stored < COPIED_TENSOR_BYTES:
                continue
            dataset = hdf5.dataset(path)
            if node.layout == h5d.CONTIGUOUS:
                ranges.append((dataset.get_offset(), dataset.get_offset() + node.stored))
            elif node.layout == h5d.CHUNKED:
                for number in range(dataset.get_num_chunks()):
                    charge_steps()
                    chunk = dataset.get_chunk_info(number)
                    ranges.append((chunk.byte_offset, chunk.byte_offset + chunk.size))
    return ranges


def _in_zip(copy: SparseCopy, name: str) -> list[tuple[int, int]]:
    """Return the byte ranges of tensors in the weights of a `.keras`; [] if they are compressed or damaged."""
    import zipfile

    try:
        with zipfile.ZipFile(copy) as archive:
            info = archive.getinfo("model.weights.h5")
            with archive.open(info) as member:
                member.read(1)
            copy.seek(info.header_offset)
            header = copy.read(LOCAL_HEADER) or b""
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, OSError, ValueError):
        return []
    if info.compress_type != zipfile.ZIP_STORED or len(header) < LOCAL_HEADER:
        return []
    name_size, extra_size = (int.from_bytes(header[k : k + 2], "little") for k in (26, 28))
    start = info.header_offset + LOCAL_HEADER + name_size + extra_size
    window = _Part(copy, start, info.file_size)
    return [(start + a, start + b) for a, b in _in_hdf5(window, info.file_size, name)]
