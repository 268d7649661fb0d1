"""GaussianNoise."""

from __future__ import annotations

import math

from unnest.core.keras3 import removed_layers
from unnest.core.keras3.context import Context
from unnest.core.keras3.layers.plain_layers import plain_layer
from unnest.core.keras3.pieces import Config, NewLayer, Piece, Weights, chain


def gaussian_noise(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """GaussianNoise; of more than 1, which Keras 3 refuses, as the noise of a smaller tensor."""
    deviation = config.get("stddev")
    if not isinstance(deviation, int | float) or deviation <= 1:
        return plain_layer(kind, config, name, weights, context)
    context.note("large-noise", name)
    factor = 2.0 ** math.ceil(math.log2(deviation))  # a power of two: nothing is rounded
    smaller = plain_layer(kind, {**config, "stddev": deviation / factor}, f"{name}gaussian_noise", weights, context)
    assert isinstance(smaller, NewLayer)
    before, behind = (removed_layers.layer("Rescaling", n, {"scale": s, "offset": 0.0})
                      for n, s in ((f"{name}_smaller", 1 / factor), (name, factor)))  # fmt: skip
    return chain(before, smaller, behind)
