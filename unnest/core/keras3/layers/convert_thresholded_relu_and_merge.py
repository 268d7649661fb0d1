"""Layers whose class Keras 3 has under another name: ThresholdedReLU is a ReLU, Keras 1's Merge a layer by its mode."""

from __future__ import annotations

from unnest.core.keras3.conversion_context import OldLayer
from unnest.core.keras3.layer_replacements import Piece
from unnest.core.keras3.layers.kept_layers import plain_layer
from unnest.core.layers.catalog import MERGE_MODES
from unnest.core.model import Json


def thresholded_relu(old: OldLayer) -> Piece:
    """Convert ThresholdedReLU to ReLU with that threshold."""
    old.note("thresholded-relu")
    threshold = old.config.get("theta", 1.0)
    own = old.without("theta").with_changed_arguments(
        {"threshold": threshold, "max_value": None, "negative_slope": 0.0}
    )
    return plain_layer(own._replace(kind="ReLU"))


def merge(old: OldLayer) -> Piece:
    """Convert Keras 1's Merge by its mode."""
    mode = old.config.get("mode")
    if old.config.get("layers"):
        raise old.refused("holds its branches, models of their own, as a Sequential's first layer")
    if old.config.get("mode_type", "raw") != "raw":
        return _merge_by_function(old)
    if str(mode) not in MERGE_MODES:
        raise old.refused(f"mode {str(mode)[:20]!r} has no counterpart in Keras 3")
    old.note("merge")
    new: dict[str, Json] = {"name": old.name, "trainable": True}
    if mode == "concat":
        new["axis"] = old.config.get("concat_axis", -1)
    if mode == "dot":
        new["axes"] = old.config.get("dot_axes", -1)
        new["normalize"] = False
    return plain_layer(old._replace(kind=MERGE_MODES[str(mode)].name, config=new))


def _merge_by_function(old: OldLayer) -> Piece:
    """Convert a Merge whose mode is a function, stored as a Lambda's is under keys of its own.

    (Source: files of Keras 1.2.2.)
    """
    from unnest.core.keras3.lambdas import lambda_layer_rule

    named = {"function": old.config.get("mode"), "function_type": old.config["mode_type"]}
    kept = {
        key: old.config[key]
        for key in ("arguments", "output_shape", "output_shape_type")
        if key in old.config
    }
    return lambda_layer_rule.rule(
        old._replace(kind="Lambda", config={"name": old.name, **named, **kept})
    )
