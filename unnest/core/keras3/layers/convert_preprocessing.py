"""Layers that resize, rescale or number: Resizing, Rescaling, Hashing, Discretization, and those that look words up."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.keras3 import convert_config_values
from unnest.core.keras3.conversion_context import OldLayer
from unnest.core.keras3.layer_replacements import (
    Expansion,
    LayerArguments,
    NewLayer,
    NodeTree,
    Piece,
    chain,
    numpy_operation,
)
from unnest.core.keras3.layers.kept_layers import plain_layer
from unnest.core.keras3.layers.removed_layers import keras_layer
from unnest.core.keras_facts.custom_functions_in_configs import TEXT_STEPS, custom_text_step
from unnest.core.keras_facts.loading_in_tf_keras import pads_to_none
from unnest.core.keras_facts.unloadable_models import has_salt_of_none
from unnest.core.keras_facts.vocabularies_and_bin_boundaries import counted_words
from unnest.core.layers.read_config_values import is_stored_lambda


def resizing(old: OldLayer) -> Piece:
    """Convert Resizing with an interpolation that Keras 3 has."""
    if old.config.get("interpolation", "bilinear") in ("gaussian", "mitchellcubic"):
        raise old.refused(f"Keras 3 has no interpolation {old.config['interpolation']!r}")
    return plain_layer(old)


def rescaling(old: OldLayer) -> Piece:
    """Convert Rescaling; if there are masks, to operations, which hand on none, as it did not."""
    scale, offset = old.config.get("scale", 1.0), old.config.get("offset", 0.0)
    if (
        not old.context.masks
        or not isinstance(scale, int | float)
        or not isinstance(offset, int | float)
    ):
        return plain_layer(old)
    old.note("mask")

    def outputs(call: LayerArguments) -> Sequence[NodeTree]:
        return (numpy_operation("Add", numpy_operation("Multiply", call.args[0], scale), offset),)

    return Expansion(outputs)


def text_vectorization(old: OldLayer) -> Piece:
    """Convert TextVectorization; its default up to TensorFlow 2.5 padded counts, without effect unless limited.

    Before 2.15 it stored the bare name of a function of the user's, which Keras 3 looks for only if it is called one.
    (Source: TensorFlow 2.3, keras/layers/preprocessing/text_vectorization.py; Keras 3.15 refuses it.)
    """
    if pads_to_none(old.kind, old.config):
        old.note("arguments")
        old = old.with_changed_arguments({"pad_to_max_tokens": False})
    for argument in TEXT_STEPS:
        value = old.config.get(argument)
        convert_config_values.check_one_lambda(value, old.name, old.kind, old.context)
        name = (
            convert_config_values.NAMELESS
            if is_stored_lambda(value)
            else custom_text_step(argument, value)
        )
        if name is not None:
            old.context.notes.custom[name] = f"{argument} of {old.name!r}"
            old = old.with_changed_arguments(
                {argument: convert_config_values.custom_function(name)}
            )
    made = lookup(old)
    depth = counted_words({"class_name": old.kind, "config": old.config})
    if depth is None or not isinstance(made, NewLayer):
        return made
    old.note("counted-words")
    return chain(made, keras_layer("Reshape", f"{old.name}_words", {"target_shape": [depth]}))


def lookup(old: OldLayer) -> Piece:
    """Convert a StringLookup or IntegerLookup, with the words that its config lists.

    Raises CannotConvert if the config names a file of words in place of the words. (Source: Keras 3.15,
    keras/src/layers/preprocessing/index_lookup.py: in safe mode no file outside is read.)
    """
    vocabulary = old.config.get("vocabulary")
    if isinstance(vocabulary, str):
        raise old.refused(
            f"its vocabulary is a file ({vocabulary!r}), which Keras 3 does not read in safe mode: give the layer the "
            f"words in code"
        )
    return plain_layer(old)


def hashing(old: OldLayer) -> Piece:
    """Convert Hashing; before TensorFlow 2.9 it stored a layer's dtype, which its integers did not have.

    TensorFlow 2.3 stored a salt where none was given, with which only a model that was loaded hashes.
    (Source: Keras 3.15, keras/src/layers/preprocessing/hashing.py: with output_mode "int" a float dtype is refused;
    TensorFlow 2.3, keras/layers/preprocessing/hashing.py.)
    """
    if has_salt_of_none(old.config):
        raise old.refused(
            "TensorFlow 2.3 stored a salt though none was given, and hashed without it until the "
            "model was loaded: give the layer its salt, or none, in code"
        )
    dtype = old.config.get("dtype")
    if (
        old.config.get("output_mode", "int") == "int"
        and isinstance(dtype, str)
        and not dtype.startswith("int")
    ):
        old.note("dtype-policy")
        old = old.with_changed_arguments({"dtype": "int64"})
    return plain_layer(old)


def discretization(old: OldLayer) -> Piece:
    """Convert Discretization; its integer dtype was its result's, while Keras 3 casts its input to it.

    (Source: TensorFlow 2.15, keras/layers/preprocessing/discretization.py; Keras 3.15, keras/src/layers/layer.py.)
    """
    dtype = old.config.get("dtype")
    if isinstance(dtype, str) and "int" in dtype:
        old.note("discretization-dtype")
        old = old.with_changed_arguments({"dtype": "float32"})
    return plain_layer(old)
