"""SavedModels of towers that differ in training alone: the Keras layers decide where they show every cut of rows."""

from __future__ import annotations

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "training_only"
ONLY_SERVED = "2 towers are one computation in serving only: their Keras layers differ"


@pytest.mark.parametrize(
    "name", ["tf215-noise", "tf27-noise", "tf27-rates", "tf27-stop_before", "tf27-stop_after"]
)
def test_towers_that_differ_in_training(name: str) -> None:
    """Noise, another rate and `stop_gradient` leave nothing in the serving graph."""
    seen = unnest.inspect(FOLDER / name)
    assert seen.verdict == "clean"
    assert seen.near_misses[0].reason == ONLY_SERVED


@pytest.mark.parametrize("name", ["tf27-same_rates", "tf27-activations"])
def test_wrappers_beside_them(name: str) -> None:
    """One rate in both towers; slices in custom activations, whose code the metadata do not hold."""
    seen = unnest.inspect(FOLDER / name)
    assert (seen.verdict, [w.towers for w in seen.wrappers]) == ("parallel", [2])
