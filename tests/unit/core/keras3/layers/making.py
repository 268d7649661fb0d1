"""Single layers with handles for weights, and what became of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.layer_replacements import Expansion, NewLayer, Piece
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.model import Tensor

KERAS_2 = (2, 4, 0)
RULES: dict[str, Any] = {
    f"kernel_{rule}": "glorot_uniform" if rule == "initializer" else None
    for rule in ("initializer", "regularizer", "constraint")
}
BIAS = {key.replace("kernel", "bias"): value for key, value in RULES.items()}
DENSE: dict[str, Any] = {"units": 3, "activation": "linear", "use_bias": True, **RULES, **BIAS}
RNN = {"units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}


def weights(*shapes: tuple[int, ...], dtype: str = "<f4") -> tuple[Tensor, ...]:
    """A layer's weights."""
    return tuple(Tensor(f"w{k}", shape, dtype, f"/w{k}") for k, shape in enumerate(shapes))


def of_keras_2_2(*, masks: bool = False) -> Context:
    """A conversion of a file of Keras 2.2.4 on TensorFlow, by the rules of all layers."""
    return replace(Context.of("2.2.4", "tensorflow"), masks=masks, layer_converter=convert_layer)


def made(
    kind: str,
    config: dict[str, Any],
    *shapes: tuple[int, ...],
    release: tuple[int, ...] = KERAS_2,
    **more: Any,
) -> Piece:
    """Convert the layer `l` of that class; `more` are fields of the context."""
    context = Context(release=release, layer_converter=convert_layer, **more)
    return convert_layer(
        {"class_name": kind, "config": {"name": "l", **config}}, "l", weights(*shapes), context
    )


def one(piece_made: Piece) -> NewLayer:
    """The layer that it became."""
    assert isinstance(piece_made, NewLayer)
    return piece_made


def links(piece_made: Piece) -> tuple[NewLayer, ...]:
    """The chain of layers that it became."""
    assert isinstance(piece_made, Expansion)
    assert piece_made.chain is not None
    return piece_made.chain


def steps(tensor: Tensor) -> list[tuple[str, tuple[float, ...]]]:
    """How a weight is computed from the first of what it is made of, the last step first."""
    recipe = tensor.recipe
    return (
        []
        if recipe is None
        else [(recipe.step, recipe.arguments), *(steps(recipe.of[0]) if recipe.of else [])]
    )


def refuses(
    kind: str, config: dict[str, Any], why: str, *shapes: tuple[int, ...], **more: Any
) -> None:
    """Check that the layer is refused by its name and class, for this reason."""
    with pytest.raises(CannotConvert, match=rf"'l' \({kind}\): .*{why}"):
        made(kind, config, *shapes, **more)
