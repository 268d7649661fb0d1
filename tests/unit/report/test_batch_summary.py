"""The lines after a report on many files."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.report.test_text import CLEAN, PARALLEL, TORN
from unnest.report import batch_summary
from unnest.report.result import Problem, Result, Tally


def lines(tally: Tally) -> list[str]:
    return [" ".join(line.split()) for line in batch_summary.kinds(tally)]


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
    assert batch_summary.summary(tally) == "2 files: 1 copied, 1 unchanged"
    tally.add(Result(path="c.h5", verdict="clean", action="unchanged", copy_state="would-copy"))
    assert batch_summary.summary(tally) == "3 files: 1 copied, 1 would-copy, 1 unchanged"
    assert tally.actions == {"unchanged": 3}
