"""load_model: any genuine file gives the model that its own stack made of the template."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unnest
from tests.corpus.unpacked import FIXTURES
from unnest.keras import load_model, model_loading
from unnest.keras.keras_api import KERAS, TF_KERAS

#: Whether this `fix` can write today's dialect.
CONVERTS = "keras" in inspect.signature(unnest.fix).parameters

OWN = {
    "tf_keras": [
        "k224/official-cnn-adam/parallel.h5", "tf23/official-multiio-adam-byname/parallel.h5",
        "keras_zip/tf212/keras_zip-carried-named-adam/base.keras",
        "keras_zip/tfkeras/keras_zip-carried-named-adam/parallel.keras",
        "keras_zip/tf213/keras_zip-carried-nested/parallel.keras",
        "tf215/carried-cnn-adam/base.h5",
    ],
    "keras": [
        "keras3/carried-cnn-adam/parallel.h5", "keras_zip/keras3/keras_zip-carried-nested/parallel.keras",
        "keras_zip/keras3/keras_zip-carried-rnn-adam/base.keras",
    ],
}  # fmt: skip
OLDER = ["k122/kuza-mlp-x2-adam/parallel.h5", "k224/official-cnn-adam/parallel.h5", "tf23/official-mlp-adam/base.h5",
         "keras_zip/tf213/keras_zip-carried-nested/parallel.keras"]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_this_keras(keras: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the Keras of this process, which is decided once, to the one under test."""
    monkeypatch.setattr(
        model_loading, "keras_in_use", lambda: KERAS if keras.__name__ == "keras" else TF_KERAS
    )


def predicts_as_recorded(model: Any, folder: Path) -> None:
    """Within the rounding of float32 sums."""
    with np.load(folder / "io.npz") as io:
        xs, ys = ([io[n] for n in sorted(io.files) if n[0] == kind] for kind in "xy")
    found = model.predict(xs if len(xs) > 1 else xs[0], verbose=0)
    for a, b in zip(found if isinstance(found, list) else [found], ys, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_files_of_its_own_dialect(keras: Any) -> None:
    """Wrapped or clean, in any container: the template, compiled where the file says how."""
    for name in OWN[keras.__name__]:
        model = load_model(FIXTURES / name, compile="keras3/carried-cnn" not in name)
        assert isinstance(model, keras.Model), name
        predicts_as_recorded(model, (FIXTURES / name).parent)


@pytest.mark.skipif(not CONVERTS, reason="this fix writes the original dialect alone")
def test_older_files(keras: Any) -> None:
    """Keras 3 gets them converted."""
    for name in OLDER if keras.__name__ == "keras" else OLDER[1:]:
        predicts_as_recorded(load_model(FIXTURES / name), (FIXTURES / name).parent)


def test_a_clean_file_goes_straight_to_keras(
    keras: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the arguments as given, and nothing is written."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    model.save(tmp_path / "m.keras")
    monkeypatch.setattr(unnest, "fix", None)
    loaded = load_model(str(tmp_path / "m.keras"))
    assert loaded.optimizer is not None
    assert getattr(load_model(tmp_path / "m.keras", compile=False), "optimizer", None) is None
    for a, b in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_architecture(keras: Any) -> None:
    """Alone it gives a model with fresh weights."""
    stack = "keras3/carried-deep-json" if keras.__name__ == "keras" else "k224/official-deep-json"
    wanted = json.loads((FIXTURES / stack / "base.json").read_text())["config"]["name"]
    assert load_model(FIXTURES / stack / "model.json").name == wanted


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("k224/official-cnn-weights/weights.h5", "architecture="),
        ("k216/lookalike-stub_cnn/stub.h5", "stub.h5"),
        ("k224/nothing.h5", "no such file"),
    ],
)
def test_what_is_no_model(keras: Any, name: str, told: str) -> None:
    """One line that says what to do."""
    with pytest.raises(ValueError, match=told) as caught:
        load_model(FIXTURES / name)
    assert "\n" not in str(caught.value)


def test_the_other_dialect(keras: Any) -> None:
    """With tf_keras, the message says that a file is of Keras 3."""
    if keras.__name__ == "tf_keras":
        with pytest.raises(ValueError, match="it is of Keras 3"):
            load_model(FIXTURES / "keras3/carried-cnn-adam/parallel.h5")


def test_stored_code_is_not_run_unasked(keras: Any, tmp_path: Path) -> None:
    """Not in .h5 either, where tf_keras would."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x * 2)])
    model.save(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="safe_mode=False"):
        load_model(tmp_path / "m.h5")
    found = load_model(tmp_path / "m.h5", safe_mode=False)(np.ones((1, 3), "float32"))
    np.testing.assert_array_equal(found, [[2, 2, 2]])


def test_custom_objects(keras: Any, tmp_path: Path) -> None:
    """Handed on to Keras."""

    class Twice(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return x * 2

    keras.Sequential([keras.Input((3,)), Twice()]).save(tmp_path / "m.keras")
    assert unnest.inspect(tmp_path / "m.keras").needs.classes
    found = load_model(tmp_path / "m.keras", {"Twice": Twice})(np.ones((1, 3), "float32"))
    np.testing.assert_array_equal(found, [[2, 2, 2]])


def test_findings_are_warnings(keras: Any) -> None:
    """Findings of the report are warnings."""
    if keras.__name__ == "tf_keras":
        pytest.importorskip("google_crc32c")
        folder = FIXTURES / "saved_model/tf20/exported-official-named-adam"
        with pytest.warns(UserWarning, match="optimizer-dropped"):
            load_model(folder / "parallel")
