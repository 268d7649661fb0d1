"""Classes without a rule: Keras's own are refused, custom ones stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping

from unnest.core.keras3 import convert_config_values
from unnest.core.keras3.conversion_context import Context, OldLayer
from unnest.core.keras3.layer_replacements import Config, NewLayer, Piece, Weights
from unnest.core.keras_facts.custom_functions_in_configs import custom_objects_in_custom_class
from unnest.core.keras_facts.stored_class_names import is_keras_class, is_namesake
from unnest.core.keras_facts.weight_shape_check import fits_shape
from unnest.core.layers.catalog import LAYER_RECORDS, layer_record
from unnest.core.layers.read_config_values import settings
from unnest.core.layers.record import KerasLayer
from unnest.core.model import Json, JsonObject
from unnest.findings import Code, listed


def is_custom_class(kind: str, entry: JsonObject, config: Config, context: Context) -> bool:
    """Return True for a custom class with the name of a Keras class."""
    if is_namesake(kind, config, context.release, in_tensorflow=context.is_tf):
        return True
    return isinstance(entry.get("module"), str) and not is_keras_class(kind, entry)


def without_rule(old: OldLayer) -> Piece:
    """Carry a layer of a custom class; refuse one of Keras's own that Keras 3 lacks."""
    record = layer_record(old.kind)
    if record.gone:
        raise old.refused(record.gone)
    if record.exported:
        raise old.refused("how this layer is written for Keras 3 is not known")
    return custom_layer(old)


def custom_layer(old: OldLayer) -> NewLayer:
    """Return a layer of a custom class as it is, but for what Keras's own classes in its config take no more."""
    bare = old.kind.rpartition(">")[2]
    old.context.notes.custom[bare] = f"layer {old.name!r}"
    config = old.without("batch_input_shape", "input_shape", "input_dtype").config
    base = {key: _initializer_of_today(key, value) for key, value in config.items()}
    if isinstance(base.get("dtype"), Mapping):
        base["dtype"] = (
            convert_config_values.dtype(base["dtype"], old.name, old.context) or "float32"
        )
    for named, _ in custom_objects_in_custom_class(base):
        old.context.notes.custom.setdefault(
            convert_config_values.without_package(named), f"in the config of {old.name!r}"
        )
    pairs = _pairs(old.weights)
    if pairs:
        what = f"{old.name} ({bare}): {', '.join(pairs)}"
        old.context.notes.findings.append(Code.WEIGHTS_OF_PARTS(what=what))
    parent = _likely_parent(base, old.weights)
    if parent is not None:
        added = listed([weight.name for weight in old.weights[len(parent.weights or ()) :]])
        old.context.notes.findings.append(
            Code.WEIGHTS_OF_SUBCLASS(name=f"{old.name} ({bare})", parent=parent.name, what=added)
        )
    return NewLayer(old.name, bare, {**base, "name": old.name}, old.weights, None, old.kind)


def _initializer_of_today(key: str, value: Json) -> Json:
    """Return an argument of a custom class; an initializer of Keras's own without arguments that it has no more.

    The custom class hands it on to Keras. Such an argument is the dtype of `has_initializer_dtypes`.
    """
    if not key.endswith("_initializer") or not isinstance(value, Mapping):
        return value
    taken = convert_config_values.INITIALIZERS.get(str(value.get("class_name")))
    arguments = settings(value)
    if taken is None or arguments.keys() <= set(taken):
        return value
    return {**value, "config": {k: v for k, v in arguments.items() if k in taken}}


def _likely_parent(config: Config, weights: Weights) -> KerasLayer | None:
    """Return Keras's class that a custom one seems to extend by weights which Keras 3's loading leaves out.

    Its config has all that Keras's class stores of its weights, the first of which have the shapes that class makes.
    (Source: `load_own_variables` of Keras 3.15's Dense, BaseConv and Embedding.)
    """
    for record in (layer for layer in LAYER_RECORDS.values() if layer.loads_these_alone):
        shapes = record.weight_shapes(config) if record.weight_shapes else None
        rules = {a for a in record.arguments or () if a.endswith(("_initializer", "_constraint"))}
        if (
            shapes is not None
            and len(weights) > len(shapes)
            and rules <= set(config)
            and all(map(fits_shape, (weight.shape for weight in weights), shapes))
        ):
            return record
    return None


def _pairs(weights: Weights) -> list[str]:
    """Return the stems of pairs of weights, `query` of `query_kernel` and `query_bias`; [] for a single pair."""
    names = {re.sub(r":\d+$", "", weight.name).rpartition("/")[2] for weight in weights}
    stems = [name.removesuffix("_kernel") for name in sorted(names) if name.endswith("_kernel")]
    pairs = [stem for stem in stems if f"{stem}_bias" in names]
    return pairs if len(pairs) > 1 else []
