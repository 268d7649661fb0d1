"""The record of one HDF5 dataset, and the limits, names and dtypes that both readers share.

The readers are `fast_reader` and `guarded_file`.
"""

from __future__ import annotations

from typing import NamedTuple

from unnest.errors import Unreadable

#: Levels of groups. Genuine files stay under 30 (a name scope is a level); HDF5 itself and
#: everything that walks a tree recursively get into trouble in the thousands.
MAX_GROUP_DEPTH = 256

#: Steps and bytes that a link costs, beside its path.
STEPS_A_LINK, BYTES_A_LINK = 20, 500

#: Attributes of one group or dataset. Keras writes below ten, and a list of names that is cut into pieces of 64 KiB has
#: sixteen for each megabyte. HDF5 finds an attribute by walking past the others: all of them take their number squared.
MAX_ATTRIBUTES = 512
#: So many are walked past in the time of one step.
WALKED_IN_A_STEP = 8

#: A text of variable length in an attribute: length, and address and index in the heap.
REFERENCE = 16

#: HDF5's number for a dataset that lies in one piece (`H5D_CONTIGUOUS` of H5Dpublic.h).
CONTIGUOUS = 1

#: NumPy's letters for what a tensor may consist of: bool, integers, floats, complex.
PLAIN_KINDS = frozenset("biufc")
NOT_PLAIN = "?"
#: HDF5 has no bfloat16: Keras 3 writes two opaque bytes (`|V2`), and beside them, in `.keras` and `.weights.h5`, the
#: attribute `dtype` that says so. `.h5` and Keras 2 have no such note, and cannot load what they write. (Source:
#: `H5Entry` of Keras 3.15's saving_lib; files of Keras 3.15, tf.keras 2.15 and tf_keras 2.21.)
BFLOAT16, TWO_OPAQUE_BYTES = "bfloat16", "|V2"
DTYPE_NOTE = "dtype"

#: Characters of a path in the file that a message shows.
MAX_PATH_SHOWN = 120


class DatasetNode(NamedTuple):
    """A dataset of the tree: path, shape, dtype, and its storage.

    The dtype is NumPy's `.str`, BFLOAT16 where a note says so, TWO_OPAQUE_BYTES where it is missing, else NOT_PLAIN.
    `layout` is HDF5's (h5d.CONTIGUOUS, CHUNKED, COMPACT), `stored` the bytes that it takes in the file.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    layout: int
    stored: int


def require_numbers(node: DatasetNode, place: str) -> None:
    """Raise Unreadable unless a dataset, which messages call `place`, is an array of numbers of a known type."""
    if node.dtype == NOT_PLAIN:
        raise Unreadable(
            "not-a-tensor", f"{place} is not an array of numbers; do not trust this file"
        )
    if node.dtype == TWO_OPAQUE_BYTES:
        raise Unreadable(
            "dtype",
            f"{place} holds two opaque bytes per number, as Keras writes bfloat16 weights without their type; no "
            "Keras loads them: save the model from Keras 3 as .keras, or with another dtype",
        )


def encoded(name: str) -> bytes:
    """Return a name as the bytes that HDF5 takes."""
    return name.encode("utf-8", "surrogateescape")


def text_of(name: bytes) -> str:
    """Return a name as text; bytes that are not UTF-8 survive the way there and back."""
    return name.decode("utf-8", "surrogateescape")


def short(path: str) -> str:
    """Return a path or name for a message: of a long one both ends."""
    return (
        path
        if len(path) <= MAX_PATH_SHOWN
        else f"{path[: MAX_PATH_SHOWN // 2]}...{path[-MAX_PATH_SHOWN // 4 :]}"
    )
