"""Convolutions."""

from __future__ import annotations

from unnest.core.layers.convolution import LAYERS

RECORDS = {layer.name: layer for layer in LAYERS}


def test_a_window_of_as_many_axes_as_the_name_says() -> None:
    sizes = {name: layer.window_axes for name, layer in RECORDS.items() if layer.input_axes}
    assert len(sizes) == 10
    assert all(f"{axes}D" in name for name, axes in sizes.items())


def test_names_of_keras_1() -> None:
    assert all(RECORDS[layer.renamed_to].is_in_keras_3 for layer in LAYERS if layer.renamed_to)
