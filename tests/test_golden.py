"""Facts reported on every fixture and corpus case equal `golden.json`: a change needs a reason."""

from __future__ import annotations

import json

import pytest

from tests.corpus.unpacked import CASES, TREE
from tests.golden import GOLDEN, SUFFIXES, folders, lines

#: Lines that differ from the file, and why: (part of the line's name, reason). Empty once the file is written anew.
EXPLAINED: dict[str, str] = {}

WANTED = json.loads(GOLDEN.read_text())

#: Cases are asked in so many tests, so that they run side by side.
PARTS = 32


@pytest.mark.parametrize("part", range(PARTS))
def test_the_same_is_said(part: int) -> None:
    """Verdict, towers, scope, depth, confidence, evidence and refusal of every case."""
    cases = folders()[part::PARTS]
    here = {f"{case.relative_to(TREE).as_posix()}/" for case in cases}
    now = dict(lines(cases))
    wanted = {
        name: line for name, line in WANTED.items() if any(name.startswith(case) for case in here)
    }
    # Cases that came later have tests of their own.
    differ = {name for name in wanted if wanted[name] != now.get(name)}
    assert {n: (wanted.get(n), now.get(n)) for n in differ - EXPLAINED.keys()} == {}
    assert EXPLAINED.keys() & wanted.keys() <= differ


def test_bases_are_clean() -> None:
    """Every base of the corpus, which a case should become, has a line that leaves it alone."""
    bases = [
        p
        for c in ("h5", "keras", "saved_model")
        for p in CASES.glob(f"{c}/*/base*")
        if p.suffix in SUFFIXES
    ]
    assert len(bases) > 250
    not_clean = [
        base.parent.name
        for base in bases
        if WANTED[base.relative_to(TREE).as_posix()][0] != "clean"
    ]
    # Weights alone, whose names are those of a wrapper.
    assert not_clean == ["495-channel-halves-within"]


def test_every_line_has_its_case() -> None:
    """No line outlives its case."""
    cases = {f"{case.relative_to(TREE).as_posix()}/" for case in folders()}
    assert [name for name in WANTED if not any(name.startswith(case) for case in cases)] == []
