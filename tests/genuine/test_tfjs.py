"""TensorFlow.js layers models: those of the real converter give what their Keras files give, those of JavaScript too.

`fixtures/scripts/tfjs` wrote them; a case's note names the Keras file that was converted, or has the weights by layer.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unnest
from tests.conftest import Cli
from tests.corpus.unpacked import FIXTURES
from tests.h5compare import differences, stored_architecture, weights_by_layer

FOLDER = FIXTURES / "tfjs"
NOTES: dict[str, dict[str, Any]] = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*/case.json"))
}
QUANTIZED = [name for name, note in NOTES.items() if "quantize" in note.get("options", {})]
KERAS_3 = [name for name in NOTES if name.startswith("keras3")]
CONVERTED = [
    name
    for name, note in NOTES.items()
    if "source" in note and name not in (*QUANTIZED, "weights-parallel")
]


def model_json(name: str) -> Path:
    """The file that a user names."""
    return FOLDER / name / "model.json"


def fixed_source(name: str, folder: Path) -> Path:
    """Return the output for the Keras file that was converted."""
    source = FIXTURES / NOTES[name]["source"]
    made = unnest.fix(
        source, folder / "of_source.h5", to="h5" if source.suffix == ".keras" else None
    )
    assert made.error is None
    return folder / "of_source.h5"


def without_state(path: Path) -> Path:
    """The converter leaves out the optimizer's state, and says nothing of it."""
    with h5py.File(path, "r+") as file:
        file.pop("optimizer_weights", None)
    return path


def array(path: Path, weight: str) -> np.ndarray[Any, Any]:
    """A weight, whichever group it is in."""
    found: list[np.ndarray[Any, Any]] = []
    with h5py.File(path) as file:
        file.visititems(
            lambda name, each: (
                found.append(each[()])
                if isinstance(each, h5py.Dataset) and name.endswith(weight)
                else None
            )
        )
    return found[0]


@pytest.mark.parametrize("name", CONVERTED)
def test_what_its_keras_file_gives(name: str, tmp_path: Path) -> None:
    """Bit for bit, under the same names and in the same order, settings and versions included."""
    done = unnest.fix(model_json(name), tmp_path / "out.h5")
    assert done.error is None
    assert done.action == ("fixed" if "parallel" in name else "converted")
    wanted = fixed_source(name, tmp_path)
    found, expected = weights_by_layer(tmp_path / "out.h5"), weights_by_layer(wanted)
    # Whose classes have lost their modules; weights bear the names of where they were.
    if name in KERAS_3:
        assert {k: [w[1:] for w in v] for k, v in found.items()} == {
            k: [w[1:] for w in v] for k, v in expected.items()
        }
    else:
        assert found == expected
        assert differences(tmp_path / "out.h5", without_state(wanted)) == []


@pytest.mark.parametrize("name", [*CONVERTED, *QUANTIZED])
def test_the_verdict_is_that_of_its_keras_file(name: str) -> None:
    """Wrappers, their evidence and the template too."""
    found, of_source = (
        unnest.inspect(path) for path in (model_json(name), FIXTURES / NOTES[name]["source"])
    )
    assert (found.container, found.contents) == ("tfjs", "model")
    assert (found.verdict, found.wrappers, found.template) == (
        of_source.verdict,
        of_source.wrappers,
        of_source.template,
    )


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_weights_are_what_tensorflow_js_computes(name: str, tmp_path: Path) -> None:
    """Number x scale + min in double precision, rounded once, as both of its readers do; and a finding says so."""
    done = unnest.fix(model_json(name), tmp_path / "out.h5")
    assert done.action == "fixed"
    assert [f.severity for f in done.findings if f.code == "quantized"] == ["warning"]
    stored = json.loads(model_json(name).read_text(encoding="utf-8"))
    data = (FOLDER / name / "group1-shard1of1.bin").read_bytes()
    for entry in stored["weightsManifest"][0]["weights"]:
        quantization = entry["quantization"]
        numbers = np.frombuffer(data, quantization["dtype"], int(np.prod(entry["shape"])))
        data = data[numbers.nbytes :]
        if "scale" in quantization:
            numbers = numbers.astype("f8") * quantization["scale"] + quantization["min"]
        wanted = numbers.astype("f4").reshape(entry["shape"])
        assert np.array_equal(array(tmp_path / "out.h5", entry["name"] + ":0"), wanted)


