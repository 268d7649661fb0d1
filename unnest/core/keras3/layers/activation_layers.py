"""Layers that are activations: Activation, Softmax, PReLU, ThresholdedReLU."""

from __future__ import annotations

from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.layers.activations import activation, is_layer
from unnest.core.keras3.layers.plain_layers import passing_layer, plain_layer
from unnest.core.keras3.pieces import Config, NewLayer, Piece, Weights


def activation_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Activation; of a function that is a layer today, that layer."""
    found = activation(config.get("activation"), name, kind, context)
    if not is_layer(found):
        return passing_layer(kind, config, name, weights, context)
    context.note("activation-layer", name)
    made = context.convert_layer(found, name, ())
    return made.renamed(name) if isinstance(made, NewLayer) else made


def softmax(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Softmax; before tf.keras 2.4 it heeded no mask, as the activation of that name does not."""
    if not context.masks or context.release >= (2, 4):
        return plain_layer(kind, config, name, weights, context)
    if config.get("axis", -1) != -1:
        raise refused(name, kind, "heeds a mask in Keras 3, along another axis than the last")
    context.note("mask", name)
    own = {k: v for k, v in config.items() if k != "axis"}
    return plain_layer("Activation", {**own, "activation": "softmax"}, name, weights, context)


def prelu(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """PReLU; Keras 1 does not store along which axes its weight is shared, but the weight shows it."""
    if "alpha_initializer" in config and "shared_axes" not in config and weights:
        config = {**config, "shared_axes": [k + 1 for k, size in enumerate(weights[0].shape) if size == 1] or None}
    return plain_layer(kind, config, name, weights, context)


def thresholded_relu(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """ThresholdedReLU: ReLU with that threshold."""
    del kind
    context.note("thresholded-relu", name)
    new = {**{k: v for k, v in config.items() if k != "theta"}, "threshold": config.get("theta", 1.0)}
    return plain_layer("ReLU", {**new, "max_value": None, "negative_slope": 0.0}, name, weights, context)
