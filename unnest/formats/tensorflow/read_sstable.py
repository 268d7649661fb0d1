"""Sorted string tables: the index of a TensorBundle (source: files written by TensorFlow 1.13 to 2.21).

A table is a run of blocks and a footer of 48 bytes, whose last 8 are a magic number. The footer points at the index
block, whose values point at the data blocks. A block is entries, then restart points, then one byte that names its
compression and the masked CRC-32C of all before. An entry shares a prefix of its key with the entry before:

    varint shared, varint fresh, varint value length, fresh bytes of the key, value
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from unnest.budget import charge_memory, charge_steps
from unnest.errors import Unreadable

#: What an entry costs, beside its bytes.
ENTRY_STEPS, ENTRY_BYTES = 3, 200
MAGIC = 0xDB4775248B80FB57
FOOTER = 48
#: Compression by the byte behind a block.
PLAIN, SNAPPY = 0, 1
#: A varint's bytes have this bit while more follow, up to a word of bits.
MORE, WORD = 0x80, 64
#: A Snappy literal's length from here on stands in as many bytes; and the tag of copies with 4 bytes of offset.
LONG, LONG_COPY = 60, 3
#: Snappy reaches 21 at best (64 bytes from a copy of 3); a block that claims more is no block.
MAX_EXPANSION = 64


def masked_crc(data: bytes) -> int:
    """Return the CRC-32C of `data`, masked as the format stores it."""
    return mask(extend(0, data))


def extend(crc: int, data: bytes) -> int:
    """Return the plain CRC-32C of what `crc` covers, followed by `data`."""
    import google_crc32c

    value: int = google_crc32c.extend(crc, data)
    return value


def mask(crc: int) -> int:
    """Rotate and shift a CRC as stored ones are: a CRC over bytes that contain CRCs would be weak."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class Cursor:
    """Reads varints from bytes; running off the end is IndexError."""

    def __init__(self, data: bytes, offset: int = 0) -> None:
        self.data, self.offset = data, offset

    def varint(self) -> int:
        """Read a little-endian base-128 number of up to 64 bits. Raises IndexError."""
        value = shift = 0
        while True:
            byte = self.data[self.offset]
            self.offset += 1
            value |= (byte & 0x7F) << shift
            if byte < MORE:
                return value
            shift += 7
            if shift >= WORD:
                raise IndexError

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes of the table. Raises IndexError."""
        end = self.offset + count
        if end > len(self.data):
            raise IndexError
        taken = self.data[self.offset : end]
        self.offset = end
        return taken


def entries(data: bytes, where: str) -> dict[bytes, bytes]:
    """Return all keys and values of the table in `data`, in order. Raises Unreadable naming `where`."""
    if len(data) < FOOTER or int.from_bytes(data[-8:], "little") != MAGIC:
        raise Unreadable(
            "damaged-index",
            f"{where}: not a whole checkpoint index (no magic number at its end); copy it again",
        )
    try:
        footer = Cursor(data, len(data) - FOOTER)
        footer.varint(), footer.varint()  # the meta index, always empty here
        index = _block(data, footer.varint(), footer.varint(), where)
        pairs_by_key: dict[bytes, bytes] = {}
        for _, handle in _pairs(index):
            place = Cursor(handle)
            _add_pairs(pairs_by_key, _pairs(_block(data, place.varint(), place.varint(), where)))
    except IndexError as e:
        raise Unreadable(
            "damaged-index", f"{where}: the checkpoint index is damaged; copy it again"
        ) from e
    return pairs_by_key


def _add_pairs(pairs_by_key: dict[bytes, bytes], pairs: Iterable[tuple[bytes, bytes]]) -> None:
    """Add pairs; the keys of a table ascend, so that no block can be read twice. Raises IndexError."""
    last = next(reversed(pairs_by_key), None)
    for key, value in pairs:
        if last is not None and key <= last:
            raise IndexError
        pairs_by_key[key] = value
        last = key


def _block(data: bytes, offset: int, size: int, where: str) -> bytes:
    """Return a block of the table, checked and decompressed. Raises Unreadable, IndexError."""
    end = offset + size
    if end + 5 > len(data):
        raise IndexError
    if int.from_bytes(data[end + 1 : end + 5], "little") != masked_crc(data[offset : end + 1]):
        raise Unreadable(
            "checksum", f"{where}: a checksum of the checkpoint index does not match; copy it again"
        )
    if data[end] == PLAIN:
        return data[offset:end]
    if data[end] == SNAPPY:
        return unsnap(data[offset:end])
    raise Unreadable(
        "compression",
        f"{where}: the index is compressed in the unknown way {data[end]}; save it again",
    )


def _pairs(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block, whose keys share beginnings. Raises IndexError."""
    restarts = int.from_bytes(block[-4:], "little")
    limit = len(block) - 4 - 4 * restarts
    if limit < 0:
        raise IndexError
    cursor = Cursor(block[:limit])
    key = b""
    while cursor.offset < limit:
        shared, fresh, length = cursor.varint(), cursor.varint(), cursor.varint()
        if shared > len(key):
            raise IndexError
        charge_steps(ENTRY_STEPS)
        charge_memory(ENTRY_BYTES + shared + fresh + length)
        key = key[:shared] + cursor.take(fresh)
        yield key, cursor.take(length)


def unsnap(data: bytes) -> bytes:
    """Decompress Snappy's raw format: a length, literals, copies of earlier output. Raises IndexError if torn."""
    cursor = Cursor(data)
    length = cursor.varint()
    if length > MAX_EXPANSION * len(data):
        raise IndexError
    charge_memory(length)
    out = bytearray()
    while cursor.offset < len(data):
        charge_steps(2)
        tag = cursor.take(1)[0]
        if tag & 3 == 0:
            count = tag >> 2
            if count >= LONG:
                count = int.from_bytes(cursor.take(count - LONG + 1), "little")
            out += cursor.take(count + 1)
            continue
        count, offset = _copy(tag, cursor)
        if not 0 < offset <= len(out) or len(out) + count > length:
            raise IndexError
        start = len(out) - offset
        run = bytes(out[start : start + count])
        out += (run * (count // len(run) + 1))[:count]  # a copy may overlap what it makes
    if len(out) != length:
        raise IndexError
    return bytes(out)


def _copy(tag: int, cursor: Cursor) -> tuple[int, int]:
    if tag & 3 == 1:
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | cursor.take(1)[0]
    return (tag >> 2) + 1, int.from_bytes(cursor.take(4 if tag & 3 == LONG_COPY else 2), "little")
