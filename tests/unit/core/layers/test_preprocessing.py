"""Layers that prepare text, numbers and sound."""

from __future__ import annotations

from unnest.core.layers.preprocessing import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_what_adapt_found_is_an_argument() -> None:
    adapted = {
        name: layer.adapted_argument for name, layer in RECORDS.items() if layer.adapted_argument
    }
    assert len(adapted) == 4
    assert all(argument in (RECORDS[name].arguments or ()) for name, argument in adapted.items())
