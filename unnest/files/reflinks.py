"""Blocks of the disk that two files share, where the file system can do that (btrfs, XFS): nothing is copied.

Source: the manual pages ioctl_ficlonerange(2) and, for the layout of what FIEMAP gives, Linux's linux/fiemap.h.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from struct import Struct
from typing import IO, NamedTuple

#: Blocks are shared whole. No file system that can share them on common machines has smaller ones.
FS_BLOCK = 4096

#: The numbers of the two calls, and what they are given: file, offset, size, offset; start, size, flags, how many
#: extents were found, how many there is room for, 0.
FICLONERANGE, CLONE = 0x4020940D, Struct("=qQQQ")
FIEMAP, MAP = 0xC020660B, Struct("=QQIIII")
#: Offset in the file, place on the disk, size, two numbers that are not used, flags, three more.
EXTENT = Struct("=QQQQQI3I")
#: Flags of an extent: the last one of its file; its blocks are some other file's, too.
LAST, SHARED = 0x1, 0x2000
EXTENTS_AT_A_TIME = 256


class Range(NamedTuple):
    """Bytes of an open, unbuffered file."""

    file: IO[bytes]
    offset: int
    size: int


def whole_blocks(offset: int, size: int) -> tuple[int, int]:
    """Return the byte offsets at which a range's whole blocks begin and end; two equal ones without a whole block."""
    start, end = (
        -(-offset // FS_BLOCK) * FS_BLOCK,
        (offset + size) // FS_BLOCK * FS_BLOCK,
    )
    return (start, end) if start < end else (offset, offset)


def clone(source: Range, file: IO[bytes], offset: int) -> bool:
    """Let a file share whole blocks with the source from an offset on; False where that cannot be, for any reason.

    Nothing has happened then, or what has is to be written over.
    """
    numbers = _descriptors(source.file, file)
    if numbers is None:
        return False
    from fcntl import ioctl

    try:
        ioctl(numbers[1], FICLONERANGE, CLONE.pack(numbers[0], source.offset, source.size, offset))
    except OSError:
        return False
    return True


def are_shared(one: Range, two: Range) -> bool:
    """Return True if the file system reports that two ranges of whole blocks are the same blocks of one disk.

    False if that is in doubt: compressed extents, or extents that are not allocated yet.
    """
    numbers = _descriptors(one.file, two.file)
    if numbers is None or one.size != two.size:
        return False
    try:
        if os.fstat(numbers[0]).st_dev != os.fstat(numbers[1]).st_dev:
            return False
        runs, others = (
            _runs(n, r.offset, r.offset + r.size) for n, r in zip(numbers, (one, two), strict=True)
        )
    except OSError:
        return False
    return runs == others and sum(size for _, size in runs) == one.size


def are_clones(one: str, two: str) -> bool:
    """Return True if two files share all their blocks, as `are_shared` finds it.

    Raises:
        OSError: a file cannot be opened.

    """
    with open(one, "rb", buffering=0) as left, open(two, "rb", buffering=0) as right:
        size, other_size = (os.fstat(file.fileno()).st_size for file in (left, right))
        blocks = -(-size // FS_BLOCK) * FS_BLOCK
        return size == other_size and are_shared(Range(left, 0, blocks), Range(right, 0, blocks))


def _descriptors(one: IO[bytes], two: IO[bytes]) -> tuple[int, int] | None:
    """Return the descriptors of two files; None if the system calls are missing, or one is not a file of the system."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return one.fileno(), two.fileno()
    except (OSError, ValueError):
        return None


def _runs(descriptor: int, start: int, end: int) -> list[tuple[int, int]]:
    """Place on the disk and size of each run of shared blocks from `start` on; file systems cut them as they like."""
    runs: list[tuple[int, int]] = []
    for place, size in _extents(descriptor, start, end):
        if runs and sum(runs[-1]) == place:
            runs[-1] = runs[-1][0], runs[-1][1] + size
        else:
            runs.append((place, size))
    return runs


def _extents(descriptor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the physical extents of a range of a file (FIEMAP); ends before the first that is not surely shared."""
    from fcntl import ioctl

    while start < end:
        answer = bytearray(MAP.size + EXTENTS_AT_A_TIME * EXTENT.size)
        MAP.pack_into(answer, 0, start, end - start, 0, 0, EXTENTS_AT_A_TIME, 0)
        ioctl(descriptor, FIEMAP, answer)
        count = MAP.unpack_from(answer)[3]
        if not count:
            return
        for logical, place, size, _, _, flags, *_ in EXTENT.iter_unpack(
            answer[MAP.size :][: count * EXTENT.size]
        ):
            stop = min(logical + size, end)
            if flags & ~LAST != SHARED or not logical <= start < stop:
                return
            yield place + start - logical, stop - start
            start = stop
