"""The messages that docs/loading.md lists, provoked: word for word what Keras says today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "loading.md").read_text()

LOADED = [
    ("keras", "k122/kuza-mlp-x2-adam/base.h5", "pop expected at most 1 argument, got 2"),
    ("keras", "tf210/slicebatch-rnn-x2/base.h5",
     "Unrecognized keyword arguments passed to LSTM: {'time_major': False}"),
    ("tf_keras", "keras3/carried-cnn-adam/base.h5", "Unrecognized keyword arguments: ['batch_shape']"),
    ("keras", "py27k224/lookalike-channels/lookalike.h5", "bad marshal data (unknown type code)"),
    ("tf_keras", "py27k224/lookalike-channels/lookalike.h5", "bad marshal data (unknown type code)"),
    ("tf_keras", "k224/lookalike-clean_siamese/clean.h5", "EOF read where object expected"),
    ("keras", "keras_zip/tf212/keras_zip-carried-named-adam/base.keras",
     "because its parent module keras.engine.functional cannot be imported"),
    ("tf_keras", "keras_zip/tf213/keras_zip-carried-mlp-double/base.keras",
     "expected 2 variables, but received 0 variables during loading"),
    ("keras", "saved_model/tf27/saved_model-kuza-mlp/parallel", "File format not supported"),
]  # fmt: skip


@pytest.mark.parametrize(("which", "name", "message"), LOADED)
def test_load_model(keras: Any, which: str, name: str, message: str) -> None:
    """Of genuine files."""
    assert f"`{message}`" in DOCS
    if keras.__name__ != which:
        return
    guarded = {"safe_mode": False} if which == "keras" and not name.endswith("parallel") else {}
    with pytest.raises((TypeError, ValueError, EOFError)) as caught:
        keras.models.load_model(FIXTURES / name, compile=False, **guarded)
    assert message.removesuffix("]") in str(caught.value)  # tf_keras 2.18 lists one more


def test_depthwise(keras: Any, tmp_path: Path) -> None:
    """`groups`, as tf_keras writes it."""
    message = "Unrecognized keyword arguments passed to DepthwiseConv2D: {'groups': 1}"
    assert f"`{message}`" in DOCS
    tf_keras = pytest.importorskip("tf_keras")
    layer = tf_keras.layers.DepthwiseConv2D(3, input_shape=(8, 8, 2))
    tf_keras.Sequential([layer]).save(tmp_path / "m.h5")
    if keras.__name__ == "keras":
        with pytest.raises(TypeError) as caught:
            keras.models.load_model(tmp_path / "m.h5", compile=False)
        assert message in str(caught.value)


def test_json(keras: Any) -> None:
    """The JSON of Keras 2."""
    message = "Could not locate class 'Model'"
    assert f"`{message}`" in DOCS
    if keras.__name__ == "keras":
        with pytest.raises(TypeError) as caught:
            keras.models.model_from_json(
                (FIXTURES / "k224/official-deep-json/base.json").read_text()
            )
        assert message in str(caught.value)


def test_weights_of_a_parallel_model(keras: Any) -> None:
    """Loaded into the template."""
    message = "Layer count mismatch when loading weights from file. Model expected 2 layers, found 1 saved layers."
    assert f"`{message}`" in DOCS
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(5), keras.layers.Dense(3)])
    with pytest.raises(ValueError, match="Layer count mismatch") as caught:
        model.load_weights(FIXTURES / "k224/official-cnn-weights/weights.h5")
    assert message in str(caught.value)
