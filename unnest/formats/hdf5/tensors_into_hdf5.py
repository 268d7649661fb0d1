"""Copy tensors into a new HDF5 file, from whatever container they are in: none passes through memory whole."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import h5py
import numpy as np
from h5py import h5a, h5d, h5g, h5o, h5p, h5s, h5t

from unnest.core.model import Tensor
from unnest.errors import Unreadable
from unnest.files import reflinks
from unnest.files.portable_file_operations import write_all
from unnest.files.reflinks import Range
from unnest.formats.container_interface import TRANSFER_BLOCK, OnBytes, Source
from unnest.formats.evaluate_tensors import blocks_of
from unnest.formats.hdf5 import dataset_address_patch
from unnest.formats.hdf5.dataset_address_patch import DatasetSpace
from unnest.formats.hdf5.dataset_record_and_limits import encoded, short
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.translate_errors import blames_system, oneline

#: Bytes from which on a tensor is no longer copied by HDF5. Each may take a block of the disk more then.
LARGE = 1 << 20


class _ErrorKeepingFile:
    """An unbuffered file for HDF5 to write to, which keeps the first error of the disk.

    HDF5 goes on, and has the file truncated and flushed, with that error still raised; what Python makes of this is
    another error, which says nothing of the disk.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write all of the bytes, as HDF5 does not ask how many were written; an error is kept."""
        try:
            write_all(self._file, data)
        except OSError as e:
            self.error = self.error or e
            raise
        return len(data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a file has
        return getattr(self._file, name)


@contextmanager
def new_hdf5(file: IO[bytes]) -> Iterator[h5py.File]:
    """Open HDF5 in an open, unbuffered file, which must outlive it: HDF5 writes its last bytes on closing.

    Raises OSError where the disk does not take them.
    """
    raw_file = _ErrorKeepingFile(file)
    try:
        hdf5 = h5py.File(raw_file, "w", libver="earliest")
        try:
            yield hdf5
        finally:
            try:
                hdf5.close()
            except KeyboardInterrupt:
                hdf5.close()  # the signal came before it was closed, and `file` goes next
                raise
    except Exception as e:
        if raw_file.error is not None:
            raise raw_file.error from e
        raise


def copy_dataset(
    hdf5: GuardedFile, path: str, group: h5g.GroupID, name: str, links: h5p.PropLCID
) -> None:
    """Copy a dataset of the input as it is stored to a group of the output.

    Raises Unreadable where the input is to blame, OSError or RuntimeError where the system is.
    """
    hdf5.check_copy(path)
    try:
        h5o.copy(hdf5.id, b"/" + hdf5.stored_path(path), group, encoded(name), lcpl=links)
    except (OSError, RuntimeError, ValueError, KeyError) as e:
        if blames_system(e):
            raise
        raise _cannot_read(hdf5, path, e) from e


def _cannot_read(hdf5: GuardedFile, path: str, error: Exception) -> Unreadable:
    return Unreadable(
        "cannot-read",
        f"{hdf5.path}: /{short(path)} cannot be read ({oneline(error)}); restore the file from a copy",
    )


class _ContiguousDataset(NamedTuple):
    """A dataset of the source that lies in one piece, and where."""

    hdf5: GuardedFile
    path: str
    offset: int

    def blocks(self, start: int, end: int) -> Iterator[memoryview]:
        """Yield the file's bytes between two offsets; a block is overwritten by the next one. Raises Unreadable."""
        buffer = memoryview(bytearray(min(TRANSFER_BLOCK, end - start)))
        while start < end:
            count = self._read(buffer[: end - start], start)
            yield buffer[:count]
            start += count

    def _read(self, buffer: memoryview, offset: int) -> int:
        try:
            self.hdf5.raw.seek(offset)
            count: int | None = self.hdf5.raw.readinto(buffer)  # type: ignore[attr-defined] # of what is unbuffered
        except OSError as e:
            raise _cannot_read(self.hdf5, self.path, e) from e
        if not count:
            raise _cannot_read(self.hdf5, self.path, EOFError("the file is cut short"))
        return count


class _DeclaredDataset(NamedTuple):
    """A dataset without bytes: its object header in the output; the tensor; where it lies in the source, if in HDF5."""

    header: int
    tensor: Tensor
    stored: _ContiguousDataset | None


