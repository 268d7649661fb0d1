"""The budget through the front door: beyond it a file is unreadable, `--trust` lets it be read, the next is new."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from tests.judged import check_verdict
from unnest import budget
from unnest.formats.detect_container import stored_size

CHECKPOINT = FIXTURES / "checkpoint/tf23/checkpoint-official-named-adam/parallel.ckpt"


@pytest.mark.parametrize("part", ["STEPS", "MEMORY"])
def test_trust(part: str, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small allowance stands for a large file."""
    monkeypatch.setattr(budget, part, 500)
    monkeypatch.setattr(budget, "BYTES_FOR_A_STEP", 1 << 30)
    monkeypatch.setattr(budget, "MEMORY_FOR_A_BYTE", 0)
    for result in (unnest.inspect(bad), unnest.fix(bad)):
        assert result.error
        assert (result.verdict, result.error.code) == ("unreadable", "over-budget")
        assert "--trust" in result.error.message
    assert [p.name for p in bad.parent.iterdir()] == [bad.name]
    assert unnest.inspect(bad, trust=True).verdict == "parallel"
    assert unnest.fix(bad, trust=True).action == "fixed"


def test_the_option(cli: Cli, bad: Path) -> None:
    """Both commands know it, and it changes nothing where nothing is large."""
    trusting = cli("inspect", bad, "--trust").stdout
    # The command for Keras 3 takes it along.
    assert trusting.replace(" --trust", "") == cli("inspect", bad).stdout
    assert cli("fix", bad, "--trust").returncode == 0


def test_each_file_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's work is not charged to the next one."""
    monkeypatch.setattr(budget, "STEPS", 20_000)
    for k in range(20):
        check_verdict(unnest.inspect(makeh5.parallel_file(tmp_path / f"{k}.h5")), "parallel")


def test_size_is_that_of_all_parts(tmp_path: Path) -> None:
    """A file, a folder, a checkpoint's prefix; nothing has none."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m/a").write_bytes(b"12345")
    (tmp_path / "m/b").write_bytes(b"123")
    assert stored_size(str(tmp_path / "m/a")) == 5
    assert stored_size(str(tmp_path / "m")) == 8
    parts = [p for p in CHECKPOINT.parent.iterdir() if p.name.startswith(CHECKPOINT.name + ".")]
    assert stored_size(str(CHECKPOINT)) == sum(p.stat().st_size for p in parts) > 0
    assert stored_size(str(tmp_path / "none")) == 0
