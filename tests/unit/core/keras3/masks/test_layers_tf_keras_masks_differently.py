"""Layers that compute otherwise in tf_keras because of a mask, and their nearest that do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.mask_cases import DENSE, EMBEDDING, FLATTEN, MASKING, ONE_WAY
from unnest.core.keras3.masks.layers_tf_keras_masks_differently import masked_otherwise
from unnest.core.model import Stored

SOFTMAX: dict[str, Any] = {"class_name": "Softmax", "config": {"name": "s"}}
RELU: dict[str, Any] = {"class_name": "ReLU", "config": {}}
LINEAR: dict[str, Any] = {"class_name": "Activation", "config": {"activation": "linear"}}
ATTENTION: dict[str, Any] = {"class_name": "MultiHeadAttention", "config": {"name": "a"}}


def each(held: dict[str, Any]) -> dict[str, Any]:
    """A TimeDistributed of a layer."""
    return {"class_name": "TimeDistributed", "config": {"name": "t", "layer": held}}


def named(version: str, *layers: dict[str, Any]) -> str | None:
    """The reason for a Sequential of a release."""
    entries = [
        {**layer, "config": {**layer["config"], "name": f"l{k}"}} for k, layer in enumerate(layers)
    ]
    model: dict[str, Any] = {"class_name": "Sequential", "config": {"name": "m", "layers": entries}}
    return masked_otherwise(Stored("model", model, keras_version=version))


@pytest.mark.parametrize(
    ("version", "layers", "says"),
    [
        ("2.0.9", [each(EMBEDDING), each(ONE_WAY)], "got no mask, and gets one there"),
        ("2.2.0", [each(EMBEDDING), each(ONE_WAY)], None),
        ("2.1.6", [MASKING, each(ONE_WAY)], "gave the layer in it no mask"),
        ("2.1.6", [MASKING, each(FLATTEN)], "gave the layer in it no mask"),
        ("2.1.6", [MASKING, each(DENSE), ONE_WAY], None),
        ("2.1.6", [each(ONE_WAY), MASKING, DENSE], None),
        ("2.3.1", [MASKING, SOFTMAX], "did not heed its mask"),
        ("2.3.1", [SOFTMAX, MASKING], None),
        ("2.3.0-tf", [MASKING, SOFTMAX], "did not heed its mask"),
        ("2.3.0-tf", [MASKING, RELU, ONE_WAY], "got no mask, and gets one there"),
        ("2.3.1", [MASKING, RELU, ONE_WAY], None),
        ("2.5.0", [MASKING, RELU, ONE_WAY], None),
        ("2.2.4-tf", [MASKING, LINEAR, ONE_WAY], "got no mask, and gets one there"),
        ("2.3.0-tf", [MASKING, LINEAR, ONE_WAY], None),
        ("2.4.0", [MASKING, SOFTMAX], "did not heed its mask"),
        ("2.5.0", [MASKING, SOFTMAX], None),
        ("2.9.0", [MASKING, ATTENTION], "did not heed its mask"),
        ("2.10.0", [MASKING, ATTENTION], None),
    ],
)
def test_a_chain(version: str, layers: list[dict[str, Any]], says: str | None) -> None:
    reason = named(version, *layers)
    assert reason is None if says is None else says in str(reason)


#: TensorFlow 1 stores a dtype with each initializer.
OF_TENSORFLOW_1: dict[str, Any] = {
    "class_name": "Dense",
    "config": {"kernel_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}}},
}
WITH_RAGGED: dict[str, Any] = {"class_name": "InputLayer", "config": {"ragged": False}}
LAST_STEP: dict[str, Any] = {"class_name": "LSTM", "config": {"return_sequences": False}}
CUSTOM: dict[str, Any] = {"class_name": "Mine", "config": {}}
INNER: dict[str, Any] = {"class_name": "Sequential", "config": {"layers": [LAST_STEP]}}


def both_ways(output: str) -> dict[str, Any]:
    """A Bidirectional LSTM that gives an output at all "steps", or its "last" one."""
    held = {"class_name": "LSTM", "config": {"return_sequences": output == "steps"}}
    return {"class_name": "Bidirectional", "config": {"layer": held}}


@pytest.mark.parametrize(
    ("version", "layers", "says"),
    [
        ("2.2.4", [MASKING, both_ways("steps")], "gives zeros there"),
        ("2.3.1", [MASKING, both_ways("steps")], "gives zeros there"),
        ("2.2.4-tf", [MASKING, both_ways("steps")], "gives zeros there"),
        ("2.0.9", [EMBEDDING, both_ways("steps")], "gives zeros there"),
        ("2.2.4", [MASKING, CUSTOM, both_ways("steps")], "gives zeros there"),
        ("2.2.4-tf", [WITH_RAGGED, MASKING, both_ways("steps")], None),
        ("2.3.0-tf", [MASKING, both_ways("steps")], None),
        ("2.4.0", [MASKING, both_ways("steps")], None),
        ("2.2.4", [MASKING, both_ways("last")], None),
        ("2.2.4", [both_ways("steps")], None),
        ("2.2.4-tf", [MASKING, both_ways("last"), OF_TENSORFLOW_1], "gives its last output there"),
        ("2.2.4-tf", [MASKING, INNER, OF_TENSORFLOW_1], "before 1.15"),
        ("2.1.6-tf", [MASKING, INNER], "before 1.15"),
        ("2.2.4-tf", [MASKING, LAST_STEP, OF_TENSORFLOW_1], None),
        ("2.2.4-tf", [INNER, OF_TENSORFLOW_1], None),
        ("2.2.4-tf", [WITH_RAGGED, MASKING, INNER, OF_TENSORFLOW_1], None),
        ("2.2.4", [MASKING, INNER], None),
    ],
)
def test_until_tensorflow_2_0(version: str, layers: list[dict[str, Any]], says: str | None) -> None:
    """A Bidirectional's outputs at masked steps, and before TensorFlow 1.15 its last one and models in the model."""
    reason = named(version, *layers)
    assert reason is None if says is None else says in str(reason)


def test_within_a_model() -> None:
    """A model in a model is looked through, with the mask that comes in."""
    inner = {"class_name": "Sequential", "config": {"name": "n", "layers": [SOFTMAX]}}
    assert "did not heed" in str(named("2.3.1", MASKING, inner))
    assert named("2.3.1", inner, MASKING) is None


@pytest.mark.parametrize(("version", "is_said"), [("2.2.4", True), ("2.3.0", False)])
def test_an_initial_state(version: str, is_said: bool) -> None:
    """Masked first steps gave it, up to Keras 2.2."""

    def layer(kind: str, name: str, *reads: str) -> dict[str, Any]:
        nodes = [[[read, 0, 0, {}] for read in reads]] if reads else []
        return {"class_name": kind, "name": name, "config": {"name": name}, "inbound_nodes": nodes}

    layers = [
        layer("InputLayer", "i"),
        layer("InputLayer", "s"),
        layer("Masking", "m", "i"),
        layer("GRU", "g", "m", "s"),
    ]
    ends = {"input_layers": [["i", 0, 0], ["s", 0, 0]], "output_layers": [["g", 0, 0]]}
    model: dict[str, Any] = {
        "class_name": "Model",
        "config": {"name": "m", "layers": layers, **ends},
    }
    reason = masked_otherwise(Stored("model", model, keras_version=version))
    assert (reason is not None and "initial state" in reason) is is_said
