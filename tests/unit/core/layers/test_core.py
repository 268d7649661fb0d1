"""Core layers."""

from __future__ import annotations

from unnest.core.layers.core import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_what_keras_1_called_dense() -> None:
    assert RECORDS["TimeDistributedDense"].renamed_to == "Dense"
    assert RECORDS["TimeDistributedDense"].keras_1_arguments == RECORDS["Dense"].keras_1_arguments


def test_what_holds_code() -> None:
    assert [name for name, layer in RECORDS.items() if layer.functions] == ["Lambda"]
