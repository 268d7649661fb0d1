"""TensorBundles with one thing changed: a genuine index taken apart and written again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from unnest.formats.tensorflow import read_sstable


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def block(pairs: Mapping[bytes, bytes]) -> bytes:
    """One block without shared prefixes, with its type and checksum."""
    body = b"".join(varint(0) + varint(len(k)) + varint(len(v)) + k + v for k, v in pairs.items())
    body += (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
    return body + read_sstable.masked_crc(body).to_bytes(4, "little")


def table(pairs: Mapping[bytes, bytes]) -> bytes:
    """A table of one data block."""
    data, meta = block(dict(sorted(pairs.items()))), block({})

    def handle(at: int, whole: bytes) -> bytes:
        return varint(at) + varint(len(whole) - 5)

    index = block({b"\xff": handle(0, data)})
    footer = handle(len(data), meta) + handle(len(data) + len(meta), index)
    return data + meta + index + footer.ljust(40, b"\0") + read_sstable.MAGIC.to_bytes(8, "little")


def altered(index: Path, change: Callable[[dict[bytes, bytes]], None]) -> None:
    """The index with its pairs changed; every checksum is right again."""
    pairs = read_sstable.entries(index.read_bytes(), str(index))
    change(pairs)
    index.write_bytes(table(pairs))
