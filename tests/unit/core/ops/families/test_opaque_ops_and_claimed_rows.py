"""Entries that compute no tensor: nothing is known of what they give, and some reorder or mix the rows."""

from __future__ import annotations

import pytest

from unnest.core.ops.call import OpCall
from unnest.core.ops.families.opaque_ops_and_claimed_rows import ClaimedRows
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import OPERATIONS, is_known, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [("while", Kind.CONTROL), ("oversteps", Kind.WINDOW), ("takes", Kind.OPAQUE)],
)
def test_what_is_not_carried_out(name: str, kind: Kind) -> None:
    call = OpCall(name, [], {})
    assert (kind_of(call), is_known(call)) == (kind, False)


def test_what_layers_do_to_rows() -> None:
    reorder = {name for name, entry in OPERATIONS.items() if entry.reorders_rows}
    mix = {name for name, entry in OPERATIONS.items() if entry.mixes_rows}
    assert {"takes", "mixes"} <= reorder
    assert "mixes" in mix
    assert "takes" not in mix


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
