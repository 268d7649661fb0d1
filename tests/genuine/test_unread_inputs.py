"""Templates with an input that no layer reads: Keras 2.0 to 2.3 call them with a tensor more than they store inputs."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import text, weights_by_layer
from tests.judged import check_verdict

FOLDER = FIXTURES / "unread_inputs"
PARALLEL = sorted(FOLDER.glob("*-parallel.h5"))


def config(path: Path) -> dict[str, Any]:
    """The architecture in an .h5."""
    with h5py.File(path) as file:
        model: dict[str, Any] = json.loads(text(file.attrs["model_config"]))
    return model


@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: str(path.stem))
def test_as_the_template_was_saved(path: Path, tmp_path: Path) -> None:
    """A finding says that the order of inputs differs: the template has one less."""
    report = unnest.inspect(path)
    assert (report.verdict, report.wrappers[0].scope, report.wrappers[0].confidence) == (
        "parallel",
        "whole",
        "proven",
    )
    assert "other-ends" in {finding.code for finding in report.findings}
    assert unnest.fix(path, tmp_path / "out.h5").action == "fixed"
    base = path.with_name(path.name.replace("parallel", "base"))
    assert config(tmp_path / "out.h5") == config(base)
    assert weights_by_layer(tmp_path / "out.h5") == weights_by_layer(base)


def _layer(model: dict[str, Any], name: str) -> dict[str, Any]:
    layer: dict[str, Any] = next(
        layer for layer in model["config"]["layers"] if layer["name"] == name
    )
    return layer


def _with_a_head(model: dict[str, Any]) -> None:
    """Add a head, which would stay, and call the template as it is called."""
    dense = copy.deepcopy(_layer(_layer(model, "template"), "score"))
    dense["name"] = dense["config"]["name"] = "head"
    dense["inbound_nodes"] = [[["merge", 0, 0, {}]]]
    model["config"]["layers"].append(dense)
    model["config"]["output_layers"] = [["head", 0, 0]]


def _with_other_rows(model: dict[str, Any]) -> None:
    """No tensor that is passed has the rows of the second input."""
    _layer(_layer(model, "template"), "anchors")["config"]["batch_input_shape"] = [None, 9]


def _one_reads_less(model: dict[str, Any]) -> None:
    """Then the towers are not called alike."""
    _layer(model, "template")["inbound_nodes"][1].pop()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_with_a_head, "template is called with 3 tensors, and stores 2 inputs"),
        (_with_other_rows, "template is called with 3 tensors, and stores 2 inputs"),
        (_one_reads_less, "template is called with different numbers of tensors"),
    ],
)
def test_the_nearest_that_are_none(
    change: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path
) -> None:
    """Of one with inputs of its own, so that shapes alone tell which tensors are those that are read."""
    model = config(FOLDER / "k224-renamed-parallel.h5")
    (tmp_path / "model.json").write_text(json.dumps(model))
    check_verdict(unnest.inspect(tmp_path / "model.json"), "parallel")
    change(model)
    (tmp_path / "model.json").write_text(json.dumps(model))
    report = unnest.inspect(tmp_path / "model.json")
    assert report.verdict == "clean"
    assert reason in {miss.reason for miss in report.near_misses}
