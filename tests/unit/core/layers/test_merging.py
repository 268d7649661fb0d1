"""Layers that merge tensors."""

from __future__ import annotations

from unnest.core.layers.catalog import LAYER_RECORDS
from unnest.core.layers.merging import LAYERS
from unnest.core.layers.record import MaskUse
from unnest.core.ops.operation_kinds import JOINS
from unnest.core.ops.registry import OPERATIONS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_masks_and_merges() -> None:
    assert {name for name, layer in RECORDS.items() if layer.mask is not MaskUse.MERGES} == {"Dot"}
    assert {name for name, layer in RECORDS.items() if layer.combines} == RECORDS.keys() - {
        "Concatenate",
        "Merge",
    }


def test_layers_join_rows_as_their_operations_do() -> None:
    joining = {
        name
        for name, layer in LAYER_RECORDS.items()
        if layer.merges
        and (OPERATIONS[layer.merges].kind in JOINS or OPERATIONS[layer.merges].adds)
    }
    assert joining == {"Add", "Concatenate"}
    assert {name for name, layer in LAYER_RECORDS.items() if layer.may_join_rows} == joining | {
        "Lambda",
        "Merge",
    }
