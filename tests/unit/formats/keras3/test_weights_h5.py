"""Path-keyed weights whose architecture was kept apart."""

from __future__ import annotations

import shutil
from pathlib import Path

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
