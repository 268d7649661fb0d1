"""Texts of variable length that the HDF5 library may be let at, and those that it must not see."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable

import h5py
import numpy as np
import pytest

from unnest.budget import Budget, OverBudget, limited
from unnest.formats.hdf5.heap_check import Heaps, Unsafe

TEXTS = ["alpha", "beta", "gamma"]
Edit = Callable[[bytearray], None]


def genuine(*, dense: bool = False) -> tuple[bytearray, int]:
    """A file with a list of texts as the attribute `notes` of its root, and the address of the root's header."""
    held = io.BytesIO()
    with h5py.File(held, "w", libver="latest" if dense else None) as file:
        for k in range(20 if dense else 0):  # more than a header keeps
            file.attrs[f"a{k}"] = k
        file.attrs.create("notes", TEXTS, dtype=h5py.string_dtype())
        header = h5py.h5o.get_info(file.id).addr
    return bytearray(held.getvalue()), header


def check(data: bytes | bytearray, header: int) -> None:
    """As GuardedFile does it, for the attribute `notes`."""
    Heaps(lambda at, count: bytes(data[at : at + count]), len(data)).check(
        header, b"notes", len(TEXTS)
    )


def test_genuine_texts_may_be_read() -> None:
    data, header = genuine()
    check(data, header)


def references(data: bytearray) -> int:
    """Return the offset of the references to the texts: lengths 5, 4 and 5 with the heap's address."""
    heap = struct.pack("<Q", data.index(b"GCOL"))
    return data.index(struct.pack("<I", 5) + heap)


def first_object(data: bytearray) -> int:
    """Return the offset of the heap's first object: its number, its reference count, its size."""
    return data.index(b"GCOL") + 16


def longer_than_stored(data: bytearray) -> None:
    data[references(data) : references(data) + 4] = struct.pack("<I", 5000)


def back_to_itself(data: bytearray) -> None:
    data[first_object(data) + 8 : first_object(data) + 16] = struct.pack("<Q", (1 << 64) - 16)


def free_space_of_no_size(data: bytearray) -> None:
    at = first_object(data)
    data[at : at + 16] = bytes(16)


def there_twice(data: bytearray) -> None:
    """All three refer to the first object, and the second has its number."""
    for at in range(references(data), references(data) + 48, 16):
        data[at : at + 4], data[at + 12 : at + 16] = struct.pack("<I", 4), struct.pack("<I", 1)
    second = first_object(data) + 24
    data[second : second + 2] = data[first_object(data) : first_object(data) + 2]


def beyond_the_file(data: bytearray) -> None:
    size = data.index(b"GCOL") + 8
    data[size : size + 8] = struct.pack("<Q", 1 << 30)


def no_heap(data: bytearray) -> None:
    at = data.index(b"GCOL")
    data[at : at + 4] = b"GONE"


@pytest.mark.parametrize(
    "edit",
    [
        longer_than_stored,
        back_to_itself,
        free_space_of_no_size,
        there_twice,
        beyond_the_file,
        no_heap,
    ],
)
def test_broken_ones_may_not(edit: Edit) -> None:
    data, header = genuine()
    edit(data)
    with limited(Budget("m.h5", steps=10_000, memory=1 << 20)), pytest.raises(Unsafe):
        check(data, header)


def test_dense_storage_is_not_read() -> None:
    data, header = genuine(dense=True)
    with pytest.raises(Unsafe, match="outside of its object's header"):
        check(data, header)


def test_every_reference_costs_its_object() -> None:
    """The library copies an object once for each reference, also where they share it."""
    text = "x" * 10_000
    held = io.BytesIO()
    with h5py.File(held, "w") as file:
        file.attrs.create("notes", [text], dtype=h5py.string_dtype())
        header = h5py.h5o.get_info(file.id).addr
    data = held.getvalue()
    with limited(Budget("m.h5", steps=1000, memory=15_000)), pytest.raises(OverBudget):
        Heaps(lambda at, count: data[at : at + count], len(data)).check(header, b"notes", 1)


def test_a_header_whose_parts_lead_in_a_circle() -> None:
    """Two parts of version 1 that each name the other."""
    part = struct.pack("<HHB3x", 0x10, 16, 0)
    start = struct.pack("<BxHII4x", 1, 1, 1, 24)
    data = start + part + struct.pack("<QQ", 40, 24) + part + struct.pack("<QQ", 16, 24)
    with (
        limited(Budget("m.h5", steps=10_000, memory=1 << 20)),
        pytest.raises(Unsafe, match="broken"),
    ):
        check(data, 0)


def test_numpy_agrees_on_what_is_stored() -> None:
    """The edits above are of a file that h5py reads."""
    data, _ = genuine()
    with h5py.File(io.BytesIO(bytes(data))) as file:
        assert np.array_equal(file.attrs["notes"], TEXTS)
