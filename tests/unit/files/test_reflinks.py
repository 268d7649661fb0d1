"""Whole blocks, and what the file system must say before two ranges count as the same blocks."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest

from unnest.files import reflinks
from unnest.files.reflinks import (
    EXTENT,
    FICLONERANGE,
    FS_BLOCK,
    MAP,
    Range,
    are_clones,
    are_shared,
    clone,
    whole_blocks,
)

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="Linux alone has these calls"
)

#: Other flags of extents (source: linux/fiemap.h): no place, not on the disk, packed, in the inode, unwritten.
DOUBTFUL = {"unknown": 0x2, "delayed": 0x4, "encoded": 0x8, "inline": 0x200, "unwritten": 0x800}


@pytest.mark.parametrize(
    ("offset", "size", "blocks"),
    [
        (0, 4096, (0, 4096)),
        (0, 4095, (0, 0)),
        (1, 8191, (4096, 8192)),
        (4096, 10_000, (4096, 12_288)),
        (100, 8091, (100, 100)),
        (100, 8092, (4096, 8192)),
        (7, 0, (7, 7)),
    ],
)
def test_whole_blocks(offset: int, size: int, blocks: tuple[int, int]) -> None:
    """Those within the range alone."""
    assert whole_blocks(offset, size) == blocks


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Two open files of the same four blocks."""
    with ExitStack() as stack:
        opened = []
        for name in ("one", "two"):
            (tmp_path / name).write_bytes(os.urandom(1) * 4 * FS_BLOCK)
            opened.append(stack.enter_context(open(tmp_path / name, "r+b", buffering=0)))
        yield opened[0], opened[1]


#: (Block in the file, block on the disk, blocks, flags.)
Extents = list[tuple[int, int, int, int]]


