"""Check the variable-length texts of an attribute before the HDF5 library reads them, which may never return.

Such an attribute holds references: a length, and the address and index of an object in a *global heap collection*,
somewhere in the file. The library walks a broken collection for ever (seen in HDF5 1.10 to 1.14), and copies an object
once for each of the references that share it. So the object header is read here byte by byte, up to the attribute's
references, and every collection that these name is walked, with an end. (Source of the layouts: the HDF5 file format
specification, version 3, sections III.E, IV.A and IV.A.2.m.)

An attribute outside its object's header (dense storage, shared messages) cannot be checked, and is not read: no known
writer of Keras files stores variable-length texts there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from struct import unpack_from

from unnest.budget import charge_memory, charge_steps, check_memory
from unnest.formats.hdf5.dataset_record_and_limits import REFERENCE

#: (offset from the start of the HDF5 file, count) -> the bytes there, fewer at the end.
Read = Callable[[int, int], bytes]

HEADER, HEAP = b"OHDR", b"GCOL"
ATTRIBUTE, CONTINUATION = 0x0C, 0x10
#: Bytes of an address or length.
WORD = 8
#: The version of an attribute message that brought a byte for the encoding of its name.
WITH_ENCODING = 3
#: Bytes before an object's content in a heap.
OBJECT_HEAD = 16
#: A message of type and flags that says: the content is elsewhere.
SHARED_MESSAGE_FLAG = 0x02
#: Python's own bytes around each text.
TEXT_OBJECT_BYTES = 64


class Unsafe(Exception):
    """The attribute must not be read; the message says why, to go on from its name."""


class Heaps:
    """The global heap collections of one file, each looked at once."""

    def __init__(self, read: Read, size: int) -> None:
        self.read, self.size = read, size
        #: address of a collection -> offset and size of the content of its objects, by index
        self._contents: dict[int, dict[int, tuple[int, int]]] = {}
        #: Address of the last object's header, and the data of its attributes by name. Those of an object are asked for
        #: in turn; headers of several may go on in the same bytes of the file, so that all of them would be too much.
        self._last: tuple[int, dict[bytes, bytes]] = (-1, {})

    def check(self, header: int, name: bytes, count: int) -> None:
        """Raise Unsafe, or OverBudget, unless the `count` texts of an attribute can be read.

        `header` is the address of the object that it belongs to.
        """
        try:
            self.check_texts(self._references(header, name, count), count)
        except (struct.error, IndexError) as e:
            raise Unsafe("lies outside the file") from e

    def check_texts(self, references: bytes, count: int) -> None:
        """Check `count` references to variable-length texts. Raises Unsafe, struct.error or IndexError."""
        total = 0
        for k in range(count):
            charge_steps()
            length, address, index = unpack_from("<IQI", references, k * REFERENCE)
            # No text at all; an empty one with an address is looked up all the same.
            if address == 0:
                continue
            _, stored = self._objects(address).get(index, (0, -1))
            if length > stored:
                raise Unsafe("refers to what the file does not hold")
            total += TEXT_OBJECT_BYTES + 2 * stored
        check_memory(total)
        charge_memory(total)

    def text(self, address: int, index: int) -> bytes:
        """Return the bytes of an object that was checked."""
        offset, size = self._objects(address)[index]
        return self.read(address + offset, size)

    def _references(self, header: int, name: bytes, count: int) -> bytes:
        if self._last[0] != header:
            self._last = (header, _data_by_name(_attributes(self.read, header, self.size)))
        data = self._last[1].get(name)
        if data is None:
            raise Unsafe("is kept outside of its object's header")
        if len(data) < count * REFERENCE:
            raise Unsafe("is cut short")
        return data

    def _objects(self, address: int) -> dict[int, tuple[int, int]]:
        if address not in self._contents:
            self._contents[address] = self._walked(address)
        return self._contents[address]

    def _walked(self, address: int) -> dict[int, tuple[int, int]]:
        """Index of an object in the heap at `address` -> its offset and size.

        A collection: magic, version 1, 3 zeros, size; then objects of 16 bytes and their content.

        Raises Unsafe.
        """
        start = self.read(address, 16) if address < self.size else b""
        if start[:4] != HEAP or start[4] != 1:
            raise Unsafe("refers to a heap that is not there")
        (total,) = unpack_from("<Q", start, 8)
        if total > self.size - address:
            raise Unsafe("refers to a heap that is cut short")
        charge_memory(total)
        data = self.read(address, total)
        contents: dict[int, tuple[int, int]] = {}
        offset = 16
        while offset + 16 <= len(data):
            charge_steps()
            index, _, _, size = unpack_from("<HHIQ", data, offset)
            # What is free has the number 0, and a size that counts its head; the library goes on behind it.
            step = size if index == 0 else OBJECT_HEAD + (size + 7) // 8 * 8
            if not OBJECT_HEAD <= step <= total - offset or index in contents:
                raise Unsafe("refers to a broken heap")
            if index:
                contents[index] = offset + OBJECT_HEAD, size
            offset += step
        return contents


def _attributes(read: Read, header: int, size: int) -> Iterator[bytes]:
    """Yield the contents of an object's attribute messages. Raises Unsafe, struct.error or IndexError."""
    start = read(header, 64)
    if start[:4] == HEADER:
        flags = start[5]
        offset = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        size_bytes = 1 << (flags & 3)
        first = (
            header + offset + size_bytes,
            int.from_bytes(start[offset : offset + size_bytes], "little"),
        )
        yield from _messages(read, first, size, extra=2 if flags & 4 else 0, modern=True)
    elif start[:1] == b"\1":
        (length,) = unpack_from("<I", start, 8)
        yield from _messages(read, (header + 16, length), size, extra=0, modern=False)
    else:
        raise Unsafe("belongs to an object with a broken header")


