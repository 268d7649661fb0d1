"""Activations: by today's name, as a layer behind, or with what feeds a hard_sigmoid multiplied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

from unnest.core.keras3 import config_values, tensors
from unnest.core.keras3.config_values import named
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.layers import Config, Weights, piece
from unnest.core.keras3.pieces import NewLayer, Piece, chain
from unnest.core.keras3.signatures import SIGNATURES
from unnest.core.keras_facts.own_functions import ACTIVATIONS, HARD_SIGMOID, WELL_KNOWN, is_somebodys
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.model import Json, JsonObject

#: What feeds a hard_sigmoid of then, times this, gives the same from today's.
HARD_SIGMOID_FACTOR = 1.2


def activation(value: Json, name: str, kind: str, context: Context) -> str | JsonObject:
    """An activation by its name of today, a layer that stands for one, or a function of somebody's own by name."""
    if value is None:
        return "linear"
    word, config = named(value)
    if isinstance(value, Mapping) and word == "Activation":
        return activation(config.get("activation"), name, kind, context)
    if isinstance(value, Mapping) and word in SIGNATURES:
        return {"class_name": word, "config": config}
    if word in (HARD_SIGMOID, "hard_sigmoid_v1"):
        return HARD_SIGMOID
    if word not in ACTIVATIONS or (is_somebodys(word, context.release) and word not in WELL_KNOWN):
        context.custom[config_values.without_package(word)] = f"activation of {name!r}"
        return config_values.function(word)
    if is_somebodys(word, context.release):
        context.note("known-function", name, f"{word} = {WELL_KNOWN[word]}")
    return word


def is_layer(found: str | JsonObject) -> TypeGuard[JsonObject]:
    """Whether an activation is a layer of its own: neither a name nor somebody's function."""
    return not isinstance(found, str) and found.get("class_name") != "function"


def activated(layer: NewLayer, context: Context) -> Piece:
    """The layer with its activation as today's, its weights scaled where that takes it."""
    found = activation(layer.config["activation"], layer.name, layer.class_name, context)
    if is_layer(found):
        promised = expected({k: v for k, v in layer.config.items() if k != "activation"})
        own = len(layer.weights) if promised is None else promised.total
        inner = replace(layer.renamed(f"{layer.name}_linear"), weights=layer.weights[:own])
        inner = replace(inner, config={**inner.config, "activation": "linear"})
        context.note("activation-layer", layer.name)
        behind = piece(found, layer.name, layer.weights[own:], context)
        if not isinstance(behind, NewLayer):
            raise refused(layer.name, layer.class_name, f"its activation {found['class_name']} is several layers today")
        return chain(inner, behind.renamed(layer.name))
    new = replace(layer, config={**layer.config, "activation": found})
    if found != HARD_SIGMOID:
        return new
    context.note("hard-sigmoid", layer.name)
    if layer.weights:
        return replace(new, weights=scaled_all(new, context))
    factor = _rescaling(f"{layer.name}_rescaled", layer.config.get("dtype"))
    if layer.class_name == "Activation":
        return chain(factor, new)
    # The file holds no weights to multiply: what the layer gives is multiplied.
    linear = replace(
        layer.renamed(f"{layer.name}_linear"),
        config={**layer.config, "name": f"{layer.name}_linear", "activation": "linear"},
    )
    config = {"name": layer.name, "trainable": True, "dtype": layer.config.get("dtype"), "activation": HARD_SIGMOID}
    return chain(linear, factor, NewLayer(layer.name, "Activation", config))


def scaled_all(layer: NewLayer, context: Context) -> Weights:
    """Kernel and bias times 1.2; of a separable convolution the last kernel."""
    del context
    if layer.class_name.startswith("Separable"):
        first, *rest = layer.weights
        return (first, *(tensors.scaled(w, HARD_SIGMOID_FACTOR) for w in rest))
    return tuple(tensors.scaled(w, HARD_SIGMOID_FACTOR) for w in layer.weights)


def _rescaling(name: str, dtype: Json) -> NewLayer:
    config: Config = {"name": name, "trainable": True, "dtype": dtype, "scale": HARD_SIGMOID_FACTOR, "offset": 0.0}
    return NewLayer(name, "Rescaling", config)
