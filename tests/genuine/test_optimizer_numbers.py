"""Path-keyed optimizer variables: Keras finds them by number, so variables under other names are not state."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

WEIGHTS = FIXTURES / "weights_h5/keras3/weights_h5-carried-named-adam"
ARCHIVE = FIXTURES / "keras_zip/keras3/keras_zip-carried-named-adam/parallel.keras"
MEMBER = "model.weights.h5"


def gap(state: h5py.Group) -> None:
    """One is missing: the others must not move up."""
    del state["2"]


def group(state: h5py.Group) -> None:
    """Something else has the place of one."""
    del state["3"]
    state.create_group("3")


def word(state: h5py.Group) -> None:
    """One has a name: as many as there should be, and all places after it are another's."""
    state.move("2", "x")


def leading_zero(state: h5py.Group) -> None:
    """The number is right, its spelling is not the one that Keras looks for."""
    state.move("2", "02")


DAMAGES = [gap, group, word, leading_zero]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("architecture", [None, WEIGHTS / "model.json"])
def test_weights_alone(
    damage: Callable[[h5py.Group], None], architecture: Path | None, tmp_path: Path
) -> None:
    """The model comes without a state, and the report says so."""
    path = Path(shutil.copy(WEIGHTS / "parallel.weights.h5", tmp_path / "m.weights.h5"))
    with h5py.File(path, "r+") as file:
        damage(file["optimizer/vars"])
    output = tmp_path / "out.weights.h5"
    done = unnest.fix(path, output, architecture=architecture)
    assert done.action == "fixed", done.error
    assert "optimizer-dropped" in [f.code for f in done.findings]
    assert any(name.startswith("optimizer/vars/") for name in done.dropped)
    with h5py.File(output) as file:
        assert "optimizer" not in file


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("to", [None, "h5"])
def test_keras(
    damage: Callable[[h5py.Group], None], to: Literal["h5"] | None, tmp_path: Path
) -> None:
    """The same inside a .keras, for every container that it goes to."""
    with zipfile.ZipFile(ARCHIVE) as old:
        content = {name: old.read(name) for name in old.namelist()}
    weights = io.BytesIO(content[MEMBER])
    with h5py.File(weights, "r+") as file:
        damage(file["optimizer/vars"])
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as new:
        for name, data in (content | {MEMBER: weights.getvalue()}).items():
            new.writestr(name, data)
    output = tmp_path / ("out.h5" if to else "out.keras")
    done = unnest.fix(path, output, to=to)
    assert done.action == "fixed", done.error
    assert [f.code for f in done.findings].count("optimizer-dropped") == 1
    if to:
        with h5py.File(output) as file:
            assert "optimizer_weights" not in file
    else:
        with (
            zipfile.ZipFile(output) as archive,
            h5py.File(io.BytesIO(archive.read(MEMBER))) as file,
        ):
            assert "optimizer" not in file
