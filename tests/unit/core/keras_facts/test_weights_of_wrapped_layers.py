"""Layers in a layer, part by part: how many weights, and which parts are frozen."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.weights_of_wrapped_layers import (
    HeldLayer,
    divide_spectral_normalization,
    expected_weight_total,
    held_layers,
    partly_frozen_layer,
    wrapped_layer,
)
from unnest.core.model import Tensor

Entry = dict[str, Any]


def cell(name: str = "c", *, frozen: bool = False, **config: Any) -> Entry:
    """Three weights."""
    told = {
        f"{stem}_{rule}": None
        for stem in ("kernel", "recurrent", "bias")
        for rule in ("initializer", "regularizer")
    }
    return {
        "class_name": "SimpleRNNCell",
        "config": {"name": name, "trainable": not frozen, **told, **config},
    }


def layer(class_name: str, **config: Any) -> Entry:
    """Of a custom class."""
    return {"class_name": class_name, "config": {"name": "held", "trainable": True, **config}}


def stacked(*cells: Entry) -> Entry:
    """An RNN of several cells."""
    return layer("RNN", cell=layer("StackedRNNCells", cells=[*cells]))


TRAINED, FROZEN = HeldLayer(3, is_frozen=False), HeldLayer(3, is_frozen=True)


@pytest.mark.parametrize(
    ("entry", "parts", "is_partly"),
    [
        (cell(), [], False),
        (layer("RNN", cell=cell()), [TRAINED], False),
        (layer("RNN", cell=cell(frozen=True)), [FROZEN], False),
        (stacked(cell(), cell()), [TRAINED, TRAINED], False),
        (stacked(cell(), cell(frozen=True)), [TRAINED, FROZEN], True),
        (stacked(cell(frozen=True), cell(frozen=True)), [FROZEN, FROZEN], False),
        (
            layer("RNN", cell=stacked(cell(), cell())["config"]["cell"], trainable=False),
            [TRAINED, TRAINED],
            False,
        ),
        (layer("Bidirectional", layer=cell()), [TRAINED, TRAINED], False),
        # Keras's own config speaks of the forward layer alone: the other may be trained.
        (layer("Bidirectional", layer=cell(frozen=True)), [FROZEN, FROZEN], True),
        (
            layer("Bidirectional", layer=cell(), backward_layer=cell(frozen=True)),
            [TRAINED, FROZEN],
            True,
        ),
        (
            layer("TimeDistributed", layer=stacked(cell(), cell(frozen=True))),
            [TRAINED, FROZEN],
            True,
        ),
        (
            layer("TimeDistributed", layer=layer("Sequential", layers=[cell(), cell(frozen=True)])),
            [TRAINED, FROZEN],
            False,
        ),
        (layer("Whatever", of_a_name="c", cells=[cell(), None, 3, "x"]), [TRAINED], False),
    ],
)
def test_parts(entry: Entry, parts: list[HeldLayer], is_partly: bool) -> None:
    assert held_layers(entry) == parts
    model: Entry = {"class_name": "Functional", "config": {"name": "m", "layers": [entry]}}
    assert partly_frozen_layer(model) == ("held" if is_partly else None)
    assert partly_frozen_layer(layer("TimeDistributed", layer=model)) == (
        "held" if is_partly else None
    )


@pytest.mark.parametrize(
    ("entry", "total"),
    [
        (cell(), 3),
        (cell(use_bias=False), 2),
        (layer("RNN", cell=cell()), 3),
        (stacked(cell(), cell(use_bias=False)), 5),
        (layer("Bidirectional", layer=cell()), 6),
        (layer("Bidirectional", layer=cell(), backward_layer=cell(use_bias=False)), 5),
        (
            layer(
                "Bidirectional", layer=layer("RNN", cell=stacked(cell(), cell())["config"]["cell"])
            ),
            12,
        ),
        (layer("TimeDistributed", layer=cell()), 3),
        (layer("TimeDistributed"), None),
        (layer("RNN", cell=layer("OwnCell")), None),
        (stacked(cell(), layer("OwnCell")), None),
        (layer("Own", layer=cell()), None),
        ({"class_name": "SimpleRNNCell"}, None),
    ],
)
def test_promised(entry: Entry, total: int | None) -> None:
    """A custom class shows nothing, nor does a class that is missing."""
    assert expected_weight_total(entry) == total


@pytest.mark.parametrize(
    ("entry", "held"),
    [
        (layer("RNN", cell=cell()), cell()),
        (layer("TimeDistributed", layer=cell()), cell()),
        (layer("Bidirectional", layer=cell()), None),
        (layer("SpectralNormalization", layer=cell()), None),
        (layer("TimeDistributed", layer="cell"), None),
        (layer("TimeDistributed"), None),
    ],
)
def test_the_one_layer_that_has_all_the_weights(entry: Entry, held: Entry | None) -> None:
    assert wrapped_layer(entry) == held


@pytest.mark.parametrize(
    ("shapes", "vector"),
    [
        ([(2, 4), (4,), (1, 4)], 2),
        ([(2, 4), (1, 4), (4,)], 1),
        ([(1, 4), (4,), (1, 4)], 2),  # a kernel of one row
        ([(2, 4), (1, 4)], 1),
        ([(2, 4), (1, 4), (1, 4)], None),  # a bias of two axes
        ([(2, 4), (4,)], None),
        ([(2, 4)], None),
        ([(), (1, 4)], None),
        ([(2, 4), (4,), (4,), (1, 4)], None),
    ],
)
def test_the_vector_of_a_spectral_normalization(
    shapes: list[tuple[int, ...]], vector: int | None
) -> None:
    tensors = [Tensor(f"w{k}", shape, "<f4", f"/{k}") for k, shape in enumerate(shapes)]
    found = divide_spectral_normalization(tensors)
    if vector is None:
        assert found is None
        return
    assert found == (tuple(t for t in tensors if t.ref != f"/{vector}"), tensors[vector])
