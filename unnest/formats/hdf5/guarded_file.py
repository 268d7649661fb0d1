"""The one way in which HDF5 files are opened, with its guards.

HDF5 is a file system inside a file: links can point into other files, datasets can keep
their bytes elsewhere or in other datasets, groups can contain themselves, and a header may
declare terabytes that are not there. Keras writes none of that: a plain tree of groups and
datasets. So the whole tree is walked once, and the file refused where it is anything else.
What was met is an index; nothing is looked up by path in HDF5 afterwards, and no tensor is
read.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from h5py import h5a, h5d, h5f, h5fd, h5g, h5l, h5o, h5p, h5s, h5t

from unnest.budget import charge_memory, charge_steps, check_memory
from unnest.errors import Unreadable
from unnest.formats.hdf5 import read_attributes as h5_attributes
from unnest.formats.hdf5.dataset_record_and_limits import (
    BFLOAT16,
    BYTES_A_LINK,
    DTYPE_NOTE,
    MAX_ATTRIBUTES,
    MAX_GROUP_DEPTH,
    NOT_PLAIN,
    PLAIN_KINDS,
    REFERENCE,
    STEPS_A_LINK,
    TWO_OPAQUE_BYTES,
    WALKED_IN_A_STEP,
    DatasetNode,
    encoded,
    require_numbers,
    short,
    text_of,
)
from unnest.formats.hdf5.detect_path_keyed_layout import is_of_windows, is_path_keyed
from unnest.formats.hdf5.heap_check import WORD, Heaps, Read, Unsafe
from unnest.formats.hdf5.read_attributes import StoredType
from unnest.formats.translate_errors import oneline

#: Declared bytes over stored bytes of a compressed dataset: deflate, the strongest filter that
#: HDF5 ships, reaches 1032. Anything above is not compressed data.
MAX_EXPANSION = 1100

#: Below this a dataset may declare what it likes: a few elements in one padded chunk.
UNCHECKED_DATASET_BYTES = 1 << 20


class GuardedAttribute(NamedTuple):
    """An attribute that has been opened and not read. `owner` is the path of the group that it belongs to."""

    hdf5: GuardedFile
    owner: str
    name: str
    id: h5a.AttrID

    @property
    def type(self) -> StoredType:
        """The type of the attribute's elements."""
        dtype = self.dtype
        metadata: Mapping[str, Any] = dtype.metadata or {}
        text = metadata.get("vlen")
        return StoredType(dtype.kind, dtype.itemsize, text if text in (bytes, str) else None)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The attribute's dtype; `object` for texts of variable length."""
        dtype: np.dtype[Any] = self.id.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the stored array."""
        shape: tuple[int, ...] = self.id.shape
        return shape

    def value(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Read the attribute as an array of its own `dtype` and `shape`, which the caller has from HDF5.

        Raises:
            Unsafe: it holds references that the HDF5 library cannot follow safely.
            OverBudget: it is larger than the limits allow.

        """
        count = math.prod(shape)
        check_memory(count * max(dtype.itemsize, REFERENCE))
        if dtype.kind == "O" and count:
            self.hdf5.check_references(self, dtype, count)
        value = np.empty(shape, dtype=dtype)
        if count:
            self.id.read(value)
        return value

    def texts(self) -> Sequence[bytes | None]:
        """Read the elements in row-major order, None for one that is no text. Raises what `value` does."""
        value = self.value(self.dtype, self.shape)
        return [element if isinstance(element, bytes) else None for element in value.flat]


