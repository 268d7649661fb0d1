"""What is made of files from Windows loads in Keras 3 on this system, and predicts what their own stack did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "windows_paths"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.npz")))
@pytest.mark.parametrize("suffix", [".keras", ".weights.h5"])
def test_predicts_as_its_own_stack_did(name: str, suffix: str, keras: Any, tmp_path: Path) -> None:
    if keras.__name__ != "keras":
        pytest.skip("for Keras 3")
    json = FOLDER / f"{name}.json" if suffix == ".weights.h5" else None
    result = unnest.fix(
        FOLDER / f"{name}{suffix}", tmp_path / "out.keras", keras="3", architecture=json
    )
    assert result.error is None
    model = keras.models.load_model(tmp_path / "out.keras")
    with np.load(FOLDER / f"{name}.npz") as stored:
        made = model(stored["x0"], training=False)
        for number, found in enumerate(made if isinstance(made, list) else [made]):
            np.testing.assert_allclose(found, stored[f"y{number}"], atol=1e-5)


def test_there_are_files() -> None:
    assert len([*FOLDER.glob("*.npz")]) == 4
