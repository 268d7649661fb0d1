"""Conditions on a model for another container."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import unnest
from tests.unit.core.build import tensors
from unnest.core.model import Group, Stored
from unnest.formats.change_container.container_conversions import CONVERSION_ROWS, in_hdf5
from unnest.formats.container_interface import Target
from unnest.options import Dialect


def test_weights_of_one_name_are_numbered_within_their_group() -> None:
    """A nested model has layers that are called as those of another; so have their slots."""
    twice = tensors("dense/kernel:0", "dense/bias:0", "dense/kernel:0", "dense/kernel:0")
    model = Stored("model", groups=(Group("a", twice), Group("b", twice[:2])), optimizer=twice[::2])
    held = in_hdf5(model).model
    names = ["dense/kernel:0", "dense/bias:0", "dense/kernel:0_2", "dense/kernel:0_3"]
    assert [[t.name for t in group.tensors] for group in held.groups] == [names, names[:2]]
    assert [t.name for t in held.optimizer or ()] == ["dense/kernel:0", "dense/kernel:0_2"]
    assert [t.ref for t in held.groups[0].tensors] == [t.ref for t in twice]


def test_without_an_optimizer_there_is_none() -> None:
    assert in_hdf5(Stored("weights")).model.optimizer is None


def test_a_pair_of_containers_has_one_row() -> None:
    """Anything but a checkpoint goes to JSON; nothing becomes a SavedModel, or what it is."""
    pairs = [(row.source, row.target) for row in CONVERSION_ROWS]
    assert len(pairs) == len(set(pairs))
    assert {source for source, target in pairs if target == "json"} == {
        "h5",
        "keras",
        "weights_h5",
        "saved_model",
        "tfjs",
    }
    assert {target for _, target in pairs} == {"h5", "keras", "weights", "json"}
    assert not [pair for pair in pairs if pair[0] == pair[1]]


@pytest.mark.parametrize("keras", ["original", "3"])
@pytest.mark.parametrize("to", ["keras", "weights"])
@pytest.mark.parametrize("asked", [True, False])
def test_an_architecture_alone_stays_json(
    keras: Dialect, to: Target, tmp_path: Path, *, asked: bool
) -> None:
    """A `.keras` without weights would be written as asked, and load nowhere."""
    model = tmp_path / "model.json"
    dense = {
        "class_name": "Dense",
        "config": {"name": "d", "output_dim": 2, "batch_input_shape": [None, 3]},
    }
    model.write_text(
        json.dumps({"class_name": "Sequential", "config": [dense], "keras_version": "1.2.2"})
    )
    output = tmp_path / {"keras": "out.keras", "weights": "out.weights.h5"}[to]
    result = unnest.fix(model, output, to=to if asked else None, keras=keras)
    assert result.error is not None
    assert result.error.code == "no-weights"
    assert f"unnest fix WEIGHTS.h5 --architecture {model}" in result.error.message
    assert not output.exists()
