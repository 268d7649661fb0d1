"""Pooling layers."""

from __future__ import annotations

from unnest.core.layers.pooling import LAYERS
from unnest.core.layers.record import Rows

RECORDS = {layer.name: layer for layer in LAYERS}


def test_none_has_weights() -> None:
    assert all(layer.is_weightless for layer in LAYERS)


def test_steps_are_put_together_along_one_axis() -> None:
    assert {name for name, layer in RECORDS.items() if layer.rows is Rows.OVER_STEPS} == {
        "MaxPooling1D", "AveragePooling1D", "GlobalMaxPooling1D", "GlobalAveragePooling1D",
    }  # fmt: skip
