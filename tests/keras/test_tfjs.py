"""TensorFlow.js models in Keras: the same predictions as in JavaScript, and as of the file that was converted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

keras = pytest.importorskip("keras")
tf_keras = pytest.importorskip("tf_keras")


def written(name: str, output: Path, **options: Any) -> str:
    done = unnest.fix(FIXTURES / "tfjs" / name / "model.json", output, **options)
    assert done.error is None
    return str(output)


@pytest.mark.parametrize("name", ["js-branches", "js-branches-adam"])
def test_what_javascript_predicted(name: str, tmp_path: Path) -> None:
    note = json.loads((FIXTURES / "tfjs" / name / "case.json").read_text(encoding="utf-8"))
    rows, wanted = np.array(note["x"], "f4"), np.array(note["y"])
    of_keras_2 = tf_keras.models.load_model(written(name, tmp_path / "m.h5"), compile=False)
    of_keras_3 = keras.models.load_model(written(name, tmp_path / "m.keras", keras="3"))
    for model in (of_keras_2, of_keras_3):
        assert np.abs(np.asarray(model(rows)) - wanted).max() < 1e-6


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("name", ["keras3-base", "keras3-parallel"])
def test_of_keras_3_without_modules(name: str, suffix: str, tmp_path: Path) -> None:
    source = (
        FIXTURES
        / json.loads((FIXTURES / "tfjs" / name / "case.json").read_text(encoding="utf-8"))["source"]
    )
    of_source = tmp_path / "source.keras"
    assert unnest.fix(source, of_source).error is None
    found, wanted = (
        keras.models.load_model(path, compile=False)
        for path in (written(name, tmp_path / f"m{suffix}"), of_source)
    )
    rows = np.random.default_rng(0).random((3, *wanted.inputs[0].shape[1:]), "f4")
    assert np.array_equal(np.asarray(found(rows)), np.asarray(wanted(rows)))
