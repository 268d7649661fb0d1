"""HDF5 files of the one form that Keras has written for years, read without HDF5's library, for a look at them.

The library takes half as long to load as all of `inspect`, and then some fifty calls and a hundred objects of its own
for what stands in a few kilobytes. Here these are read and taken apart; tensors are passed by.

Whatever is not exactly as h5py writes it with `libver="earliest"` (every field that the library looks at has one or two
known values) is `NotPlain`: then `GuardedFile` opens the file and decides, as it does wherever tensors are copied. What
is taken here the library reads the same way; tests/unit holds the two against each other on all fixtures and on
thousands of damaged ones.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
from collections.abc import Iterator, Sequence
from struct import iter_unpack
from typing import TYPE_CHECKING, Any, NamedTuple

from unnest.budget import charge_memory, charge_steps, check_memory
from unnest.files.file_reading import FileWindow
from unnest.formats.hdf5.dataset_record_and_limits import (
    BYTES_A_LINK,
    CONTIGUOUS,
    MAX_ATTRIBUTES,
    MAX_GROUP_DEPTH,
    REFERENCE,
    STEPS_A_LINK,
    WALKED_IN_A_STEP,
    DatasetNode,
    text_of,
)
from unnest.formats.hdf5.detect_path_keyed_layout import is_of_windows, is_path_keyed
from unnest.formats.hdf5.heap_check import Heaps, Unsafe
from unnest.formats.hdf5.plain_layouts import (
    ADDRESS,
    ATTRIBUTE,
    ATTRIBUTE_HEAD,
    CONTINUATION,
    ENTRY,
    FILL,
    FILL_VALUE,
    FLAGS,
    FREE,
    HEADER,
    HEAP,
    HEAP_MAGIC,
    IN_ONE_PIECE,
    LARGEST,
    LAYOUT,
    MESSAGE,
    MOST_CHILDREN,
    MOST_SYMBOLS,
    NIL,
    NONE_FREE,
    OF_DATASETS,
    PAIR,
    ROOT,
    SPACE,
    STORED_NUMBERS,
    SUPERBLOCK,
    SUPERBLOCK_ADDRESSES,
    SYMBOLS,
    SYMBOLS_SIZE,
    TABLE,
    TIME,
    TIME_HEAD,
    TREE,
    TREE_SIZE,
    TYPE,
    UNDEFINED,
    NotPlain,
    require,
    shape_of,
    type_of_attribute,
)
from unnest.formats.hdf5.read_attributes import StoredType

if TYPE_CHECKING:  # most files are looked at without it
    import numpy as np

#: Files up to this size are read whole, in one go.
READ_WHOLE_UP_TO = 1 << 20
#: Of larger ones so many bytes at a time are read and kept, and so many of these.
PAGE, MOST_PAGES = 8192, 512
#: Bytes of a global heap collection, at least.
SMALLEST_HEAP = 4096


class PlainAttribute(NamedTuple):
    """An attribute as `guarded_file.GuardedAttribute`; its `data` has been located."""

    file: PlainFile
    name: str
    type: StoredType
    shape: tuple[int, ...]
    data: bytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """The attribute's dtype; `object` for texts of variable length."""
        import numpy as np

        kind, itemsize, text = self.type
        if text is not None:
            return np.dtype("O", metadata={"vlen": text})
        return np.dtype(f"{kind}{itemsize}")

    def value(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """Read the attribute as an array of its own `dtype` and `shape`.

        Raises:
            Unsafe: a reference is broken.
            OverBudget: it is larger than the limits allow.
            NotPlain: only HDF5's library can read it.

        """
        import numpy as np

        if self.type.text is None:
            self._charge()
            return np.frombuffer(self.data, dtype, math.prod(shape)).reshape(shape)
        values = np.empty(math.prod(shape), dtype)
        values[:] = self.texts()
        return values.reshape(shape)

    def texts(self) -> Sequence[bytes | None]:
        """Read the elements in row-major order, None for one that is no text. Raises what `value` does."""
        self._charge()
        count, size = math.prod(self.shape), self.type.itemsize
        if self.type.text is not None:
            return self.file.texts(self.data, count) if count else []
        if self.type.kind != "S":
            return [None] * count
        return [self.data[size * i : size * (i + 1)].rstrip(b"\0") for i in range(count)]

    def _charge(self) -> None:
        check_memory(math.prod(self.shape) * max(self.type.itemsize, REFERENCE))


class _Content:
    """The bytes of a file: all of a small one, of a larger one the pages that are asked for."""

    def __init__(self, path: str, window: FileWindow | None) -> None:
        self._file = window or open(path, "rb", buffering=0)  # noqa: SIM115 - open as long as this object
        self._pages: dict[int, bytes] = {}
        self._whole: bytes | None = None
        with contextlib.ExitStack() as done:
            done.callback(self.close)
            self.size = os.fstat(self._file.fileno()).st_size if window is None else window.size
            if self.size <= READ_WHOLE_UP_TO:
                self._whole = self._from(0, self.size)
            else:
                done.pop_all()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def read(self, offset: int, count: int) -> bytes:
        """Return `count` bytes from `offset` on. Raises NotPlain if the file has fewer, or for too many."""
        end = offset + count
        if count > LARGEST or end > self.size:
            raise NotPlain
        if self._whole is not None:
            return self._whole[offset:end]
        if count >= PAGE:
            return self._from(offset, count)
        first, last = offset // PAGE, (end - 1) // PAGE
        start = first * PAGE
        return b"".join(map(self._page, range(first, last + 1)))[offset - start : end - start]

    def _page(self, number: int) -> bytes:
        page = self._pages.get(number)
        if page is None:
            if len(self._pages) >= MOST_PAGES:
                self._pages.clear()
            offset = number * PAGE
            page = self._pages[number] = self._from(offset, min(PAGE, self.size - offset))
        return page

    def _from(self, offset: int, count: int) -> bytes:
        self._file.seek(offset)
        found = self._file.read(count) or b""
        require(len(found) == count)
        return found


class PlainFile:
    """The index of an HDF5 file of the common form, as that of `GuardedFile`. Raises NotPlain, or OverBudget."""

    #: Path-keyed files with paths of Windows are left to the library.
    is_of_windows = False

    def __init__(self, path: str, window: FileWindow | None = None) -> None:
        """Open `path`; if `window` is given, HDF5 is that part of another file."""
        self.path = path
        self.groups: set[str] = {""}
        self.datasets: dict[str, DatasetNode] = {}
        self.others: list[str] = []
        self._attributes: dict[str, dict[str, PlainAttribute]] = {}
        try:
            self._content = _Content(path, window)
        except OSError as e:
            raise NotPlain from e
        try:
            #: Bytes that have not been taken apart. What is read twice is no plain file, and would take for ever.
            self._left = self._content.size
            self._walk()
        except (OSError, struct.error, IndexError, ValueError, OverflowError) as e:
            self.close()
            raise NotPlain from e
        except BaseException:
            self.close()
            raise
        self._heaps = Heaps(self._content.read, self._content.size)

    def close(self) -> None:
        """Close the file; attributes that were not read can no longer be."""
        self._content.close()

    def __contains__(self, path: str) -> bool:
        return path in self.groups or path in self.datasets

    def has_attribute(self, name: str) -> bool:
        """Return True if the root has an attribute of this name."""
        return name in self._attributes[""]

    def is_path_keyed(self) -> bool:
        """Return True if the file has the path-keyed layout."""
        return is_path_keyed(self.has_attribute, self.__contains__, lambda: self.groups)

    def check_path_keyed(self) -> None:
        """Check what only the library reads of path-keyed files: paths of Windows, and texts of other forms.

        Of these a path-keyed source reads the texts one by one, when NotPlain would be too late.

        Raises:
            NotPlain: there are such paths or texts.

        """
        require(not any(map(is_of_windows, self.groups)))
        for attributes in self._attributes.values():
            for attribute in attributes.values():
                if attribute.type.text is not None:
                    try:
                        attribute.texts()
                    except Unsafe as e:
                        raise NotPlain from e

    def attributes(self, path: str) -> dict[str, PlainAttribute]:
        """Return the attributes of a group by name."""
        attributes = self._attributes[path]
        charge_steps(len(attributes) * (1 + len(attributes) // WALKED_IN_A_STEP))
        return attributes

    def texts(self, references: bytes, count: int) -> list[bytes]:
        """Return the texts that an attribute refers to. Raises Unsafe, OverBudget or NotPlain."""
        self._heaps.check_texts(references, count)
        found = []
        for length, address, index in iter_unpack("<IQI", references[: count * REFERENCE]):
            require(
                address and PAIR.unpack(self._content.read(address, PAIR.size))[1] >= SMALLEST_HEAP
            )
            text = self._heaps.text(address, index)
            if len(text) != length or b"\0" in text:
                raise NotPlain
            found.append(text)
        return found

    def _walk(self) -> None:
        """Index all groups and datasets. Raises NotPlain for anything that h5py does not write so."""
        start = self._content.read(0, ROOT + ENTRY.size)
        base, free, end, driver = SUPERBLOCK_ADDRESSES.unpack_from(start, len(SUPERBLOCK))
        require(start.startswith(SUPERBLOCK))
        require((base, free, end, driver) == (0, UNDEFINED, self._content.size, UNDEFINED))
        _, root, cached, zero, *table = ENTRY.unpack_from(start, ROOT)
        messages = self._messages(root)
        require((cached, zero) == (1, 0) and messages.get(TABLE) == [PAIR.pack(*table)])
        self._attributes[""] = self._attributes_in(messages)
        addresses, pending = {root}, [("", 0, table)]
        tensor_bytes = 0
        while pending:
            prefix, depth, table = pending.pop()
            for name, address, cached_table in self._links(*table):
                path = prefix + text_of(name)
                charge_steps(STEPS_A_LINK)
                charge_memory(BYTES_A_LINK + len(path))
                if address in addresses:
                    raise NotPlain
                addresses.add(address)
                messages = self._messages(address)
                if TABLE in messages:
                    (own_table,) = messages[TABLE]
                    require(depth < MAX_GROUP_DEPTH and cached_table in (None, own_table))
                    self.groups.add(path)
                    self._attributes[path] = self._attributes_in(messages)
                    pending.append((path + "/", depth + 1, [*PAIR.unpack(own_table)]))
                else:
                    if cached_table is not None:
                        raise NotPlain
                    node = self._dataset(path, messages)
                    tensor_bytes += node.stored
                    self.datasets[path] = node
        require(tensor_bytes <= self._content.size)

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise NotPlain

    def _links(self, tree: int, heap: int) -> Iterator[tuple[bytes, int, bytes | None]]:
        """Name, address, and B-tree and heap if these are cached, of all in a group: sorted, as they are looked up."""
        names = self._names(heap)

        def name_at(offset: int) -> bytes:
            return names[offset : names.index(b"\0", offset)]

        node = self._content.read(tree, TREE_SIZE)
        magic, kind_and_level, children, *siblings = TREE.unpack_from(node)
        if (
            (magic, kind_and_level, siblings) != (b"TREE", 0, [UNDEFINED, UNDEFINED])
            or children > MOST_CHILDREN
            or (children and name_at(*ADDRESS.unpack_from(node, TREE.size)) != b"")
        ):
            raise NotPlain
        last = b""
        for child in range(children):
            address, key = PAIR.unpack_from(node, TREE.size + ADDRESS.size + PAIR.size * child)
            self._take(SYMBOLS_SIZE)
            symbols = self._content.read(address, SYMBOLS_SIZE)
            magic, version, count = SYMBOLS.unpack_from(symbols)
            if (magic, version) != (b"SNOD", 1) or not 0 < count <= MOST_SYMBOLS:
                raise NotPlain
            for place in range(count):
                entry = ENTRY.unpack_from(symbols, SYMBOLS.size + ENTRY.size * place)
                name_offset, header, cached, zero, *table = entry
                name = name_at(name_offset)
                if not last < name or b"/" in name or name == b"." or cached not in (0, 1) or zero:
                    raise NotPlain
                last = name
                yield name, header, PAIR.pack(*table) if cached else None
            if name_at(key) != last:
                raise NotPlain

    def _names(self, address: int) -> bytes:
        """Return the heap of a group's names, each ended by a zero byte."""
        magic, size, free, start = HEAP.unpack(self._content.read(address, HEAP.size))
        if magic != HEAP_MAGIC:
            raise NotPlain
        self._take(size)
        names = self._content.read(start, size)
        while free != NONE_FREE:
            next_free, length = FREE.unpack_from(names, free)
            require(
                FREE.size <= length
                and free + length <= size
                and (next_free > free or next_free == NONE_FREE)
            )
            free = next_free
        return names

    def _messages(self, address: int) -> dict[int, list[bytes]]:
        """Return an object's header messages by type; all but attributes occur once at most."""
        version, count, links, size, zero = HEADER.unpack(self._content.read(address, HEADER.size))
        if (version, links, zero) != (1, 1, 0):
            raise NotPlain
        messages: dict[int, list[bytes]] = {}
        chunks = [(address + HEADER.size, size)]
        for start, length in chunks:
            self._take(length)
            chunk, position = self._content.read(start, length), 0
            while position < length:
                kind, size, flags, zero, zeros = MESSAGE.unpack_from(chunk, position)
                start_of_content = position + MESSAGE.size
                position = start_of_content + size
                content = chunk[start_of_content:position]
                count -= 1
                if flags not in FLAGS.get(kind, ()) or zero | zeros or size % 8:
                    raise NotPlain
                if kind == CONTINUATION:
                    chunks.append(PAIR.unpack_from(content))
                elif kind == ATTRIBUTE:
                    messages.setdefault(kind, []).append(content)
                elif kind in messages:
                    raise NotPlain
                elif kind != NIL:
                    messages[kind] = [content]
            if not length or position != length:
                raise NotPlain
        if count:
            raise NotPlain
        return messages

    def _attributes_in(self, messages: dict[int, list[bytes]]) -> dict[str, PlainAttribute]:
        """Return the attributes in a group's messages, by name."""
        if not messages.keys() <= {TABLE, ATTRIBUTE}:
            raise NotPlain
        contents = messages.get(ATTRIBUTE, [])
        attributes = {attribute.name: attribute for attribute in map(self._attribute, contents)}
        if not len(attributes) == len(contents) <= MAX_ATTRIBUTES:
            raise NotPlain
        return attributes

    def _attribute(self, content: bytes) -> PlainAttribute:
        """Return an attribute from its header message. Raises NotPlain."""
        version, zero, *sizes = ATTRIBUTE_HEAD.unpack_from(content)
        starts = [ATTRIBUTE_HEAD.size]
        for size in sizes:
            starts.append(starts[-1] + (size + 7) // 8 * 8)
        name, stored_type, space = (
            content[start : start + size] for start, size in zip(starts[:-1], sizes, strict=True)
        )
        if (version, zero) != (1, 0) or len(name) <= 1 or name.index(b"\0") != len(name) - 1:
            raise NotPlain
        shape, element = shape_of(space), type_of_attribute(stored_type)
        stored = math.prod(shape) * (element.itemsize if element.text is None else REFERENCE)
        if starts[-1] + stored > len(content):
            raise NotPlain
        return PlainAttribute(self, text_of(name[:-1]), element, shape, content[starts[-1] :])

    def _dataset(self, path: str, messages: dict[int, list[bytes]]) -> DatasetNode:
        """Return a contiguous dataset of numbers from its header messages. Raises NotPlain."""
        times = messages.pop(TIME, [TIME_HEAD])
        if messages.keys() != OF_DATASETS or not times[0].startswith(TIME_HEAD):
            raise NotPlain
        (space,), (stored_type,), (fill,), (layout,) = (
            messages[kind] for kind in (SPACE, TYPE, FILL, LAYOUT)
        )
        shape, dtype = shape_of(space), STORED_NUMBERS.get(stored_type)
        if dtype is None or fill != FILL_VALUE or not layout.startswith(IN_ONE_PIECE):
            raise NotPlain
        offset, stored = PAIR.unpack_from(layout, len(IN_ONE_PIECE))
        if not (
            0 < stored == math.prod(shape) * int(dtype[2:])
            and ROOT <= offset <= self._content.size - stored
        ):
            raise NotPlain
        return DatasetNode(path, shape, dtype, CONTIGUOUS, stored)
