"""A row a model, and the lines after the report of many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.unit.report.test_text_report import CLEAN, PARALLEL, TORN
from unnest.findings import Code
from unnest.report import batch_text, text_report
from unnest.report.result import Problem, Report, Result, Tally
from unnest.report.text_report import Look


@pytest.mark.parametrize(
    ("report", "facts"),
    [
        (TORN, ["unreadable", "a\\x1b[2J.h5", "is cut short; copy it"]),
        (CLEAN, ["clean", "b.h5", "loads in tf_keras"]),
        (
            PARALLEL,
            [
                "parallel",
                "<script>alert(1)</script>.h5",
                (
                    "wrappers of 4 and 2 towers of net; Keras 2.2.4; loads in Keras 2.2.4; "
                    "fix will refuse it; warning: needs-architecture"
                ),
            ],
        ),
    ],
)
def test_a_row(report: Report, facts: list[str]) -> None:
    """Verdict, path, and what matters, in one harmless line; trouble is coloured whole."""
    row = batch_text.row(report, Look())
    assert row.split(maxsplit=2) == facts
    painted = batch_text.row(report, Look(color=True))
    assert painted.endswith("\x1b[0m") == (report.verdict == "unreadable")
    assert painted.replace("\x1b[0m", "").replace(painted[:5], "") == row


def test_what_a_row_says_of_warnings_and_conditions() -> None:
    """Up to three warnings by code; what the newest software needs; and that a verdict is open."""
    report = replace(
        PARALLEL, fix_would=None, loads_in=("tf_keras (Keras 2), with your Cut", "Keras 2.2.4")
    )
    row = batch_text.row(report, Look())
    assert row.endswith("loads in tf_keras, with your Cut; warning: needs-architecture")
    several = (
        Code.UNKNOWN_MASK(doubt="d"),
        Code.MASKED_LOSS(what="w", why="y"),
        Code.STORED_CODE(what="c", output=""),
    )
    report = replace(report, findings=(*report.findings, *several))
    assert batch_text.row(report, Look()).endswith("; 4 warnings")
    alone = replace(CLEAN, contents="weights", findings=(Code.NEEDS_ARCHITECTURE(),))
    assert "may be parallel: pass --architecture MODEL.json to be sure; " in batch_text.row(
        alone, Look()
    )
    assert text_report.render(alone).startswith("b.h5: clean or parallel (weights only in h5)")


def test_a_row_on_a_terminal() -> None:
    """A row is broken between facts, and goes on below them, or below a path that is too long."""
    look = Look(width=60, wraps=True)
    report = replace(PARALLEL, path="my models/b.h5")
    assert batch_text.row(report, look).splitlines() == [
        "parallel    my models/b.h5        wrappers of 4 and 2 towers",
        "                                  of net; Keras 2.2.4;",
        "                                  loads in Keras 2.2.4;",
        "                                  fix will refuse it;",
        "                                  warning:",
        "                                  needs-architecture",
    ]
    long = "checkpoints/a run with a long name/and one within/epoch-042.h5"
    assert batch_text.row(replace(report, path=long), look).splitlines() == [
        f"parallel    {long}",
        "              wrappers of 4 and 2 towers of net;",
        "              Keras 2.2.4; loads in Keras 2.2.4;",
        "              fix will refuse it;",
        "              warning: needs-architecture",
    ]
    wide = batch_text.row(replace(report, path=long[:40]), Look(width=160, wraps=True))
    assert wide.startswith(f"parallel    {long[:40]:44}  wrappers of 4")


def lines(tally: Tally) -> list[str]:
    return [" ".join(line.split()) for line in batch_text.kinds(tally)]


def test_kinds() -> None:
    """A line for every kind, none where there is but one; and one for every code of a warning."""
    tally = Tally()
    tally.add(CLEAN)
    tally.add(CLEAN)
    assert lines(tally) == []
    tally.add(TORN)
    tally.add(PARALLEL)
    assert lines(tally) == [
        "2 clean h5",
        "1 parallel h5, Keras 2.2.4",
        "1 unreadable truncated",
        "1 warning needs-architecture",
    ]


def test_a_refused_file_keeps_its_container() -> None:
    tally = Tally()
    tally.add(CLEAN)
    tally.add(
        replace(PARALLEL, findings=(), error=Problem("output-exists", "c.h5: exists already"))
    )
    assert lines(tally) == ["1 clean h5", "1 parallel h5 (output-exists), Keras 2.2.4"]
    assert (tally.troubled, tally.errors["output-exists"]) == (1, 1)


def test_copies_are_not_counted_as_unchanged() -> None:
    """The row of a clean input that was copied says `copied`, and so does the summary; a dry run says `would-copy`."""
    tally = Tally()
    tally.add(Result(path="a.h5", verdict="clean", action="unchanged"))
    tally.add(
        Result(
            path="b.h5", verdict="clean", action="unchanged", output="o/b.h5", copy_state="copied"
        )
    )
    assert batch_text.summary(tally) == "2 files: 1 copied, 1 unchanged"
    tally.add(Result(path="c.h5", verdict="clean", action="unchanged", copy_state="would-copy"))
    assert batch_text.summary(tally) == "3 files: 1 copied, 1 would-copy, 1 unchanged"
    assert tally.actions == {"unchanged": 3}


@pytest.mark.parametrize(
    ("case", "warned"),
    [("official-cnn-adam", False), ("official-lambdas", True), ("official-custom-adam", True)],
)
def test_code_that_the_output_does_not_have_is_no_warning(
    case: str, warned: bool, tmp_path: Path
) -> None:
    """The wrapper's code is gone with it; a Lambda of the template stays, and so does the need for a custom class."""
    path = FIXTURES / "k224" / case / "parallel.h5"
    fixed = unnest.fix(path, tmp_path / "o.h5")
    assert ("warning: stored-code" in batch_text.row(fixed, Look())) == warned
    tally = Tally()
    tally.add(fixed)
    assert (lines(tally) == ["1 warning stored-code"]) == warned
    assert "warning: stored-code" in batch_text.row(unnest.inspect(path), Look())
    assert "warning: stored-code" in batch_text.row(replace(fixed, output=None, kept=None), Look())
