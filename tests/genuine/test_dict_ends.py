"""Templates with dictionaries of inputs and outputs: Keras counts their tensors in the order of the keys."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture import read

FOLDER = FIXTURES / "dict_ends"
#: What the first layer behind the merge reads, and the ends by name: the layers that give them.
WIRED: dict[str, tuple[str, dict[str, str]]] = {
    "under_a_head": ("head", {}),
    "alike": ("whole", {"y": "of_b", "z": "of_a"}),
    "outputs_exchanged": ("embedded", {"y": "template", "z": "template"}),
    "inputs_exchanged": ("embedded", {"y": "template", "z": "template"}),
}


def fixed(path: Path, folder: Path) -> dict[str, Any]:
    """The architecture that `fix` writes."""
    assert unnest.fix(path, folder / "out.keras").action == "fixed"
    with zipfile.ZipFile(folder / "out.keras") as archive:
        model: dict[str, Any] = json.loads(archive.read("config.json"))
    return model


@pytest.mark.parametrize("dialect", ["k3", "tf"])
@pytest.mark.parametrize("name", WIRED)
def test_every_end_is_given_by_its_own_layer(name: str, dialect: str, tmp_path: Path) -> None:
    """z, whose key sorts last, is made of ia, whose key was written last."""
    path = FOLDER / f"{dialect}-{name}.keras"
    scope, ends = WIRED[name]
    assert unnest.inspect(path).wrappers[0].scope == scope
    graph = read(fixed(path, tmp_path))
    assert {key: ref.layer for key, ref in zip(sorted(ends), graph.outputs, strict=False)} == ends
    if name == "under_a_head":
        gap = graph.layers["gap"].calls[0].reads
        assert [ref.layer for ref in gap] == ["of_a", "of_b"]
        assert [graph.layers[of].calls[0].reads[0].layer for of in ("of_a", "of_b")] == ["ia", "ib"]
