"""Keras's HDF5 attributes: texts and lists of names, read in every style, written in the source's.

Old h5py stored a list of names as fixed-length bytes, new h5py as variable-length strings; texts
are bytes or str. An empty list has no string type at all (it became an array of float64).
A list that does not fit into an object header is split into `name0`, `name1`, ...
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unnest.errors import Unreadable
from unnest.formats.hdf5.dataset_node import REFERENCE
from unnest.formats.hdf5.heap_check import Unsafe

if TYPE_CHECKING:
    import h5py  # nothing here needs the library before something is written

#: HDF5 keeps an attribute in the object header, which holds 64 KiB; Keras splits lists above this.
HEADER_LIMIT = 64512

#: Bytes of one attribute. Dense storage can hold any number; the largest list known is below 1 MB.
MAX_ATTRIBUTE = 64 << 20

#: How text is stored: an h5py dtype for variable-length strings, None for fixed-length bytes.
TextDtype = Any
#: h5py knows these by their metadata.
BYTES_TEXT: TextDtype = np.dtype("O", metadata={"vlen": bytes})
STR_TEXT: TextDtype = np.dtype("O", metadata={"vlen": str})


class Attribute(Protocol):
    """An attribute that can be read: of a `GuardedFile`, or of a `PlainFile`."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The attribute's dtype; `object` for texts of variable length."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the stored array."""

    def value(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Read the attribute as an array of its own `dtype` and `shape`.

        Raises:
            Unsafe: it holds references that the HDF5 library cannot follow safely.
            OverBudget: it is larger than the limits allow.

        """


Attributes = Mapping[str, Attribute]


def text(attributes: Attributes, name: str, place: str) -> str | None:
    """Return a scalar text attribute, or None if it is absent; `place` is for messages.

    Raises:
        Unreadable: the attribute is not a scalar text.
        OverBudget: it is larger than the limits allow.

    """
    if name not in attributes:
        return None
    value = _read(attributes[name], name, place)
    if value.shape != ():
        raise _wrong(name, place, "is a list where a text belongs")
    return _decoded(value[()], name, place)


def names(attributes: Attributes, name: str, place: str) -> tuple[str, ...] | None:
    """Return a list of names, its chunks joined; None if it is absent.

    Raises:
        Unreadable: the attribute is not a list of texts.
        OverBudget: it is larger than the limits allow.

    """
    if name in attributes:
        return _names(attributes[name], name, place)
    if f"{name}0" not in attributes:
        return None
    joined: list[str] = []
    chunk = 0
    while (key := f"{name}{chunk}") in attributes:
        joined.extend(_names(attributes[key], key, place))
        chunk += 1
    return tuple(joined)


def text_dtype(attributes: Attributes, name: str) -> TextDtype:
    """Return the HDF5 type of a text, or of the first chunk of a list of names."""
    attribute = attributes.get(name) or attributes.get(f"{name}0")
    dtype = attribute.dtype if attribute is not None else None
    return dtype if dtype is not None and dtype.kind == "O" else None


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


def can_copy(attributes: Attributes, name: str) -> bool:
    """Return True if an attribute that we do not know is of a type that can be copied."""
    try:
        _read(attributes[name], name, "/")
    except Unreadable:
        return False
    return True


def copy(attributes: Attributes, name: str, group: h5py.Group) -> None:
    """Carry an attribute that means nothing to us."""
    group.attrs.create(name, _read(attributes[name], name, "/"), dtype=attributes[name].dtype)


def _names(attribute: Attribute, name: str, place: str) -> tuple[str, ...]:
    value = _read(attribute, name, place)
    if value.ndim != 1:
        raise _wrong(name, place, "is not a list")
    return tuple(_decoded(v, name, place) for v in value)


def _read(attribute: Attribute, name: str, place: str) -> np.ndarray[Any, Any]:
    try:
        dtype, shape = attribute.dtype, attribute.shape
        if math.prod(shape) * max(dtype.itemsize, REFERENCE) > MAX_ATTRIBUTE:
            raise _wrong(name, place, f"is larger than {MAX_ATTRIBUTE >> 20} MiB")
        if dtype.kind not in "SOiufb" or (dtype.kind == "O" and not _is_text(dtype)):
            raise _wrong(name, place, "has a type that Keras does not write")
        return attribute.value(dtype, shape)
    except Unsafe as e:
        raise _wrong(name, place, str(e)) from e
    except (OSError, RuntimeError, ValueError, TypeError) as e:
        raise _wrong(name, place, "cannot be read") from e


def _is_text(dtype: np.dtype[Any]) -> bool:
    """Return True if an object dtype is h5py's dtype for texts."""
    metadata: Mapping[str, Any] = dtype.metadata or {}
    return metadata.get("vlen") in (bytes, str)


def _decoded(value: object, name: str, place: str) -> str:
    if not isinstance(value, bytes):
        raise _wrong(name, place, "holds something else than text")
    try:
        return value.decode()
    except UnicodeDecodeError as e:
        raise _wrong(name, place, "is not UTF-8") from e


def _wrong(name: str, place: str, what: str) -> Unreadable:
    return Unreadable(
        "bad-attribute", f"{place}: the attribute {name} {what}; the file is damaged or not Keras's"
    )
