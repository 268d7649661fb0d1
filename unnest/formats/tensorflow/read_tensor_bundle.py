"""TensorBundle, TensorFlow's way to store tensors: `prefix.index` and `prefix.data-00000-of-00001`.

The index is a sorted string table. Its empty key holds a header (number of shards, byte order), every other key a
tensor's name and an entry: dtype, shape, shard, offset, size, masked CRC-32C. A partitioned variable's entry names
slices instead; each slice is an entry of its own under an order-preserving encoding of name and extents.
(Source: files written by TensorFlow 1.13 to 2.21, checked against `tf.train.load_checkpoint`.)

Nothing here holds a tensor: bytes are handed out in blocks, and the checksum is compared with the last one.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from unnest.budget import charge_steps, check_memory
from unnest.errors import Unreadable
from unnest.files.file_reading import open_plain_file, read_plain_file
from unnest.files.portable_file_operations import pread
from unnest.formats.tensorflow import protobuf_messages
from unnest.formats.tensorflow.read_sstable import Cursor, entries, extend, mask

#: The index of a bundle is text-sized: 100,000 variables make 10 MB.
MAX_INDEX = 256 << 20
#: Of each string tensor (an object graph, vocabulary words): it passes through memory.
MAX_STRING = 256 << 20
#: Bytes handed out at a time: they stay in the cache between disk and checksum.
CHECKSUM_BLOCK = 1 << 18
BIG_ENDIAN = 1
#: Axes of a tensor (source: TensorFlow's TensorShape takes no more).
MAX_RANK = 254
#: Steps that reading an entry takes.
ENTRY_STEPS = 20
STRING = 7

#: TensorFlow's number of a dtype -> NumPy's spelling; those NumPy does not have keep TensorFlow's name.
DTYPE_BY_NUMBER = {
    1: "<f4", 2: "<f8", 3: "<i4", 4: "|u1", 5: "<i2", 6: "|i1", 8: "<c8", 9: "<i8", 10: "|b1", 11: "|i1", 12: "|u1",
    13: "<i4", 14: "bfloat16", 15: "<i2", 16: "<u2", 17: "<u2", 18: "<c16", 19: "<f2", 22: "<u4", 23: "<u8",
    24: "float8_e5m2", 25: "float8_e4m3fn", 29: "int4", 30: "uint4",
}  # fmt: skip
SIZES = {"bfloat16": 2, "float8_e5m2": 1, "float8_e4m3fn": 1, "int4": 1, "uint4": 1}


def itemsize(dtype: str) -> int:
    """Return the bytes that an element of a dtype takes, as `DTYPE_BY_NUMBER` spells it; not of strings."""
    return SIZES.get(dtype) or int(dtype[2:])


class ShardSlice(NamedTuple):
    """A run of bytes in one shard, and the part of the tensor that they are: (start, length) per axis."""

    shard: int
    offset: int
    size: int
    crc: int
    extents: tuple[tuple[int, int], ...]


class BundleEntry(NamedTuple):
    """One tensor: name, NumPy's dtype (`string` for text), shape, and where its bytes are."""

    key: str
    dtype: str
    shape: tuple[int, ...]
    pieces: tuple[ShardSlice, ...]

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


