"""Wrappers, and their nearest look-alikes, with a detail that few have: what comes out, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "wrapper_details"


@pytest.mark.parametrize(
    ("case", "confidence"),
    [
        ("k224/ratios.h5", "likely"),
        ("tf23/ratios.h5", "likely"),
        ("py27k224/printed.h5", "proven"),
        ("k224/losses.h5", "proven"),
        ("tf23/penalty.h5", "proven"),
    ],
)
def test_wrappers(case: str, confidence: str) -> None:
    """A list of all ratios beside each index, Python 2's print statement, outputs in another order, a penalty."""
    (wrapper,) = unnest.inspect(FOLDER / case).wrappers
    assert (wrapper.template, wrapper.confidence) == ("template", confidence)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("gradient.h5", "the code of cut_0 does more than cut rows: it uses `custom_gradient`"),
        ("dropout", "dropped stands behind some slices alone, not all"),
        ("noise", "2 towers are one computation in serving only: their Keras layers differ"),
    ],
)
def test_halves_that_train_otherwise(case: str, reason: str) -> None:
    """A gradient of its own, a Dropout, or noise in one half: nothing of it is in a SavedModel's serving graph."""
    report = unnest.inspect(FOLDER / "tf23" / case)
    assert report.verdict == "clean"
    assert reason in [miss.reason for miss in report.near_misses]


def _training(path: Path) -> dict[str, Any]:
    with h5py.File(path) as file:
        settings: dict[str, Any] = json.loads(file.attrs["training_config"])
    return settings


@pytest.mark.parametrize("stack", ["k224", "tf23"])
@pytest.mark.parametrize("case", ["losses", "penalty"])
def test_training_goes_on_as_the_base_would(stack: str, case: str, tmp_path: Path) -> None:
    """Losses and their weights go to the outputs that they had; the penalty's finding is TensorFlow's alone."""
    result = unnest.fix(FOLDER / stack / f"{case}.h5", tmp_path / "out.h5")
    assert _training(tmp_path / "out.h5") == _training(FOLDER / stack / f"{case}-base.h5")
    codes = {finding.code for finding in result.findings}
    assert ("penalty-of-towers" in codes) == (stack == "tf23" and case == "penalty")


def test_an_interpolation_that_is_not_stored(tmp_path: Path) -> None:
    """It was bilinear; the stack itself loads it as nearest."""
    result = unnest.fix(FOLDER / "tfk113" / "upsampled.h5", tmp_path / "out.keras", keras="3")
    assert "assumed-interpolation" in {finding.code for finding in result.findings}
