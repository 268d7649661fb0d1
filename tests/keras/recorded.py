"""Genuine files converted to Keras 3, against the prediction that their own stack recorded beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest


def check_prediction(file: Path, keras: Any, tf: Any, tmp_path: Path) -> unnest.Result:
    """Return the result of `fix --keras 3`, whose output must predict y0... of the `.npz` beside it from x0...."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(file, tmp_path / "out.keras", keras="3")
    assert result.error is None
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(file.with_suffix(".npz")) as io:
        fed = [tf.constant(io[name]) for name in sorted(io.files) if name.startswith("x")]
        made = model(fed if len(fed) > 1 else fed[0])
        ends = made if isinstance(made, list) else [made]
        assert len(ends) == sum(name.startswith("y") for name in io.files)
        for k, end in enumerate(ends):
            np.testing.assert_allclose(end, io[f"y{k}"], atol=2e-5)
    return result


def check_all_converted(file: Path, keras: Any, tf: Any, tmp_path: Path) -> None:
    """Check the same of a file of which no Lambda is kept."""
    result = check_prediction(file, keras, tf, tmp_path)
    assert not any(finding.code == "lambda-kept" for finding in result.findings)
