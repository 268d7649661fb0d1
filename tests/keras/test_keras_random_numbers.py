"""Operations that draw random numbers, in Keras 3 with a function that is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "random_numbers"


@pytest.mark.parametrize("name", ["tf23-latent", "tf23-noise", "tf215-latent", "tf215-noise"])
def test_the_given_function_draws(name: str, keras: Any, tmp_path: Path) -> None:
    """One that gives 0 gives the model without noise; the one that the finding asks for another result a call."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{name}.h5", tmp_path / "out.keras", keras="3")
    assert result.needs is not None
    (function,) = result.needs.functions

    def zeros(x: Any, shape: Any, **_: Any) -> Any:
        return keras.ops.zeros((keras.ops.shape(x)[0], *shape))

    def draw(x: Any, shape: Any, **settings: Any) -> Any:
        drawn = keras.random.normal if "stddev" in settings else keras.random.uniform
        return drawn((keras.ops.shape(x)[0], *shape), **settings)

    with np.load(FOLDER / f"{name}.npz") as io:
        x, y = io["x0"], io["y0"]
    still = keras.models.load_model(tmp_path / "out.keras", custom_objects={function: zeros})
    np.testing.assert_allclose(still.predict(x, verbose=0), y, atol=1e-5)
    drawn = keras.models.load_model(tmp_path / "out.keras", custom_objects={function: draw})
    first, second = (drawn.predict(x, verbose=0) for _ in range(2))
    assert first.shape == y.shape
    assert not np.allclose(first, second)
