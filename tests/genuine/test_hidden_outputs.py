"""SavedModels of templates that give out a hidden layer and an input too, or work along the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "hidden_outputs"


@pytest.mark.parametrize("to", ["h5", "saved_model"])
def test_a_hidden_layer_that_is_an_output_too(
    to: Literal["h5", "saved_model"], tmp_path: Path
) -> None:
    """One output reads parts of two inputs, the others of one each: they are outputs of the same towers."""
    seen = unnest.inspect(FOLDER / "hidden")
    [wrapper] = seen.wrappers
    assert (wrapper.towers, wrapper.scope, wrapper.confidence) == (2, "whole", "proven")
    assert wrapper.merge == ("joined_0", "joined_1", "joined_2")
    result = unnest.fix(FOLDER / "hidden", tmp_path / f"out.{to}", to=to)
    assert (result.action, result.error) == ("fixed", None)


def test_a_hidden_layer_of_one_tower_is_given_out() -> None:
    """Without the wrapper its rows would be another number than they were."""
    seen = unnest.inspect(FOLDER / "lookalike-hidden")
    assert (seen.verdict, seen.near_misses[0].reason) == (
        "clean",
        "the outputs of template are read by other layers than joined_0 too",
    )


def test_a_template_that_works_along_the_batch(tmp_path: Path) -> None:
    """Keras's layers show that it is the template's own business: as in the .h5 of this model."""
    seen = unnest.inspect(FOLDER / "mean")
    assert [wrapper.confidence for wrapper in seen.wrappers] == ["likely"]
    assert "rows-mixed" in [finding.code for finding in seen.findings]
    assert unnest.fix(FOLDER / "mean", tmp_path / "out.h5", to="h5").action == "fixed"
    cut = unnest.fix(FOLDER / "mean", tmp_path / "out")
    assert cut.error is not None
    assert (cut.action, cut.error.code) == ("refused", "cannot-cut")
