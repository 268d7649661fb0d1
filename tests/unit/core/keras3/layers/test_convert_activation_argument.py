"""Activations by today's names, and hard_sigmoid of then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import DENSE, KERAS_2, links, made, one, steps
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.layers.convert_activation_argument import convert_activation
from unnest.core.keras3.layers.dispatch import convert_layer


@pytest.mark.parametrize(
    ("value", "release", "written", "custom"),
    [
        (None, (2, 2, 4), "linear", None),
        ("relu", (2, 2, 4), "relu", None),
        ("hard_sigmoid_v1", (2, 2, 4), "hard_sigmoid", None),
        ("gelu", (2, 2, 4), {"module": None, "class_name": "function", "config": "gelu", "registered_name": "gelu"},
         "gelu"),
        ("gelu", (2, 5, 0), "gelu", None),
        ("swish", (2, 2, 4), "swish", None),
        ({"class_name": "ReLU", "config": {"name": "r"}}, (2, 4, 0), {"class_name": "ReLU", "config": {"name": "r"}},
         None),
        ({"class_name": "Activation", "config": {"activation": "tanh"}}, (2, 4, 0), "tanh", None),
    ],
    ids=["none", "name", "v1", "own-of-then", "keras's-since", "well-known", "layer", "wrapped"],
)  # fmt: skip
def test_an_activation(
    value: Any, release: tuple[int, ...], written: Any, custom: str | None
) -> None:
    """In a file older than Keras's function of that name, the name is a custom function's."""
    context = Context(release=release)
    assert convert_activation(value, "l", context) == written
    assert list(context.notes.custom) == ([] if custom is None else [custom])


def test_a_hard_sigmoid_of_then() -> None:
    """Its argument times 1.2: in the weights where there are some, before the layer otherwise."""
    layer = one(made("Dense", {**DENSE, "activation": "hard_sigmoid"}, (4, 3), (3,)))
    assert [steps(w) for w in layer.weights] == [[("scale", (1.2,))]] * 2
    rescaled, same = links(made("Activation", {"activation": "hard_sigmoid"}))
    assert (rescaled.class_name, rescaled.config["scale"], same.name) == ("Rescaling", 1.2, "l")


def test_a_hard_sigmoid_without_weights() -> None:
    """A model's JSON alone: there is nothing to multiply, and the layer is named."""
    context = Context(release=KERAS_2)
    config = {"name": "l", **DENSE, "activation": "hard_sigmoid"}
    layer = one(convert_layer({"class_name": "Dense", "config": config}, "l", (), context))
    assert (layer.class_name, layer.config["activation"], layer.weights) == (
        "Dense",
        "hard_sigmoid",
        (),
    )
    assert (context.notes.unscaled, context.notes.applied) == (["l"], {})


def test_the_first_kernel_of_a_separable_convolution_feeds_the_second() -> None:
    config = {"filters": 2, "kernel_size": [3, 3], "use_bias": True, "activation": "hard_sigmoid"}
    layer = one(made("SeparableConv2D", config, (3, 3, 3, 1), (1, 1, 3, 2), (2,)))
    assert [steps(w) for w in layer.weights] == [[], [("scale", (1.2,))], [("scale", (1.2,))]]