def answering(answers: dict[int, Extents], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has these extents, by descriptor; it reports one at a time."""
    import fcntl

    def ioctl(descriptor: int, _number: int, request: bytearray) -> int:
        start, size = MAP.unpack_from(request)[:2]
        for logical, place, count, flags in answers[descriptor]:
            if (logical + count) * FS_BLOCK > start and logical * FS_BLOCK < start + size:
                MAP.pack_into(request, 0, start, size, 0, 1, 0, 0)
                numbers = (
                    logical * FS_BLOCK,
                    place * FS_BLOCK,
                    count * FS_BLOCK,
                    0,
                    0,
                    flags,
                    0,
                    0,
                    0,
                )
                EXTENT.pack_into(request, MAP.size, *numbers)
                break
        return 0

    monkeypatch.setattr(fcntl, "ioctl", ioctl)


SHARED, LAST = reflinks.SHARED, reflinks.LAST
WHOLE: Extents = [(0, 70, 4, SHARED | LAST)]


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (WHOLE, WHOLE, True),
        (WHOLE, [(0, 70, 1, SHARED), (1, 71, 3, SHARED)], True),
        ([(0, 70, 2, SHARED), (2, 10, 2, SHARED)], [(0, 70, 2, SHARED), (2, 10, 2, SHARED | LAST)], True),
        (WHOLE, [(0, 71, 4, SHARED | LAST)], False),
        (WHOLE, [(0, 70, 4, LAST)], False),
        ([(0, 70, 4, LAST)], [(0, 70, 4, LAST)], False),
        (WHOLE, [(0, 70, 3, SHARED)], False),
        ([(0, 70, 3, SHARED)], [(0, 70, 3, SHARED)], False),
        ([(1, 71, 3, SHARED)], [(1, 71, 3, SHARED)], False),
        ([(0, 70, 1, SHARED), (2, 72, 2, SHARED)], [(0, 70, 1, SHARED), (2, 72, 2, SHARED)], False),
        ([], [], False),
        *(([(0, 70, 4, SHARED | flag)],) * 2 + (False,) for flag in DOUBTFUL.values()),
    ],
    ids=[
        "the same", "cut otherwise", "two runs", "elsewhere", "one not shared", "not shared", "shorter", "both shorter",
        "begins late", "a hole", "nothing", *DOUBTFUL,
    ],
)  # fmt: skip
def test_the_same_place_on_the_disk(
    one: Extents,
    two: Extents,
    expected: bool,
    files: tuple[IO[bytes], IO[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of both ranges, at the same places, and said to be shared."""
    answering({files[0].fileno(): one, files[1].fileno(): two}, monkeypatch)
    assert (
        are_shared(Range(files[0], 0, 4 * FS_BLOCK), Range(files[1], 0, 4 * FS_BLOCK)) is expected
    )


def test_ranges_at_other_offsets(
    files: tuple[IO[bytes], IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The places of the ranges' blocks count."""
    answering({files[0].fileno(): WHOLE, files[1].fileno(): [(0, 72, 2, SHARED)]}, monkeypatch)
    assert are_shared(Range(files[0], 2 * FS_BLOCK, 2 * FS_BLOCK), Range(files[1], 0, 2 * FS_BLOCK))
    assert not are_shared(Range(files[0], FS_BLOCK, 2 * FS_BLOCK), Range(files[1], 0, 2 * FS_BLOCK))
    assert not are_shared(Range(files[0], 2 * FS_BLOCK, FS_BLOCK), Range(files[1], 0, 2 * FS_BLOCK))


def test_files_of_two_disks(
    files: tuple[IO[bytes], IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places are those of one disk."""
    answering({file.fileno(): WHOLE for file in files}, monkeypatch)
    status = os.fstat
    second = files[1].fileno()

    def fstat(descriptor: int) -> os.stat_result:
        numbers = list(status(descriptor))
        numbers[2] += descriptor == second
        return os.stat_result(numbers)

    monkeypatch.setattr(os, "fstat", fstat)
    assert not are_shared(Range(files[0], 0, 4 * FS_BLOCK), Range(files[1], 0, 4 * FS_BLOCK))


@pytest.mark.parametrize(
    ("size", "expected"), [(4 * FS_BLOCK, True), (3 * FS_BLOCK + 1, True), (2 * FS_BLOCK, False)]
)
def test_whole_files(
    size: int, expected: bool, files: tuple[IO[bytes], IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last block counts whole, however much of it is the file's; files of two sizes are no clones."""
    if expected:
        os.truncate(files[0].fileno(), size)
    os.truncate(files[1].fileno(), size)

    def ioctl(_: int, __: int, request: bytearray) -> int:
        start, asked = MAP.unpack_from(request)[:2]
        MAP.pack_into(request, 0, start, asked, 0, 1, 0, 0)
        EXTENT.pack_into(
            request, MAP.size, start, 70 * FS_BLOCK + start, asked, 0, 0, SHARED | LAST, 0, 0, 0
        )
        return 0

    import fcntl

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    assert are_clones(files[0].name, files[1].name) is expected


def test_a_file_system_that_cannot(
    files: tuple[IO[bytes], IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, and nothing else happens."""
    import fcntl

    def ioctl(*_: object) -> int:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(fcntl, "ioctl", ioctl)
    whole = Range(files[0], 0, 4 * FS_BLOCK)
    assert (clone(whole, files[1], 0), are_shared(whole, Range(files[1], 0, 4 * FS_BLOCK))) == (
        False,
        False,
    )


def test_what_is_asked_for(
    files: tuple[IO[bytes], IO[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The target is whose descriptor the call takes."""
    import fcntl

    calls: list[tuple[int, int, bytes]] = []
    monkeypatch.setattr(fcntl, "ioctl", lambda *call: calls.append(call))
    assert clone(Range(files[0], FS_BLOCK, 2 * FS_BLOCK), files[1], 3 * FS_BLOCK)
    given = reflinks.CLONE.pack(files[0].fileno(), FS_BLOCK, 2 * FS_BLOCK, 3 * FS_BLOCK)
    assert calls == [(files[1].fileno(), FICLONERANGE, given)]


def test_on_this_file_system(files: tuple[IO[bytes], IO[bytes]]) -> None:
    """Whatever it can: what it has cloned is there, and only that may count as shared."""
    whole = Range(files[0], 0, 4 * FS_BLOCK)
    assert not are_shared(whole, Range(files[1], 0, 4 * FS_BLOCK))
    if clone(whole, files[1], 0):
        assert are_shared(whole, Range(files[1], 0, 4 * FS_BLOCK))
        assert files[1].read() == files[0].read()
