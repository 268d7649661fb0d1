"""Models with a detail that few have predict in Keras 3 what they did in their own stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "wrapper_details"
CASES = (
    "k224/numbers", "tf23/numbers", "tfk113/upsampled", "k224/ratios", "tf23/ratios", "py27k224/printed", "k224/losses",
    "tf23/losses", "k224/penalty", "tf23/penalty",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_predicts_as_its_own_stack_did(case: str, keras: Any, tmp_path: Path) -> None:
    """Whole numbers beyond 2**24 too; of outputs in another order each by its name."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is None
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(FOLDER / f"{case}.npz") as io:
        predicted = model(io["x0"])
        for number in range(len(io.files) - 1):
            expected = io[f"y{number}"]
            of_its_shape = [
                each
                for each in (predicted if isinstance(predicted, (list, tuple)) else [predicted])
                if each.shape == expected.shape
            ]
            np.testing.assert_allclose(of_its_shape[0], expected, atol=2e-5, rtol=0)
