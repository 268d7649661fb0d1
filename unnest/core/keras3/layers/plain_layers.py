"""A layer that Keras 3 has too, with its arguments of today."""

from __future__ import annotations

from unnest.core.keras3 import arguments, removed_layers
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.layers.activations import activated
from unnest.core.keras3.mask_propagation import drops_mask
from unnest.core.keras3.masks import stopped
from unnest.core.keras3.pieces import Config, NewLayer, Piece, Weights
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.layers.catalog import layer_record


def plain_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that Keras 3 has too."""
    promised = expected(config)
    if promised is not None and weights and promised.total != len(weights) and not layer_record(kind).weight_count:
        raise refused(name, kind, f"has {len(weights)} weights, and its config promises {promised.total}")
    new = arguments.written(kind, config, name, context)
    if not config.get("dtype") and any(w.dtype[1:] == "f8" for w in weights):
        new["dtype"] = "float64"
    layer = NewLayer(name, kind, new, weights)
    made = activated(layer, context) if "activation" in new else layer
    biased = new.get("data_format") == "channels_first" and new.get("use_bias", True)
    return (
        removed_layers.channels_first(made, context)
        if biased and "kernel_size" in new and isinstance(made, NewLayer)
        else made
    )


def passing_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that hands on its mask today, where it did not then."""
    write = maskless_layer if drops_mask(kind, config, context) else plain_layer
    return write(kind, config, name, weights, context)


def maskless_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that hands on a mask today, and did not then; where there are masks, an operation behind it has none."""
    made = plain_layer(kind, config, name, weights, context)
    if not context.masks or not isinstance(made, NewLayer):
        return made
    context.note("no-mask", name)
    return stopped(made)
