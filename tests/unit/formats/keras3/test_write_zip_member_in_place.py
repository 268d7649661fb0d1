"""A member that is written where it lies, as any other reader of zip files sees it."""

import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnest.formats.container_interface import TRANSFER_BLOCK
from unnest.formats.keras3 import write_zip_member_in_place
from unnest.formats.keras3.write_zip_member_in_place import OffsetFile, ZipTarget, crc32_of

TIME = (1980, 1, 1, 0, 0, 0)


@pytest.mark.parametrize("size", [0, 1, TRANSFER_BLOCK - 1, TRANSFER_BLOCK, 2 * TRANSFER_BLOCK + 7])
def test_zipfile_reads_what_was_written_in_any_order(size: int, tmp_path: Path) -> None:
    data, path = os.urandom(size), tmp_path / "a.zip"

    def fill(rest: IO[bytes]) -> None:
        half = size // 2
        rest.seek(half)
        rest.write(data[half:])
        rest.seek(0)
        rest.write(data[:half])

    with path.open("x+b", buffering=0) as file:
        target = ZipTarget(file)
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr(zipfile.ZipInfo("first", TIME), b"1")
            target.add(archive, zipfile.ZipInfo("weights", TIME), fill)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["first", "weights"]
        assert archive.testzip() is None
        assert archive.read("weights") == data


@given(
    st.lists(
        st.one_of(
            st.tuples(st.integers(0, 40), st.binary(min_size=1, max_size=9)), st.integers(0, 40)
        ),
        max_size=20,
    )
)
def test_the_checksum_of_what_was_written(steps: list[tuple[int, bytes] | int]) -> None:
    """Whatever is written over, left out, cut off or lengthened, it is that of the bytes in the file."""
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"head")
        rest = OffsetFile(file, 4)
        for step in steps:
            if isinstance(step, int):
                rest.truncate(step)
            else:
                rest.seek(step[0])
                assert rest.write(step[1]) == len(step[1])
        file.seek(4)
        data = file.read()
        assert rest.crc32(len(data)) == zlib.crc32(data)


def test_what_was_written_in_order_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what lies between is."""
    read: list[tuple[int, int]] = []

    def count(file: IO[bytes], start: int, size: int) -> int:
        read.append((start, size))
        return crc32_of(file, start, size)

    monkeypatch.setattr(write_zip_member_in_place, "crc32_of", count)
    with (tmp_path / "a").open("x+b", buffering=0) as file:
        rest = OffsetFile(file, 0)
        for offset in (4, 14, 30):
            rest.seek(offset)
            rest.write(b"0123456789")
        rest.crc32(50)
    assert [each for each in read if each[1]] == [(0, 4), (24, 6), (40, 10)]


def test_the_same_bytes_as_by_zipfile(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.zip", tmp_path / "theirs.zip"
    with ours.open("x+b", buffering=0) as file:
        target = ZipTarget(file)
        with zipfile.ZipFile(target, "w") as archive:
            target.add(
                archive, zipfile.ZipInfo("weights", TIME), lambda rest: void(rest.write(b"abc"))
            )
    with (
        zipfile.ZipFile(theirs, "w") as archive,
        archive.open(zipfile.ZipInfo("weights", TIME), "w", force_zip64=True) as file,
    ):
        file.write(b"abc")
    assert ours.read_bytes() == theirs.read_bytes()


def void(_: object) -> None:
    """Nothing, of whatever it was."""


@pytest.mark.parametrize(("start", "size"), [(0, 0), (0, 9), (3, 4), (4, 99)])
def test_the_checksum_of_a_part(start: int, size: int, tmp_path: Path) -> None:
    data = b"123456789"
    (tmp_path / "a").write_bytes(data)
    with (tmp_path / "a").open("rb", buffering=0) as file:
        assert crc32_of(file, start, size) == zlib.crc32(data[start : start + size])
