"""The input shape of a Sequential that the file does not hold, as far as its weights tell it.

(Source: Keras 2.2 to 2.3.1 and tf.keras 1.13 leave out an InputLayer at the beginning of a Sequential.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unnest.core.architecture.graph import Layer
from unnest.core.keras3.layer_replacements import FLOAT, Shares
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.layers import shape_rules
from unnest.core.layers.catalog import built_axes, layer_record
from unnest.core.layers.read_config_values import settings
from unnest.core.model import JsonObject, Shape

#: More steps than these are not tried.
MOST_STEPS = 4096


def shape_of_input(layers: Sequence[Layer], shares: Shares) -> Shape | None:
    """Return the input shape, its batch None, on which every layer fits its weights; None if several may.

    Of images and steps that any number fits, the number stays open. Behind a Dense, rows of features are assumed.
    """
    for layer in layers:
        weights = shares.get(layer.name, ())
        if _keeps_shape(layer.class_name) and is_keras_layer(layer):
            continue
        return (
            None
            if not weights
            else _first_fitting(_candidates(layer, weights[0].shape), layers, shares)
        )
    return None


def _keeps_shape(class_name: str) -> bool:
    """True for a layer without weights whose output has the shape of its input."""
    record = layer_record(class_name)
    is_same = record.output_shape is shape_rules.same and (
        record.is_weightless or record.in_training_only
    )
    return is_same or class_name == "Masking"


def _candidates(layer: Layer, kernel: tuple[int, ...]) -> list[Shape]:
    """Return shapes that the first layer's kernel may have been made for; sizes of images and steps are None."""
    kind = layer.class_name
    if kind == "Bidirectional":
        kind = str(settings({"config": layer.settings.get("layer")}).get("class_name"))
    if kind == "Dense":
        return [(None, kernel[0]), (None, None, kernel[0])]
    if layer_record(kind).is_recurrent:
        return [(None, None, kernel[0])]
    match = re.fullmatch(r"Conv([123])D", kind)
    if match is None or layer.settings.get("data_format") == "channels_first":
        return []
    return [(*[None] * (int(match[1]) + 1), kernel[-2])]


def _first_fitting(
    candidates: Sequence[Shape], layers: Sequence[Layer], shares: Shares
) -> Shape | None:
    """Return the first shape that all weights fit; an unknown number of steps is found if only one fits."""
    for shape in candidates:
        if _fits(shape, layers, shares):
            return shape
        if shape.count(None) == 2:  # noqa: PLR2004 - the batch, and one number of steps
            steps = [n for n in range(1, MOST_STEPS) if _fits((None, n, shape[-1]), layers, shares)]
            if len(steps) == 1:
                return (None, steps[0], shape[-1])
    return None


def _fits(shape: Shape, layers: Sequence[Layer], shares: Shares) -> bool:
    """Return True if each layer's first weight is as long as the features that it reads, which all are known."""
    spec: Spec | None = Spec(shape, FLOAT)
    for layer in layers:
        if spec is None:
            return False
        weights = shares.get(layer.name, ())
        axes = built_axes(layer.class_name, layer.settings, len(spec.shape))
        if weights and layer.class_name == "Dense" and weights[0].shape[0] != spec.shape[-1]:
            return False
        if any(spec.shape[axis] is None for axis in axes):
            return False
        spec = (
            Spec(spec.shape, FLOAT)
            if layer.class_name == "Masking"
            else _result(layer.stored, spec)
        )
    return spec is not None


def _result(entry: JsonObject, spec: Spec) -> Spec | None:
    written = {**entry, "config": {**settings(entry), "dtype": FLOAT}}
    return keras3_layer_output_specs.output_spec(written, [spec])
