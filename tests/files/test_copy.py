"""Copying between file systems, and who is to blame where it fails."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import unnest
from tests import makeh5
from tests.files.test_force import CLEAN_SAVED_MODEL, SAVED_MODEL
from unnest.errors import Failed, Unreadable
from unnest.files import copy_and_compare
from unnest.formats.hdf5 import legacy_h5_writer
from unnest.formats.hdf5.legacy_h5_reader import H5Source

ERRORS = ("EXDEV", "ENOSYS", "EOPNOTSUPP", "EINVAL", "EPERM", "EIO", "ENOSPC")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system")
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


@pytest.mark.skipif(not hasattr(os, "copy_file_range"), reason="Linux alone has it")
@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("source", [SAVED_MODEL, CLEAN_SAVED_MODEL], ids=["cut", "copied"])
def test_without_copy_file_range(
    source: Path, error: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes, wherever the call stops working."""
    assert unnest.fix(source, tmp_path / "expected").error is None
    copy, calls = os.copy_file_range, iter(range(1000))

    def failing(reading: int, writing: int, count: int) -> int:
        if next(calls) < after:
            return copy(reading, writing, min(count, 100))
        number = getattr(errno, error)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "copy_file_range", failing)
    assert unnest.fix(source, tmp_path / "out").error is None
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")


@pytest.mark.parametrize("source", [SAVED_MODEL, CLEAN_SAVED_MODEL], ids=["cut", "copied"])
def test_to_another_file_system(source: Path, tmp_path: Path, elsewhere: Path) -> None:
    """The same bytes there."""
    for place in (tmp_path, elsewhere):
        assert unnest.fix(source, place / "out").error is None
    assert tree(tmp_path / "out") == tree(elsewhere / "out")
    assert os.listdir(elsewhere) == ["out"]


def test_a_file_to_another_file_system(tmp_path: Path, elsewhere: Path) -> None:
    """Fixed and copied."""
    for make in (makeh5.parallel_file, makeh5.clean_file):
        source = make(tmp_path / "m.h5")
        for place in (tmp_path, elsewhere):
            assert unnest.fix(source, place / "out.h5", force=True).error is None
        assert (tmp_path / "out.h5").read_bytes() == (elsewhere / "out.h5").read_bytes()


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="a file that opens and does not read"
)
def test_an_input_that_cannot_be_read(tmp_path: Path) -> None:
    """It is named, and not the output."""
    with pytest.raises(Unreadable, match="mem: cannot be read") as raised:
        copy_and_compare.copy_file("/proc/self/mem", str(tmp_path / "out"))
    assert raised.value.code == "cannot-read"
    with pytest.raises(Unreadable, match="nowhere: cannot be read"):
        copy_and_compare.copy_file(str(tmp_path / "nowhere"), str(tmp_path / "out2"))
    assert not (tmp_path / "out2").exists()


def test_a_write_that_failed_by_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HDF5 copies by itself, and does not say which of the two files it could not go on with."""
    path = makeh5.parallel_file(tmp_path / "m.h5")

    def failing(*_: object) -> None:
        raise Failed("write", "out.h5: cannot be written (Can't synchronously copy object)")

    def unreadable(*_: object) -> Iterator[bytes]:
        raise OSError(errno.EIO, "Can't synchronously read data")
        yield b""

    monkeypatch.setattr(legacy_h5_writer.H5Container, "write", failing)
    readable = unnest.fix(path, tmp_path / "out.h5").error
    monkeypatch.setattr(H5Source, "blocks", unreadable)
    broken = unnest.fix(path, tmp_path / "out.h5").error
    assert readable is not None
    assert broken is not None
    assert (readable.code, broken.code) == ("write", "cannot-read")
    assert broken.message.startswith(f"{path}: ")
    assert os.listdir(tmp_path) == ["m.h5"]
