"""Templates that are called with a mapping of their inputs: each input is fed what its writer's Keras fed it."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Graph
from unnest.core.model import JsonObject, Ref
from unnest.core.rewrite import remove_one_wrapper
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper
from unnest.open_and_plan import open_model

FOLDER = FIXTURES / "dict_calls"
BY_NAME = {"of_mid": "mid", "of_zed": "zed", "of_ant": "ant"}
BEHIND_LAYERS = {"of_mid": "pre_p", "of_zed": "pre_q", "of_ant": "pre_r"}
#: Scope of the wrapper, whether a finding says that the ends differ, and what feeds the layers of the template.
EXPECTED: dict[str, tuple[str, bool, dict[str, str]]] = {
    "tf23-named.h5": ("whole", False, BY_NAME),
    "tf215-lambda_slices.h5": ("whole", False, BY_NAME),
    "tf23-own_layers_head.h5": ("head", False, BY_NAME),
    "tf23-keys_outs.h5": ("whole", True, BY_NAME),
    "tf23-embedded.h5": ("embedded", False, BEHIND_LAYERS),
    "tf23-extra_embedded.h5": ("embedded", False, BEHIND_LAYERS),
    "tfk-embedded.keras": ("embedded", False, BEHIND_LAYERS),
    # No key is the name of an input: they are taken in the order of the keys.
    "tf23-strange_keys.h5": (
        "embedded",
        False,
        {"of_mid": "ant", "of_zed": "zed", "of_ant": "mid"},
    ),
    "k3-named.keras": ("whole", False, BY_NAME),
    "k3-keyword.keras": ("whole", False, BY_NAME),
    "k3-extra_keys.keras": ("whole", True, BY_NAME),
    # Keras 3.0 to 3.3 left out the key that is not the model's; it is an input that nothing reads.
    "k30-extra_keys.keras": ("embedded", False, BY_NAME),
    # Keras 3.4 to 3.6 went by the order of the keys alone.
    "k35-named.keras": ("embedded", False, {"of_mid": "ant", "of_zed": "mid", "of_ant": "zed"}),
    "k35-embedded.keras": (
        "embedded",
        False,
        {"of_mid": "pre_r", "of_zed": "pre_p", "of_ant": "pre_q"},
    ),
}


def fed_by(graph: Graph, sources: dict[Ref, str]) -> dict[str, str]:
    """By the name of each layer `of_...`: the input, or layer in front of the template, that feeds it."""
    fed: dict[str, str] = {}
    for layer in graph.layers.values():
        for call in layer.calls:
            reads = [sources.get(ref, ref.layer) for ref in call.inputs]
            if layer.name.startswith("of_"):
                fed[layer.name] = reads[0]
            elif is_model(layer.stored):
                inner = read(layer.stored)
                fed |= fed_by(inner, dict(zip(inner.inputs, reads, strict=True)))
    return fed


@pytest.mark.parametrize("name", EXPECTED)
def test_inputs_are_fed_as_they_were(name: str, tmp_path: Path) -> None:
    """Name order, key order and sorted order all differ."""
    scope, has_other_ends, wiring = EXPECTED[name]
    output = tmp_path / f"out{Path(name).suffix}"
    result = unnest.fix(FOLDER / name, output)
    assert (result.action, [wrapper.scope for wrapper in result.wrappers]) == ("fixed", [scope])
    assert any(finding.code == "other-ends" for finding in result.findings) is has_other_ends
    with open_model(str(output)) as written:
        assert written.stored.architecture is not None
        assert fed_by(read(written.stored.architecture), {}) == wiring


@pytest.mark.parametrize("version", [None, "3.5.0", "3.15.1"])
@pytest.mark.parametrize("name", ["k35-named.keras", "k3-named.keras"])
def test_weights_and_json_of_keras_3(name: str, version: str | None, tmp_path: Path) -> None:
    """Its JSON has no version, and releases read a mapping otherwise: it is refused until a version stands there."""
    weights, architecture = tmp_path / "m.weights.h5", tmp_path / "m.json"
    with zipfile.ZipFile(FOLDER / name) as archive:
        weights.write_bytes(archive.read("model.weights.h5"))
        stored = json.loads(archive.read("config.json"))
    architecture.write_text(
        json.dumps(stored if version is None else {**stored, "keras_version": version})
    )
    output = tmp_path / "out.keras"
    result = unnest.fix(weights, output, architecture=architecture, keras="3")
    if version is None:
        assert (result.action, result.error and result.error.code) == (
            "refused",
            "architecture-mismatch",
        )
        assert result.error is not None
        assert 'add "keras_version"' in result.error.message
        return
    assert result.action == "fixed"
    with open_model(str(output)) as written:
        assert written.stored.architecture is not None
        expected = EXPECTED["k35-named.keras" if version == "3.5.0" else "k3-named.keras"]
        assert fed_by(read(written.stored.architecture), {}) == expected[2]


@pytest.mark.parametrize("name", ["tf23-look_exchanged.h5", "tfk-look_mixed.keras"])
def test_towers_that_are_fed_otherwise_are_none(name: str) -> None:
    """One call gives the query for the document; or a list in another order than the mapping of the other call."""
    report = unnest.inspect(FOLDER / name)
    assert report.verdict == "clean"
    assert "the towers read different tensors" in report.near_misses[0].reason


def test_an_output_with_exchanged_inputs_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading back compares the inputs and outputs with those of the parallel model, by name and place."""
    path = shutil.copy(FOLDER / "tf23-embedded.h5", tmp_path / "m.h5")
    in_place = remove_one_wrapper.with_first_tower_in_place

    def exchanged(graph: Graph, wrapper: LayerWrapper) -> JsonObject:
        model = in_place(graph, wrapper)
        config = model["config"]
        assert isinstance(config, dict)
        first, second, *others = config["input_layers"]
        return {**model, "config": {**config, "input_layers": [second, first, *others]}}

    monkeypatch.setattr(remove_one_wrapper, "with_first_tower_in_place", exchanged)
    result = unnest.fix(path)
    assert (result.action, result.error and result.error.code) == ("failed", "internal")
    assert [each.name for each in tmp_path.iterdir()] == ["m.h5"]
