"""Layers that compute otherwise in tf_keras because of a mask, and their nearest that do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.mask_cases import DENSE, EMBEDDING, FLATTEN, MASKING, ONE_WAY
from unnest.core.keras3.masks_in_tf_keras import masked_otherwise
from unnest.core.model import Stored

SOFTMAX: dict[str, Any] = {"class_name": "Softmax", "config": {"name": "s"}}
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
