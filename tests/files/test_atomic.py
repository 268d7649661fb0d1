"""A file is complete or absent, whatever happens and whenever it happens."""

from __future__ import annotations

import errno
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unnest.errors import Failed, Refused, UnnestError
from unnest.files import replace_input, staging_folder, write_output_atomically

#: A user that owns nothing.
NOBODY = 65534

OLD, NEW = b"old", b"new" * 1000

#: Everything in the os module that write.py uses to change or look at the disk.
STEPS = (
    "open",
    "close",
    "stat",
    "fsync",
    "chmod",
    "link",
    "replace",
    "rename",
    "unlink",
    "mkdir",
    "rmdir",
    "listdir",
)


def fill(path: str) -> None:
    """Write the new bytes."""
    Path(path).write_bytes(NEW)


def old(path: str) -> None:
    """Write other bytes."""
    Path(path).write_bytes(OLD)


def check(path: str) -> None:
    """Read them back."""
    assert Path(path).read_bytes() == NEW


def listing(folder: Path) -> dict[str, bytes]:
    """All files and what they hold."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The path of the output, which does not exist yet."""
    return tmp_path / "out.h5"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may act for another user"
)
def test_no_backup_where_only_owners_take_names_away() -> None:
    """A user who may write another's file in a folder such as /tmp may not replace it: no second name stays."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are root's alone
        Path(folder).chmod(0o1777)
        path = Path(folder, "m.h5")
        path.write_bytes(OLD)
        path.chmod(0o666)
        os.seteuid(NOBODY)
        try:
            with pytest.raises(Failed, match="cannot be written"):
                replace_input.replace(str(path), f"{path}.bak", fill, check)
        finally:
            os.seteuid(0)
        assert listing(Path(folder)) == {"m.h5": OLD}


class TestPublish:
    """A new file."""

    def test_writes(self, target: Path) -> None:
        assert write_output_atomically.publish_file(str(target), fill, check) == "written"
        assert listing(target.parent) == {"out.h5": NEW}

    @pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
    def test_permissions_follow_the_umask(self, target: Path, mask: int) -> None:
        before = os.umask(mask)
        try:
            write_output_atomically.publish_file(str(target), fill, check)
        finally:
            os.umask(before)
        assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask

    def test_existing_is_refused(self, target: Path) -> None:
        target.write_bytes(OLD)
        with pytest.raises(Refused, match="exists already") as refused:
            write_output_atomically.publish_file(str(target), fill, check)
        assert refused.value.code == "output-exists"
        assert listing(target.parent) == {"out.h5": OLD}

    def test_force_replaces(self, target: Path) -> None:
        target.write_bytes(OLD)
        assert (
            write_output_atomically.publish_file(str(target), fill, check, force=True) == "written"
        )
        assert listing(target.parent) == {"out.h5": NEW}

    @pytest.mark.parametrize("force", [False, True])
    def test_the_same_bytes_stay(self, target: Path, force: bool) -> None:
        target.write_bytes(NEW)
        inode = target.stat().st_ino
        assert write_output_atomically.publish_file(str(target), fill, check, force=force) == "same"
        assert target.stat().st_ino == inode
        assert listing(target.parent) == {"out.h5": NEW}

    def test_a_link_to_nowhere_is_refused(self, target: Path) -> None:
        target.symlink_to("nowhere.h5")
        with pytest.raises(Refused, match="exists already"):
            write_output_atomically.publish_file(str(target), fill, check)
        assert os.listdir(target.parent) == ["out.h5"]

    def test_force_replaces_a_link_itself(self, target: Path) -> None:
        other = target.parent / "other.h5"
        other.write_bytes(OLD)
        target.symlink_to(other)
        write_output_atomically.publish_file(str(target), fill, check, force=True)
        assert not target.is_symlink()
        assert other.read_bytes() == OLD

    def test_somebody_else_is_faster(self, target: Path) -> None:
        def slow(path: str) -> None:
            fill(path)
            target.write_bytes(OLD)

        with pytest.raises(Refused):
            write_output_atomically.publish_file(str(target), slow, check)
        assert listing(target.parent) == {"out.h5": OLD}

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(Failed, match="folder does not exist"):
            write_output_atomically.publish_file(str(tmp_path / "no" / "out.h5"), fill, check)

    def test_without_hard_links(self, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "link", _impossible)
        assert write_output_atomically.publish_file(str(target), fill, check) == "written"
        with pytest.raises(Refused):
            write_output_atomically.publish_file(str(target), old, lambda _: None)
        assert listing(target.parent) == {"out.h5": NEW}

    def test_debris_of_a_killed_run_blocks_nobody(self, target: Path) -> None:
        for mark in ("", "1", "7"):
            left = Path(staging_folder.staging_path(str(target), mark))
            (left / "new").mkdir(parents=True)
            (left / "new" / "out.h5").write_bytes(OLD)
        assert write_output_atomically.publish_file(str(target), fill, check) == "written"
        assert os.listdir(target.parent) == ["out.h5"]

    @pytest.mark.parametrize("length", [200, 251, 255])
    def test_long_names(self, tmp_path: Path, length: int) -> None:
        target = tmp_path / ("ä" * (length // 2) + "x" * (length % 2))
        assert write_output_atomically.publish_file(str(target), fill, check) == "written"


class TestReplace:
    """The input itself."""

    @pytest.fixture
    def backup(self, target: Path) -> Path:
        target.write_bytes(OLD)
        target.chmod(0o640)
        return target.with_name("out.h5.bak")

    def test_replaces(self, target: Path, backup: Path) -> None:
        inode = target.stat().st_ino
        replace_input.replace(str(target), str(backup), fill, check)
        assert listing(target.parent) == {"out.h5": NEW, "out.h5.bak": OLD}
        assert backup.stat().st_ino == inode
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def test_a_backup_is_never_replaced(self, target: Path, backup: Path) -> None:
        backup.write_bytes(b"precious")
        with pytest.raises(Refused, match="never replaced"):
            replace_input.replace(str(target), str(backup), fill, check)
        assert listing(target.parent) == {"out.h5": OLD, "out.h5.bak": b"precious"}

    def test_a_killed_runs_backup_counts(self, target: Path, backup: Path) -> None:
        os.link(target, backup)
        replace_input.replace(str(target), str(backup), fill, check)
        assert listing(target.parent) == {"out.h5": NEW, "out.h5.bak": OLD}

    def test_without_hard_links(
        self, target: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "link", _impossible)
        replace_input.replace(str(target), str(backup), fill, check)
        assert listing(target.parent) == {"out.h5": NEW, "out.h5.bak": OLD}


def _impossible(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


class TestTrouble:
    """Whatever goes wrong, at whichever step."""

    @pytest.mark.parametrize(
        "error", [OSError(errno.ENOSPC, "x"), Failed("read-back", "x"), KeyboardInterrupt()]
    )
    @pytest.mark.parametrize("broken", ["fill", "check"])
    def test_in_the_long_parts(self, target: Path, error: BaseException, broken: str) -> None:
        def breaks(path: str) -> None:
            Path(path).write_bytes(b"half")
            raise error

        steps = {"fill": fill, "check": check, broken: breaks}
        with pytest.raises((UnnestError, KeyboardInterrupt)):
            write_output_atomically.publish_file(str(target), steps["fill"], steps["check"])
        assert listing(target.parent) == {}

    # Between open() and its `with`, an interrupt leaves the closing of a file to the collector.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    @pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("in_place", [False, True], ids=["publish", "replace"])
    def test_an_interrupt_at_any_step(
        self, target: Path, monkeypatch: pytest.MonkeyPatch, in_place: bool, when: str, links: bool
    ) -> None:
        backup = target.with_name("out.h5.bak")
        if not links:
            monkeypatch.setattr(os, "link", _impossible)
        for step in range(1000):
            for path in (target, backup):
                path.unlink(missing_ok=True)
            assert os.listdir(target.parent) == []
            if in_place:
                target.write_bytes(OLD)
            with monkeypatch.context() as patched:
                interrupted = _interrupt_at(step, when, patched)
                try:
                    if in_place:
                        replace_input.replace(str(target), str(backup), fill, check)
                    else:
                        write_output_atomically.publish_file(str(target), fill, check)
                except KeyboardInterrupt:
                    assert interrupted()
            left = listing(target.parent)
            nothing: dict[str, bytes] = {"out.h5": OLD} if in_place else {}
            everything = {"out.h5": NEW, "out.h5.bak": OLD} if in_place else {"out.h5": NEW}
            assert left in (nothing, everything), f"step {step}: {sorted(left)}"
            if not interrupted():
                assert left == everything
                assert step > 4  # it did come to some
                return
        pytest.fail("never came to an end")


def _interrupt_at(step: int, when: str, patched: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Press Ctrl-C before or after the step-th call into the os module; return True if it came to that."""
    calls = iter(range(10**6))
    pressed: list[int] = []

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            mine = next(calls) == step
            if mine and when == "before":
                pressed.append(step)
                signal.raise_signal(signal.SIGINT)
            try:
                return function(*args, **kwargs)
            finally:
                if mine and when == "after":
                    pressed.append(step)
                    signal.raise_signal(signal.SIGINT)

        return call

    for name in STEPS:
        patched.setattr(os, name, wrapped(getattr(os, name)))
    return lambda: bool(pressed)


@pytest.fixture(autouse=True)
def _interrupts_as_usual() -> Iterator[None]:
    """Whatever a test does, Ctrl-C means the same afterwards."""
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before
