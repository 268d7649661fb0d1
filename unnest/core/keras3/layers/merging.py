"""Keras 1's Merge."""

from __future__ import annotations

from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.layers.plain_layers import plain_layer
from unnest.core.keras3.pieces import Config, Piece, Weights
from unnest.core.layers.catalog import MERGE_MODES
from unnest.core.model import Json


def merge(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Keras 1's Merge, by its mode."""
    mode = config.get("mode")
    if config.get("layers"):
        raise refused(name, kind, "holds its branches, models of their own, as a Sequential's first layer")
    if config.get("mode_type", "raw") != "raw":
        return _of_code(config, name, weights, context)
    if str(mode) not in MERGE_MODES:
        raise refused(name, kind, f"mode {str(mode)[:20]!r} has no counterpart in Keras 3")
    context.note("merge", name)
    new: dict[str, Json] = {"name": name, "trainable": True}
    if mode == "concat":
        new["axis"] = config.get("concat_axis", -1)
    if mode == "dot":
        new["axes"] = config.get("dot_axes", -1)
        new["normalize"] = False
    return plain_layer(MERGE_MODES[str(mode)].name, new, name, weights, context)


def _of_code(config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A mode that is a function: stored as a Lambda's is, under names of its own.

    (Source: files of Keras 1.2.2.)
    """
    from unnest.core.keras3 import stored_functions  # all that reads stored code, for models that hold some

    named = {"function": config.get("mode"), "function_type": config["mode_type"]}
    kept = {key: config[key] for key in ("arguments", "output_shape", "output_shape_type") if key in config}
    return stored_functions.rule("Lambda", {"name": name, **named, **kept}, name, weights, context)
