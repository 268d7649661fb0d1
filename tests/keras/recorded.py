"""Genuine files converted to Keras 3, against the prediction that their own stack recorded beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest


def check_prediction(file: Path, keras: Any, tf: Any, tmp_path: Path) -> unnest.Result:
    """Return the result of `fix --keras 3`, whose output must predict y0 of the `.npz` beside the file from its x0."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(file, tmp_path / "out.keras", keras="3")
    assert result.error is None
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(file.with_suffix(".npz")) as io:
        np.testing.assert_allclose(model(tf.constant(io["x0"])), io["y0"], atol=2e-5)
    return result
