"""The checksum of a file's part, whoever takes which part of it."""

from __future__ import annotations

import _thread
import os
import zlib
from pathlib import Path

import pytest

from unnest.files import checksum
from unnest.files.checksum import crc32, joined


@pytest.mark.parametrize("cut", [0, 1, 7, 4096, 99_999, 100_000])
def test_joined(cut: int) -> None:
    """Of two parts, either of which may be empty."""
    data = os.urandom(100_000)
    first, second = zlib.crc32(data[:cut]), zlib.crc32(data[cut:])
    assert joined(first, second, len(data) - cut) == zlib.crc32(data)


@pytest.mark.parametrize("fewest", [1, 1 << 40])
@pytest.mark.parametrize("size", [0, 1, 2_000_001, 2_999_997])
def test_of_a_part_of_a_file(fewest: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one thread or two."""
    monkeypatch.setattr(checksum, "WORTH_A_THREAD", fewest)
    data = os.urandom(3_000_000)
    path = tmp_path / "data"
    path.write_bytes(data)
    with path.open("rb", buffering=0) as file:
        assert crc32(file.fileno(), 3, size) == zlib.crc32(data[3 : 3 + size])


def test_of_a_file_that_is_too_short(tmp_path: Path) -> None:
    """What is there counts; whoever compares the sum finds out."""
    path = tmp_path / "data"
    path.write_bytes(b"some bytes")
    with path.open("rb", buffering=0) as file:
        assert crc32(file.fileno(), 0, 20) == zlib.crc32(b"some bytes")


def test_where_there_is_no_room_for_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One takes it all."""

    def no_room(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", no_room)
    monkeypatch.setattr(checksum, "WORTH_A_THREAD", 1)
    path = tmp_path / "data"
    path.write_bytes(b"some bytes")
    with path.open("rb", buffering=0) as file:
        assert crc32(file.fileno(), 0, 10) == zlib.crc32(b"some bytes")


def test_what_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is an error, whichever thread meets it."""
    monkeypatch.setattr(checksum, "WORTH_A_THREAD", 1)
    path = tmp_path / "data"
    path.write_bytes(b"some bytes")

    def fails_behind(_descriptor: int, count: int, offset: int) -> bytes:
        if offset >= 5:
            raise OSError("broken")
        return b"x" * count

    monkeypatch.setattr(checksum, "pread", fails_behind)
    with path.open("rb", buffering=0) as file, pytest.raises(OSError, match="broken"):
        crc32(file.fileno(), 0, 10)