class TensorCopier:
    """Copies a source's tensors into groups: those of HDF5 by object copy, but for large ones.

    Large ones, and those of other containers, are declared, and filled when HDF5 has closed the file.
    """

    def __init__(self, source: Source, progress: OnBytes) -> None:
        self.source, self.progress = source, progress
        self._declared_datasets: list[_DeclaredDataset] = []
        self.links = h5p.create(h5p.LINK_CREATE)
        self.links.set_create_intermediate_group(True)

    def write_dataset(self, group: h5py.Group, name: str, tensor: Tensor) -> None:
        """Write the tensor as a dataset of the group; slashes in the name make groups."""
        hdf5 = self.source.hdf5_of(tensor)
        stored = None if hdf5 is None else _large_contiguous(hdf5, tensor)
        if hdf5 is None or stored is not None:
            self._declare_dataset(group, name, tensor, stored)
        else:
            copy_dataset(hdf5, tensor.ref, group.id, name, self.links)
            self.progress(hdf5.datasets[tensor.ref].stored)

    def _declare_dataset(
        self, group: h5py.Group, name: str, tensor: Tensor, stored: _ContiguousDataset | None
    ) -> None:
        """Declare a contiguous dataset, which has no space in the file until something is written to it."""
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_obj_track_times(False)
        space = h5s.create_simple(tensor.shape) if tensor.shape else h5s.create(h5s.SCALAR)
        dataset = h5d.create(
            group.id, encoded(name), _type_of(tensor), space, properties, lcpl=self.links
        )
        if tensor.size:
            self._declared_datasets.append(
                _DeclaredDataset(h5o.get_info(dataset).addr, tensor, stored)
            )

    def fill_declared(self, file: IO[bytes]) -> None:
        """Write the bytes of declared datasets at the end of a file that HDF5 has closed; open here, unbuffered.

        Raises Unreadable where the input is to blame, OSError where the output is.
        """
        if not self._declared_datasets:
            return
        spaces, end = [], file.seek(0, io.SEEK_END)
        for header, tensor, stored in self._declared_datasets:
            if stored is not None:
                end += (stored.offset - end) % reflinks.FS_BLOCK
            spaces.append(DatasetSpace(header, end, tensor.nbytes))
            end += spaces[-1].size
        dataset_address_patch.write_addresses(file, spaces)
        for (_, tensor, stored), space in zip(self._declared_datasets, spaces, strict=True):
            if stored is None:
                self._write(file, space.offset, blocks_of(self.source, tensor))
            else:
                self._copy(stored, file, space)

    def _copy(self, stored: _ContiguousDataset, file: IO[bytes], space: DatasetSpace) -> None:
        """Copy a tensor's bytes: whole blocks are shared if the file system can, the ends are copied."""
        raw, first, last = stored.hdf5.raw, stored.offset, stored.offset + space.size
        shift = space.offset - first
        start, end = reflinks.whole_blocks(first, space.size)
        if start < end and reflinks.clone(Range(raw, start, end - start), file, start + shift):
            self.progress(end - start)
        else:
            start = end = last
        self._write(file, space.offset, stored.blocks(first, start))
        self._write(file, end + shift, stored.blocks(end, last))

    def _write(self, file: IO[bytes], offset: int, blocks: Iterable[bytes | memoryview]) -> None:
        for block in blocks:
            file.seek(offset)
            write_all(file, block)
            offset += len(block)
            self.progress(len(block))


def _large_contiguous(hdf5: GuardedFile, tensor: Tensor) -> _ContiguousDataset | None:
    """Return the place of a large tensor, the bytes of which are copied directly; None for one that HDF5 copies.

    Only if that loses nothing: one contiguous piece, a type that NumPy's dtype gives again, no attributes.
    """
    node = hdf5.datasets[tensor.ref]
    if node.stored < LARGE or node.layout != h5d.CONTIGUOUS:
        return None
    hdf5.check_copy(tensor.ref)
    dataset = hdf5.dataset(tensor.ref)
    is_plain = not h5a.get_num_attrs(dataset) and dataset.get_type().equal(_type_of(tensor))
    return _ContiguousDataset(hdf5, tensor.ref, dataset.get_offset()) if is_plain else None


def _type_of(tensor: Tensor) -> h5t.TypeID:
    return h5t.py_create(np.dtype(tensor.dtype), logical=True)
