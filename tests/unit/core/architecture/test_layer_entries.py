"""Entries of layers, however deep in a model."""

from __future__ import annotations

from unnest.core.architecture.layer_entries import layer_entries
from unnest.core.model import Json


def _entry(kind: str, **config: Json) -> Json:
    return {"class_name": kind, "config": config}


def test_layers_of_nested_models_and_within_layers_are_entries() -> None:
    """In textual order, outer before inner; the value of another key is no layer."""
    cell = _entry("LSTMCell", kernel_initializer=_entry("Zeros"))
    model = _entry("Sequential", layers=[_entry("RNN", cell=cell), _entry("Dense")])
    found = layer_entries(_entry("Functional", layers=[_entry("InputLayer"), model]))
    names = ["Functional", "InputLayer", "Sequential", "RNN", "LSTMCell", "Dense"]
    assert [entry["class_name"] for entry in found] == names
