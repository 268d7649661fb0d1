"""Layers that prepare images."""

from __future__ import annotations

from unnest.core.layers.image_preprocessing import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_what_keras_3_has_not() -> None:
    assert {name for name, layer in RECORDS.items() if layer.is_missing_in_keras_3} == {
        "RandomHeight",
        "RandomWidth",
    }
    assert all(layer.gone or layer.is_in_keras_3 or layer.keras == (3,) for layer in LAYERS)
