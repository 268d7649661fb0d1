"""Which of a layer's weights are trained, by what its config says: the one place that decides it."""

from __future__ import annotations

from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.weight_order import promised


def trained_count(layer: Layer, count: int) -> int | None:
    """How many of a layer's `count` weights are trained: the first so many in Keras's order.

    None where the config does not tell: it speaks of no weights, or of another number of them. No layer that holds a
    model is asked, since what that trains its own layers say.
    """
    if layer.settings.get("trainable") is False:
        return 0
    weights = promised(layer.class_name, layer.config)
    return weights.trained if weights is not None and weights.total == count else None
