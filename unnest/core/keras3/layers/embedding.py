"""Embedding."""

from __future__ import annotations

from unnest.core.keras3.context import Context
from unnest.core.keras3.layers.plain_layers import plain_layer
from unnest.core.keras3.pieces import FLOAT, Config, Piece, Weights

#: The first Keras 2 in which an Embedding's dtype is that of its weights.
DTYPE_OF_WEIGHTS = (2, 0, 5)


def embedding(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Embedding, which stored the dtype of its ids before Keras 2.0.5.

    (Source: Keras 2.0.4, keras/layers/embeddings.py: `kwargs['dtype'] = 'int32'`; its weights are float32.)
    """
    if config.get("dtype") == "int32" and () < context.release < DTYPE_OF_WEIGHTS:
        context.note("embedding-dtype", name)
        config = {**config, "dtype": FLOAT}
    return plain_layer(kind, config, name, weights, context)
