"""Layers that hold a layer: TimeDistributed, Bidirectional and SpectralNormalization."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import entry_name, snake_case
from unnest.core.keras3 import constructor_arguments
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.replacements import (
    FLOAT,
    Choice,
    Config,
    Expansion,
    NewLayer,
    Piece,
    Weights,
    chain,
)
from unnest.core.keras_facts.custom_functions import HARD_SIGMOID
from unnest.core.model import Json


def inner_layer(entry: Json, name: str, kind: str, weights: Weights, context: Context) -> NewLayer:
    """The layer inside another. Raises CannotConvert where it would be several."""
    made = _inner_piece(entry, name, kind, weights, context)
    if not isinstance(made, NewLayer):
        inner = entry.get("class_name") if isinstance(entry, Mapping) else "layer"
        raise refused(name, kind, f"the {inner} in it is several layers today")
    return made


def _inner_piece(entry: Json, name: str, kind: str, weights: Weights, context: Context) -> Piece:
    if not isinstance(entry, Mapping):
        raise refused(name, kind, "holds no layer")
    called = entry_name(entry) or snake_case(str(entry.get("class_name")))
    made = context.convert_layer(entry, called, weights)
    return made.resolved([None], [FLOAT]) if isinstance(made, Choice) else made


def time_distributed(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """TimeDistributed; over a chain of layers it is a chain of its own kind."""
    held = _inner_piece(config.get("layer"), name, kind, weights, context)
    new = constructor_arguments.written(kind, {**config, "layer": None}, name, context)
    if isinstance(held, NewLayer):
        return NewLayer(name, kind, {**new, "layer": held.entry}, held.weights)
    if not isinstance(held, Expansion) or held.chain is None:
        raise refused(name, kind, "the layer in it is several operations today")
    parts = []
    for k, inner in enumerate(held.chain):
        called = name if k == len(held.chain) - 1 else f"{name}_{inner.name}"
        parts.append(
            NewLayer(called, kind, {**new, "name": called, "layer": inner.entry}, inner.weights)
        )
    return chain(*parts)


def _without_zeroing(entry: Json, name: str, kind: str, context: Context) -> Json:
    """A direction without `zero_output_for_mask`: Bidirectional zeroes masked steps by itself where sequences come out.

    (Source: force_zero_output_for_mask of TensorFlow 1.15 to Keras 3.15; in 1.13 a last output was zeroed, too.)
    Raises CannotConvert for such a last output.
    """
    settings = entry.get("config") if isinstance(entry, Mapping) else None
    if (
        not isinstance(entry, Mapping)
        or not isinstance(settings, Mapping)
        or "zero_output_for_mask" not in settings
    ):
        return entry
    zeroes_last = settings["zero_output_for_mask"] and not settings.get("return_sequences")
    if zeroes_last and context.masks and not context.half_pixels:
        raise refused(
            name, kind, "gives zeros where its last step is masked, and its last output in Keras 3"
        )
    return {**entry, "config": {k: v for k, v in settings.items() if k != "zero_output_for_mask"}}


def bidirectional(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """Both directions have half of the weights."""
    half = len(weights) // 2
    directions = {
        key: _without_zeroing(config[key], name, kind, context)
        for key in ("layer", "backward_layer") if config.get(key)
    }  # fmt: skip
    config = {**config, **directions}
    held = config.get("layer")
    if (
        config.get("backward_layer") is None
        and isinstance(held, Mapping)
        and isinstance(held.get("config"), Mapping)
    ):
        settings = held["config"]
        if settings.get("go_backwards"):  # type: ignore[union-attr]  # a mapping, as asked
            # Keras 3 makes the other direction go backwards whichever way this one goes.
            forwards = {**settings, "go_backwards": False}  # type: ignore[dict-item]  # as above
            config = {**config, "backward_layer": {**held, "config": forwards}}
            context.note("defaults-of-then", name, "the direction of backward_layer")
    forward = inner_layer(config.get("layer"), name, kind, weights[:half], context)
    other = config.get("backward_layer")
    if other is not None:
        backward = inner_layer(other, name, kind, weights[half:], context)
    else:
        backward = inner_layer(config.get("layer"), name, kind, weights[half:], context)
    new = constructor_arguments.written(
        kind, {**config, "layer": None, "backward_layer": None}, name, context
    )
    new["layer"] = forward.entry
    if other is not None:
        new["backward_layer"] = backward.entry
    else:
        new.pop("backward_layer", None)
    return NewLayer(name, kind, new, (*forward.weights, *backward.weights))


def spectral_normalization(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """The inner layer's weights, then the vector, which is not trained.

    Raises CannotConvert where a kernel would be multiplied: each step of training divides it by its own norm. And for
    an Embedding. (Source: Keras 3.15, keras/src/layers/normalization/spectral_normalization.py: call.)
    """
    held = inner_layer(config.get("layer"), name, kind, weights[:-1], context)
    if HARD_SIGMOID in (held.config.get("activation"), held.config.get("recurrent_activation")):
        raise refused(name, kind, "its layer ends in hard_sigmoid, which is another function today")
    if held.class_name == "Embedding":
        raise refused(
            name, kind, "Keras 3 casts what comes out of its layer to the integers that went in"
        )
    new = constructor_arguments.written(kind, {**config, "layer": None}, name, context)
    vector = tuple(w._replace(trained=False) for w in weights[-1:])
    return NewLayer(name, kind, {**new, "layer": held.entry}, (*held.weights, *vector))
