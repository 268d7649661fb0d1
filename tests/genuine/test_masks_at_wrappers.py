"""Wrappers whose slices or merges end a mask: refused by name where a prediction would be another without them.

How far the predictions would be off was printed when the files were made: 0.05 to 0.10; 0 for those that are wrappers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "masks_at_wrappers"
STACKS = ("k231", "tf23")


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "handed_on_by_a_model",
            "the mask of words ends at the slices, and would reach template without them",
        ),
        (
            "into_a_wrapper_within",
            "the mask of words ends at the slices, and would reach template without them",
        ),
        (
            "made_in_the_template",
            "the mask of template ends at the merge, and would reach head without it",
        ),
        (
            "out_of_a_wrapper_within",
            "the mask of template ends at the merge, and would reach head without it",
        ),
    ],
)
def test_masks_that_change_predictions(stack: str, name: str, reason: str) -> None:
    """The near miss names the layer that masks, and what would heed the mask."""
    report = unnest.inspect(FOLDER / stack / f"{name}.h5")
    assert (report.verdict, [miss.reason for miss in report.near_misses]) == ("clean", [reason])


def test_a_class_that_may_end_a_mask() -> None:
    """What a custom class does with a mask is in its code; TensorFlow's Keras ends it where the class says nothing."""
    report = unnest.inspect(FOLDER / "tf23" / "of_a_class.h5")
    reason = "the mask of words may end at the slices, and would reach template without them"
    assert (report.verdict, [miss.reason for miss in report.near_misses]) == ("clean", [reason])


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(
    ("name", "reaches_the_loss"),
    [("ended_in_a_model", False), ("handed_on_by_the_merge", False), ("up_to_the_loss", True)],
)
def test_masks_that_change_none(
    stack: str, name: str, reaches_the_loss: bool, tmp_path: Path
) -> None:
    """The template is taken out; a finding says where its mask comes to the loss."""
    result = unnest.fix(FOLDER / stack / f"{name}.h5", tmp_path / "out.h5")
    assert result.verdict == "parallel"
    codes = {finding.code for finding in result.findings}
    assert ("masked-loss" in codes) == reaches_the_loss
