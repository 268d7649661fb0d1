"""One layer of an older model, with its weights, as Keras 3's: a rule a class, in modules by family."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from unnest.core.keras3.context import Context
from unnest.core.keras3.pieces import Config, Piece, Weights
from unnest.core.model import JsonObject

LayerRule: TypeAlias = Callable[[str, Config, str, Weights, Context], Piece]
"""Class, config, today's name and weights of a layer -> what it becomes; raises CannotConvert."""


def piece(entry: JsonObject, name: str, weights: Weights, context: Context) -> Piece:
    """Return the replacement of a layer entry. Raises CannotConvert."""
    from unnest.core.keras3.layers.dispatch import converted_layer  # its rules call this for the layers in a layer

    return converted_layer(entry, name, weights, context)
