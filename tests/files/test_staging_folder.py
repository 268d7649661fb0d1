"""The folder that an output is made in: locked, private, swept by the next run, and completed where it was begun."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Cli
from unnest.errors import Refused
from unnest.files import portable_file_operations, staging_folder, write_output_atomically
from unnest.files.staging_folder import StagingFolder

if sys.platform == "win32":
    pytest.skip("no such locks", allow_module_level=True)

import fcntl

PARTS = ("out.data-00000-of-00002", "out.data-00001-of-00002", "out.index")


def listing(folder: Path) -> dict[str, bytes]:
    """All that is in a folder and is no folder."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def left_behind(target: Path, mark: str = "") -> Path:
    """Remains of a killed run: a staging folder without a lock."""
    folder = Path(staging_folder.staging_path(str(target), mark))
    (folder / "new").mkdir(parents=True)
    (folder / "new" / target.name).write_bytes(b"half")
    (folder / "lock").write_bytes(b"")
    return folder


def filled(work: StagingFolder, names: tuple[str, ...] = PARTS, what: str = "new") -> None:
    """Parts in the staging folder."""
    for name in names:
        Path(work.part(name)).write_bytes(f"{what} {name}".encode())


def parts(what: str, names: tuple[str, ...] = PARTS) -> dict[str, bytes]:
    """Return the content of each part."""
    return {name: f"{what} {name}".encode() for name in names}


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Files into a folder."""
    for name, content in files.items():
        (folder / name).write_bytes(content)


class TestLock:
    """The lock of a staging folder: one run at a time owns it."""

    def test_the_name_says_what_it_is(self, tmp_path: Path) -> None:
        with StagingFolder(str(tmp_path / "out.h5")) as work:
            assert os.path.basename(work.path) == ".out.h5.unnest-tmp"
            assert os.listdir(tmp_path) == [".out.h5.unnest-tmp"]
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize("mark", ["", "1", "7"])
    def test_what_a_killed_run_left_goes(self, tmp_path: Path, mark: str) -> None:
        left = left_behind(tmp_path / "out.h5", mark)
        with StagingFolder(str(tmp_path / "out.h5")) as work:
            assert not left.exists() or str(left) == work.path
        assert os.listdir(tmp_path) == []

    def test_what_a_living_run_has_stays(self, tmp_path: Path) -> None:
        target = str(tmp_path / "out.h5")
        with StagingFolder(target) as first, StagingFolder(target) as second:
            assert first.path != second.path
            assert os.path.isdir(first.path)
            assert staging_folder.leftovers(target) == ()  # they are in use, not left
        assert os.listdir(tmp_path) == []

    def test_alone(self, tmp_path: Path) -> None:
        target = str(tmp_path / "m.h5")
        with (
            StagingFolder(target),
            pytest.raises(Refused, match="another run of unnest") as refused,
            StagingFolder(target, alone=True),
        ):
            pass
        assert refused.value.code == "busy"
        with StagingFolder(target, alone=True):
            pass

    def test_a_killed_process_lets_go(self, tmp_path: Path) -> None:
        code = (
            "import os, signal, sys; from unnest.files.staging_folder import StagingFolder\n"
            "with StagingFolder(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
        )
        target = str(tmp_path / "out.h5")
        assert subprocess.run([sys.executable, "-c", code, target], check=False).returncode == -9
        assert os.listdir(tmp_path) == [".out.h5.unnest-tmp"]
        with StagingFolder(target, alone=True):
            pass
        assert os.listdir(tmp_path) == []

    def test_where_locks_do_not_work_it_stays_and_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = tmp_path / "out.h5"
        left = left_behind(target)

        def no_locks(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr(fcntl, "flock", no_locks)
        assert write_output_atomically.publish_file(str(target), _fill, _check) == "written"
        assert staging_folder.leftovers(str(target)) == (str(left),)
        assert (left / "new" / "out.h5").read_bytes() == b"half"

    def test_links_are_not_followed(self, tmp_path: Path) -> None:
        other = tmp_path / "other"
        (other / "new").mkdir(parents=True)
        (other / "new" / "photo").write_bytes(b"photo")
        target = tmp_path / "out.h5"
        Path(staging_folder.staging_path(str(target))).symlink_to(other)
        assert write_output_atomically.publish_file(str(target), _fill, _check) == "written"
        assert [p.relative_to(other).as_posix() for p in sorted(other.rglob("*"))] == [
            "new",
            "new/photo",
        ]
        assert len(staging_folder.leftovers(str(target))) == 1

    def test_a_folder_with_somebody_s_files_is_left_as_it_is(self, tmp_path: Path) -> None:
        target = tmp_path / "out.h5"
        theirs = Path(staging_folder.staging_path(str(target)))
        theirs.mkdir()
        (theirs / "photo").write_bytes(b"photo")
        assert write_output_atomically.publish_file(str(target), _fill, _check) == "written"
        assert staging_folder.leftovers(str(target)) == (str(theirs),)
        assert [p.name for p in theirs.iterdir()] == ["photo"]

    def test_the_report_names_it(self, bad: Path, cli: Cli) -> None:
        Path(staging_folder.staging_path(str(bad.with_name("m.unnested.h5")))).write_bytes(
            b"no folder"
        )
        done = cli("fix", "m.h5", "--json")
        assert done.returncode == 0
        assert '"leftover"' in done.stdout
        assert ".m.unnested.h5.unnest-tmp" in done.stdout

    @pytest.mark.parametrize("length", [200, 240, 255])
    def test_long_names_have_folders_of_their_own(self, tmp_path: Path, length: int) -> None:
        one, two = ("x" * (length - 1) + end for end in "12")
        with (
            StagingFolder(str(tmp_path / one)) as first,
            StagingFolder(str(tmp_path / two), alone=True) as second,
        ):
            assert first.path != second.path

    def test_nobody_else_looks_in(self, tmp_path: Path) -> None:
        with StagingFolder(str(tmp_path / "out.h5")) as work:
            assert stat.S_IMODE(os.stat(work.path).st_mode) == 0o700


class TestParts:
    """Several files: all of them or none."""

    @pytest.fixture(params=["renameat2", "links", "nothing"])
    def calls(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        """Run with and without the system's own calls."""
        if request.param != "renameat2":
            monkeypatch.setattr(portable_file_operations, "_renameat2", lambda: None)
        if request.param == "nothing":
            monkeypatch.setattr(os, "link", _impossible)

    @pytest.mark.usefixtures("calls")
    def test_new(self, tmp_path: Path) -> None:
        with StagingFolder(str(tmp_path / "out")) as work:
            filled(work)
            work.move(PARTS, replace=False)
        assert listing(tmp_path) == parts("new")

    @pytest.mark.usefixtures("calls")
    def test_replaced(self, tmp_path: Path) -> None:
        old = ("out.data-00000-of-00001", "out.index")
        write(tmp_path, parts("old", old))
        with StagingFolder(str(tmp_path / "out")) as work:
            filled(work)
            work.move(PARTS, replace=True, stale=old[:1])
        assert listing(tmp_path) == parts("new")

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize("taken", PARTS)
    def test_one_is_there(self, tmp_path: Path, taken: str) -> None:
        (tmp_path / taken).write_bytes(b"precious")
        with StagingFolder(str(tmp_path / "out")) as work:
            filled(work)
            with pytest.raises(FileExistsError):
                work.move(PARTS, replace=False)
        assert listing(tmp_path) == {taken: b"precious"}
        assert len(os.listdir(tmp_path)) == 1

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize("step", range(6))
    def test_a_step_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
        """The old ones come back."""
        write(tmp_path, parts("old"))
        with StagingFolder(str(tmp_path / "out")) as work:
            filled(work)
            monkeypatch.setattr(
                portable_file_operations,
                "rename_new",
                _failing_once(portable_file_operations.rename_new, step),
            )
            with pytest.raises(OSError, match="Input/output"):
                work.move(PARTS, replace=True)
        assert listing(tmp_path) == parts("old")
        assert len(os.listdir(tmp_path)) == len(PARTS)

    @pytest.mark.usefixtures("calls")
    @pytest.mark.parametrize("step", range(7))
    @pytest.mark.parametrize("old", [True, False])
    def test_a_killed_run_is_completed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, old: bool
    ) -> None:
        if old:
            write(tmp_path, parts("old"))
        _kill_at(step, tmp_path, monkeypatch)
        staging_folder.sweep(str(tmp_path / "out"))
        assert listing(tmp_path) == parts("new")
        assert sorted(os.listdir(tmp_path)) == sorted(PARTS)

    @pytest.mark.parametrize("step", range(1, 6))
    def test_what_was_saved_since_stays(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
    ) -> None:
        """A checkpoint that was saved after the killed run is not overwritten by its parts."""
        write(tmp_path, parts("old"))
        _kill_at(step, tmp_path, monkeypatch)
        for name in PARTS:
            (tmp_path / name).unlink(missing_ok=True)
        write(tmp_path, parts("newer and longer"))
        staging_folder.sweep(str(tmp_path / "out"))
        assert listing(tmp_path) == parts("newer and longer")
        assert len(staging_folder.leftovers(str(tmp_path / "out"))) == 1

    @pytest.mark.parametrize(
        "journal", [b"", b"{", b"[]", b'{"new": [["../x", [1, 2, 3]]], "old": []}', b"\xff"]
    )
    def test_a_journal_of_nobody(self, tmp_path: Path, journal: bytes) -> None:
        target = tmp_path / "out"
        left = left_behind(target)
        (left / "journal").write_bytes(journal)
        (tmp_path / "x").write_bytes(b"precious")
        with StagingFolder(str(target)) as work:
            assert os.path.isdir(work.path)
        assert (tmp_path / "x").read_bytes() == b"precious"

    def test_a_journal_that_climbs_out(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        left = left_behind(tmp_path / "in" / "out")
        (left / "x").write_bytes(b"planted")
        status = (left / "x").stat()
        new = [["../x", [status.st_ino, status.st_size, status.st_mtime_ns]]]
        (left / "journal").write_text(json.dumps({"new": new, "old": []}))
        staging_folder.sweep(str(tmp_path / "in" / "out"))
        assert os.listdir(tmp_path) == ["in"]


def _kill_at(step: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was killed after so many renames: nothing of it is cleaned up."""
    with monkeypatch.context() as patched:
        calls = iter(range(100))
        rename = portable_file_operations.rename_new

        def dying(source: str, target: str) -> None:
            if next(calls) == step:
                raise _Killed
            rename(source, target)

        patched.setattr(portable_file_operations, "rename_new", dying)
        patched.setattr(staging_folder, "_remove", lambda _: None)
        try:
            with StagingFolder(str(folder / "out")) as work:
                filled(work)
                work.move(PARTS, replace=True)
                raise _Killed  # noqa: TRY301 - after the last
        except _Killed:
            pass


class _Killed(BaseException):
    """Not an error that anything answers."""


def _failing_once(rename: Callable[[str, str], None], step: int) -> Callable[[str, str], None]:
    calls = iter(range(100))

    def failing(source: str, target: str) -> None:
        if next(calls) == step:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(source, target)

    return failing


class TestFolder:
    """A folder for a folder."""

    @pytest.mark.parametrize("call", ["renameat2", "nothing"])
    def test_undone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
        if call == "nothing":
            monkeypatch.setattr(portable_file_operations, "_renameat2", lambda: None)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "old").write_bytes(b"old")
        with StagingFolder(str(tmp_path / "out")) as work:
            os.mkdir(work.new_path)
            work.move(["out"], replace=True)
            assert os.listdir(tmp_path / "out") == []
            assert work.replaced is not None
            assert os.listdir(work.replaced) == ["old"]
            work.undo()
        assert listing(tmp_path / "out") == {"old": b"old"}
        assert os.listdir(tmp_path) == ["out"]

    @pytest.mark.parametrize("there", ["file", "folder"])
    def test_kinds_are_not_mixed(self, tmp_path: Path, there: str) -> None:
        place = tmp_path / "out"
        place.write_bytes(b"x") if there == "file" else place.mkdir()
        with StagingFolder(str(place)) as work:
            Path(work.new_path).mkdir() if there == "file" else Path(work.new_path).write_bytes(
                b"y"
            )
            with pytest.raises(OSError, match="out"):
                work.move(["out"], replace=True)
        assert os.listdir(tmp_path) == ["out"]
        assert place.is_file() == (there == "file")


def _fill(path: str) -> None:
    Path(path).write_bytes(b"new")


def _check(path: str) -> None:
    assert Path(path).read_bytes() == b"new"


def _impossible(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))
