"""Memory that runs out in the middle of a move: the old file is where it was, or the next run puts it back."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest

from unnest.errors import Failed
from unnest.files import (
    portable_file_operations,
    replace_input,
    staging_folder,
    write_output_atomically,
)
from unnest.files.staging_folder import StagingFolder

PARTS = ["out.data-00000-of-00001", "out.index"]


def fill(path: str) -> None:
    """Write the new bytes."""
    Path(path).write_bytes(b"new")


def check(path: str) -> None:
    """Read them back."""
    assert Path(path).read_bytes() == b"new"


def contents(folder: Path) -> dict[str, bytes]:
    """All files."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def gone(*_: object, **__: object) -> NoReturn:
    """No memory."""
    raise MemoryError


@pytest.fixture
def old(tmp_path: Path) -> dict[str, bytes]:
    """A checkpoint where the new one goes."""
    for name in PARTS:
        (tmp_path / name).write_bytes(b"old " + name.encode())
    return contents(tmp_path)


def move(folder: Path) -> None:
    """New parts into the places of the old ones."""
    with StagingFolder(str(folder / "out")) as work:
        for name in PARTS:
            fill(work.part(name))
        work.move(PARTS, replace=True)


@pytest.mark.parametrize("step", range(4))
def test_a_step_that_was_taken(
    step: int, old: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rename is done, and what comes after it has no memory."""
    rename, calls = portable_file_operations.rename_new, iter(range(100))

    def renamed(source: str, target: str) -> None:
        rename(source, target)
        if next(calls) == step:
            raise MemoryError

    monkeypatch.setattr(portable_file_operations, "rename_new", renamed)
    with pytest.raises(MemoryError):
        move(tmp_path)
    assert contents(tmp_path) == old
    assert len(os.listdir(tmp_path)) == len(PARTS)


def test_nothing_can_be_taken_back(
    old: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then all stays in the staging folder, and the next run completes the move."""
    rename, calls = portable_file_operations.rename_new, iter(range(100))

    def renamed(source: str, target: str) -> None:
        if next(calls) > 0:
            raise MemoryError
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(portable_file_operations, "rename_new", renamed)
        with pytest.raises(MemoryError):
            move(tmp_path)
    assert contents(tmp_path) == {PARTS[0]: old[PARTS[0]]}  # no checkpoint rather than half of one
    staging_folder.sweep(str(tmp_path / "out"))
    assert contents(tmp_path) == dict.fromkeys(PARTS, b"new")


def test_a_staging_folder_goes_when_there_is_memory_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing a folder takes some; what was worked on is free by then."""
    remove, calls = os.listdir, iter(range(100))

    def listed(path: str) -> list[str]:
        if next(calls) == 0:
            raise MemoryError
        return remove(path)

    with StagingFolder(str(tmp_path / "out")) as work:
        fill(work.new_path)
        monkeypatch.setattr(os, "listdir", listed)
    assert os.listdir(tmp_path) == []


FILLS = """
import resource, sys
from unnest.files.staging_folder import StagingFolder

taken = []
with StagingFolder(sys.argv[1]) as work:
    open(work.new_path, "wb").close()
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
    for size in (1 << 20, 1 << 14, 1 << 10, 64):
        try:
            while True:
                taken.append(bytearray(size))
        except MemoryError:
            pass
    raise MemoryError
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of memory")
def test_a_staging_folder_goes_where_all_memory_is_taken(tmp_path: Path) -> None:
    """And stays so: what was put by for that is enough."""
    run = subprocess.run(
        [sys.executable, "-c", FILLS, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "MemoryError" in run.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("call", ["exchange", "sync_folder"])
def test_the_old_file_is_never_lost(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place: the new file has taken its place, and what comes after that has no memory."""
    target, backup = tmp_path / "m.h5", tmp_path / "m.h5.bak"
    target.write_bytes(b"old")
    if call == "sync_folder":
        monkeypatch.setattr(replace_input, call, gone)
    else:

        def replaced(one: str, two: str) -> bool:
            os.replace(one, two)
            raise MemoryError

        monkeypatch.setattr(portable_file_operations, call, replaced)
    with pytest.raises(MemoryError):
        replace_input.replace(str(target), str(backup), fill, check)
    assert contents(tmp_path) == {"m.h5": b"new", "m.h5.bak": b"old"}


def test_looking_at_the_old_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place: both have changed places, and nothing can be said of the old one: it goes back."""
    target, backup = tmp_path / "m.h5", tmp_path / "m.h5.bak"
    target.write_bytes(b"old")
    exchange = portable_file_operations.exchange
    if not exchange(str(target), str(target)):
        pytest.skip("names cannot change places here")
    patch = pytest.MonkeyPatch()

    def exchanged(one: str, two: str) -> bool:
        patch.undo()
        done = exchange(one, two)
        if target.read_bytes() == b"new":
            patch.setattr(os, "stat", gone)
        return done

    monkeypatch.setattr(portable_file_operations, "exchange", exchanged)
    with pytest.raises(MemoryError):
        replace_input.replace(str(target), str(backup), fill, check)
    assert contents(tmp_path) == {"m.h5": b"old"}


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError(errno.EIO, "x"), Failed), (MemoryError(), MemoryError)]
)
def test_a_sync_that_fails(
    error: Exception, raised: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An output that could not be synced gets no name."""

    def fails(_: str) -> None:
        raise error

    monkeypatch.setattr(portable_file_operations, "sync", fails)
    with pytest.raises(raised):
        write_output_atomically.publish_file(str(tmp_path / "out.h5"), fill, check)
    assert os.listdir(tmp_path) == []


def test_no_room_for_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is synced all the same."""
    synced: list[str] = []

    def refuses(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuses)
    monkeypatch.setattr(portable_file_operations, "sync", synced.append)
    assert write_output_atomically.publish_file(str(tmp_path / "out.h5"), fill, check) == "written"
    assert len(synced) == 1