class Bundle:
    """An opened bundle: `entries` by name. Raises Unreadable for whatever is not a whole bundle."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._open: dict[int, int] = {}
        self.index = prefix + ".index"
        raw = entries(read_plain_file(self.index, MAX_INDEX), self.index)
        if b"" not in raw:
            raise Unreadable(
                "damaged-index", f"{self.index}: the checkpoint index has no header; copy it again"
            )
        header = protobuf_messages.parse("BundleHeader", raw.pop(b""), self.index)
        if header.endianness == BIG_ENDIAN:
            raise Unreadable(
                "big-endian",
                f"{self.index}: written on a big-endian machine; save it again on another one",
            )
        if not 0 < header.num_shards <= 1 << 16:
            raise Unreadable(
                "damaged-index", f"{self.index}: claims {header.num_shards} data files"
            )
        self.shards = int(header.num_shards)
        self.entries: dict[str, BundleEntry] = {}
        try:
            for key, value in raw.items():
                # Keys that start with a zero byte are the slices of partitioned variables.
                if not key.startswith(b"\0"):
                    entry = self._entry(key, value, raw)
                    self.entries[entry.key] = entry
            self._check_ends()
        except Unreadable:
            self.close()
            raise

    def shard_path(self, shard: int) -> str:
        """Return the path of the file with the bytes of a shard."""
        return f"{self.prefix}.data-{shard:05d}-of-{self.shards:05d}"

    def files(self) -> list[str]:
        """The path of every file of the bundle."""
        return [self.index, *(self.shard_path(n) for n in range(self.shards))]

    def close(self) -> None:
        """Close the shards."""
        while self._open:
            os.close(self._open.popitem()[1])

    def _entry(self, key: bytes, value: bytes, raw: dict[bytes, bytes]) -> BundleEntry:
        """Return one entry of the index. Raises Unreadable for dtypes, shapes or slices that do not fit."""
        name = key.decode("utf-8", "surrogateescape")
        where = f"{self.index}: {name!r}"
        charge_steps(ENTRY_STEPS)
        proto = protobuf_messages.parse("BundleEntry", value, where)
        dtype, shape = _dtype(where, proto), _shape(where, proto)
        if not proto.slices:
            whole = self._piece(where, proto, dtype, tuple((0, d) for d in shape))
            return BundleEntry(name, dtype, shape, (whole,))
        pieces = [self._slice(name, part, dtype, shape, raw) for part in proto.slices]
        entry = BundleEntry(name, dtype, shape, tuple(sorted(pieces, key=lambda p: p.extents)))
        if not _tiles(entry):
            raise Unreadable(
                "wrong-shape",
                f"{where}: the slices of this partitioned variable do not make {list(shape)}",
            )
        return entry

    def _slice(
        self,
        name: str,
        part: protobuf_messages.Message,
        dtype: str,
        shape: tuple[int, ...],
        raw: dict[bytes, bytes],
    ) -> ShardSlice:
        """Return one slice of a partitioned variable, which has an entry of its own in the index. Raises Unreadable."""
        where = f"{self.index}: {name!r}"
        charge_steps(ENTRY_STEPS)
        stored_extents = [
            (int(e.start), int(e.length) if e.WhichOneof("has_length") else -1) for e in part.extent
        ]
        stored = raw.get(slice_key(name, stored_extents))
        if stored is None or len(stored_extents) != len(shape):
            raise Unreadable(
                "missing-slice", f"{where}: a slice of this partitioned variable is missing"
            )
        extents = tuple(
            (0, d) if n == -1 else (s, n) for (s, n), d in zip(stored_extents, shape, strict=True)
        )
        return self._piece(
            where, protobuf_messages.parse("BundleEntry", stored, where), dtype, extents
        )

    def _piece(
        self,
        where: str,
        proto: protobuf_messages.Message,
        dtype: str,
        extents: tuple[tuple[int, int], ...],
    ) -> ShardSlice:
        """Return where one slice is stored. Raises Unreadable if its size does not fit its extents."""
        count = 1
        for _, length in extents:
            count *= length
        if dtype != "string" and proto.size != count * itemsize(dtype):
            raise Unreadable(
                "wrong-shape",
                f"{where}: {proto.size} bytes do not hold {[n for _, n in extents]} of {dtype}; copy it again",
            )
        if not 0 <= proto.shard_id < self.shards or proto.offset < 0 or proto.size < 0:
            raise Unreadable("damaged-index", f"{where}: points outside the data files")
        return ShardSlice(
            int(proto.shard_id), int(proto.offset), int(proto.size), int(proto.crc32c), extents
        )

    def _check_ends(self) -> None:
        """Raise Unreadable if a shard is missing or ends before a tensor that the index places in it."""
        sizes = [os.fstat(self._shard(n)).st_size for n in range(self.shards)]
        for entry in self.entries.values():
            for piece in entry.pieces:
                if piece.offset + piece.size > sizes[piece.shard]:
                    raise Unreadable(
                        "truncated",
                        f"{self.shard_path(piece.shard)}: cut short, {entry.key!r} is not in it; copy it again",
                    )

    def _shard(self, shard: int) -> int:
        if shard not in self._open:
            self._open[shard] = open_plain_file(self.shard_path(shard))
        return self._open[shard]

    def blocks(self, entry: BundleEntry) -> Iterator[bytes]:
        """Yield the tensor's bytes in row-major order, in blocks. Raises Unreadable if a checksum does not match.

        Slices along the first axis follow each other; others are put together in memory, row by row.
        """
        if len(entry.pieces) == 1 or _stacked(entry):
            for piece in entry.pieces:
                yield from self.piece_blocks(entry, piece)
            return
        # The array, and the pieces while it is filled.
        check_memory(2 * entry.size * itemsize(entry.dtype))
        parts = (b"".join(self.piece_blocks(entry, piece)) for piece in entry.pieces)
        yield from _interleave(entry, parts)

    def piece_blocks(self, entry: BundleEntry, piece: ShardSlice) -> Iterator[bytes]:
        """Yield the bytes of one piece as stored. Raises Unreadable."""
        crc, offset, end = 0, piece.offset, piece.offset + piece.size
        shard = self._shard(piece.shard)
        while offset < end:
            block = pread(shard, min(CHECKSUM_BLOCK, end - offset), offset)
            if not block:
                raise Unreadable(
                    "truncated", f"{self.shard_path(piece.shard)}: cut short while it was read"
                )
            crc = extend(crc, block)
            offset += len(block)
            yield block
        if mask(crc) != piece.crc and entry.dtype != "string":
            raise Unreadable(
                "checksum",
                f"{self.shard_path(piece.shard)}: the checksum of {entry.key!r} does not match; copy it again",
            )

    def strings(self, key: str) -> list[bytes]:
        """Return the elements of a string tensor: varint lengths, a CRC of the lengths, then the bytes.

        Raises Unreadable.
        """
        entry = self.entries[key]
        piece = entry.pieces[0]
        where = f"{self.shard_path(piece.shard)}: {key!r}"
        if (
            entry.dtype != "string"
            or len(entry.pieces) != 1
            or piece.size > MAX_STRING
            or entry.size > piece.size
        ):
            raise Unreadable("damaged-index", f"{where}: not a string tensor that can be read")
        cursor = Cursor(b"".join(self.piece_blocks(entry, piece)))
        try:
            lengths = [cursor.varint() for _ in range(entry.size)]
            crc = 0
            for n in lengths:
                crc = extend(crc, n.to_bytes(4 if n < 1 << 32 else 8, "little"))
            stored = cursor.take(4)
            texts = [cursor.take(n) for n in lengths]
        except IndexError as e:
            raise Unreadable("truncated", f"{where}: the text is cut short; copy it again") from e
        crc_all = extend(crc, stored)
        for text in texts:
            crc_all = extend(crc_all, text)
        if int.from_bytes(stored, "little") != mask(crc) or mask(crc_all) != piece.crc:
            raise Unreadable("checksum", f"{where}: the checksum does not match; copy it again")
        return texts


def _dtype(where: str, proto: protobuf_messages.Message) -> str:
    """Return the name of an entry's dtype. Raises Unreadable for those that no reader here knows."""
    if proto.dtype != STRING and proto.dtype not in DTYPE_BY_NUMBER:
        raise Unreadable(
            "dtype",
            f"{where}: tensors of TensorFlow's type {proto.dtype} cannot be read; save without it",
        )
    return DTYPE_BY_NUMBER.get(proto.dtype, "string")


