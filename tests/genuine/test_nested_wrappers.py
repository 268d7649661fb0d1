"""A wrapper's template that holds another wrapper and a layer beside it, in files that say whose each weight is."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Literal

import h5py
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import weights_by_layer

FOLDER = FIXTURES / "nested_wrappers"
PARALLEL = sorted(FOLDER.glob("*-parallel.keras"))


def architecture(path: Path) -> dict[str, Any]:
    """Without the numbers of shared objects, which are addresses in memory."""

    def without(numbered: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in numbered.items() if key != "shared_object_id"}

    with zipfile.ZipFile(path) as archive:
        config: dict[str, Any] = json.loads(archive.read("config.json"), object_hook=without)
    return config


def weights(path: Path) -> dict[str, Any]:
    """Every group's attributes and every tensor's bytes, by path."""
    nodes: dict[str, Any] = {}

    def note(name: str, node: h5py.Group | h5py.Dataset) -> None:
        nodes[name] = node[()].tobytes() if isinstance(node, h5py.Dataset) else dict(node.attrs)

    with (
        zipfile.ZipFile(path) as archive,
        h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file,
    ):
        file.visititems(note)
    return nodes


@pytest.mark.parametrize("options", [{}, {"keep_nested": True}], ids=str)
@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: str(path.stem))
def test_both_are_taken_out(path: Path, options: dict[str, Any], tmp_path: Path) -> None:
    """As the same stack saved what is left; nothing has to stay nested, so that leave for it changes nothing."""
    done = unnest.fix(path, tmp_path / "out.keras", **options)
    assert (done.error, done.action, done.findings) == (None, "fixed", ())
    assert [(w.template, w.confidence, w.depth) for w in done.wrappers] == [
        ("outer", "proven", 0), ("classifier", "proven", 1),
    ]  # fmt: skip
    base = path.with_name(path.name.replace("parallel", "base"))
    assert weights(tmp_path / "out.keras") == weights(base)
    assert architecture(tmp_path / "out.keras") == architecture(base)


@pytest.mark.parametrize("to", ["h5", "weights"])
@pytest.mark.parametrize("path", PARALLEL, ids=lambda path: str(path.stem))
def test_into_other_containers(path: Path, to: Literal["h5", "weights"], tmp_path: Path) -> None:
    """As what is left goes there."""
    outputs = []
    for which in (path, path.with_name(path.name.replace("parallel", "base"))):
        done = unnest.fix(
            which, tmp_path / f"{which.stem}.{'h5' if to == 'h5' else 'weights.h5'}", to=to
        )
        assert done.error is None
        assert done.output is not None
        outputs.append(
            Path(done.output).read_bytes()
            if to == "weights"
            else weights_by_layer(Path(done.output))
        )
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("stack", ["keras3", "tfkeras"])
def test_within_a_layer_that_applies_it_to_every_step(stack: str, tmp_path: Path) -> None:
    """There whole sub-trees are moved, and none is the model that is left."""
    done = unnest.fix(FOLDER / f"{stack}-per-step.keras", tmp_path / "out.keras")
    assert done.error is not None
    assert (done.action, done.error.code) == ("refused", "weights-unplaced")
    assert "/layers/time_distributed/layer is not the model that 'each' holds" in done.error.message
    assert list(tmp_path.iterdir()) == []
