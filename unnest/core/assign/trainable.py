"""Trained weights of a layer, by its config: the one place that decides it."""

from __future__ import annotations

from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.weight_order import promised


def trained_count(layer: Layer, count: int) -> int | None:
    """Return how many of a layer's `count` weights are trained: the first so many in Keras's order.

    None if the config does not show it: it mentions no weights, or another number of them. Not for a layer that holds a
    model: the layers of that model say what is trained.
    """
    if layer.settings.get("trainable") is False:
        return 0
    weights = promised(layer.class_name, layer.config)
    return weights.trained if weights is not None and weights.total == count else None
