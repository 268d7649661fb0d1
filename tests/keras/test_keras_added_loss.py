"""Losses and metrics that were added to a model: they are there when the output is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "added_loss"


@pytest.mark.parametrize("stack", ["tf22", "tf27"])
@pytest.mark.parametrize("name", ["loss_around", "metric_inside"])
def test_evaluates_as_before(name: str, stack: str, keras: Any, tmp_path: Path) -> None:
    """A loss inside the template is left out here: every tower added its own, and the template has one."""
    if keras.__name__ == "keras":
        pytest.skip("Keras 3 reads no AddLoss")
    source = FOLDER / f"{stack}-{name}.h5"
    assert unnest.fix(source, tmp_path / "out.h5").action == "fixed"
    model = keras.models.load_model(tmp_path / "out.h5")
    with np.load(source.with_suffix(".npz")) as io:
        x, y, evaluated = io["x"], io["y"], io["evaluated"]
    np.testing.assert_allclose(model.predict(x, verbose=0), y, atol=1e-5)
    found = model.evaluate(x, y + 1, batch_size=len(x), verbose=0)
    np.testing.assert_allclose(np.ravel(found), np.ravel(evaluated), rtol=1e-5)
