"""Layers that hold another layer."""

from __future__ import annotations

from unnest.core.layers.wrapper_layers import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_what_they_hold_is_an_argument() -> None:
    assert all(
        {*layer.holds} <= {*layer.arguments} for layer in LAYERS if layer.arguments is not None
    )
    assert {name for name, layer in RECORDS.items() if layer.weights} == {"SpectralNormalization"}