class GuardedFile:
    """An HDF5 file, the whole tree of which has been walked and found safe to read with the HDF5 library.

    `groups`: the paths of its groups, the root being the empty path. `datasets`: its datasets, by path. `id`: h5py's
    file.

    Raises:
        Unreadable: the file is not HDF5, damaged, or unsafe.
        OverBudget: it is larger than the limits allow.

    """

    def __init__(
        self, path: str, window: IO[bytes] | io.RawIOBase | None = None, size: int = 0
    ) -> None:
        """Open `path`; if `window` is given, HDF5 is a part of another file, `size` bytes long."""
        self.path = path
        self._window = window
        self._raw: IO[bytes] | None = None
        self._heaps: Heaps | None = None
        self.id = _open(path, window)
        self.groups: set[str] = {""}
        self.datasets: dict[str, DatasetNode] = {}
        #: Named datatypes and the like: neither group nor dataset.
        self.others: list[str] = []
        #: True if the paths are stored as on Windows; `groups` and `datasets` have them with `/`.
        self.is_of_windows = False
        #: Path in `groups` or `datasets` -> the stored one, where it is another; None for a group that is not stored.
        self._stored_paths: dict[str, str | None] = {}
        try:
            self.size = os.stat(path).st_size if window is None else size
            self._walk()
            if any(map(is_of_windows, self.groups)) and self._is_path_keyed():
                self._separate_paths_of_windows()
        except Unreadable:
            self.close()
            raise
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, OverflowError) as e:
            self.close()
            raise Unreadable(
                "damaged-hdf5",
                f"{path}: the HDF5 structure is damaged ({oneline(e)}); restore it from a copy",
            ) from e

    @property
    def raw(self) -> IO[bytes]:
        """The file's bytes, unbuffered, at the offsets that HDF5 states; open as long as this object.

        Raises OSError.
        """
        if self._window is not None:
            return self._window  # type: ignore[return-value] # as much of a file as is needed
        if self._raw is None:
            self._raw = open(self.path, "rb", buffering=0)  # noqa: SIM115 - as long as this
        return self._raw

    def close(self) -> None:
        """Close the file and everything opened through it."""
        self.id.close()
        if self._raw is not None:
            self._raw.close()

    def _refuse(self, code: str, what: str, place: str) -> Unreadable:
        return Unreadable(
            code,
            f"{self.path}: {what} at /{short(place)}; Keras writes no such thing, do not trust this file",
        )

    def _walk(self) -> None:
        """Index every link and object, without recursion. Raises for an object under several names.

        A second hard link to a group makes a loop or a tree that grows without end; one to a
        dataset makes a small file that unpacks to a large one.
        """
        root = h5g.open(self.id, b"/")
        addresses = {h5o.get_info(root).addr}
        pending = [("", 0, root)]
        tensor_bytes = 0
        while pending:
            prefix, depth, group = pending.pop()
            for name, kind, address in _links(group):
                path = prefix + text_of(name)
                charge_steps(STEPS_A_LINK)
                charge_memory(BYTES_A_LINK + len(path))
                if kind != h5l.TYPE_HARD:
                    raise self._refuse("link", "a soft or external link", path)
                if address in addresses:
                    raise self._refuse(
                        "shared-object", "a second name for a group or dataset", path
                    )
                addresses.add(address)
                child = h5o.open(group, name)
                if isinstance(child, h5g.GroupID):
                    if depth >= MAX_GROUP_DEPTH:
                        raise self._refuse(
                            "too-deep", f"more than {MAX_GROUP_DEPTH} levels of groups", path
                        )
                    self.groups.add(path)
                    pending.append((path + "/", depth + 1, child))
                elif isinstance(child, h5d.DatasetID):
                    node = self._dataset(path, child)
                    tensor_bytes += node.stored
                    self.datasets[path] = node
                else:
                    self.others.append(path)
        if tensor_bytes > self.size:
            raise self._refuse(
                "absurd-size",
                f"{tensor_bytes} bytes of tensors in {self.size} bytes of file, the same bytes",
                "",
            )

    def _is_path_keyed(self) -> bool:
        attributes = self.attributes("")
        return is_path_keyed(attributes.__contains__, self.groups.__contains__, lambda: self.groups)

    def _separate_paths_of_windows(self) -> None:
        """Index what is stored under paths of Windows by those of other systems.

        Raises:
            Unreadable: two paths become one.

        """
        stored = [*self.groups, *self.datasets]
        self.is_of_windows = True
        self._stored_paths = {path.replace("\\", "/"): path for path in stored}
        if len(self._stored_paths) < len(stored):
            raise self._refuse("shared-object", "two paths that are one on Windows", "")
        self.datasets = {
            path.replace("\\", "/"): node._replace(path=path.replace("\\", "/"))
            for path, node in self.datasets.items()
        }
        for path in self._stored_paths.keys() - self.datasets.keys():
            self.groups |= {path, *_groups_above(path)}
        self.groups -= {path for path in stored if "\\" in path}
        self._stored_paths |= dict.fromkeys(self.groups - self._stored_paths.keys())

    def stored_path(self, path: str) -> bytes:
        """Return the path by which HDF5 has a group or dataset of the index, without the first slash."""
        return encoded(self._stored_paths.get(path, path) or "")

    def _dataset(self, path: str, dataset: h5d.DatasetID) -> DatasetNode:
        """Return the record of a dataset (path, shape, dtype, layout, stored bytes); no element of it is read.

        Raises Unreadable for a dataset that is virtual, external or empty, or that declares more bytes than the file
        holds (compressed: than stored bytes can expand to).
        """
        properties = dataset.get_create_plist()
        layout = properties.get_layout()
        if layout == h5d.VIRTUAL:
            raise self._refuse("virtual-dataset", "a virtual dataset", path)
        if properties.get_external_count():
            raise self._refuse("external-storage", "a dataset stored in another file", path)
        space = dataset.get_space()
        if space.get_simple_extent_type() == h5s.NULL:
            raise self._refuse("not-a-tensor", "an empty dataset", path)
        shape, dtype, stored = (
            space.get_simple_extent_dims(),
            dataset.dtype,
            dataset.get_storage_size(),
        )
        declared = dtype.itemsize
        for dimension in shape:
            declared *= dimension
        if layout == h5d.CONTIGUOUS:
            offset = dataset.get_offset()
            # What was never written has no place in the file, and reads as zeros without end.
            if declared and (offset is None or offset + declared > self.size):
                raise self._refuse(
                    "absurd-size", f"{declared} declared bytes that are not in the file", path
                )
        elif declared > max(UNCHECKED_DATASET_BYTES, stored * MAX_EXPANSION):
            raise self._refuse(
                "absurd-size", f"{declared} declared bytes in {stored} stored ones", path
            )
        return DatasetNode(path, shape, self._dtype(path, dataset, dtype), layout, stored)

    def _dtype(self, path: str, dataset: h5d.DatasetID, dtype: np.dtype[Any]) -> str:
        """Return the `DatasetNode.dtype` of a dataset, for which h5py gives the NumPy `dtype`."""
        if dtype.kind in PLAIN_KINDS:
            return dtype.str
        if dataset.get_type().get_class() != h5t.OPAQUE or dtype.str != TWO_OPAQUE_BYTES:
            return NOT_PLAIN
        attributes = {attribute.name: attribute for attribute in self._attributes_of(path, dataset)}
        note = h5_attributes.text(attributes, DTYPE_NOTE, f"{self.path}: /{short(path)}")
        return TWO_OPAQUE_BYTES if note is None else BFLOAT16 if note == BFLOAT16 else NOT_PLAIN

    def dataset(self, path: str) -> h5d.DatasetID:
        """Open a dataset of the index."""
        return h5d.open(self.id, self.stored_path(path))

    def holder(self, path: str) -> GuardedFile:
        """Return the file that contains a dataset of the index: this one."""
        return self

    def group(self, path: str) -> h5g.GroupID:
        """Open a group of the index; the root is the empty path."""
        return h5g.open(self.id, b"/" + self.stored_path(path))

    def attributes(self, path: str) -> dict[str, GuardedAttribute]:
        """Return the attributes of a group, opened but not read, in file order. Raises Unreadable."""
        if self._stored_paths.get(path, path) is None:
            return {}
        try:
            return {
                attribute.name: attribute
                for attribute in self._attributes_of(path, self.group(path))
            }
        except (OSError, RuntimeError, ValueError, KeyError) as e:
            raise Unreadable(
                "bad-attribute",
                f"{self.path}: the attributes of /{short(path)} are damaged ({oneline(e)}); copy it again",
            ) from e

    def _attributes_of(
        self, path: str, opened: h5g.GroupID | h5d.DatasetID
    ) -> Iterator[GuardedAttribute]:
        """Yield the attributes of an object opened at `path`, in file order. Raises Unreadable, OverBudget."""
        count = h5a.get_num_attrs(opened)
        if count > MAX_ATTRIBUTES:
            raise self._refuse("too-many-attributes", f"{count} attributes", path)
        for index in range(count):
            charge_steps(1 + count // WALKED_IN_A_STEP)
            attribute = h5a.open(opened, index=index)
            yield GuardedAttribute(self, path, text_of(attribute.name), attribute)

    def check_copy(self, path: str) -> None:
        """Raise Unreadable, or OverBudget, unless the library can copy a dataset, which copies its attributes, too."""
        dataset = self.dataset(path)
        require_numbers(self.datasets[path], f"{self.path}: /{short(path)}")
        for attribute in self._attributes_of(path, dataset):
            dtype, count = attribute.dtype, math.prod(attribute.shape)
            if not (dtype.hasobject and count):
                continue
            try:
                self.check_references(attribute, dtype, count)
            except Unsafe as e:
                place = f"{self.path}: /{short(path)}: the attribute {short(attribute.name)}"
                raise Unreadable(
                    "bad-attribute", f"{place} {e}; the file is damaged or not Keras's"
                ) from e

    def check_references(
        self, attribute: GuardedAttribute, dtype: np.dtype[Any], count: int
    ) -> None:
        """Raise Unsafe or OverBudget unless the `count` texts of an attribute lie sound in the file."""
        if dtype.kind != "O":
            raise Unsafe("has a type that Keras does not write")
        if self._heaps is None:
            properties = self.id.get_create_plist()
            if properties.get_sizes() != (WORD, WORD):
                raise Unsafe("is stored with addresses of an unusual size")
            base = properties.get_userblock()
            self._heaps = Heaps(self._reader(base), self.size - base)
        header = h5o.get_info(self.id, b"/" + self.stored_path(attribute.owner)).addr
        self._heaps.check(header, encoded(attribute.name), count)

    def _reader(self, base: int) -> Read:
        """Return a function that reads the file HDF5 has open, by its own descriptor if the system can."""
        window = self._window
        if window is None and hasattr(os, "pread"):
            descriptor = self.id.get_vfd_handle()
            return lambda offset, count: os.pread(descriptor, count, base + offset)

        def read(offset: int, count: int) -> bytes:
            with contextlib.ExitStack() as stack:
                file = window or stack.enter_context(open(self.path, "rb", buffering=0))
                file.seek(base + offset)
                return file.read(count) or b""

        return read


def _groups_above(path: str) -> Iterator[str]:
    """Yield the paths of the groups that contain a path, the root excepted."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _open(path: str, window: IO[bytes] | io.RawIOBase | None) -> h5f.FileID:
    """Open a file, or HDF5 in a window, for reading without locks. Raises Unreadable."""
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_fclose_degree(h5f.CLOSE_STRONG)
    access.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_LATEST)
    _no_locking(access)
    try:
        if window is not None:
            access.set_fileobj_driver(h5fd.fileobj_driver, window)
        return h5f.open(os.fsencode(path), h5f.ACC_RDONLY, access)
    except OSError as e:
        raise _opening_failed(path, e) from e
    except (RuntimeError, ValueError) as e:
        raise Unreadable("damaged-hdf5", f"{path}: not a whole HDF5 file ({oneline(e)})") from e


def _no_locking(access: Any) -> None:  # noqa: ANN401 - h5py has no types
    """Switch file locking off: reading needs none, and on network file systems asking for it fails."""
    if hasattr(access, "set_file_locking"):
        access.set_file_locking(False, True)  # noqa: FBT003 - h5py takes them by position


def _opening_failed(path: str, error: OSError) -> Unreadable:
    """Translate HDF5's error on opening a file, which is a sentence, into its reason and what to do."""
    text = str(error)
    if error.errno is not None and "errno" in text:
        return Unreadable("cannot-open", f"{path}: cannot be opened ({os.strerror(error.errno)})")
    if "truncated file" in text:
        return Unreadable("truncated", f"{path}: the file is cut short; copy or download it again")
    return Unreadable(
        "damaged-hdf5",
        f"{path}: not a whole HDF5 file ({oneline(error)}); copy or download it again",
    )


def _links(group: h5g.GroupID) -> list[tuple[bytes, int, int]]:
    """Return (name, link type, address of the object) of every link in a group."""
    links: list[tuple[bytes, int, int]] = []

    def collect(name: bytes, info: Any) -> None:  # noqa: ANN401 - h5py has no types
        links.append((name, info.type, info.u))

    group.links.iterate(collect, info=True)
    return links
