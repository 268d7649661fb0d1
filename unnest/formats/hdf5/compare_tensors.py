"""Compare the tensors of a written HDF5 file with their source, without decoding them where both store them alike.

Memory stays flat whatever the tensor's size, and comparing costs what reading two files costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO

from h5py import h5d

from unnest.core.model import Tensor
from unnest.files.reflinks import Range, are_shared, whole_blocks
from unnest.formats.container_interface import TRANSFER_BLOCK, OnBytes, Source
from unnest.formats.evaluate_tensors import blocks_of
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.read_datasets import slabs


class TensorComparer:
    """Compares datasets of a written HDF5 file with the tensors of its source.

    If the source also keeps a tensor in HDF5, the two datasets are compared as they are stored.
    """

    def __init__(self, source: Source, written: GuardedFile, progress: OnBytes) -> None:
        self._source, self._written = source, written.raw
        self._buffers = (bytearray(TRANSFER_BLOCK), bytearray(TRANSFER_BLOCK))
        self._progress = progress

    def holds(self, tensor: Tensor, dataset: h5d.DatasetID) -> bool:
        """Return True if the dataset holds the tensor's bytes, bit for bit."""
        hdf5 = self._source.hdf5_of(tensor)
        if hdf5 is not None:
            return self._same(hdf5.raw, hdf5.dataset(tensor.ref), dataset)
        if dataset.get_create_plist().get_layout() == h5d.CONTIGUOUS:
            return self._same_as(blocks_of(self._source, tensor), dataset)
        return same_stream(blocks_of(self._source, tensor), slabs(dataset))

    def _same(self, source_file: IO[bytes], left: h5d.DatasetID, right: h5d.DatasetID) -> bool:
        """True if two datasets are equal: as stored if the layouts agree, or decoded. `source_file`: left's file."""
        layouts = [d.get_create_plist().get_layout() for d in (left, right)]
        if layouts == [h5d.CONTIGUOUS] * 2:
            sizes = [d.get_storage_size() for d in (left, right)]
            return sizes[0] == sizes[1] and (
                not sizes[0]
                or self._same_range(source_file, left.get_offset(), right.get_offset(), sizes[0])
            )
        if layouts == [h5d.CHUNKED] * 2:
            return self._same_chunks(source_file, left, right) and _can_be_decoded(left)
        return same_stream(slabs(left), slabs(right))

    def _same_as(self, blocks: Iterable[bytes], right: h5d.DatasetID) -> bool:
        """Return True if the bytes of a tensor that is not a dataset equal those of a contiguous dataset."""
        bytes_left: int = right.get_storage_size()
        offset = right.get_offset() or 0
        for block in blocks:
            self._written.seek(offset)
            if len(block) > bytes_left or _read_exactly(self._written, len(block)) != block:
                return False
            offset, bytes_left = offset + len(block), bytes_left - len(block)
            self._progress(len(block))
        return bytes_left == 0

    def _same_chunks(
        self, source_file: IO[bytes], left: h5d.DatasetID, right: h5d.DatasetID
    ) -> bool:
        """Return True if two chunked datasets are stored in equal chunks."""
        if left.get_num_chunks() != right.get_num_chunks():
            return False

        def ends_iteration(chunk: h5d.StoreInfo) -> bool | None:
            other = right.get_chunk_info_by_coord(chunk.chunk_offset)
            is_same = (chunk.size, chunk.filter_mask) == (
                other.size,
                other.filter_mask,
            ) and self._same_range(source_file, chunk.byte_offset, other.byte_offset, chunk.size)
            # Anything but None ends the iteration and is its result.
            return None if is_same else True

        difference: bool | None = left.chunk_iter(ends_iteration)
        return difference is None

    def _same_range(self, source_file: IO[bytes], left: int, right: int, size: int) -> bool:
        """Return True if two ranges hold the same bytes; blocks that both files share on the disk are not read."""
        start, end = whole_blocks(left, size)
        shift, count = right - left, end - start
        shared = Range(source_file, start, count), Range(self._written, start + shift, count)
        if not count or not are_shared(*shared):
            return self._reads_same(source_file, left, right, size)
        self._progress(count)
        return self._reads_same(source_file, left, right, start - left) and self._reads_same(
            source_file, end, end + shift, left + size - end
        )

    def _reads_same(self, source_file: IO[bytes], left: int, right: int, size: int) -> bool:
        """Return True if `size` bytes at two offsets are equal, read block by block."""
        files = (source_file, self._written)
        for file, offset in zip(files, (left, right), strict=True):
            file.seek(offset)
        while size:
            if size < TRANSFER_BLOCK:
                self._buffers = (bytearray(size), bytearray(size))
            elif len(self._buffers[0]) != TRANSFER_BLOCK:
                self._buffers = (bytearray(TRANSFER_BLOCK), bytearray(TRANSFER_BLOCK))
            if not all(_fill(f, b) for f, b in zip(files, self._buffers, strict=True)):
                return False
            if self._buffers[0] != self._buffers[1]:
                return False
            size -= len(self._buffers[0])
            self._progress(len(self._buffers[0]))
        return True


def _can_be_decoded(dataset: h5d.DatasetID) -> bool:
    """Return True once all stored bytes of a dataset have passed its filters, some of which verify a checksum.

    HDF5 copies chunks as they are stored, so a broken one would be broken in the copy as well. Raises as `slabs`.
    """
    if dataset.get_create_plist().get_nfilters():
        for _ in slabs(dataset):
            pass
    return True


def same_stream(left: Iterable[bytes], right: Iterable[bytes]) -> bool:
    """Return True if two sequences of blocks hold the same bytes, however they are divided."""
    right_blocks, unread = iter(right), b""
    for block in left:
        offset = 0
        while offset < len(block):
            if not unread:
                unread = next(right_blocks, b"")
                if not unread:
                    return False
            size = min(len(unread), len(block) - offset)
            if unread[:size] != block[offset : offset + size]:
                return False
            offset, unread = offset + size, unread[size:]
    return not unread and not any(right_blocks)


def _fill(file: IO[bytes], buffer: bytearray) -> bool:
    view, filled = memoryview(buffer), 0
    while filled < len(buffer):
        n = file.readinto(view[filled:])  # type: ignore[attr-defined] # of what is unbuffered
        if not n:
            return False
        filled += n
    return True


def _read_exactly(file: IO[bytes], size: int) -> bytes:
    buffer = bytearray(size)
    return bytes(buffer) if _fill(file, buffer) else b""
