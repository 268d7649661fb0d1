"""Slices that are operations, towers joined by a Lambda's code: what the code does with their rows decides."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "joined_by_code"


@pytest.mark.parametrize(
    ("name", "confidence"),
    [("in_order", "proven"), ("one_by_one", "proven"), ("dealt_in_turn", "likely")],
)
def test_wrappers(name: str, confidence: str, tmp_path: Path) -> None:
    """Rows end to end, or in turn where each tower takes every second one."""
    made = unnest.fix(FOLDER / f"{name}.h5", tmp_path / "model.h5")
    assert [(w.towers, w.scope, w.confidence) for w in made.wrappers] == [(2, "whole", confidence)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dealt_in_order", "joined gives all rows of features, in another order"),
        ("halves_in_turn", "the code of joined joins the rows in another order"),
        ("first_twice", "the code of joined joins the rows in another order"),
        ("turned", "the code of joined joins the rows in another order"),
        ("by_their_numbers", "the code of joined joins the rows in another order"),
        ("over_the_batch", "the code of joined does more than join rows"),
    ],
)
def test_look_alikes(name: str, reason: str) -> None:
    """The names in the code (`concat`) and its numbers (0) are those of a join in order."""
    seen = unnest.inspect(FOLDER / f"{name}.h5")
    assert seen.verdict == "clean"
    (miss,) = seen.near_misses
    assert miss.reason.startswith(reason)