@pytest.mark.parametrize("name", ["js-branches", "js-branches-adam", "js-cnn-saved_again"])
def test_of_javascript(name: str, tmp_path: Path) -> None:
    """All that is trained stands before the rest there, whatever the layers are called."""
    done = unnest.fix(model_json(name), tmp_path / "out.h5")
    assert (done.action, done.error) == ("converted", None)
    assert ("compile-dropped" in [f.code for f in done.findings]) is (name == "js-branches-adam")
    written = weights_by_layer(tmp_path / "out.h5")
    for layer, weights in NOTES[name]["weights"].items():
        expected = [np.array(values, "f4").reshape(shape).tobytes() for shape, values in weights]
        assert [data for _, _, data in written.get(layer, [])] == expected


def test_of_weights_alone_the_architecture_tells(tmp_path: Path) -> None:
    """The parallel model's or the template's; without it the layers are unknown."""
    path, source = model_json("weights-parallel"), FIXTURES / "k224/official-cnn-adam"
    report = unnest.inspect(path)
    assert (report.contents, report.verdict) == ("weights", "clean")
    assert [f.code for f in report.findings] == ["needs-architecture"]
    base = json.loads(stored_architecture(source / "base.h5"))
    done = unnest.fix(path, tmp_path / "out.h5", architecture=base)
    assert (done.action, done.error) == ("fixed", None)
    wanted = FIXTURES / "k224/official-cnn-weights/base_weights.h5"
    for layer in ("conv2d_1", "batch_normalization_1", "dense_1"):
        with h5py.File(wanted) as file:
            names = [n.decode() for n in file[layer].attrs["weight_names"]]
            expected = [file[layer][n][()] for n in names]
        with h5py.File(tmp_path / "out.h5") as file:
            assert all(
                np.array_equal(file["model_weights"][layer][n][()], e)
                for n, e in zip(names, expected, strict=True)
            )
    refused = unnest.fix(path, tmp_path / "never.keras", keras="3")
    assert refused.error is not None
    assert refused.error.code == "needs-architecture"


def test_places_and_names(tmp_path: Path) -> None:
    """Its own form is read and never written; a folder's run finds it by its content."""
    shutil.copytree(FOLDER / "cnn-base", tmp_path / "in/clean")
    shutil.copytree(FOLDER / "cnn-parallel", tmp_path / "in/wrapped")
    clean, wrapped = tmp_path / "in/clean/model.json", tmp_path / "in/wrapped/model.json"
    beside = unnest.fix(wrapped)
    assert beside.output == str(tmp_path / "in/wrapped/model.unnested.h5")
    assert unnest.fix(clean).action == "unchanged"
    assert unnest.fix(clean, tmp_path / "copy").action == "converted"
    named = unnest.fix(clean, tmp_path / "other.json")
    assert named.error is not None
    assert named.error.code == "cannot-write"
    assert unnest.fix(clean, tmp_path / "other.json", to="json").action == "converted"
    in_place = unnest.fix(wrapped, in_place=True)
    assert in_place.error is not None
    assert "one of several files" in in_place.error.message


def test_a_folder(tmp_path: Path, cli: Cli) -> None:
    """Each is found by its content and written as .h5; the files of the weights are no models."""
    shutil.copytree(FOLDER / "cnn-base", tmp_path / "in/clean")
    shutil.copytree(FOLDER / "cnn-parallel", tmp_path / "in/wrapped")
    assert cli("fix", str(tmp_path / "in"), "-o", str(tmp_path / "out")).returncode == 0
    assert sorted(
        str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")
    ) == [
        "clean/model.h5",
        "wrapped/model.h5",
    ]


@pytest.mark.parametrize("name", ["cnn-parallel", "js-branches", "keras3-parallel"])
def test_keras_3(name: str, tmp_path: Path) -> None:
    """The output is for today's Keras; `tests/keras` loads it."""
    done = unnest.fix(model_json(name), tmp_path / "out.keras", keras="3")
    assert (done.error, done.loads_in) == (None, ("Keras 3",))
