"""A custom cell in a stack of cells keeps its weights in Keras 3, which predicts what its own stack did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "custom_cells"
STACKS = ("k224", "tf23", "tf215")


def custom_cell(keras: Any) -> Any:
    """Return the class of the fixtures, as one writes it for Keras 3."""

    class MinimalRNNCell(keras.layers.Layer):
        def __init__(self, units: int, **kwargs: Any) -> None:
            kwargs.pop("counts", None)
            super().__init__(**kwargs)
            self.units = self.state_size = self.output_size = units

        def build(self, shape: Any) -> None:
            self.kernel = self.add_weight(shape=(shape[-1], self.units))
            self.recurrent_kernel = self.add_weight(shape=(self.units, self.units))
            self.built = True

        def call(self, x: Any, states: Any) -> Any:
            made = keras.ops.matmul(x, self.kernel) + keras.ops.matmul(
                states[0], self.recurrent_kernel
            )
            return made, [made]

        def get_config(self) -> Any:
            return {**super().get_config(), "units": self.units}

    return MinimalRNNCell


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", ["first", "between", "alone"])
def test_predicts_as_its_own_stack_did(case: str, stack: str, keras: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is None
    own = {"MinimalRNNCell": custom_cell(keras)}
    model = keras.models.load_model(tmp_path / "out.keras", custom_objects=own)
    with np.load(FOLDER / f"{stack}-{case}.npz") as io:
        np.testing.assert_allclose(model.predict(io["x0"], verbose=0), io["y0"], atol=2e-6)


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize("case", ["counted_first", "two_custom"])
def test_weights_whose_cell_does_not_follow(case: str, stack: str, tmp_path: Path) -> None:
    """What is not trained stands behind all that is; two custom cells may each have any number."""
    result = unnest.fix(FOLDER / f"{stack}-{case}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is not None
    assert result.error.message.endswith(
        "which of its weights each cell has does not follow from their configs"
    )
