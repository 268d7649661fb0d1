"""Weights and the JSON of the same code, run where Keras had numbered other layers before: order places them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "counted_on"
LAYERS = ["dense", "dense_1", "dense_2", "dense_3"]
PAIRS = [("weights.h5", "model.json", "io.npz"), ("second.weights.h5", "first.json", "second.npz")]


def predict(path: Path, x: np.ndarray) -> np.ndarray:
    """Run the converted model's four layers."""
    acts: list[Callable[[np.ndarray], np.ndarray]] = [
        np.tanh,
        lambda a: 1 / (1 + np.exp(-a)),
        lambda a: a / (1 + abs(a)),
        lambda a: a,
    ]
    with h5py.File(path) as file:
        for name, act in zip(LAYERS, acts, strict=True):
            held = file[f"layers/{name}/vars"]
            kernel, bias = held["0"][()], held["1"][()]
            x = act(x @ kernel + bias)
    return x


@pytest.mark.parametrize(("weights", "given", "truth"), PAIRS)
def test_numbers_that_began_elsewhere_say_nothing(
    weights: str, given: str, truth: str, tmp_path: Path
) -> None:
    """By order they predict what the model did that was saved."""
    out = tmp_path / "out.weights.h5"
    done = unnest.fix(FOLDER / weights, out, architecture=FOLDER / given, keras="3")
    assert done.error is None
    (told,) = (finding.message for finding in done.findings if finding.code == "by-order")
    assert ", ".join(LAYERS) in told
    saved = np.load(FOLDER / truth)
    np.testing.assert_allclose(predict(out, saved["x"]), saved["y"], atol=1e-5)


@pytest.mark.parametrize(("weights", "given", "_"), PAIRS)
@pytest.mark.parametrize(
    "names",
    [
        ["dense_1", "dense", "dense_2", "dense_3"],
        ["dense", "dense_2", "dense_1", "dense_3"],
        ["dense_2", "a", "b", "dense_3"],
    ],
    ids=["first two", "middle", "chosen"],
)
def test_names_that_were_exchanged_or_chosen(
    weights: str, given: str, _: str, names: list[str], tmp_path: Path
) -> None:
    """The numbers of layers of one shape do not differ by the same, or people gave the names."""
    text = (FOLDER / given).read_text("utf-8")
    changed = dict(zip(LAYERS, names, strict=True))
    text = re.sub(r'"(dense(_\d)?)"', lambda found: f'"{changed[found[1]]}"', text)
    assert json.loads(text)
    (tmp_path / "other.json").write_text(text, "utf-8")
    done = unnest.fix(
        FOLDER / weights, tmp_path / "o.keras", architecture=tmp_path / "other.json", keras="3"
    )
    assert done.error is not None
    assert done.error.code == "architecture-mismatch"


@pytest.mark.parametrize("path", ["nested.h5"])
def test_numbers_within_models_say_nothing_either(path: str, tmp_path: Path) -> None:
    """By order, in models within the model too; the finding names these."""
    out = tmp_path / "out.weights.h5"
    done = unnest.fix(FOLDER / path, out, architecture=FOLDER / "nested.json", keras="3")
    assert done.error is None
    (told,) = (finding.message for finding in done.findings if finding.code == "by-order")
    assert "sequential, sequential_1, dense_4" in told
    saved = np.load(FOLDER / "nested.npz")
    with h5py.File(out) as file:
        places = [
            f"layers/{name}/layers/{inner}"
            for name in ("sequential", "sequential_1")
            for inner in ("dense", "dense_1")
        ]
        y = saved["x"]
        for place, act in zip([*places, "layers/dense"], [np.tanh, None] * 2 + [None], strict=True):
            held = file[f"{place}/vars"]
            y = y @ held["0"][()] + held["1"][()]
            y = y if act is None else act(y)
    np.testing.assert_allclose(y, saved["y"], atol=1e-5)


def test_models_that_may_be_each_other(tmp_path: Path) -> None:
    """Code that calls the two models the other way round: their numbers differ by different amounts."""
    done = unnest.fix(
        FOLDER / "nested.h5",
        tmp_path / "o.keras",
        architecture=FOLDER / "exchanged.json",
        keras="3",
    )
    assert done.error is not None
    assert done.error.code == "architecture-mismatch"
