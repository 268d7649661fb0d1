"""Another program writes the input during a fix: its data stays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from tests.judged import check_verdict
from unnest.files import (
    copy_and_compare,
    portable_file_operations,
    replace_input,
    write_output_atomically,
)
from unnest.files.staging_folder import StagingFolder
from unnest.formats.container_interface import Source
from unnest.outputs import publish_output, write_and_read_back_jobs


def _saved_anew(path: Path) -> None:
    makeh5.clean_file(path.with_name("newer.h5"))
    path.with_name("newer.h5").replace(path)


def _written_over(path: Path) -> None:
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size - 3)
        file.write(b"new")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _longer(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _gone(path: Path) -> None:
    path.unlink()


CHANGES: list[Callable[[Path], None]] = [_saved_anew, _written_over, _longer, _gone]


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__)
def test_in_place(
    change: Callable[[Path], None], links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused; no backup, no debris."""
    if not links:
        monkeypatch.setattr(portable_file_operations, "_renameat2", lambda: None)
    path = makeh5.parallel_file(tmp_path / "m.h5")
    made = write_output_atomically.fill_and_check  # between reading back and replacing

    def meanwhile(
        path_of_new: str, fill: write_output_atomically.Fill, check: write_output_atomically.Check
    ) -> None:
        made(path_of_new, fill, check)
        change(path)

    monkeypatch.setattr(replace_input, "fill_and_check", meanwhile)
    result = unnest.fix(path, in_place=True)
    assert result.error is not None
    assert (result.action, result.error.code) == ("refused", "changed")
    if change is not _gone:
        left = path.read_bytes()
        change(path)
        assert path.read_bytes() == left or change is _longer
    assert os.listdir(tmp_path) == ([] if change is _gone else ["m.h5"])


def test_at_the_very_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved between the last look and the replacement: it goes back to its place."""
    path = makeh5.parallel_file(tmp_path / "m.h5")
    exchange, first = portable_file_operations.exchange, list[int]()

    def late(one: str, two: str) -> bool:
        if not first:
            first.append(1)
            _saved_anew(path)
        return exchange(one, two)

    monkeypatch.setattr(portable_file_operations, "exchange", late)
    if not _exchanges(tmp_path):
        pytest.skip("no such call here")
    result = unnest.fix(path, in_place=True)
    assert result.error is not None
    assert result.error.code == "changed"
    assert path.read_bytes() == makeh5.clean_file(tmp_path / "expected.h5").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["expected.h5", "m.h5"]


def _exchanges(folder: Path) -> bool:
    (folder / "a").touch()
    (folder / "b").touch()
    try:
        flag = portable_file_operations.EXCHANGE
        return portable_file_operations._rename_with_flag(  # noqa: SLF001 - asks the system
            str(folder / "a"), str(folder / "b"), flag
        )
    finally:
        (folder / "a").unlink()
        (folder / "b").unlink()


@pytest.mark.parametrize("change", [_saved_anew, _longer], ids=lambda c: c.__name__)
def test_no_disk_is_blamed(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that differs from an input that was written meanwhile."""
    path = makeh5.clean_file(tmp_path / "m.h5")
    copy = copy_and_compare.copy_file

    def meanwhile(source: str, target: str) -> int:
        done = copy(source, target)
        _longer(path)
        if change is not _longer:
            path.write_bytes(makeh5.parallel_file(tmp_path / "newer.h5").read_bytes())
            (tmp_path / "newer.h5").unlink()
        return done

    monkeypatch.setattr(write_and_read_back_jobs, "copy_file", meanwhile)
    result = unnest.fix(path, tmp_path / "out.h5")
    assert result.error is not None
    assert result.error.code == "changed"
    assert "the disk" not in result.error.message
    assert os.listdir(tmp_path) == ["m.h5"]


def test_the_input_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the input of which that is said."""
    path = makeh5.parallel_file(tmp_path / "m.h5")
    modes = publish_output._modes  # noqa: SLF001 - the last that is asked of the input before the output is made

    def meanwhile(source: Source, *, folder: bool) -> write_output_atomically.Modes:
        path.unlink()
        return modes(source, folder=folder)

    monkeypatch.setattr(publish_output, "_modes", meanwhile)
    result = unnest.fix(path, tmp_path / "out.h5")
    assert result.error is not None
    assert result.error == (
        "changed",
        f"{path}: was removed while unnest read it; nothing was written",
    )
    assert os.listdir(tmp_path) == []


def test_two_runs(bad: Path, cli: Cli) -> None:
    """The second one says so."""
    before = bad.read_bytes()
    with StagingFolder(str(bad), alone=True):
        done = cli("fix", "m.h5", "--in-place")
        assert done.returncode == 2
        assert [line for line in done.stderr.splitlines() if "another run of unnest" in line]
        assert len(done.stderr.splitlines()) == 1
    assert bad.read_bytes() == before
    assert os.listdir(bad.parent) == ["m.h5"]


def test_many_runs_at_once(bad: Path) -> None:
    """The first run fixes it; nothing is lost, and no run fails."""
    before = bad.read_bytes()
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "unnest", "fix", "m.h5", "--in-place", "-q"],
            cwd=bad.parent, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    said = [run.communicate(timeout=600)[1] for run in runs]
    assert any(run.returncode == 0 for run in runs), said
    for run, words in zip(runs, said, strict=True):
        assert run.returncode == 0 or (run.returncode == 2 and len(words.splitlines()) == 1), words
    assert sorted(os.listdir(bad.parent)) == ["m.h5", "m.h5.bak"]
    assert bad.with_name("m.h5.bak").read_bytes() == before
    check_verdict(unnest.inspect(bad), "clean")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_dangling_backup(dry: list[str], bad: Path, cli: Cli) -> None:
    """A link to nothing is a backup's name that is taken."""
    before = bad.read_bytes()
    bad.with_name("m.h5.bak").symlink_to("nowhere")
    done = cli("fix", "m.h5", "--in-place", "-q", *dry)
    assert done.returncode == 2
    assert "m.h5.bak: a backup exists" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert bad.read_bytes() == before
    assert sorted(os.listdir(bad.parent)) == ["m.h5", "m.h5.bak"]
