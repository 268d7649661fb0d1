"""Layers that resize, rescale or number: Resizing, Rescaling, Hashing, Discretization."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layers.plain_layers import plain_layer
from unnest.core.keras3.replacements import (
    Config,
    Expansion,
    LayerArguments,
    NodeTree,
    Piece,
    Weights,
    numpy_operation,
)
from unnest.core.keras_facts.loading_requirements import pads_to_none


def resizing(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Resizing by an interpolation that Keras 3 has."""
    if config.get("interpolation", "bilinear") in ("gaussian", "mitchellcubic"):
        raise refused(name, kind, f"Keras 3 has no interpolation {config['interpolation']!r}")
    return plain_layer(kind, config, name, weights, context)


def rescaling(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Rescaling; where there are masks, as operations, which pass none on, as it did not."""
    scale, offset = config.get("scale", 1.0), config.get("offset", 0.0)
    if (
        not context.masks
        or not isinstance(scale, int | float)
        or not isinstance(offset, int | float)
    ):
        return plain_layer(kind, config, name, weights, context)
    context.note("mask", name)

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        return (numpy_operation("Add", numpy_operation("Multiply", call.args[0], scale), offset),)

    return Expansion(outputs)


def text_vectorization(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """TextVectorization: up to TensorFlow 2.5 it was to pad its counts by default, which without a limit did nothing.

    (Source: TensorFlow 2.3, keras/layers/preprocessing/text_vectorization.py; Keras 3.15 refuses it.)
    """
    if pads_to_none(kind, config):
        context.note("arguments", name)
        config = {**config, "pad_to_max_tokens": False}
    return plain_layer(kind, config, name, weights, context)


def hashing(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Hashing: before TensorFlow 2.9 its config held the dtype of any layer, which its integers did not have.

    (Source: Keras 3.15, keras/src/layers/preprocessing/hashing.py: with output_mode "int" a float dtype is refused.)
    """
    dtype = config.get("dtype")
    if (
        config.get("output_mode", "int") == "int"
        and isinstance(dtype, str)
        and not dtype.startswith("int")
    ):
        context.note("dtype-policy", name)
        config = {**config, "dtype": "int64"}
    return plain_layer(kind, config, name, weights, context)


def discretization(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """Discretization: its integer dtype was that of its result; Keras 3 casts what it reads to it.

    (Source: TensorFlow 2.15, keras/layers/preprocessing/discretization.py; Keras 3.15, keras/src/layers/layer.py.)
    """
    dtype = config.get("dtype")
    if isinstance(dtype, str) and "int" in dtype:
        context.note("discretization-dtype", name)
        config = {**config, "dtype": "float32"}
    return plain_layer(kind, config, name, weights, context)
