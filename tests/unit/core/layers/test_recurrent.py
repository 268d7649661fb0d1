"""Recurrent layers."""

from __future__ import annotations

from unnest.core.layers.recurrent import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_a_gate_has_as_many_columns_as_units() -> None:
    for layer in LAYERS:
        if layer.weight_shapes is not None and layer.gates and layer.input_axes is None:
            assert layer.weight_shapes({"units": 1}) == [
                (None, len(layer.gates)),
                (1, len(layer.gates)),
                (len(layer.gates),),
            ]
        assert not layer.keras_1_gates or sorted(layer.gates) == sorted(layer.keras_1_gates)


def test_cells_have_the_arguments_of_their_layers() -> None:
    for name in ("LSTM", "GRU", "SimpleRNN"):
        assert {*(RECORDS[f"{name}Cell"].arguments or ())} <= {*(RECORDS[name].arguments or ())}
