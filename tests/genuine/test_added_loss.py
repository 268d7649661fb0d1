"""Losses and metrics that `add_loss` and `add_metric` gave a model: layers that lead to no output."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph

FOLDER = FIXTURES / "added_loss"
#: How the wrapper sits, and the layers that add something, each with the layers with weights, or inputs, behind it.
ADDED: dict[str, tuple[str, dict[str, set[str]]]] = {
    "loss_around": ("head", {"add_loss": {"x", "code", "decoded"}}),
    "two_losses": ("head", {"add_loss": {"x", "code"}, "add_loss_1": {"x", "code", "decoded"}}),
    "loss_inside": ("whole", {"add_loss": {"x", "code"}}),
    "metric_inside": ("whole", {"add_metric": {"x", "code"}}),
}


def behind(graph: Graph, layer: str) -> set[str]:
    """The inputs and Dense layers that a layer's first call is computed from."""
    reads = {ref.layer for ref in graph.layers[layer].calls[0].reads}
    found = {layer} if graph.layers[layer].class_name in ("Dense", "InputLayer") else set()
    return found.union(*(behind(graph, name) for name in reads))


@pytest.mark.parametrize("stack", ["tf22", "tf27"])
@pytest.mark.parametrize("name", ADDED)
def test_they_stay_and_read_what_they_read(name: str, stack: str, tmp_path: Path) -> None:
    """Those of the template once, and those around the wrapper upon the template's own layers."""
    path, (scope, added) = FOLDER / f"{stack}-{name}.h5", ADDED[name]
    result = unnest.fix(path, tmp_path / "o.h5")
    assert (result.action, [w.scope for w in result.wrappers]) == ("fixed", [scope])
    assert "custom_objects" not in str(result.load), "AddLoss and AddMetric are Keras's own"
    with h5py.File(tmp_path / "o.h5") as file:
        graph = read(json.loads(file.attrs["model_config"]))
    adding = [
        layer.name
        for layer in graph.layers.values()
        if layer.class_name in ("AddLoss", "AddMetric")
    ]
    assert {layer: behind(graph, layer) for layer in adding} == added
    assert {ref.layer for ref in graph.outputs} == {"decoded"}


@pytest.mark.parametrize("stack", ["tf22", "tf27"])
@pytest.mark.parametrize("name", ADDED)
def test_keras_3_has_no_place_for_them(name: str, stack: str, tmp_path: Path) -> None:
    """They are named, and nothing that led to them alone is said to be written."""
    result = unnest.fix(FOLDER / f"{stack}-{name}.h5", tmp_path / "o.keras", keras="3")
    assert (result.action, result.error) == ("fixed", None)
    [finding] = [f for f in result.findings if f.code == "added-loss"]
    assert finding.message.endswith(": " + ", ".join(ADDED[name][1]))
    assert result.kept is not None
    assert (result.kept.layers, result.kept.parameters) == (3, 31)
    assert "tf-operation" not in [conversion.rule for conversion in result.conversions]
    assert "custom-objects" not in [f.code for f in result.findings]
