"""A file with several names (hard links): --in-place gives one of them the new model, and the others keep the old."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import unnest
from tests import makeh5
from tests.conftest import Cli

pytestmark = pytest.mark.skipif(not hasattr(os, "link"), reason="there are no hard links here")


@pytest.fixture
def names(tmp_path: Path) -> tuple[Path, Path]:
    """Two names of one parallel file."""
    one, other = makeh5.parallel_file(tmp_path / "best.h5"), tmp_path / "epoch_7.h5"
    os.link(one, other)
    return one, other


def test_the_other_name_keeps_the_old_model(names: tuple[Path, Path]) -> None:
    """So does the backup, which is one more name of it."""
    one, other = names
    before = other.read_bytes()
    result = unnest.fix(one, in_place=True)
    assert result.action == "fixed", result.error
    assert other.read_bytes() == before
    assert other.samefile(f"{one}.bak")
    assert not other.samefile(one)
    assert [unnest.inspect(path).verdict for path in names] == ["clean", "parallel"]


def test_both_names_are_fixed_where_both_are_given(names: tuple[Path, Path], cli: Cli) -> None:
    """Two files then, with the same bytes, and a backup each."""
    one, other = names
    before = one.read_bytes()
    done = cli("fix", "--in-place", one, other)
    assert done.returncode == 0, done.stderr
    assert one.read_bytes() == other.read_bytes() != before
    assert not one.samefile(other)
    assert [Path(f"{path}.bak").read_bytes() for path in names] == [before, before]


def test_a_backup_by_that_name_is_taken_as_made(names: tuple[Path, Path]) -> None:
    """The other name, where it is the backup's, is what a killed run leaves."""
    one, other = names
    before = one.read_bytes()
    backup = other.rename(f"{one}.bak")
    assert unnest.fix(one, in_place=True).action == "fixed"
    assert backup.read_bytes() == before
    assert not backup.samefile(one)
