"""Weights whose shapes fit a layer's config, and not its input: with the JSON of such a model they are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "other_shapes"
#: Name -> whether TensorFlow 2.15 loads the weights into their own model, and into the other one.
LOADED: dict[str, list[bool]] = json.loads((FOLDER / "tf215.json").read_text())


@pytest.mark.parametrize("form", ["--to h5", "--keras 3"])
@pytest.mark.parametrize("which", ["own", "other"])
@pytest.mark.parametrize("name", LOADED)
def test_they_are_taken_if_their_own_keras_takes_them(
    name: str, which: str, form: str, tmp_path: Path
) -> None:
    """`tests/keras/test_keras3_checks.py` holds what their own model predicts against the output."""
    done = unnest.fix(
        FOLDER / f"tf215-{name}.weights.h5",
        tmp_path / ("out.h5" if form == "--to h5" else "out.keras"),
        architecture=FOLDER / f"tf215-{name}-{which}.json",
        to="h5" if form == "--to h5" else None,
        keras=None if form == "--to h5" else "3",
    )
    assert (done.error is None) is LOADED[name][which == "other"]
    if done.error is not None:
        assert done.error.code == "architecture-mismatch"
        assert done.error.message.endswith("; pass the JSON of the model that was saved")