def _messages(
    read: Read, first: tuple[int, int], size: int, *, extra: int, modern: bool
) -> Iterator[bytes]:
    """Yield header messages. Version 1: type 2, size 2, flags 1, 3 zero bytes; 2: type 1, size 2, flags 1, `extra`.

    Raises Unsafe.
    """
    pending, visited = [first], {first[0]}
    head_size = 4 + extra if modern else 8
    while pending:
        offset, length = pending.pop()
        if length > size:
            raise Unsafe("belongs to an object with a broken header")
        data = read(offset, length)
        position = 0
        while position + head_size <= len(data):
            charge_steps()
            if modern:
                kind, count, flags = unpack_from("<BHB", data, position)
            else:
                kind, count, flags = unpack_from("<HHB", data, position)
            content = data[position + head_size : position + head_size + count]
            position += head_size + count
            if kind == ATTRIBUTE and not flags & SHARED_MESSAGE_FLAG:
                yield content
            elif kind == CONTINUATION:
                next_offset, next_length = unpack_from("<QQ", content)
                if next_offset in visited:
                    raise Unsafe("belongs to an object with a broken header")
                visited.add(next_offset)
                # A continuation of version 2 has a magic number before its messages, and a checksum behind.
                pending.append(
                    (next_offset + 4, next_length - 8) if modern else (next_offset, next_length)
                )


def _data_by_name(messages: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the data of attribute messages, which stand behind name, type and shape; the first of a name counts.

    Raises Unsafe, struct.error or IndexError.
    """
    data: dict[bytes, bytes] = {}
    for content in messages:
        version = content[0]
        if version not in (1, 2, WITH_ENCODING):
            raise Unsafe("is stored in an unknown way")
        sizes = unpack_from("<HHH", content, 2)
        names_start = 9 if version == WITH_ENCODING else 8
        name = content[names_start : names_start + sizes[0]].split(b"\0", 1)[0]
        padded_sizes = [(s + 7) // 8 * 8 if version == 1 else s for s in sizes]
        data.setdefault(name, content[names_start + sum(padded_sizes) :])
    return data


__all__ = ["WORD", "Heaps", "Unsafe"]