def _shape(where: str, proto: protobuf_messages.Message) -> tuple[int, ...]:
    """Return the sizes of an entry's tensor. Raises Unreadable for what is no shape of a tensor."""
    if len(proto.shape.dim) > MAX_RANK:
        raise Unreadable(
            "damaged-index",
            f"{where}: a shape of {len(proto.shape.dim)} axes is not one of a tensor",
        )
    shape = tuple(int(d.size) for d in proto.shape.dim)
    if proto.shape.unknown_rank or any(d < 0 for d in shape):
        raise Unreadable(
            "damaged-index", f"{where}: the shape {list(shape)} is not one of a tensor"
        )
    return shape


def _tiles(entry: BundleEntry) -> bool:
    """Return True if the slices cover the tensor exactly once: none overlap, and together they have its size."""
    total = 0
    for piece in entry.pieces:
        charge_steps(len(entry.shape))
        count = 1
        for (start, length), size in zip(piece.extents, entry.shape, strict=True):
            if start < 0 or length < 0 or start + length > size:
                return False
            count *= length
        total += count
    return total == entry.size and not _overlap(entry)


def _overlap(entry: BundleEntry) -> bool:
    """Return True if two slices, sorted by where they start, share an element."""
    cut_axes = [
        k
        for k in range(len(entry.shape))
        if any(p.extents[k] != entry.pieces[0].extents[k] for p in entry.pieces)
    ]
    if len(cut_axes) == 1:  # as partitioners cut
        extents_along = [p.extents[cut_axes[0]] for p in entry.pieces]
        return any(
            start + length > after
            for (start, length), (after, _) in itertools.pairwise(extents_along)
        )
    for k, piece in enumerate(entry.pieces):
        charge_steps(k * len(entry.shape))
        for other in entry.pieces[:k]:
            pairs = zip(piece.extents, other.extents, strict=True)
            if all(a < b + n and b < a + m for (a, m), (b, n) in pairs):
                return True
    return False


