"""Templates with dictionaries of inputs and outputs: what is fed and read by name stays what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES

FOLDER = FIXTURES / "dict_ends"
SCOPES = {
    "alike": "whole", "outputs_exchanged": "embedded", "inputs_exchanged": "embedded", "under_a_head": "head",
}  # fmt: skip


@pytest.mark.parametrize(("name", "scope"), SCOPES.items())
def test_names_mean_what_they_did(name: str, scope: str, keras: Any, tmp_path: Path) -> None:
    """The template's keys are z of ia, then y of ib, and sort the other way round."""
    source = FOLDER / f"{'k3' if keras.__name__ == 'keras' else 'tf'}-{name}.keras"
    result = unnest.fix(source, tmp_path / "out.keras")
    assert (result.action, result.wrappers[0].scope) == ("fixed", scope)
    assert "other-ends" not in {finding.code for finding in result.findings}
    model = keras.models.load_model(tmp_path / "out.keras", safe_mode=False)
    with np.load(source.with_suffix(".npz")) as io:
        given, expected = ({n[2:]: io[n] for n in io.files if n[0] == kind} for kind in "xy")
    found = model.predict(
        given if isinstance(model.input, dict) else [given["a"], given["b"]], verbose=0
    )
    for key, value in (found if isinstance(found, dict) else {"": found}).items():
        np.testing.assert_allclose(value, expected.pop(key), atol=1e-5)
    assert not expected


def test_losses_stay_with_the_keys_of_a_model_that_returns_a_mapping(tmp_path: Path) -> None:
    """Converted, not named after the layers within the template, which no loss of Keras 3 may be."""
    keras, tf_keras = (pytest.importorskip(name) for name in ("keras", "tf_keras"))
    import tensorflow as tf

    layers, taken, rows = tf_keras.layers, tf_keras.Input((4,)), tf_keras.Input((4,))
    ends = {"z": layers.Dense(2, name="of_z")(taken), "y": layers.Dense(2, name="of_y")(taken)}
    template = tf_keras.Model(taken, ends, name="template")
    half = tf.shape(rows)[0] // 2
    towers = [template(rows[:half]), template(rows[half:])]
    joined = {
        key: layers.Concatenate(axis=0, name=f"all_{key}")([tower[key] for tower in towers])
        for key in "yz"
    }
    model = tf_keras.Model(rows, joined)
    model.compile("sgd", loss={"y": "mse", "z": "mae"})
    model.save(tmp_path / "parallel.h5")
    result = unnest.fix(tmp_path / "parallel.h5", tmp_path / "out.keras", keras="3")
    assert result.action == "fixed"
    left = keras.models.load_model(tmp_path / "out.keras")
    assert left.get_compile_config()["loss"] == {"y": "mse", "z": "mae"}
    expected = {key: np.zeros((6, 2), "float32") for key in "yz"}
    assert left.train_on_batch(np.ones((6, 4), "float32"), expected)[0] > 0
