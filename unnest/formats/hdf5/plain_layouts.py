"""Layouts of HDF5 files as h5py writes them with `libver="earliest"`: every field has one or two known values.

(Source of the layouts: the HDF5 file format specification, version 3: II.A superblock version 0, III.A.1 B-trees,
III.B symbol table nodes, III.D local heaps, IV.A.1.a object headers version 1, IV.A.2 messages.)
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct, unpack, unpack_from

from unnest.formats.hdf5.dataset_record_and_limits import CONTIGUOUS
from unnest.formats.hdf5.read_attributes import StoredType

#: Bytes of one thing that is taken apart: the messages of an object, the names of a group, a text.
LARGEST = 1 << 20

UNDEFINED = 0xFFFFFFFFFFFFFFFF

#: Versions, sizes of addresses and lengths (8), entries of the leaves and nodes of B-trees (4 and 16), no flags.
SUPERBLOCK = b"\x89HDF\r\n\x1a\n" + bytes.fromhex("00 00 00 00 00 08 08 00 04 00 10 00 00 00 00 00")
#: Addresses: base, free space, end of file, driver; then the root's entry, as `ENTRY`.
SUPERBLOCK_ADDRESSES, ROOT = Struct("<QQQQ"), 56
#: Offset of the name, address of the header, how much is cached (1: the addresses of B-tree and heap), 0, these.
ENTRY = Struct("<QQIIQQ")
#: Bytes of a B-tree's node and of a symbol table node, which the library reads whole.
TREE_SIZE, SYMBOLS_SIZE = 24 + 33 * 8 + 32 * 8, 8 + 8 * ENTRY.size
#: Magic, kind and level 0, entries, siblings; magic, version 1 and 0, entries.
TREE, SYMBOLS = Struct("<4sHHQQ"), Struct("<4sHH")
MOST_CHILDREN, MOST_SYMBOLS = 32, 8
#: Magic and version, size of the data, first free block (1: none), address of the data.
HEAP, NONE_FREE = Struct("<QQQQ"), 1
HEAP_MAGIC = int.from_bytes(b"HEAP\0\0\0\0", "little")
FREE = Struct("<QQ")
#: Version 1 and 0, messages, links, bytes, 0.
HEADER = Struct("<HHIII")
#: Type, size, flags, zeros.
MESSAGE = Struct("<HHBBH")
NIL, SPACE, TYPE, FILL, LAYOUT, ATTRIBUTE, CONTINUATION, TABLE, TIME = 0, 1, 3, 5, 8, 12, 16, 17, 18
#: The flags that are written with each type of message: constant (1), never shared (4).
FLAGS = {NIL: (0,), SPACE: (0,), TYPE: (1,), FILL: (1,), LAYOUT: (0, 1), ATTRIBUTE: (0, 4), CONTINUATION: (0,),
         TABLE: (0,), TIME: (0,)}  # fmt: skip
#: The messages of a dataset, beside its time.
OF_DATASETS = {SPACE, TYPE, FILL, LAYOUT}
#: Version 2, space late, filled if set, defined by default, no value.
FILL_VALUE = bytes.fromhex("02 02 02 01 00 00 00 00")
#: Version 3, contiguous.
IN_ONE_PIECE = bytes((3, CONTIGUOUS))
#: Version, 0, sizes of name, type and shape, each of which is padded to eight bytes.
ATTRIBUTE_HEAD = Struct("<BBHHH")
ADDRESS, PAIR = Struct("<Q"), Struct("<QQ")
#: Version 1, and 3 zeros; then the seconds.
TIME_HEAD = bytes.fromhex("01 00 00 00")
#: Version, rank, whether the largest sizes follow the sizes; zeros.
SPACE_HEAD, MAX_RANK = Struct("<BBBBI"), 32


def _integer(size: int, signed: int) -> bytes:
    return Struct("<BBBBIHH").pack(0x10, signed * 8, 0, 0, size, 0, 8 * size)


def _float(size: int, sign: int, exponent: tuple[int, int], bias: int) -> bytes:
    location, width = exponent
    return Struct("<BBBBIHHBBBBI").pack(
        0x11, 0x20, sign, 0, size, 0, 8 * size, location, width, 0, location, bias
    )


#: The stored form of the types of tensors -> NumPy's spelling.
DTYPE_BY_MESSAGE = {
    **{
        _integer(size, signed): f"{'|' if size == 1 else '<'}{'ui'[signed]}{size}"
        for size in (1, 2, 4, 8)
        for signed in (0, 1)
    },
    _float(2, 15, (10, 5), 15): "<f2",
    _float(4, 31, (23, 8), 127): "<f4",
    _float(8, 63, (52, 11), 1023): "<f8",
}
#: The same, padded as messages are.
STORED_NUMBERS = {
    stored + bytes(-len(stored) % 8): dtype for stored, dtype in DTYPE_BY_MESSAGE.items()
}
#: Bytes padded by zeros; then their number.
FIXED_TEXT = bytes.fromhex("13 01 00 00")
#: Texts of variable length, padded by zeros: references of 16 bytes to texts of bytes.
TEXT_MESSAGES: dict[bytes, type] = {
    bytes.fromhex(f"19 01 {charset:02} 00 10 00 00 00 10 00 00 00 01 00 00 00 00 00 08 00"): text
    for charset, text in enumerate((bytes, str))
}
#: Bytes of a Python object in an array of NumPy's.
WORD = 8


class NotPlain(Exception):
    """The file has another layout than the fast reader knows, or is broken; HDF5's library must read it."""


@lru_cache
def shape_of(space: bytes) -> tuple[int, ...]:
    """Return the shape in a dataspace message, which must also be its maximum. Raises NotPlain."""
    version, rank, with_largest, *zeros = SPACE_HEAD.unpack_from(space)
    require(version == 1 and with_largest == (rank > 0) and rank <= MAX_RANK and not any(zeros))
    require(len(space) == SPACE_HEAD.size + 2 * ADDRESS.size * rank)
    sizes = unpack_from(f"<{2 * rank}Q", space, SPACE_HEAD.size)
    require(sizes[:rank] == sizes[rank:])
    return sizes[:rank]


@lru_cache
def type_of_attribute(stored: bytes) -> StoredType:
    """Return the type in an attribute's datatype message. Raises NotPlain."""
    if stored.startswith(FIXED_TEXT):
        (size,) = unpack("<I", stored[len(FIXED_TEXT) :])
        require(0 < size <= LARGEST)
        return StoredType("S", size)
    if (text := TEXT_MESSAGES.get(stored)) is not None:
        return StoredType("O", WORD, text)
    dtype = DTYPE_BY_MESSAGE.get(stored)
    require(dtype is not None)
    assert dtype is not None
    return StoredType(dtype[1], int(dtype[2:]))


def require(condition: object) -> None:
    """Raise NotPlain unless the condition holds. What a file has many of is checked in place: a call costs as much."""
    if not condition:
        raise NotPlain
