"""A test that fails shows what the engine said: the verdict, wrappers with evidence, near misses."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests import judged, makeh5
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph.wrapper_records import Recognised

NEAR = Recognised(near_misses=(NearMiss("m", "m gives all rows of x, in another order"),))


def test_the_near_miss_of_a_wrapper_that_is_missing() -> None:
    """The layer that comes nearest, and why it is no merge."""
    with pytest.raises(
        AssertionError, match=r"0 wrappers instead of 1(.|\n)*no wrapper at m: m gives all rows"
    ):
        judged.only_wrapper(NEAR)
    with pytest.raises(
        AssertionError, match=r"clean instead of parallel(.|\n)*no wrapper at m: m gives all rows"
    ):
        judged.check_verdict(NEAR, "parallel")


def test_the_evidence_of_a_wrapper_that_is_none(tmp_path: Path) -> None:
    """A verdict that is not the expected one comes with its reasons."""
    report = unnest.inspect(makeh5.parallel_file(tmp_path / "m.h5"))
    assert judged.only_wrapper(report) == report.wrappers[0]
    with pytest.raises(AssertionError, match="parallel instead of clean") as error:
        judged.check_verdict(report, "clean")
    assert all(f"because {line}" in str(error.value) for line in report.wrappers[0].evidence)


def test_what_the_functions_of_a_test_hold_is_shown() -> None:
    """The section that `conftest.py` adds to a failed test."""

    def row() -> None:
        seen = NEAR
        assert seen.wrappers

    with pytest.raises(AssertionError) as error:
        row()
    assert [*judged.in_traceback(error)] == [("row: seen", judged.describe(NEAR))]
