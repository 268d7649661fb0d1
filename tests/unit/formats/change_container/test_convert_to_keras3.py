"""Models that `--keras 3` does not write, and the messages."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.model import JsonObject, Stored
from unnest.core.plan import Plan, Refusal, Rewritten
from unnest.errors import Refused
from unnest.formats.change_container.convert_to_keras3 import keras_3_target_format
from unnest.formats.container_interface import Source, Target


def in_code(path: Path) -> Path:
    """A `.keras` of Keras 2.15 with a custom model class, and its weights."""
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        file["layers/dense/vars/0"] = [[1.0]]
    model: JsonObject = {
        "module": None,
        "class_name": "Mine",
        "config": {},
        "registered_name": "Mine",
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "2.15.0"}))
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", weights.getvalue())
    return path


@pytest.mark.parametrize("to", [None, "keras", "weights", "json"])
def test_a_model_that_keeps_its_layers_in_code_is_refused(
    to: Target | None, tmp_path: Path
) -> None:
    done = unnest.fix(in_code(tmp_path / "m.keras"), keras="3", to=to)
    assert (done.action, done.error and done.error.code) == ("refused", "no-architecture")
    assert done.error is not None
    assert done.error.message.endswith(
        "--keras 3 needs the graph of layers: its layers are kept in code"
    )


def test_in_place_keeps_the_container(tmp_path: Path) -> None:
    """Without --to."""
    path = tmp_path / "m.h5"
    path.write_bytes((FIXTURES / "tf210/kuza-named-x2-sgd-head/parallel.h5").read_bytes())
    done = unnest.fix(path, in_place=True, keras="3")
    assert done.error is not None
    assert done.error.code == "cannot-convert"
    assert "--in-place keeps the container" in done.error.message
    assert "--to" not in done.error.message
    assert [p.name for p in tmp_path.iterdir()] == ["m.h5"]


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (Refusal("weights-ambiguous", "c: their order is open"), "their order is open"),
        (None, "pass --architecture MODEL.json"),
    ],
)
def test_weights_whose_owners_are_in_doubt_ask_for_no_other_architecture(
    refusal: Refusal | None, why: str
) -> None:
    """A checkpoint whose custom layer does not show which of its weights are trained."""
    source = cast("Source", SimpleNamespace(path="c", container="checkpoint"))
    weights = Stored("weights")
    plan = Plan("clean", weights, Rewritten(weights), conversion_refusal=refusal)
    with pytest.raises(Refused, match=why):
        keras_3_target_format(source, plan, None)
