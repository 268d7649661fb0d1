"""SeparableConv1D with causal padding."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.keras3 import removed_layers
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.layers.plain_layers import plain_layer
from unnest.core.keras3.pieces import Config, NewLayer, Piece, Weights, chain
from unnest.core.model import Json


def separable_1d(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """SeparableConv1D; `causal`, which Keras 3 refuses, is zeros before and `valid`."""
    if config.get("padding") != "causal":
        return plain_layer(kind, config, name, weights, context)
    size, dilation = (_first(config.get(k, 1)) for k in ("kernel_size", "dilation_rate"))
    context.note("causal", name)
    made = plain_layer(kind, {**config, "padding": "valid"}, name, weights, context)
    if not isinstance(made, NewLayer):
        raise refused(name, kind, "causal padding with such an activation is not expressed")
    padding = {"padding": [dilation * (size - 1), 0], "data_format": config.get("data_format", "channels_last")}
    return chain(removed_layers.layer("ZeroPadding1D", f"{name}_padding", padding), made)


def _first(value: Json) -> int:
    number = value[0] if isinstance(value, Sequence) and not isinstance(value, str) else value
    assert isinstance(number, int)
    return number
