"""Towers of a model's own layers behind slices with parts as arguments: files of three stacks (`inline/make.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.h5compare import differences
from tests.judged import check_verdict, only_wrapper

HERE = Path(__file__).with_name("inline")
STACKS = ("k224", "tf23", "tf210")

#: Why each look-alike is not a wrapper.
REASONS = {
    "not-swapped": "i is 1, 0 in the slices, which does not number parts in order",
    "not-twice": "every tower reads the whole of rows",
    "not-all": "slice arguments: i counts from 0, but parts is 3, 3 in the slices",
    "not-shared": "scores_0 and scores_1 are different layers",
    "not-ends-swapped": "the towers that end in scores are read by other layers than joined_0 too",
}


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("name", "towers"), [("two", 2), ("three", 3), ("two-ends", 2)])
def test_the_model_as_if_it_had_never_been_cut(
    stack: str, name: str, towers: int, tmp_path: Path
) -> None:
    """The output is what the same process saved for the template."""
    source, out = HERE / stack / f"{name}.h5", tmp_path / "out.h5"
    wrapper = only_wrapper(unnest.inspect(source))
    assert (wrapper.template, wrapper.towers, wrapper.scope, wrapper.confidence) == (
        "scores",
        towers,
        "whole",
        "proven",
    )
    assert unnest.fix(source, out).action == "fixed"
    assert differences(out, HERE / stack / f"{name}-base.h5") == []
    check_verdict(unnest.inspect(out), "clean")


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("name", REASONS)
def test_look_alikes_stay(stack: str, name: str) -> None:
    """Swapped, one part twice, a part left out, layers of their own: clean, and why."""
    seen = unnest.inspect(HERE / stack / f"{name}.h5")
    assert seen.verdict == "clean"
    assert next(miss.reason for miss in seen.near_misses) == REASONS[name]
