"""Layers that change a shape."""

from __future__ import annotations

from unnest.core.layers.reshaping import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_none_has_weights() -> None:
    assert all(layer.is_weightless for layer in LAYERS)


def test_keras_1_did_not_store_the_order_of_axes() -> None:
    assert all(layer.keras_1_omits_data_format == (layer.input_axes in (4, 5)) for layer in LAYERS)
