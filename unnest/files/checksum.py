"""The CRC-32 of a long run of bytes, by two processors: zlib's goes through a gigabyte in about a second."""

from __future__ import annotations

import os
import zlib

from unnest.files.background import InBackground
from unnest.files.system import BLOCK, pread

#: The polynomial of zip's CRC-32 without x^32. Bit 31 of a number stands for x^0, bit 0 for x^31.
POLYNOMIAL = 0xEDB88320
ONE, X = 1 << 31, 1 << 30

#: Fewer bytes than this are not worth a thread.
WORTH_A_THREAD = 16 << 20


def crc32(descriptor: int, start: int, size: int) -> int:
    """The CRC-32 of `size` bytes of a file from `start` on; of a file that is shorter, another number."""
    if size < WORTH_A_THREAD or not hasattr(os, "pread"):  # without that call only one can read
        return _of_part(descriptor, start, size)
    first, second = size // 2, size - size // 2
    of_second: list[int] = []
    beside = InBackground(lambda: of_second.append(_of_part(descriptor, start + first, second)))
    beside.start()
    try:
        of_first = _of_part(descriptor, start, first)
    finally:
        beside.wait()
    if beside.error:
        raise beside.error
    return joined(of_first, of_second[0], second)


def joined(first: int, second: int, size: int) -> int:
    """The CRC-32 of bytes and of `size` further ones behind them, from that of each.

    The remainder of the first is multiplied by x for each bit that follows.
    """
    shift, power = ONE, X
    bits = 8 * size
    while bits:
        if bits & 1:
            shift = _product(shift, power)
        power = _product(power, power)
        bits >>= 1
    return _product(first, shift) ^ second


def _product(one: int, other: int) -> int:
    """Of two remainders, modulo the polynomial."""
    product = 0
    for bit in range(31, -1, -1):  # x^0, x^1, ...
        if one >> bit & 1:
            product ^= other
        other = other >> 1 ^ (POLYNOMIAL if other & 1 else 0)
    return product


def _of_part(descriptor: int, start: int, size: int) -> int:
    crc, end = 0, start + size
    while start < end and (block := pread(descriptor, min(BLOCK, end - start), start)):
        crc = zlib.crc32(block, crc)
        start += len(block)
    return crc
