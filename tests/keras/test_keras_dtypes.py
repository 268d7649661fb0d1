"""Operations on whole numbers, or on what only code tells the dtype of, compute in Keras 3 what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "dtypes"
CONVERTED = ("lookup", "shifted", "bins", "residual", "scaled", "present", "lengths")
REFUSED = {
    "halved": "arithmetic on an unknown dtype (of the output of custom code)",
    "halved_ids": "arithmetic on int32",
    "mean_of_ids": "a reduction of int32",
}


@pytest.mark.parametrize("case", CONVERTED)
def test_predicts_as_its_own_stack_did(case: str, keras: Any, tf: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"tf215-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is None

    def spectrum(x: Any) -> Any:
        return tf.math.real(tf.signal.fft2d(tf.cast(x, tf.complex64)))

    model = keras.models.load_model(
        tmp_path / "out.keras", custom_objects={"lambda_function": spectrum}
    )
    with np.load(FOLDER / f"tf215-{case}.npz") as io:
        x = tf.constant(io["x0"].tolist() if io["x0"].dtype.kind == "U" else io["x0"])
        np.testing.assert_allclose(model(x), io["y0"], atol=2e-5)


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_depends_on_the_dtype(case: str, tmp_path: Path) -> None:
    """A quotient of whole numbers is another type of float in Keras 3."""
    result = unnest.fix(FOLDER / f"tf215-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is not None
    assert result.error.message.endswith(REFUSED[case])
