"""Keras's HDF5 attributes: texts and lists of names, read in every style; NumPy is not needed for them.

Old h5py stored a list of names as fixed-length bytes, new h5py as variable-length strings; texts
are bytes or str. An empty list has no string type at all (it became an array of float64).
A list that does not fit into an object header is split into `name0`, `name1`, ...
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from unnest.errors import Unreadable
from unnest.formats.hdf5.dataset_record_and_limits import REFERENCE
from unnest.formats.hdf5.heap_check import Unsafe

if TYPE_CHECKING:
    import numpy as np

#: Bytes of one attribute. Dense storage can hold any number; the largest list known is below 1 MB.
MAX_ATTRIBUTE = 64 << 20

#: How text is stored: an h5py dtype for variable-length strings, None for fixed-length bytes.
TextDtype = Any


class StoredType(NamedTuple):
    """Type of an attribute's elements: NumPy's letter of the kind, bytes of one, the type of texts of any length."""

    kind: str
    itemsize: int
    text: type | None = None


class Attribute(Protocol):
    """An attribute that can be read: of a `GuardedFile`, or of a `PlainFile`."""

    @property
    def type(self) -> StoredType:
        """The type of the attribute's elements."""

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

    def texts(self) -> Sequence[bytes | None]:
        """Read the elements in row-major order, None for one that is no text. Raises what `value` does."""


Attributes = Mapping[str, Attribute]


def text(attributes: Attributes, name: str, place: str) -> str | None:
    """Return a scalar text attribute, or None if it is absent; `place` is for messages.

    Raises:
        Unreadable: the attribute is not a scalar text.
        OverBudget: it is larger than the limits allow.

    """
    if name not in attributes:
        return None
    shape, texts = _read_texts(attributes[name], name, place)
    if shape != ():
        raise _wrong(name, place, "is a list where a text belongs")
    return _decoded(texts[0], name, place)


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
    return attribute.dtype if attribute is not None and attribute.type.kind == "O" else None


def can_copy(attributes: Attributes, name: str) -> bool:
    """Return True if an attribute that we do not know is of a type that can be copied."""
    try:
        read_value(attributes[name], name, "/")
    except Unreadable:
        return False
    return True


def _names(attribute: Attribute, name: str, place: str) -> tuple[str, ...]:
    shape, texts = _read_texts(attribute, name, place)
    if len(shape) != 1:
        raise _wrong(name, place, "is not a list")
    return tuple(_decoded(text, name, place) for text in texts)


def _read_texts(
    attribute: Attribute, name: str, place: str
) -> tuple[tuple[int, ...], Sequence[bytes | None]]:
    """Return the shape of an attribute, and its texts. Raises Unreadable."""
    try:
        _check_type(attribute, name, place)
        return attribute.shape, attribute.texts()
    except NOT_READ as e:
        raise _not_read(e, name, place) from e


def read_value(attribute: Attribute, name: str, place: str) -> np.ndarray[Any, Any]:
    """Return an attribute as an array. Raises Unreadable."""
    try:
        _check_type(attribute, name, place)
        return attribute.value(attribute.dtype, attribute.shape)
    except NOT_READ as e:
        raise _not_read(e, name, place) from e


NOT_READ = (Unsafe, OSError, RuntimeError, ValueError, TypeError)
"""Errors of reading an attribute: of our own check, of the HDF5 library, of NumPy."""


def _not_read(error: Exception, name: str, place: str) -> Unreadable:
    return _wrong(name, place, str(error) if isinstance(error, Unsafe) else "cannot be read")


def _check_type(attribute: Attribute, name: str, place: str) -> None:
    """Raise Unreadable if an attribute is too large, or of a type that Keras does not write."""
    kind, itemsize, text_type = attribute.type
    if math.prod(attribute.shape) * max(itemsize, REFERENCE) > MAX_ATTRIBUTE:
        raise _wrong(name, place, f"is larger than {MAX_ATTRIBUTE >> 20} MiB")
    if kind not in "SOiufb" or (kind == "O" and text_type is None):
        raise _wrong(name, place, "has a type that Keras does not write")


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
