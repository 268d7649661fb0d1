"""Layers that resize or rescale."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import made, one
from unnest.core.keras3.conversion_context import CannotConvert
from unnest.core.keras3.graph.graph_builder import Builder
from unnest.core.keras3.layer_replacements import Expansion, LayerArguments, NewLayer


@pytest.mark.parametrize(("masks", "kinds"), [(True, ["Multiply", "Add"]), (False, ["Rescaling"])])
def test_a_rescaling_passes_no_mask_on(masks: bool, kinds: list[str]) -> None:
    """If it may get a mask, a Rescaling becomes two operations."""
    rescaling = made("Rescaling", {"scale": 0.5, "offset": 1.0}, masks=masks)
    if isinstance(rescaling, NewLayer):
        assert [rescaling.class_name] == kinds
        return
    assert isinstance(rescaling, Expansion)
    builder = Builder()
    x = builder.input(
        NewLayer("x", "InputLayer", {"name": "x", "batch_shape": [None, 4], "dtype": "float32"})
    )
    builder.place(rescaling.outputs(LayerArguments((x,), {}, builder.specs))[0], "l", "l")
    calls: list[Any] = [entry for entry in builder.entries.values() if entry.nodes]
    assert [call.entry["class_name"] for call in calls] == kinds
    assert [call.nodes[0]["args"][1] for call in calls] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("kind", "config", "more", "why"),
    [
        ("UpSampling2D", {"interpolation": "gaussian"}, {}, "no interpolation 'gaussian'"),
        (
            "Resizing",
            {"height": 3, "width": 3, "interpolation": "mitchellcubic"},
            {},
            "no interpolation 'mitchellcubic'",
        ),
        (
            "UpSampling2D",
            {"interpolation": "bilinear"},
            {"half_pixels": None},
            "does not follow from the file",
        ),
        ("Hashing", {"num_bins": 5, "salt": [0xDECAFCAFFE] * 2}, {}, "stored a salt though none"),
        ("StringLookup", {"vocabulary": "words.txt"}, {}, r"a file \('words.txt'\)"),
        ("TextVectorization", {"vocabulary": "words.txt"}, {}, r"a file \('words.txt'\)"),
    ],
)
def test_refused(kind: str, config: dict[str, Any], more: dict[str, Any], why: str) -> None:
    with pytest.raises(CannotConvert, match=why):
        made(kind, {"size": [2, 2], **config}, **more)


@pytest.mark.parametrize("how", ["nearest", "bicubic"])
def test_an_upsampling_of_the_same_pixels(how: str) -> None:
    assert one(
        made("UpSampling2D", {"size": [2, 2], "interpolation": how}, half_pixels=False)
    ).config["size"] == [2, 2]


@pytest.mark.parametrize(
    ("config", "dtype"),
    [
        ({"dtype": "float32"}, "int64"),
        ({"dtype": "int32"}, "int32"),
        ({"dtype": "float32", "output_mode": "one_hot"}, "float32"),
    ],
)
def test_what_a_hashing_gives_are_integers(config: dict[str, Any], dtype: str) -> None:
    assert one(made("Hashing", {"num_bins": 5, **config})).config["dtype"] == dtype


@pytest.mark.parametrize(
    ("config", "dtype"),
    [
        ({"dtype": "int64"}, "float32"),
        ({"dtype": "float32", "output_mode": "one_hot"}, "float32"),
        ({"dtype": "float64", "output_mode": "count"}, "float64"),
    ],
)
def test_a_discretization_reads_floats(config: dict[str, Any], dtype: str) -> None:
    """Keras 3 casts what a layer reads to the layer's dtype: fractions would be lost."""
    bins = {"bin_boundaries": [0.2, 0.5], **config}
    assert one(made("Discretization", bins)).config["dtype"] == dtype
