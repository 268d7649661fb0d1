"""SavedModel folders: other models in them, checksums, optimizer slots in an unknown order."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.formats.tensorflow import (
    object_optimizers,
    saved_model_writer,
)
from unnest.formats.tensorflow.saved_model_reader import SavedModelSource

PARALLEL = FIXTURES / "saved_model/tf215/saved_model-opsplit-custom/parallel"
TRAINED = FIXTURES / "saved_model/tf27/saved_model-carried-named-adam/parallel"


def test_other_models_in_its_folder_are_named(tmp_path: Path) -> None:
    """A walk stops at a SavedModel: what lies in it would never be looked at, nor be missed."""
    whole = tmp_path / "whole"
    shutil.copytree(PARALLEL, whole)
    for name in (
        "Best.HDF5",
        "logs/epoch.keras",
        "older/saved_model.pb",
        "older/m.h5",
        "older/inner/saved_model.pb",
        "notes.txt",
    ):
        path = whole / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"whatever")
    with SavedModelSource(str(PARALLEL)) as alone, SavedModelSource(str(whole)) as source:
        assert "other-models" not in [finding.code for finding in alone.findings]
        [finding] = set(source.findings) - set(alone.findings)
        assert finding.code == "other-models"
        assert finding.message.endswith("looked at: Best.HDF5, logs/epoch.keras, older")
        assert source.stored == alone.stored


@pytest.mark.parametrize("are_cloned", [True, False])
def test_checksums_are_held_of_clones_too(
    are_cloned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bit that is another one in the source is met, whichever of the two is read."""
    source = tmp_path / "m"
    shutil.copytree(TRAINED, source)
    monkeypatch.setattr(saved_model_writer, "are_clones", lambda *_: are_cloned)
    assert unnest.fix(source, tmp_path / "sound").action == "fixed"
    shard = source / "variables/variables.data-00000-of-00001"
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    shard.write_bytes(content)
    result = unnest.fix(source, tmp_path / "out")
    assert result.error is not None
    assert (result.action, result.error.code) == ("failed", "checksum")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [{}, {"to": "h5"}, {"to": "keras"}], ids=str)
@pytest.mark.parametrize("is_known", [True, False], ids=["adam", "a custom optimizer"])
def test_slots_whose_order_nobody_knows(
    is_known: bool, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training would begin anew from compile settings that look whole."""
    if not is_known:
        monkeypatch.setattr(object_optimizers, "slot_order", lambda _: None)
    result = unnest.fix(TRAINED, tmp_path / f"out.{options.get('to', 'folder')}", **options)
    assert (result.action, result.error) == ("fixed", None)
    assert ("optimizer-dropped" in [f.code for f in result.findings]) is not is_known
