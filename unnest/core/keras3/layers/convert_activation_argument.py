"""Activations: by today's name, as a layer behind, or with what feeds a hard_sigmoid multiplied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from unnest.core.keras3 import convert_config_values, derived_weights
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.convert_config_values import class_and_config
from unnest.core.keras3.layer_replacements import Config, NewLayer, Piece, Weights, chain
from unnest.core.keras_facts.custom_functions_in_configs import (
    ACTIVATIONS,
    HARD_SIGMOID,
    OFTEN_WITH_A_FACTOR,
    WELL_KNOWN_ACTIVATIONS,
    is_custom_activation,
)
from unnest.core.keras_facts.weight_counts_by_config import initialized_weight_counts
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json, JsonObject

#: What feeds a hard_sigmoid of then, times this, gives the same from today's.
HARD_SIGMOID_FACTOR = 1.2


def convert_activation(value: Json, name: str, context: Context) -> str | JsonObject:
    """Convert an activation: its name today, a layer that stands for it, or a custom function by name."""
    if value is None:
        return "linear"
    convert_config_values.check_one_lambda(value, name, "activation", context)
    word, config = class_and_config(value)
    if isinstance(value, Mapping) and word == "Activation":
        return convert_activation(config.get("activation"), name, context)
    if isinstance(value, Mapping) and layer_record(word).is_in_keras_3:
        return {"class_name": word, "config": config}
    if word in (HARD_SIGMOID, "hard_sigmoid_v1"):
        return HARD_SIGMOID
    is_custom = is_custom_activation(word, context.release, is_standalone=context.is_standalone)
    if word not in ACTIVATIONS or (is_custom and word not in WELL_KNOWN_ACTIVATIONS):
        context.notes.custom[convert_config_values.without_package(word)] = (
            f"activation of {name!r}"
        )
        return convert_config_values.custom_function(word)
    if is_custom:
        meaning = f"{word} = {WELL_KNOWN_ACTIVATIONS[word]}"
        context.note("known-function", name, meaning)
        if word in OFTEN_WITH_A_FACTOR:
            context.notes.assumed_functions.append(f"{name} ({meaning})")
    return word


def is_layer_entry(found: str | JsonObject) -> TypeGuard[JsonObject]:
    """Return True if an activation is a layer of its own: neither a name nor a custom function."""
    return not isinstance(found, str) and found.get("class_name") != "function"


def with_converted_activation(layer: NewLayer, context: Context) -> Piece:
    """Convert a layer's activation; weights that feed a hard_sigmoid are scaled."""
    found = convert_activation(layer.config["activation"], layer.name, context)
    if is_layer_entry(found):
        promised = initialized_weight_counts(
            {k: v for k, v in layer.config.items() if k != "activation"}
        )
        own = len(layer.weights) if promised is None else promised.total
        inner = layer.renamed(f"{layer.name}_linear")._replace(weights=layer.weights[:own])
        inner = inner._replace(config={**inner.config, "activation": "linear"})
        context.note("activation-layer", layer.name)
        behind = context.convert_layer(found, layer.name, layer.weights[own:])
        if not isinstance(behind, NewLayer):
            raise refused(
                layer.name,
                layer.class_name,
                f"its activation {found['class_name']} is several layers today",
            )
        return chain(inner, behind.renamed(layer.name))
    new = layer._replace(config={**layer.config, "activation": found})
    if found != HARD_SIGMOID:
        return new
    if layer.class_name == "Activation":
        context.note("hard-sigmoid", layer.name)
        return chain(_rescaling(f"{layer.name}_rescaled", layer.config.get("dtype")), new)
    return new._replace(
        weights=scale_weights(new.weights, hard_sigmoid_factors(new), layer.name, context)
    )


def hard_sigmoid_factors(layer: NewLayer) -> list[tuple[float, ...]]:
    """Return the factor of each weight that feeds a hard_sigmoid; 1 for the first kernel of a separable layer."""
    through = [(1.0,)] if layer.class_name.startswith("Separable") else []
    return [*through, *[(HARD_SIGMOID_FACTOR,)] * (len(layer.weights) - len(through))]


def scale_weights(
    weights: Weights, factors: Sequence[tuple[float, ...]], name: str, context: Context
) -> Weights:
    """Return the weights times these factors; if the file has none, a finding says so.

    Each weight's factors are those of equal blocks of its last axis.
    """
    if not weights:
        context.notes.unscaled.append(name)
        return ()
    context.note("hard-sigmoid", name)
    return tuple(
        w if set(f) == {1.0} else derived_weights.scaled(w, *f)
        for w, f in zip(weights, factors, strict=True)
    )


def _rescaling(name: str, dtype: Json) -> NewLayer:
    config: Config = {
        "name": name,
        "trainable": True,
        "dtype": dtype,
        "scale": HARD_SIGMOID_FACTOR,
        "offset": 0.0,
    }
    return NewLayer(name, "Rescaling", config)
