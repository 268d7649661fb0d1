"""The state of an optimizer of keras.optimizers.legacy, which Keras 2.15 stores in an `.h5` and not in a `.keras`."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "legacy_optimizer"


@pytest.mark.parametrize(
    ("name", "codes", "count"),
    [
        ("tf215-adam.h5", [], 10),
        ("tf215-adam.keras", ["state-not-stored"], 0),
        ("tf215-adam_of_today.keras", [], 10),
    ],
)
def test_what_of_the_state_is_carried(
    name: str, codes: list[str], count: int, tmp_path: Path
) -> None:
    """Two numbers of the optimizer's own, and two slots for each of four weights."""
    result = unnest.fix(FOLDER / name, tmp_path / "today.keras", keras="3")
    assert (result.action, [f.code for f in result.findings]) == ("converted", codes)
    with (
        zipfile.ZipFile(tmp_path / "today.keras") as file,
        h5py.File(BytesIO(file.read("model.weights.h5"))) as weights,
    ):
        assert len(weights.get("optimizer/vars", ())) == count


@pytest.mark.parametrize(
    ("name", "codes"),
    [("tf215-adam.keras", ["state-not-stored"]), ("tf215-adam_of_today.keras", [])],
)
def test_who_goes_on_with_an_h5_is_told(name: str, codes: list[str], tmp_path: Path) -> None:
    """That the training starts anew: an `.h5` by Keras itself would have the state."""
    result = unnest.fix(FOLDER / name, tmp_path / "on.h5")
    assert (result.action, [f.code for f in result.findings]) == ("converted", codes)


def test_state_of_weights_alone_is_named(tmp_path: Path) -> None:
    """Saved with its optimizer's variables, and with no word of which optimizer that is."""
    unnest.fix(FOLDER / "tf215-adam_of_today.keras", tmp_path / "w.weights.h5", to="weights")
    with zipfile.ZipFile(FOLDER / "tf215-adam_of_today.keras") as file:
        config = json.loads(file.read("config.json"))
    as_json = {k: v for k, v in config.items() if k != "compile_config"} | {
        "keras_version": "2.15.0"
    }
    (tmp_path / "m.json").write_text(json.dumps(as_json))
    result = unnest.fix(
        tmp_path / "w.weights.h5", tmp_path / "k.keras", architecture=tmp_path / "m.json", keras="3"
    )
    assert (result.action, [f.code for f in result.findings]) == (
        "converted",
        ["optimizer-dropped"],
    )
