"""Keras's HDF5 attributes, written in the style of the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unnest.formats.hdf5.dataset_record_and_limits import REFERENCE
from unnest.formats.hdf5.read_attributes import Attributes, TextDtype, read_value

if TYPE_CHECKING:
    import h5py

#: HDF5 keeps an attribute in the object header, which holds 64 KiB; Keras splits lists above this.
HEADER_LIMIT = 64512

#: h5py knows these by their metadata.
BYTES_TEXT: TextDtype = np.dtype("O", metadata={"vlen": bytes})
STR_TEXT: TextDtype = np.dtype("O", metadata={"vlen": str})


def write_text(group: h5py.Group, name: str, value: str, dtype: TextDtype) -> None:
    """Write a scalar text, of fixed length if the source's is."""
    group.attrs.create(
        name, np.bytes_(value.encode()) if dtype is None else value.encode(), dtype=dtype
    )


def write_names(group: h5py.Group, name: str, values: Sequence[str], dtype: TextDtype) -> None:
    """Write a list of names, split as Keras splits one that is too long for an object header."""
    if not values:
        group.attrs[name] = np.empty(0)
        return
    fixed_length = np.array([v.encode() for v in values])
    if fixed_length.nbytes <= HEADER_LIMIT and (
        dtype is None or len(values) * REFERENCE <= HEADER_LIMIT
    ):
        # As bytes: h5py 3 marks what is not ASCII as if it were.
        group.attrs.create(
            name, fixed_length if dtype is None else [v.encode() for v in values], dtype=dtype
        )
        return
    chunks = 2
    while any(chunk.nbytes > HEADER_LIMIT for chunk in np.array_split(fixed_length, chunks)):
        chunks += 1
    for i, chunk in enumerate(np.array_split(fixed_length, chunks)):
        group.attrs.create(f"{name}{i}", chunk)


def copy(attributes: Attributes, name: str, group: h5py.Group) -> None:
    """Carry an attribute that means nothing to us."""
    group.attrs.create(name, read_value(attributes[name], name, "/"), dtype=attributes[name].dtype)
