"""`.keras` files of models that share layers: Keras stores these once, at the first place that its walk meets."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.core.architecture.nested_models import layer_entries

HERE = Path(__file__).parent / "shared_layers"
STACKS = ("keras3", "tf215")


def weights_by_layer(path: Path) -> dict[str, list[np.ndarray]]:
    """Return the content of each group of an `.h5`, in its order."""
    with h5py.File(path) as file:
        group = file["model_weights"]
        return {
            name: [group[name][w][()] for w in group[name].attrs["weight_names"]] for name in group
        }


def dense(rows: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """A Dense layer without an activation."""
    return np.asarray(rows @ kernel + bias)


@pytest.mark.parametrize("stack", STACKS)
def test_parallel_model_whose_template_ties_layers(stack: str, tmp_path: Path) -> None:
    """The result has a layer of its own, with a copy of the weights, at each place: what its JSON makes of it."""
    output, as_h5 = tmp_path / "fixed.keras", tmp_path / "fixed.h5"
    result = unnest.fix(str(HERE / f"tied_parallel_{stack}.keras"), str(output))
    assert (result.verdict, result.action, result.error) == ("parallel", "fixed", None)
    assert [f.code for f in result.findings] == ["layers-apart"]
    with zipfile.ZipFile(output) as archive:
        config = json.loads(archive.read("config.json"))
    assert not any("shared_object_id" in entry for entry in layer_entries(config))
    assert unnest.fix(str(output), str(as_h5), to="h5").action == "converted"

    weights = weights_by_layer(as_h5)
    first, tied = weights["encoder"][:2], weights["encoder"][2:]
    tied_again, last = weights["decoder"][:2], weights["decoder"][2:]
    for again in (tied_again, weights["shared"]):
        assert all(np.array_equal(a, b) for a, b in zip(tied, again, strict=True))
    recorded = np.load(HERE / f"tied_{stack}.npz")
    rows = dense(
        dense(np.tanh(dense(np.tanh(dense(dense(recorded["x"], *first), *tied)), *tied)), *last),
        *tied,
    )
    assert np.allclose(dense(np.tanh(rows), *weights["head"]), recorded["y0"], atol=1e-6)


@pytest.mark.parametrize("stack", STACKS)
def test_model_within_two_models(stack: str, tmp_path: Path) -> None:
    """No Keras loads it as it is, and `--to h5` has all of it."""
    path = HERE / f"twice_{stack}.keras"
    report = unnest.inspect(str(path))
    assert (report.verdict, report.loads_in, report.load) == ("clean", (), None)
    assert "--to h5" in report.does_not_load_in["Keras 3" if stack == "keras3" else "tf_keras"]
    output = tmp_path / "twice.h5"
    assert unnest.fix(str(path), str(output), to="h5").error is None

    weights = weights_by_layer(output)
    encoder, in_classifier, classes = (
        weights["encoder"],
        weights["classifier"][:4],
        weights["classifier"][4:],
    )
    assert all(np.array_equal(a, b) for a, b in zip(encoder, in_classifier, strict=True))
    recorded = np.load(HERE / f"twice_{stack}.npz")
    code = dense(dense(recorded["x"], *encoder[:2]), *encoder[2:])
    assert np.allclose(dense(code, *classes), recorded["y0"], atol=1e-6)
    assert np.allclose(dense(code, *weights["beside"]), recorded["y1"], atol=1e-6)


def test_archive_whose_layers_were_renamed(tmp_path: Path) -> None:
    """No architecture can be passed for a `.keras`, and the refusal does not ask for one."""
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(HERE / "twice_keras3.keras") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"beside", b"aside") if name == "config.json" else data)
    error = unnest.inspect(path).error
    assert error is not None
    assert error.code == "architecture-mismatch"
    assert error.message.endswith("which no Keras finds again in a .keras; save an .h5")


def test_h5_whose_json_notes_a_layer_of_two_models(tmp_path: Path) -> None:
    """Weights that the `.h5` stores at both places are stored at both in the `.keras`, whose JSON shares no layer."""
    for name in ("parallel.h5", "base.h5"):
        source = FIXTURES / "tf215" / "carried-tied-adam" / name
        output, as_h5 = tmp_path / f"{name}.keras", tmp_path / f"again-{name}"
        result = unnest.fix(str(source), str(output), to="keras", keras="original")
        assert (result.error, [f.code for f in result.findings if f.code != "stored-code"]) == (
            None,
            ["layers-apart"],
        )
        assert unnest.fix(str(output), str(as_h5), to="h5").action == "converted"
        weights = {k: v for k, v in weights_by_layer(as_h5).items() if v}
        base = {k: v for k, v in weights_by_layer(source.with_name("base.h5")).items() if v}
        assert {k: len(v) for k, v in weights.items()} == {"one": 6, "other": 4, "dense_1": 2}
        assert all(
            np.array_equal(a, b) for k in base for a, b in zip(weights[k], base[k], strict=True)
        )
