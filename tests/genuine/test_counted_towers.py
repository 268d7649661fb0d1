"""Heads behind towers: one that splits the joined batch in as many parts again says that the towers are views."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "counted_towers"
COUNTING = ("mean", "transposed", "reshaped", "softened", "split", "groups", "lambda")
FILES = sorted(path.name for path in FOLDER.iterdir())


def head(name: str) -> str:
    """The last part of a file's name."""
    return Path(name).stem.split("-")[2]


@pytest.mark.parametrize(
    "name", [name for name in FILES if "views" in name and head(name) in COUNTING]
)
def test_views_whose_head_counts_them(name: str) -> None:
    """The near miss names the layer that takes them apart."""
    seen = unnest.inspect(FOLDER / name)
    (miss,) = seen.near_misses
    assert (seen.verdict, miss.layer) == ("clean", "joined")
    assert miss.reason.endswith(
        "splits what joined gives in 4 again: the towers may be views of one batch"
    )


@pytest.mark.parametrize(
    "name", [name for name in FILES if "views" in name and head(name) not in COUNTING]
)
def test_heads_that_do_not_count_the_towers(name: str) -> None:
    """A Reshape within each row, groups of another number, a Dense: as likely as without a head."""
    seen = unnest.inspect(FOLDER / name)
    assert [(w.confidence, w.towers) for w in seen.wrappers] == [("likely", 4)]


@pytest.mark.parametrize("name", [name for name in FILES if "cut" in name])
def test_a_proven_wrapper_before_such_a_head(name: str) -> None:
    """The slices show that they cut: the head groups the rows of the batch itself, before and after."""
    seen = unnest.inspect(FOLDER / name)
    assert [(w.confidence, w.towers) for w in seen.wrappers] == [("proven", 4)]


def test_a_class_that_the_caller_vouches_for() -> None:
    """With --slice-layer it cuts the batch, whatever the head does."""
    seen = unnest.inspect(FOLDER / "tf27-views-mean.h5", slice_layers=["View"])
    assert [w.towers for w in seen.wrappers] == [4]
