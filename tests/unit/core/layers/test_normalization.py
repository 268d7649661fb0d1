"""Normalizing layers."""

from __future__ import annotations

from unnest.core.layers.normalization import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_statistics() -> None:
    untrained = {
        name
        for name, layer in RECORDS.items()
        if any(not weight.trained for weight in layer.weights or ())
    }
    assert untrained == {"BatchNormalization", "SyncBatchNormalization", "Normalization"}
