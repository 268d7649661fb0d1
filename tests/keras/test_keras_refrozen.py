"""Weights with JSON in which other layers are frozen predict what their own stack predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "refrozen"
CASES = [
    (f"{stack}-refrozen", weights, f"{frozen}{beside}.json")
    for stack in ("k224", "tf23")
    for frozen in ("first", "norm", "score", "within", "scale", "encoder")
    for weights, beside in (("weights.h5", ""), ("parallel.h5", ""), ("parallel.h5", "-parallel"))
]
RENAMED = [
    (f"{stack}-renamed", weights, f"{state}{beside}.json")
    for stack in ("k224", "tf23")
    for state in ("one", "all", "no_weights")
    for weights, beside in (("weights.h5", ""), ("parallel.h5", ""), ("parallel.h5", "-parallel"))
]
CUDNN = [
    (f"{stack}-classes", f"{weights}{of_parallel}.h5", f"{architecture}{beside}.json")
    for stack in ("k224", "tf23")
    for weights, of_parallel in (("weights", ""), ("cudnn", ""), ("cudnn", "-parallel"))
    for architecture in ("plain", "cudnn")
    for beside in ("", "-parallel")
]


@pytest.mark.parametrize(
    ("case", "weights", "architecture"),
    [*CASES, *RENAMED, *CUDNN, ("k122-merge", "weights.h5", "model.json")],
)
def test_predicts_the_same(
    case: str, weights: str, architecture: str, keras: Any, tmp_path: Path
) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    folder = FOLDER / case
    unnest.fix(
        folder / weights, tmp_path / "out.keras", architecture=folder / architecture, keras="3"
    )
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(folder / "io.npz") as io:
        x = [io[name] for name in sorted(io.files) if name[0] == "x"]
        np.testing.assert_allclose(
            model.predict(x if len(x) > 1 else x[0], verbose=0), io["y0"], atol=1e-5
        )


def test_a_merge_by_a_function_predicts_the_same(keras: Any, tmp_path: Path) -> None:
    """Keras 1's Sequential that begins with a Merge of two models, whose mode is a lambda; saved whole."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    folder = FOLDER / "k122-merge"
    unnest.fix(folder / "whole.h5", tmp_path / "out.keras", keras="3")
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(folder / "whole.npz") as io:
        predicted = model.predict([io["x0"], io["x1"]], verbose=0)
        np.testing.assert_allclose(predicted, io["y0"], atol=1e-5)
