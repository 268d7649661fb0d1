"""Operations in forms that few models use compute in Keras 3 what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "operation_forms"
STACKS = ("tf23", "tf215")
CONVERTED = (
    "shifted_windows",
    "like_ids",
    "fields_of_the_best",
    "last_relevant",
    "known_numbers",
    "matrix_before",
)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", CONVERTED)
def test_predicts_as_its_own_stack_did(
    case: str, stack: str, keras: Any, tf: Any, tmp_path: Path
) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is None
    assert not any(finding.code == "lambda-kept" for finding in result.findings)
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(FOLDER / f"{stack}-{case}.npz") as io:
        np.testing.assert_allclose(model(tf.constant(io["x0"])), io["y0"], atol=2e-5)
