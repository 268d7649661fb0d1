"""Layers that are called with training=False: tf.keras heeds it in training, Keras 3's fit does not."""

from __future__ import annotations

from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "called_at_inference"


@pytest.mark.parametrize(
    ("case", "layer"),
    [
        ("norm", "batch_normalization"),
        ("zero", "batch_normalization"),
        ("drop", "dropout"),
        ("noise", "gaussian_noise"),
        ("model", "within"),
    ],
)
def test_what_trains_otherwise_is_named(case: str, layer: str, tmp_path: Path) -> None:
    """By a finding, as the model is compiled."""
    done = unnest.fix(FOLDER / f"tf23-{case}.h5", tmp_path / "o.keras", keras="3")
    (finding,) = (f for f in done.findings if f.code == "training-overridden")
    assert finding.message.endswith(f": {layer}")


@pytest.mark.parametrize("case", ["frozen", "unsaid", "idle"])
def test_what_trains_alike_is_not(case: str, tmp_path: Path) -> None:
    """Frozen; called with None; dropping nothing."""
    done = unnest.fix(FOLDER / f"tf23-{case}.h5", tmp_path / "o.keras", keras="3")
    assert done.error is None
    assert "training-overridden" not in {finding.code for finding in done.findings}
