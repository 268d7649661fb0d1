"""Tensors into a new HDF5 file, from whatever container they are in: none passes through memory whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import h5py
import numpy as np
from h5py import h5d, h5g, h5o, h5p, h5s, h5t

from unnest.core.model import Tensor
from unnest.errors import Unreadable
from unnest.files.system import write_all
from unnest.formats.base import OnBytes, Source
from unnest.formats.boundary import blames_system, oneline
from unnest.formats.evaluate import blocks_of
from unnest.formats.hdf5.guarded_file import GuardedFile
from unnest.formats.hdf5.index import encoded, short


class _ErrorKeepingFile:
    """An unbuffered file for HDF5 to write to, which keeps the first error of the disk.

    HDF5 goes on, and has the file truncated and flushed, with that error still raised; what Python makes of this is
    another error, which says nothing of the disk.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """All of it: HDF5 does not ask how much."""
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
    """HDF5 in an open, unbuffered file, which must outlive it: HDF5 writes its last bytes on closing.

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


def copy_dataset(hdf5: GuardedFile, path: str, group: h5g.GroupID, name: str, links: h5p.PropLCID) -> None:
    """A dataset of the input as it is stored, under its name in a group of the output.

    Raises Unreadable where the input is to blame, OSError or RuntimeError where the system is.
    """
    hdf5.check_copy(path)
    try:
        h5o.copy(hdf5.id, b"/" + encoded(path), group, encoded(name), lcpl=links)
    except (OSError, RuntimeError, ValueError, KeyError) as e:
        if blames_system(e):
            raise
        raise Unreadable(
            "cannot-read", f"{hdf5.path}: /{short(path)} cannot be read ({oneline(e)}); restore the file from a copy"
        ) from e


class Transfer:
    """Puts a source's tensors into groups: HDF5's own by object copy, others into reserved places, filled at last.

    `pending` are the tensors that are still to be filled in, each with the offset in the file that it has there.
    """

    def __init__(self, source: Source, progress: OnBytes) -> None:
        self.source, self.progress = source, progress
        self.pending: list[tuple[int, Tensor]] = []
        self.links = h5p.create(h5p.LINK_CREATE)
        self.links.set_create_intermediate_group(True)

    def put(self, group: h5py.Group, name: str, tensor: Tensor) -> None:
        """The tensor as a dataset of the group; slashes in the name make groups."""
        hdf5 = self.source.hdf5_of(tensor)
        if hdf5 is not None:
            copy_dataset(hdf5, tensor.ref, group.id, name, self.links)
            self.progress(hdf5.datasets[tensor.ref].stored)
        else:
            self._reserve(group, name, tensor)

    def _reserve(self, group: h5py.Group, name: str, tensor: Tensor) -> None:
        """A contiguous dataset whose bytes come later, written straight to their place in the file."""
        properties = h5p.create(h5p.DATASET_CREATE)
        properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        properties.set_fill_time(h5d.FILL_TIME_NEVER)
        properties.set_obj_track_times(False)
        kind = h5t.py_create(np.dtype(tensor.dtype), logical=True)
        space = h5s.create_simple(tensor.shape) if tensor.shape else h5s.create(h5s.SCALAR)
        dataset = h5d.create(group.id, encoded(name), kind, space, properties, lcpl=self.links)
        if tensor.size:
            self.pending.append((dataset.get_offset(), tensor))

    def fill(self, file: IO[bytes]) -> None:
        """The reserved places of a file that HDF5 has let go of; unbuffered."""
        for offset, tensor in self.pending:
            file.seek(offset)
            for block in blocks_of(self.source, tensor):
                write_all(file, block)
                self.progress(len(block))
