"""A dataset in blocks: its elements in order, whatever its shape and chunks, and never much of it at a time."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnest.budget import Budget, OverBudget, limited
from unnest.formats.container_interface import TRANSFER_BLOCK
from unnest.formats.hdf5.read_datasets import MAX_SLAB, slabs

SHAPES: list[tuple[tuple[int, ...], tuple[int, ...] | None]] = [
    ((), None), ((0, 3), None), ((7,), None), ((1, 700_000), None), ((3, 1, 400_000), (1, 1, 1000)),
    ((700_000, 1), (100_000, 1)), ((40, 30, 300), (7, 11, 100)), ((2, 2, 2, 200_000), (1, 2, 2, 50_000)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "chunks"), SHAPES)
def test_order_and_size(
    shape: tuple[int, ...], chunks: tuple[int, ...] | None, tmp_path: Path
) -> None:
    """The bytes of the array, in blocks."""
    value = np.arange(int(np.prod(shape)), dtype="<f4").reshape(shape)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", data=value, chunks=chunks, compression=chunks and 1)
        blocks = list(slabs(dataset.id))
    assert b"".join(blocks) == value.tobytes()
    assert all(len(b) <= (TRANSFER_BLOCK if chunks is None else MAX_SLAB) for b in blocks)


@given(st.data())
def test_any_shape(data: st.DataObject) -> None:
    """Small ones, chunked in every way."""
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    value = np.arange(int(np.prod(shape)), dtype="<i2").reshape(shape)
    with h5py.File("x", "w", driver="core", backing_store=False) as file:
        assert (
            b"".join(slabs(file.create_dataset("x", data=value, chunks=chunks).id))
            == value.tobytes()
        )


def test_chunks_beyond_the_budget(tmp_path: Path) -> None:
    """HDF5 would hold all of one chunk."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset(
            "x", (2, 2), "f4", chunks=(1 << 13, 1 << 13), maxshape=(None, None)
        )
        with limited(Budget.of("a.h5", 1000)), pytest.raises(OverBudget):
            list(slabs(dataset.id))


def test_chunks_that_every_slab_touches(tmp_path: Path) -> None:
    """Decoded elements count, not those that a slab keeps."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset(
            "x", (4000, 1 << 14), "f4", chunks=(4000, 1 << 8), compression=1
        )
        with limited(Budget.of("a.h5", 1000)), pytest.raises(OverBudget):
            for _ in slabs(dataset.id):
                pass
