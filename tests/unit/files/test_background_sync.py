"""Outputs are on the disk before they get their name, and are synced while they are written."""

from __future__ import annotations

import _thread
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from unnest.errors import Failed
from unnest.files import background_sync, portable_file_operations
from unnest.files.background_sync import BackgroundSync
from unnest.files.write_output_atomically import publish_file, publish_folder

#: Seconds after which a thread that was waited for will not come any more.
PATIENCE = 10


def _no_room(*_: object) -> int:
    raise RuntimeError("can't start new thread")


def _dies_at_once(*_: object) -> int:
    return 0


def _fill(path: str) -> None:
    Path(path).write_bytes(b"new")


def _ignore(_: str) -> None:
    """Nothing to read back."""


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were synced when they were whole."""
    names: list[str] = []
    monkeypatch.setattr(
        portable_file_operations, "sync", lambda path: names.append(Path(path).name)
    )
    return names


@pytest.mark.parametrize("start", [_no_room, _dies_at_once])
def test_where_no_thread_syncs_we_do(
    start: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synced: list[str]
) -> None:
    """There may be no room for a thread, or no memory for its first step."""
    monkeypatch.setattr(_thread, "start_new_thread", start)
    target = tmp_path / "out.h5"
    publish_file(str(target), _fill, _ignore)
    assert target.read_bytes() == b"new"
    assert synced == ["out.h5"]


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], None]], threading.Event]:
    """Has something done at each sync of a file that is not whole yet; the event is set after the first."""

    def arranged(happens: Callable[[str], None]) -> threading.Event:
        event = threading.Event()

        def sync_data(path: str) -> None:
            try:
                happens(path)
            finally:
                event.set()

        monkeypatch.setattr(background_sync, "PAUSE", 0.001)
        monkeypatch.setattr(portable_file_operations, "sync_data", sync_data)
        return event

    return arranged


def _filling_until(event: threading.Event) -> Callable[[str], None]:
    def fill(path: str) -> None:
        _fill(path)
        assert event.wait(PATIENCE)

    return fill


def test_a_large_file_goes_to_the_disk_while_it_is_written(
    tmp_path: Path, synced: list[str], early: Callable[[Callable[[str], None]], threading.Event]
) -> None:
    """And once more when it is whole."""
    names: list[str] = []
    event = early(lambda path: names.append(Path(path).name))
    publish_file(str(tmp_path / "out.h5"), _filling_until(event), _ignore)
    assert set(names) == {"out.h5"}
    assert synced == ["out.h5"]


def test_an_error_of_the_disk_is_told_once_and_kept(
    tmp_path: Path, synced: list[str], early: Callable[[Callable[[str], None]], threading.Event]
) -> None:
    """The sync of the whole file would not hear of it any more."""

    def fails(_: str) -> None:
        raise OSError(errno.EIO, "broken")

    with pytest.raises(Failed, match=r"out\.h5: cannot be written .*check the disk"):
        publish_file(str(tmp_path / "out.h5"), _filling_until(early(fails)), _ignore)
    assert os.listdir(tmp_path) == []
    assert synced == []


def test_what_could_not_be_written_is_not_synced(tmp_path: Path, synced: list[str]) -> None:
    """The error is the filler's."""

    def fill(_: str) -> None:
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(Failed, match="no space left"):
        publish_file(str(tmp_path / "out.h5"), fill, _ignore)
    assert synced == []


def test_nobody_goes_on_where_there_is_nothing_to_write_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt may come before anybody can say that it is over; then the staging folder is removed."""
    ended = threading.Event()
    start = _thread.start_new_thread

    def watched(run: Callable[[], None], arguments: tuple[()]) -> int:
        def run_and_tell() -> None:
            run()
            ended.set()

        return start(run_and_tell, arguments)

    monkeypatch.setattr(background_sync, "PAUSE", 0.001)
    monkeypatch.setattr(_thread, "start_new_thread", watched)
    folder = tmp_path / "staging folder"
    folder.mkdir()
    BackgroundSync(str(folder / "out.h5")).__enter__()
    assert not ended.wait(0.05)
    folder.rmdir()
    assert ended.wait(PATIENCE)


def test_all_of_a_folder(
    tmp_path: Path, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files, and the folders in it with their names."""
    folders: list[str] = []
    monkeypatch.setattr(portable_file_operations, "sync_folder", folders.append)

    def fill(path: str) -> None:
        Path(path, "variables").mkdir()
        for name in ("saved_model.pb", "variables/variables.index"):
            _fill(os.path.join(path, name))

    publish_folder(str(tmp_path / "out"), fill, _ignore)
    assert sorted(synced) == ["saved_model.pb", "variables.index"]
    assert [Path(path).name for path in folders][:2] == ["out", "variables"]
    assert Path(tmp_path, "out", "saved_model.pb").read_bytes() == b"new"


def test_the_file_in_a_folder_that_is_being_written(
    tmp_path: Path, synced: list[str], early: Callable[[Callable[[str], None]], threading.Event]
) -> None:
    """The others wait until the end; an empty folder has nothing to sync."""
    names: list[str] = []
    event = early(lambda path: names.append(Path(path).name))
    with BackgroundSync(str(tmp_path)) as sync:
        assert not event.wait(0.05)
        for name, time in (("a", 1), ("b", 3), ("c", 2)):
            _fill(str(tmp_path / f"{name}.new"))
            os.utime(tmp_path / f"{name}.new", (time, time))
        names.clear()
        _wait_for("b.new", names, event)
        sync.writing_is_over()
    assert sorted(synced) == ["a.new", "b.new", "c.new"]


def _wait_for(name: str, names: list[str], event: threading.Event) -> None:
    """Until it is what is synced again and again."""
    while names[-2:] != [name, name]:
        event.clear()
        assert event.wait(PATIENCE)
