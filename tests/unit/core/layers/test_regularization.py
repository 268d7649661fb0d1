"""Layers that act in training alone."""

from __future__ import annotations

from unnest.core.layers.regularization import LAYERS
from unnest.core.layers.shape_rules import same

RECORDS = {layer.name: layer for layer in LAYERS}


def test_all_give_their_input() -> None:
    assert all(layer.in_training_only and layer.output_shape is same for layer in LAYERS)
