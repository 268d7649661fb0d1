"""Path-keyed weights whose architecture was kept apart."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

WEIGHTS = FIXTURES / "weights_h5"


@pytest.mark.parametrize(
    "case", ["tfkeras/weights_h5-carried-named-adam", "keras3/weights_h5-opsplit-named"]
)
def test_the_same_line_once_more_changes_nothing(case: str, tmp_path: Path) -> None:
    """The parallel model's JSON shows the weights of the template in it, too."""
    path = shutil.copy(WEIGHTS / case / "parallel.weights.h5", tmp_path / "m.weights.h5")
    actions = [
        unnest.fix(path, in_place=True, architecture=WEIGHTS / case / "model.json").action
        for _ in range(2)
    ]
    assert actions == ["fixed", "unchanged"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.weights.h5", "m.weights.h5.bak"]


@pytest.mark.parametrize(
    ("groups", "code"),
    [(["layers/flatten/vars", "vars"], "no-weights"), (["layers/flatten"], "not-keras")],
)
def test_a_model_without_weights_is_told_from_other_files(
    groups: list[str], code: str, tmp_path: Path
) -> None:
    """Keras makes a group for the variables of every layer, as of a Flatten alone (Keras 2.15)."""
    path = tmp_path / "m.weights.h5"
    with h5py.File(path, "w") as file:
        for group in groups:
            file.create_group(group)
    error = unnest.inspect(path).error
    assert error is not None
    assert error.code == code
