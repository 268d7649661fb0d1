"""Near misses: towers that mix rows are one of their kind, which no other graph contradicts."""

from __future__ import annotations

from unnest.core.recognition_results import MixedRows, NearMiss


def test_mixed_rows_are_a_near_miss_that_can_be_told_apart() -> None:
    mixed = MixedRows("concat", "a tower weighs rows against each other")
    assert isinstance(mixed, NearMiss)
    assert not isinstance(NearMiss(*mixed), MixedRows)
    assert mixed._replace(layer="concat_1").layer == "concat_1"