def _stacked(entry: BundleEntry) -> bool:
    """Return True if the slices cut the first axis alone, so that their bytes follow each other."""
    return all(p.extents[1:] == tuple((0, d) for d in entry.shape[1:]) for p in entry.pieces)


def _interleave(entry: BundleEntry, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a tensor that is stored in several slices, put together in memory; a part for each slice."""
    import numpy as np

    size = itemsize(entry.dtype)
    full_tensor = np.zeros((*entry.shape, size), np.uint8)
    for piece, data in zip(entry.pieces, parts, strict=True):
        region = tuple(slice(s, s + n) for s, n in piece.extents)
        full_tensor[region] = np.frombuffer(data, np.uint8).reshape(
            *(n for _, n in piece.extents), size
        )
    flat_tensor = full_tensor.reshape(-1)
    for start in range(0, flat_tensor.size, CHECKSUM_BLOCK):
        yield flat_tensor[start : start + CHECKSUM_BLOCK].tobytes()


def slice_key(name: str, extents: list[tuple[int, int]]) -> bytes:
    """Return the key of a slice: zero, name, rank, then start and length (-1: all) per axis, sorting as values do."""
    parts = [_unsigned(0), _text(name.encode("utf-8", "surrogateescape")), _unsigned(len(extents))]
    for start, length in extents:
        parts += [_signed(start), _signed(length)]
    return b"".join(parts)


def _unsigned(value: int) -> bytes:
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(data)]) + data


def _text(data: bytes) -> bytes:
    escaped = {0: b"\0\xff", 255: b"\xff\0"}
    return b"".join(escaped.get(c, bytes((c,))) for c in data) + b"\0\1"


def _signed(value: int) -> bytes:
    """Encode a signed number: 7 bits in the first byte, then whole bytes; leading bits count them, inverted if < 0.

    For what is below 2**55 either way; no tensor is larger.
    """
    magnitude = ~value if value < 0 else value
    length = magnitude.bit_length() // 7 + 1
    if length > 8:  # noqa: PLR2004 - the bits of one byte
        return b""  # the key of nothing
    header = ((0xFF << (8 - length)) & 0xFF) << (8 * (length - 1))
    return ((value % (1 << (8 * length))) ^ header).to_bytes(length, "big")
