"""Read the elements of HDF5 datasets, decompressed, a bounded number of bytes at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from h5py import h5d, h5i, h5s

from unnest.budget import charge_bytes, check_memory
from unnest.errors import Unreadable
from unnest.formats.container_interface import TRANSFER_BLOCK
from unnest.formats.translate_errors import oneline

#: Bytes of a slab that is made of whole chunks.
MAX_SLAB = 16 * TRANSFER_BLOCK


def slabs(dataset: h5d.DatasetID) -> Iterator[bytes]:
    """Yield a dataset's elements in row-major order, decompressed, at most MAX_SLAB bytes at a time.

    Raises Unreadable where they cannot be, or OverBudget.
    """
    if 0 in dataset.shape:
        return
    try:
        yield from _slabs(dataset)
    except MemoryError:
        raise
    except (OSError, RuntimeError, ValueError) as e:
        file = h5i.get_file_id(dataset).name.decode("utf-8", "replace")
        place = h5i.get_name(dataset).decode("utf-8", "replace")
        raise Unreadable(
            "damaged-hdf5",
            f"{file}: {place} cannot be read ({oneline(e)}); restore the file from a copy",
        ) from e


def blocks(dataset: h5d.DatasetID) -> Iterator[bytes]:
    """Yield the same in blocks of at most TRANSFER_BLOCK bytes. Raises Unreadable, OverBudget."""
    for slab in slabs(dataset):
        for start in range(0, len(slab), TRANSFER_BLOCK):
            yield slab[start : start + TRANSFER_BLOCK]


def _slabs(dataset: h5d.DatasetID) -> Iterator[bytes]:
    """Yield slabs of a dataset; a compressed one chunk row by chunk row."""
    shape, dtype = dataset.shape, dataset.dtype
    created = dataset.get_create_plist()
    chunk = created.get_chunk() if created.get_layout() == h5d.CHUNKED else None
    if chunk is not None:
        # HDF5 holds a whole chunk, as it is stored and as it is unpacked.
        check_memory(2 * dtype.itemsize * math.prod(chunk))
    if not shape:
        value = np.empty((), dtype)
        dataset.read(h5s.ALL, h5s.ALL, value)
        yield value.tobytes()
        return
    axis, step = _slab_axis_and_step(shape, dtype.itemsize, chunk)
    space = dataset.get_space()
    for leading in np.ndindex(shape[:axis]):
        for start in range(0, shape[axis], step):
            begin = (*leading, start) + (0,) * (len(shape) - axis - 1)
            count = (1,) * axis + (min(step, shape[axis] - start), *shape[axis + 1 :])
            charge_bytes(dtype.itemsize * _elements_decoded(begin, count, chunk))
            space.select_hyperslab(begin, count)
            value = np.empty(count, dtype)
            dataset.read(h5s.create_simple(count), space, value)
            yield value.tobytes()


def _slab_axis_and_step(
    shape: tuple[int, ...], itemsize: int, chunk: tuple[int, ...] | None
) -> tuple[int, int]:
    """Return (axis, step): a slab is `step` indices of `axis`, one index of each axis before it, all behind it.

    Slabs hold whole chunks where those fit, so that each chunk is decoded once.
    """
    axis, row_bytes = 0, itemsize * math.prod(shape[1:])
    while row_bytes > TRANSFER_BLOCK:
        axis += 1
        row_bytes //= shape[axis]
    step = max(1, TRANSFER_BLOCK // row_bytes)
    if chunk is not None and chunk[axis] * row_bytes <= MAX_SLAB:
        step = max(step // chunk[axis], 1) * chunk[axis]
    return axis, step


def _elements_decoded(
    begin: tuple[int, ...], count: tuple[int, ...], chunk: tuple[int, ...] | None
) -> int:
    """Return how many elements are decoded for a slab: those of whole chunks."""
    if chunk is None:
        return math.prod(count)
    touched = ((b + n - 1) // c - b // c + 1 for b, n, c in zip(begin, count, chunk, strict=True))
    return math.prod(touched) * math.prod(chunk)
