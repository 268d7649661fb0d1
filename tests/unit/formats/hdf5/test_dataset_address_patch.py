"""Datasets that get their bytes after HDF5 has closed the file: HDF5 reads them as its own."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py import h5d, h5o, h5p, h5s, h5t
from hypothesis import given
from hypothesis import strategies as st

from unnest.formats.hdf5 import dataset_address_patch
from unnest.formats.hdf5.dataset_address_patch import DatasetSpace
from unnest.formats.hdf5.fast_reader import PlainFile
from unnest.formats.hdf5.guarded_file import GuardedFile


def declare(path: Path, counts: list[int], **properties: int) -> list[int]:
    """A file of datasets of float32 without room, and the addresses of their headers."""
    headers = []
    created = h5p.create(h5p.DATASET_CREATE)
    created.set_obj_track_times(False)
    for name, value in properties.items():
        getattr(created, name)(value)
    with h5py.File(path, "w", libver="earliest") as file:
        for number, count in enumerate(counts):
            space = h5s.create_simple((count,))
            dataset = h5d.create(file.id, b"%03d" % number, h5t.IEEE_F32LE, space, created)
            headers.append(h5o.get_info(dataset).addr)
    return headers


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 5000)), min_size=1, max_size=40))
def test_hdf5_reads_what_was_put_there(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[tuple[int, int]]
) -> None:
    """(Elements, gap before): by HDF5's library, and by the reader that does without."""
    path = tmp_path_factory.mktemp("room") / "m.h5"
    headers = declare(path, [count for count, _ in sizes])
    end, rooms = path.stat().st_size, []
    for header, (count, gap) in zip(headers, sizes, strict=True):
        rooms.append(DatasetSpace(header, end + gap, 4 * count))
        end += gap + 4 * count
    values = [
        np.random.default_rng(n).normal(size=count).astype("<f4")
        for n, (count, _) in enumerate(sizes)
    ]
    with open(path, "r+b", buffering=0) as file:
        dataset_address_patch.write_addresses(file, rooms)
        for room, value in zip(rooms, values, strict=True):
            file.seek(room.offset)
            file.write(value.tobytes())
    with h5py.File(path) as hdf5:
        for number, value in enumerate(values):
            assert np.array_equal(hdf5[f"{number:03}"][()], value)
            assert hdf5[f"{number:03}"].id.get_offset() == rooms[number].offset
    for reader in (GuardedFile, PlainFile):
        index = reader(str(path))
        assert [node.stored for node in index.datasets.values()] == [
            4 * count for count, _ in sizes
        ]
        index.close()


@pytest.mark.parametrize(
    "properties", [{"set_alloc_time": h5d.ALLOC_TIME_EARLY}, {"set_layout": h5d.COMPACT}]
)
def test_a_dataset_that_has_room(properties: dict[str, int], tmp_path: Path) -> None:
    """Its bytes stay where they are."""
    path = tmp_path / "m.h5"
    (header,) = declare(path, [10], **properties)
    before = path.read_bytes()
    with open(path, "r+b", buffering=0) as file, pytest.raises(ValueError, match="layout"):
        dataset_address_patch.write_addresses(file, [DatasetSpace(header, len(before), 40)])
    assert path.read_bytes() == before


def test_of_another_size(tmp_path: Path) -> None:
    """HDF5's size of a dataset is kept."""
    path = tmp_path / "m.h5"
    (header,) = declare(path, [10])
    with open(path, "r+b", buffering=0) as file, pytest.raises(ValueError, match="layout"):
        dataset_address_patch.write_addresses(file, [DatasetSpace(header, path.stat().st_size, 44)])


def test_a_superblock_of_another_version(tmp_path: Path) -> None:
    """It has its end elsewhere, and a checksum."""
    path = tmp_path / "m.h5"
    (header,) = declare(path, [10])
    content = bytearray(path.read_bytes())
    content[8] = 2
    path.write_bytes(content)
    with open(path, "r+b", buffering=0) as file, pytest.raises(ValueError, match="superblock"):
        dataset_address_patch.write_addresses(file, [DatasetSpace(header, len(content), 40)])
