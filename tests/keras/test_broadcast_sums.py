"""Sums of different shapes are in Keras 3 what they were, for a batch of one row and one as long as an axis, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "broadcast_sums"
REFUSED = {
    "k224-three": "'add_3' (Add): Keras 3 may add these along another axis",
    "tf215-three": "'add_2' (Add): Keras 3 may add these along another axis",
    "tf215-einsum_bias": "'einsum_dense' (EinsumDense): Keras 3 may add its bias along another axis",
    "tf215-heads_of_one": (
        "'multi_head_attention_1' (MultiHeadAttention): Keras 3 may add its bias along another axis"
    ),
}
CASES = sorted(path.stem for path in FOLDER.glob("*.h5"))


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
@pytest.mark.parametrize("rows", [1, 4])
def test_predicts_as_its_own_stack_did(name: str, rows: int, keras: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    result = unnest.fix(FOLDER / f"{name}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is None
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(FOLDER / f"{name}.npz") as io:
        inputs = [io[key][:rows] for key in sorted(io.files) if key[0] == "x"]
        made = model(inputs if len(inputs) > 1 else inputs[0], training=False)
        np.testing.assert_allclose(made, io["y0"][:rows], atol=2e-5)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_keras_3_cannot_be_made_to_add(name: str, tmp_path: Path) -> None:
    result = unnest.fix(FOLDER / f"{name}.h5", tmp_path / "out.keras", keras="3")
    assert result.error is not None
    assert result.error.message.endswith(REFUSED[name])


def test_there_are_files() -> None:
    assert len(CASES) == 21
