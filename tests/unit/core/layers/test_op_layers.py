"""Layers that tf.keras makes of operations."""

from __future__ import annotations

from unnest.core.layers.op_layers import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_none_is_in_keras_3() -> None:
    assert all(layer.is_missing_in_keras_3 and not layer.exported for layer in LAYERS)
    assert {name for name, layer in RECORDS.items() if layer.adds_loss} == {"AddLoss", "AddMetric"}
