"""Inputs are never replaced, whatever they are called."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from unnest.errors import Refused
from unnest.files.overwrite_checks import IN_THE_WAY, Inputs, check_not_an_input


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Inputs: the file `a.h5`, the SavedModel `models/m`, the checkpoint `ckpt`; and other names of theirs."""
    (tmp_path / "a.h5").write_bytes(b"a")
    (tmp_path / "free.h5").write_bytes(b"free")
    (tmp_path / "models/m/variables").mkdir(parents=True)
    (tmp_path / "models/m/saved_model.pb").write_bytes(b"graph")
    (tmp_path / "models/m/variables/variables.index").write_bytes(b"index")
    (tmp_path / "models/m2").mkdir()
    (tmp_path / "ckpt.index").write_bytes(b"index")
    os.link(tmp_path / "a.h5", tmp_path / "hard.h5")
    os.link(tmp_path / "models/m/saved_model.pb", tmp_path / "hard.pb")
    (tmp_path / "soft.h5").symlink_to(tmp_path / "a.h5")
    (tmp_path / "also").symlink_to(tmp_path / "models")
    shutil.copy(tmp_path / "a.h5", tmp_path / "copy.h5")
    return tmp_path


def inputs(place: Path) -> Inputs:
    return Inputs.of([str(place / name) for name in ("a.h5", "models/m", "ckpt")])


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("a.h5", "a.h5, which is an input, or a link to it"),
        ("./models/../a.h5", "a.h5, which is an input, or a link to it"),
        ("hard.h5", "a.h5, which is an input, or a link to it"),
        ("soft.h5", "a.h5, which is an input, or a link to it"),
        ("models/m", "models/m, which is an input, or a link to it"),
        ("also/m", "models/m, which is an input, or a link to it"),
        ("ckpt.index", "ckpt.index, which is an input, or a link to it"),
        ("models/m/saved_model.pb", "saved_model.pb, which is part of an input, or a link to it"),
        ("hard.pb", "saved_model.pb, which is part of an input, or a link to it"),
        ("models/m/variables/variables.index", "variables.index, which is part of an input"),
        ("models", "which is an input"),
        ("also", "which is an input"),
        (".", "which is an input"),
        ("models/m/out.h5", "lies in"),
        ("models/m/variables/out", "lies in"),
        ("also/m/out.h5", "lies in"),
    ],
)
def test_an_input_is_never_replaced(target: str, why: str, place: Path) -> None:
    with pytest.raises(Refused) as refused:
        check_not_an_input(str(place / target), inputs(place))
    assert refused.value.code == IN_THE_WAY
    assert why in refused.value.message
    assert "it is never replaced" in refused.value.message


@pytest.mark.parametrize(
    "target", ["free.h5", "copy.h5", "new.h5", "models/m2", "models/m.h5", "ckpt", "ckpt2.index"]
)
def test_all_else_may_be(target: str, place: Path) -> None:
    check_not_an_input(str(place / target), inputs(place))
