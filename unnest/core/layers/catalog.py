"""The layer classes of Keras 1, 2 and 3 by name."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core import json_tree
from unnest.core.layers import (
    activation,
    attention,
    convolution,
    core,
    image_preprocessing,
    merging,
    normalization,
    op_layers,
    pooling,
    preprocessing,
    recurrent,
    regularization,
    reshaping,
    wrapper_layers,
)
from unnest.core.layers.keras_1_arguments import OF_KERAS_1_ALONE, arguments_since_keras_2
from unnest.core.layers.read_config_values import settings
from unnest.core.layers.record import KerasLayer, MaskUse
from unnest.core.model import Json, JsonObject, Shape, Unknown

FAMILIES: Mapping[str, tuple[KerasLayer, ...]] = {
    "core": core.LAYERS,
    "activation": activation.LAYERS,
    "convolution": convolution.LAYERS,
    "pooling": pooling.LAYERS,
    "reshaping": reshaping.LAYERS,
    "merging": merging.LAYERS,
    "normalization": normalization.LAYERS,
    "regularization": regularization.LAYERS,
    "recurrent": recurrent.LAYERS,
    "wrappers": wrapper_layers.LAYERS,
    "attention": attention.LAYERS,
    "preprocessing": preprocessing.LAYERS,
    "images": image_preprocessing.LAYERS,
    "operations": op_layers.LAYERS,
}
"""Family -> its layers, in the order of the documents."""

LAYER_RECORDS: Mapping[str, KerasLayer] = {
    layer.name: layer for layers in FAMILIES.values() for layer in layers
}
"""Class -> its record; other names of a class are not among the keys."""

OTHER_NAMES: Mapping[str, str] = {
    name: layer.name for layer in LAYER_RECORDS.values() for name in layer.other_names
}
"""Another name of a class -> its own."""

MERGE_MODES: Mapping[str, KerasLayer] = {
    layer.merge_mode: layer for layer in merging.LAYERS if layer.merge_mode
}
"""The `mode` of Keras 1's Merge -> the layer that computes the same."""

RENAMED: Mapping[str, str] = {
    **{layer.name: layer.renamed_to for layer in LAYER_RECORDS.values() if layer.renamed_to}, **OTHER_NAMES
}  # fmt: skip
"""Class that has another name today -> that name."""

UNKNOWN_RECORD = KerasLayer("", keras=(), exported=False, mask=MaskUse.UNKNOWN)
"""The record of a class outside Keras: all its fields say the least."""


def layer_record(class_name: str) -> KerasLayer:
    """Return the record of a class by its own name, or `UNKNOWN_RECORD`."""
    return LAYER_RECORDS.get(class_name, UNKNOWN_RECORD)


def merging_record(class_name: str, config: JsonObject) -> KerasLayer:
    """Return the record of a class; of Keras 1's Merge that of the layer that computes the same as its mode."""
    record = layer_record(class_name)
    return MERGE_MODES.get(str(config.get("mode")), record) if class_name == "Merge" else record


def output_shape(class_name: str, config: JsonObject, shape: Shape) -> Shape:
    """Return the shape of a layer's output for an input of this shape.

    Raises:
        Unknown: the class is not known, its config and the input's number of axes do not fit, or a layer of Keras 1
            went by an order of axes that its config does not say.

    """
    record = layer_record(class_name)
    if record.keras_1_omits_data_format and "data_format" not in config:
        raise Unknown(f"the order of axes of {class_name}")
    if not OF_KERAS_1_ALONE.isdisjoint(config):
        config = arguments_since_keras_2(record, config)
        record = layer_record(record.renamed_to or class_name)
    if record.output_shape is None or record.input_axes not in (None, len(shape)):
        raise Unknown(f"the output shape of {class_name}")
    return record.output_shape(config, shape)


def built_axes(class_name: str, config: JsonObject, rank: int) -> list[int]:
    """Return the axes of an input of that rank whose sizes must be known when the layer makes its weights."""
    rule = layer_record(class_name).built_axes
    return [] if rule is None else rule(config, rank)


def makes_masks(architecture: Json) -> bool:
    """Return True if any layer of Keras, at any depth, makes a mask."""
    return any(makes_own_mask(part) for part in json_tree.all_objects(architecture))


def makes_own_mask(entry: JsonObject) -> bool:
    """Return True if a layer of Keras makes a mask from its input: Masking, or an Embedding with `mask_zero`."""
    return entry.get("class_name") == "Masking" or bool(settings(entry).get("mask_zero"))


def takes(class_name: str, argument: str) -> bool:
    """Return True if Keras 3's constructor of a class takes an argument."""
    record = layer_record(class_name)
    if argument == "trainable":
        return record.takes_trainable
    return argument in ("name", "dtype") or argument in (record.arguments or ())
