"""The state of an optimizer of keras.optimizers.legacy, which Keras 2.15 stores in an `.h5` and not in a `.keras`."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import h5py
import pytest

import unnest

FOLDER = Path(__file__).parents[2] / "fixtures" / "legacy_optimizer"


@pytest.mark.parametrize(
    ("name", "codes", "count"),
    [("tf215-adam.h5", [], 10), ("tf215-adam.keras", ["state-not-stored"], 0), ("tf215-adam_of_today.keras", [], 10)],
)
def test_what_of_the_state_is_carried(name: str, codes: list[str], count: int, tmp_path: Path) -> None:
    """Two numbers of the optimizer's own, and two slots for each of four weights."""
    result = unnest.fix(FOLDER / name, tmp_path / "today.keras", keras="3")
    assert (result.action, [f.code for f in result.findings]) == ("converted", codes)
    with (
        zipfile.ZipFile(tmp_path / "today.keras") as file,
        h5py.File(BytesIO(file.read("model.weights.h5"))) as weights,
    ):
        assert len(weights.get("optimizer/vars", ())) == count
