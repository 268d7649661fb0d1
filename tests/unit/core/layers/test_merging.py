"""Layers that merge tensors."""

from __future__ import annotations

from unnest.core.layers.merging import LAYERS
from unnest.core.layers.record import MaskUse

RECORDS = {layer.name: layer for layer in LAYERS}


def test_masks_and_merges() -> None:
    assert {name for name, layer in RECORDS.items() if layer.mask is not MaskUse.MERGES} == {"Dot"}
    assert {name for name, layer in RECORDS.items() if layer.combines} == RECORDS.keys() - {
        "Concatenate",
        "Merge",
    }
