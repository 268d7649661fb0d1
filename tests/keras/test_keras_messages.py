"""The messages that the site's pages of errors list, provoked: word for word what Keras says today."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.corpus.unpacked import FIXTURES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs/loading.md", *(ROOT / "docs/errors").glob("*.md")]
#: Their texts, each on one line; braces that end a heading are marked as code, or the site reads attributes.
DOCS = "\n".join(
    " ".join(page.read_text(encoding="utf-8").split()).replace("`{", "{").replace("}`", "}")
    for page in PAGES
)

ABSENT_MODULE = "because its parent module keras.src.engine.functional cannot be imported"
LOOPS = "The graph of the Functional model either has loops or disconnected nodes"
LOADED = [
    ("keras", "k122/kuza-mlp-x2-adam/base.h5", "pop expected at most 1 argument, got 2"),
    ("keras", "tf210/slicebatch-rnn-x2/base.h5",
     "Unrecognized keyword arguments passed to LSTM: {'time_major': False}"),
    ("tf_keras", "keras3/carried-cnn-adam/base.h5", "Unrecognized keyword arguments: ['batch_shape']"),
    ("keras", "py27k224/lookalike-channels/lookalike.h5", "bad marshal data (unknown type code)"),
    ("tf_keras", "py27k224/lookalike-channels/lookalike.h5", "bad marshal data (unknown type code)"),
    ("tf_keras", "k224/lookalike-clean_siamese/clean.h5", "EOF read where object expected"),
    ("keras", "keras_zip/tf212/keras_zip-carried-named-adam/base.keras",
     "keras.engine.functional"),
    ("keras", "keras_zip/tf213/keras_zip-carried-attention-sgd/base.keras",
     f"Could not deserialize class 'Functional' {ABSENT_MODULE}"),
    ("tf_keras", "keras_zip/tf213/keras_zip-carried-mlp-double/base.keras",
     "Layer 'dense' expected 2 variables, but received 0 variables during loading"),
    ("keras", "k224/carried-named-rmsprop-inline/base.h5",
     f"Invalid Functional model configuration. {LOOPS}"),
    ("keras", "k122/deviceslice-named-x1-adam/base.h5", "Error when deserializing class 'Dense' using config"),
    ("keras", "k122/deviceslice-named-x1-adam/base.h5",
     "Dense.__init__() missing 1 required positional argument: 'units'"),
    ("keras", "tfk113/official-cnn-adam/base.h5",
     "GlorotUniform.__init__() got an unexpected keyword argument 'dtype'"),
    ("keras", "keras_zip/tf215/keras_zip-carried-mlp/base.keras",
     "Unrecognized keyword arguments passed to Dense: {'batch_input_shape': [None, 4]}"),
    ("keras", "k224/deviceslice-cnn-x1-sgd/base.h5", "Kernel shape must have the same length as input"),
    ("keras", "k224/official-seqnest-x3-rmsprop/base.h5", "Cannot convert '((None, 12), 4)' to a shape"),
    ("keras", "saved_model/tf27/saved_model-kuza-mlp/parallel", "File format not supported"),
]  # fmt: skip


@pytest.mark.parametrize(("which", "name", "message"), LOADED)
def test_load_model(keras: Any, which: str, name: str, message: str) -> None:
    """Of genuine files."""
    assert message in DOCS
    if keras.__name__ != which:
        return
    guarded = {"safe_mode": False} if which == "keras" and not name.endswith("parallel") else {}
    with pytest.raises((TypeError, ValueError, EOFError)) as caught:
        keras.models.load_model(FIXTURES / name, compile=False, **guarded)
    assert message.removesuffix("]") in str(caught.value)  # tf_keras 2.18 lists one more


COMPILED = [
    ("k231/official-named-x3-sgd-head/base.h5",
     "Could not deserialize 'keras.metrics.mse' because it is not a KerasSaveable subclass"),
    ("k216/slicebatch-named-x2-sgdm/base.h5", "Argument(s) not recognized: {'lr': 0.0"),
    ("k224/official-cnn-adam/parallel.h5",
     "Requested the deserialization of a `Lambda` layer whose `function` is a Python lambda."),
    ("k224/official-cnn-adam/parallel.h5", "or calling `keras.config.enable_unsafe_deserialization()"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "message"), COMPILED)
def test_load_model_as_it_is_called(keras: Any, name: str, message: str) -> None:
    """With the training configuration, and in safe mode."""
    assert message in DOCS
    if keras.__name__ != "keras":
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        keras.models.load_model(FIXTURES / name)
    assert message in str(caught.value)


def test_depthwise(keras: Any, tmp_path: Path) -> None:
    """`groups`, as tf_keras writes it."""
    message = "Unrecognized keyword arguments passed to DepthwiseConv2D: {'groups': 1}"
    assert message in DOCS
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
    assert message in DOCS
    if keras.__name__ == "keras":
        with pytest.raises(TypeError) as caught:
            keras.models.model_from_json(
                (FIXTURES / "k224/official-deep-json/base.json").read_text()
            )
        assert message in str(caught.value)


def test_weights_of_a_parallel_model(keras: Any) -> None:
    """Loaded into the template."""
    message = "Layer count mismatch when loading weights from file. Model expected 4 layers, found 1 saved layers."
    assert message in DOCS
    model = keras.Sequential([keras.Input((4,)), *(keras.layers.Dense(5) for _ in range(4))])
    with pytest.raises(ValueError, match="Layer count mismatch") as caught:
        model.load_weights(FIXTURES / "k224/official-cnn-weights/weights.h5")
    assert message in str(caught.value)
