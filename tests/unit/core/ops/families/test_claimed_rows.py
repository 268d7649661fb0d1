"""The rows that slice layers claim."""

from __future__ import annotations

import pytest

from unnest.core.ops.families.claimed_rows import ClaimedRows


@pytest.mark.parametrize(
    ("rows", "of_seven"),
    [
        (ClaimedRows(0, 0.5), [0, 1, 2, 3]),
        (ClaimedRows(0.5, 1), [4, 5, 6]),
        (ClaimedRows(0, every=3), [0, 3, 6]),
        (ClaimedRows(2, every=3), [2, 5]),
    ],
    ids=["first half", "last half", "dealt out, the first", "dealt out, the last"],
)
def test_the_rows_that_are_claimed_of_a_batch(rows: ClaimedRows, of_seven: list[int]) -> None:
    assert [*range(7)][rows.of(7)] == of_seven
