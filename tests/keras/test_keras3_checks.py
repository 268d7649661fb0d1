"""Converted files load in Keras 3, by the line in the report, and predict what their own stack did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "keras3_checks"
#: Models that only predict the same by chance, or that need the code of a custom layer.
LEFT = ("random_normal", "clip_alone", "clip_in_custom", "inner_weights", "other_state")


def cases() -> list[str]:
    """Those with predictions that need no code."""
    return [p.stem for p in sorted(FOLDER.glob("*.npz")) if p.stem.partition("-")[2] not in LEFT]


def test_there_are_cases() -> None:
    assert len(cases()) > 25


@pytest.mark.parametrize("name", cases())
def test_predicts_as_its_own_stack_did(name: str, keras: Any, tf: Any, tmp_path: Path) -> None:
    """Or is refused."""
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    source = next(p for p in (FOLDER / f"{name}.h5", FOLDER / name) if p.exists())
    result = unnest.fix(source, tmp_path / "out.keras", keras="3")
    if result.action == "refused":
        assert name in REFUSED
        return
    assert name not in REFUSED
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(FOLDER / f"{name}.npz") as io:
        x, y = ([io[key] for key in sorted(io.files) if key[0] == which] for which in "xy")
    x = [tf.constant(array.tolist() if array.dtype.kind == "U" else array) for array in x]
    made = model(x if len(x) > 1 else x[0], training=False)
    for found, wanted in zip(made if isinstance(made, list) else [made], y, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("path", sorted((FIXTURES / "other_shapes").glob("*-own.json")), ids=str)
def test_weights_alone_predict_with_their_own_json(path: Path, keras: Any, tmp_path: Path) -> None:
    """In Keras 3 and, as an `.h5` of their own dialect, in tf_keras."""
    stem = path.name.removesuffix("-own.json")
    asked: dict[str, Any] = {"keras": "3"} if keras.__name__ == "keras" else {"to": "h5"}
    output = tmp_path / ("out.keras" if keras.__name__ == "keras" else "out.h5")
    done = unnest.fix(path.with_name(f"{stem}.weights.h5"), output, architecture=path, **asked)
    assert done.error is None
    with np.load(path.with_name(f"{stem}.npz")) as io:
        found = keras.models.load_model(output).predict(io["x0"], verbose=0)
        np.testing.assert_allclose(found, io["y0"], atol=1e-5)


#: What is refused by name.
REFUSED = {
    *(f"{stack}-shapeless_{kind}" for stack in ("k224", "k231") for kind in (
        "steps", "pixels")),
}  # fmt: skip
