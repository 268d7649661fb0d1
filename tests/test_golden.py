"""What is said of every fixture and corpus case, held against `golden.json`: what changes has a reason."""

from __future__ import annotations

import json

from tests.golden import GOLDEN, lines

#: Lines that differ from the file, and why: (part of the line's name, reason). Empty once the file is written anew.
EXPLAINED: dict[str, str] = {}


def test_the_same_is_said() -> None:
    """Verdict, towers, scope, depth, confidence, evidence and refusal of every case."""
    wanted, now = json.loads(GOLDEN.read_text()), dict(lines())
    differ = {name for name in wanted if wanted[name] != now.get(name)}  # cases that came later have tests of their own
    assert {n: (wanted.get(n), now.get(n)) for n in differ - EXPLAINED.keys()} == {}
    assert EXPLAINED.keys() - differ == set()
