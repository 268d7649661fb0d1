"""Tensors into a new HDF5 file, from whatever container they are in: none passes through memory whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import h5py
import numpy as np
from h5py import h5d, h5o, h5p, h5s, h5t

from unnest.core.model import Tensor
from unnest.files.system import write_all
from unnest.formats.base import Progress, Source
from unnest.formats.evaluate import blocks_of
from unnest.formats.hdf5.guarded_file import encoded


@contextmanager
def new_hdf5(file: IO[bytes]) -> Iterator[h5py.File]:
    """HDF5 in an open, unbuffered file, which must outlive it: HDF5 writes its last bytes on closing."""
    hdf5 = h5py.File(file, "w", libver="earliest")
    try:
        yield hdf5
    finally:
        try:
            hdf5.close()
        except KeyboardInterrupt:
            hdf5.close()  # the signal came before it was closed, and `file` goes next
            raise


class Transfer:
    """Puts a source's tensors into groups: HDF5's own by object copy, others into reserved places, filled at last."""

    def __init__(self, source: Source, progress: Progress) -> None:
        self.source, self.door, self.progress = source, source.door, progress
        #: (where the bytes go, tensor), for when the file is closed.
        self.pending: list[tuple[int, Tensor]] = []
        self.links = h5p.create(h5p.LINK_CREATE)
        self.links.set_create_intermediate_group(True)

    def put(self, group: h5py.Group, name: str, tensor: Tensor) -> None:
        """The tensor as a dataset of the group; slashes in the name make groups."""
        if self.door is not None and tensor.recipe is None:
            self.door.check_copy(tensor.ref)
            h5o.copy(self.door.id, b"/" + encoded(tensor.ref), group.id, encoded(name), lcpl=self.links)
            self.progress(self.door.datasets[tensor.ref].stored)
        else:
            self._reserve(group, name, tensor)

    def _reserve(self, group: h5py.Group, name: str, tensor: Tensor) -> None:
        """A contiguous dataset whose bytes come later, written straight to their place in the file."""
        how = h5p.create(h5p.DATASET_CREATE)
        how.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        how.set_fill_time(h5d.FILL_TIME_NEVER)
        how.set_obj_track_times(False)
        kind = h5t.py_create(np.dtype(tensor.dtype), logical=True)
        space = h5s.create_simple(tensor.shape) if tensor.shape else h5s.create(h5s.SCALAR)
        dataset = h5d.create(group.id, encoded(name), kind, space, how, lcpl=self.links)
        if tensor.size:
            self.pending.append((dataset.get_offset(), tensor))

    def fill(self, file: IO[bytes]) -> None:
        """The reserved places of a file that HDF5 has let go of; unbuffered."""
        for offset, tensor in self.pending:
            file.seek(offset)
            for block in blocks_of(self.source, tensor):
                write_all(file, block)
                self.progress(len(block))
