"""Every attack through the command line: one line, exit 2, nothing left, within its means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import unnest
from tests import cost
from tests.attacks.hostile import ATTACKS

#: What a bad small file may cost, as the design has it.
SECONDS, MEGABYTES = 5, 300
#: Characters of a message, without the path.
LONGEST = 300


@pytest.mark.parametrize("name", ATTACKS)
def test_refused(name: str, tmp_path: Path) -> None:
    """The library: a report with the right code, and nothing written."""
    make, code = ATTACKS[name]
    make(tmp_path / "m.h5")
    before = (tmp_path / "m.h5").read_bytes()
    report = unnest.inspect(tmp_path / "m.h5")
    assert (report.verdict, report.error and report.error.code) == ("unreadable", code)
    result = unnest.fix(tmp_path / "m.h5")
    assert result.error
    assert result.error.code == code
    assert "\n" not in result.error.message
    assert str(tmp_path / "m.h5") in result.error.message
    assert len(result.error.message) < LONGEST + len(str(tmp_path))
    assert os.listdir(tmp_path) == ["m.h5"]
    assert (tmp_path / "m.h5").read_bytes() == before


COSTLY = [
    "attributes_4_000",
    "deep_groups",
    "deep_json",
    "deep_objects",
    "a_number_without_end",
    "chunked_terabytes",
    "contiguous_terabytes",
    "a_dense_attribute_of_80_megabytes",
]


@pytest.mark.skipif(not cost.STATUS.exists(), reason="the system does not tell what a process cost")
@pytest.mark.parametrize("name", COSTLY)
def test_cost(name: str, tmp_path: Path) -> None:
    """The command line: exit 2 and one line, quickly and in little memory."""
    make, _ = ATTACKS[name]
    make(tmp_path / "m.h5")
    done, seconds, megabytes = cost.run("fix", "m.h5", cwd=tmp_path)
    assert done.returncode == 2
    assert len((done.stdout + done.stderr).splitlines()) == 1
    assert cost.is_within(seconds, SECONDS)
    assert megabytes < MEGABYTES
