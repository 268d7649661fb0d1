"""Results of Keras 3 with an unconverted file of Keras 2; genuine files are loaded in tests/keras."""

from __future__ import annotations

import pytest

from unnest.core.keras3.conversion_context import Conversion
from unnest.core.keras3.predictions_if_not_converted import (
    altered_predictions,
    is_opened_unconverted,
)
from unnest.core.model import Json, JsonObject, Stored

INPUT: JsonObject = {
    "class_name": "InputLayer",
    "config": {"name": "x", "batch_input_shape": [None, 4]},
}


def opens(entry: JsonObject, *rules: str, version: str = "2.11.0") -> bool:
    """The answer for a Sequential of one layer that these rules would change."""
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [INPUT, entry]},
    }
    stored = Stored("model", architecture, keras_version=version)
    return is_opened_unconverted(stored, [Conversion(rule, ("l",), "") for rule in rules])


def layer(kind: str, **config: Json) -> JsonObject:
    """A layer's entry."""
    return {"class_name": kind, "config": {"name": "l", "trainable": True, **config}}


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (layer("Dense", units=2), layer("Dense", units=2, dtype="float16")),
        (layer("Dense", units=2), layer("Mine", units=2)),
        (layer("Dense", units=2), layer("Dense", units=2, sharpness=3)),
        (
            layer("Activation", activation="relu"),
            layer("Activation", activation={"class_name": "ReLU", "config": {}}),
        ),
        (layer("BatchNormalization", axis=[3]), layer("BatchNormalization", axis=[1, 3])),
        (layer("Softmax", axis=-1), layer("Softmax", axis=[1, 2])),
        (layer("Normalization", axis=[-1]), layer("Normalization", axis=None)),
        (layer("LeakyReLU", alpha=0.1), layer("ReLU", alpha=0.1)),
        (layer("Dense", units=2), layer("TimeDistributed", layer=layer("Dense", units=2))),
        (
            layer("Dense", units=2),
            {"class_name": "Sequential", "config": {"name": "l", "layers": [INPUT]}},
        ),
        (layer("Embedding", input_length=3), layer("Lambda", function="mine")),
    ],
)
def test_layers_that_keras_3_was_seen_to_load(near: JsonObject, far: JsonObject) -> None:
    """Beside each the nearest that is not promised."""
    assert opens(near)
    assert not opens(far)


def test_rules_that_change_no_prediction() -> None:
    """Those of training; what another rule would change is not promised, nor any file of Keras 1."""
    dense = layer("Dense", units=2)
    assert opens(dense, "arguments", "optimizer-decay")
    assert not opens(dense, "input-layer")
    assert not opens(dense, version="1.2.2")


def test_what_keras_3_computes_otherwise() -> None:
    """Said with the layers; where a rule does not always change something, nothing is promised."""
    lstm = layer("LSTM", units=2, implementation=1)
    assert opens(lstm, "arguments", "hard-sigmoid")
    made = [Conversion("arguments", ("l",), ""), Conversion("hard-sigmoid", ("l",), "")]
    assert altered_predictions(made) == {"hard_sigmoid": ("l",)}
    assert opens(layer("Add"), "mask")
    assert not opens(layer("Softmax"), "mask")  # fails
    assert opens(layer("Conv2D"), "channels-first-bias")
    assert not opens(layer("Conv3DTranspose"), "channels-first-bias")  # right
