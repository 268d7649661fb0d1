"""Models that come near towers: each is clean, with one near miss, which says what is different."""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "near_towers"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("different_outputs", "joined joins different outputs of template"),
        ("rows_by_their_values", "the towers do not read all rows of features in order"),
        ("different_halves_of_features", "the towers end in different outputs of tf.split"),
        ("one_call_for_two", "two towers share a call of hidden"),
        ("used_in_different_ways", "the towers use the outputs of hidden in different ways"),
        (
            "noise_behind_slices",
            "noise stands between a slice and its tower, and does not cut its input",
        ),
        ("sources_in_turn", "the parts of features are not joined one after the other"),
        ("neighbours_added", "a call is part of two towers"),
        (
            "slices_joined_at_once",
            "joined joins the outputs of cut_0 and similar layers, not of towers",
        ),
        ("parts_in_another_order", "the towers read the parts of cut in the order 1, 0"),
        (
            "bounds_of_no_batch",
            (
                "slice arguments: every start is where the stop before it ends, but nothing says that the last part "
                "ends with the batch"
            ),
        ),
        ("two_different_cuts", "the numbers tell two different cuts"),
        ("rows_up_to_a_count", "it cannot be computed which rows of features the towers read"),
    ],
)
def test_why_it_is_no_wrapper(name: str, reason: str) -> None:
    """The reason is a sentence of its own, and nothing else is near."""
    seen = unnest.inspect(FOLDER / f"{name}.h5")
    assert (seen.verdict, [miss.reason for miss in seen.near_misses]) == ("clean", [reason])
