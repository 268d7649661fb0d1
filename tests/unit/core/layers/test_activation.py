"""Layers that are activations."""

from __future__ import annotations

from unnest.core.layers.activation import LAYERS
from unnest.core.layers.shape_rules import same

RECORDS = {layer.name: layer for layer in LAYERS}


def test_weights() -> None:
    assert {name for name, layer in RECORDS.items() if layer.weights} == {"PReLU"}


def test_all_keep_the_shape() -> None:
    assert {layer.output_shape for layer in LAYERS if layer.is_in_keras_3} == {same}
