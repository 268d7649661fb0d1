"""Towers of parts that are not equal, and their look-alikes: what is computed of numbered rows decides."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "uneven_parts"


@pytest.mark.parametrize(
    ("name", "towers", "scope"),
    [
        ("ends.h5", 2, "whole"),
        ("padded.h5", 4, "embedded"),
        ("padded_and_cut_short.h5", 4, "embedded"),
        ("take.keras", 2, "whole"),
    ],
)
def test_wrappers(name: str, towers: int, scope: str, tmp_path: Path) -> None:
    """All rows but the last and the last; batches padded with zeros, whatever is cut at the end; constant tensors."""
    made = unnest.fix(FOLDER / name, tmp_path / name)
    assert [(w.towers, w.scope, w.confidence) for w in made.wrappers] == [(towers, scope, "proven")]
    assert made.action == "fixed"


@pytest.mark.parametrize(
    "name",
    [
        "ends_swapped.h5",
        "ends_twice.h5",
        "padded_by_ones.h5",
        "padded_swapped.h5",
        "take_swapped.keras",
        "take_twice.keras",
    ],
)
def test_look_alikes(name: str) -> None:
    """Parts in another order, a row twice, rows that are not zeros beside those of the batch."""
    seen = unnest.inspect(FOLDER / name)
    assert (seen.verdict, len(seen.near_misses)) == ("clean", 1)
