"""The split of a batch: what proves it, and the sentences that say so."""

from __future__ import annotations

import pytest

from unnest.core.model import CallId, Ref
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim
from unnest.core.wrappers.layer_graph.batch_split_record import BatchSplit, InputSlices

PARTS = (Ref("s0", 0, 0), Ref("s1", 0, 0))
STEP = (CallId("s0", 0), CallId("s1", 0))


def slices(*statuses: ClaimStatus, is_shown: bool = True) -> InputSlices:
    """Two slices of x with a claim of each status."""
    claims = [(SliceClaim(status, f"it is {status.name}"), [*PARTS]) for status in statuses]
    return InputSlices(Ref("x", 0, 0), PARTS, [STEP], {CallId("named", 0)}, claims, is_shown)


def split(
    *inputs: InputSlices, computed: str | None = None, reach: int | None = None
) -> BatchSplit:
    """The split of these inputs."""
    return BatchSplit("t", inputs, frozenset(STEP), computed=computed, reach=reach)


@pytest.mark.parametrize(
    ("batch_split", "is_proven"),
    [
        (split(slices()), False),
        (split(slices(), computed="all rows in order"), True),
        (split(slices(ClaimStatus.ROWS)), True),
        (split(slices(ClaimStatus.ROWS, is_shown=False)), False),
        (split(slices(ClaimStatus.ROWS), slices(ClaimStatus.PARTLY)), False),
        (split(slices(ClaimStatus.DEALT), computed="in another order"), False),
    ],
)
def test_each_claim_must_be_all_rows_in_order(batch_split: BatchSplit, *, is_proven: bool) -> None:
    assert batch_split.is_proven is is_proven


def test_an_input_that_is_read_whole_is_not_sliced() -> None:
    whole = InputSlices(Ref("anchors", 0, 0))
    both = split(slices(ClaimStatus.ROWS), whole)
    assert both.sources == (Ref("x", 0, 0), Ref("anchors", 0, 0))
    assert both.sliced == [both.inputs[0]]
    assert both.nearest == ((Ref("x", 0, 0), STEP),)
    assert both.inputs[0].calls == {*STEP, CallId("named", 0)}


def test_each_sentence_is_said_once() -> None:
    twice = split(slices(ClaimStatus.ROWS), slices(ClaimStatus.ROWS), computed="computed", reach=64)
    assert twice.sentences == (
        "it is ROWS",
        "computed",
        "bounds are numbers: no tower reads more than the first 64 rows",
    )
