"""Results of Keras 3 with an `.h5` or `.keras` of Keras 2 that was not converted.

Promised only where everything in the file was seen to load: plain layers of one model with the arguments that Keras 3
takes, and conversions that change no prediction.
(Source: 8,000 models of eleven stacks, and 1,550 `.keras` of TensorFlow 2.15, loaded by Keras 3.15 and compared with
the predictions of their own stack.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unnest.core.architecture import is_model
from unnest.core.architecture.nested_models import NESTED_LAYER_KEYS, layer_entries
from unnest.core.keras3.conversion_context import Conversion
from unnest.core.keras3.rule_catalog import RULES
from unnest.core.keras_facts.custom_objects_needed_to_load import needs
from unnest.core.keras_facts.loading_in_keras_3 import IGNORED_ARGUMENTS
from unnest.core.keras_facts.stored_class_names import current_class_name
from unnest.core.layers.catalog import layer_record, takes
from unnest.core.model import JsonObject, Stored

#: Rules that change how a model is written or trained, and no prediction.
HARMLESS = frozenset({
    "activation-layer", "arguments", "known-function", "loss-or-metric-name", "optimizer-arguments", "optimizer-decay",
    "optimizer-epsilon", "optimizer-state",
})  # fmt: skip
#: In the first layer of a Sequential behind its input layer.
INPUT_SHAPE = "batch_input_shape"
#: Altered by a rule -> the class of which it is not so: it refuses a mask of fewer axes; its bias is added as then.
UNALTERED = {"mask": "Softmax", "channels-first-bias": "Conv3DTranspose"}
#: Classes that take their one axis in a list.
LISTED_AXIS = frozenset({"BatchNormalization", "LayerNormalization", "Normalization"})
#: Sums of half precision differ in their order.
HALF = frozenset({"float16", "bfloat16"})


def is_opened_unconverted(model: Stored, conversions: Iterable[Conversion]) -> bool:
    """Return True if Keras 3 opens the `.h5`, and predicts the same but for the rules with an `altered` among these."""
    rules = {conversion.rule for conversion in conversions}
    is_known = all(rule in HARMLESS or RULES[rule].altered for rule in rules)
    if not is_known or any(needs(model)) or model.contents != "model" or model.release < (2,):
        return False
    outermost, *entries = layer_entries(model.architecture)
    classes = {current_class_name(str(entry["class_name"])) for entry in entries}
    if any(UNALTERED.get(rule) in classes for rule in rules):
        return False
    return is_model(outermost) and all(_is_opened(entry) for entry in entries)


def altered_predictions(conversions: Iterable[Conversion]) -> dict[str, tuple[str, ...]]:
    """Return what Keras 3 computes otherwise where these conversions were not made, each with its layers."""
    found = ((RULES[conversion.rule].altered, conversion.layers) for conversion in conversions)
    return {what: layers for what, layers in found if what}


def _is_opened(entry: JsonObject) -> bool:
    """Return whether a layer of Keras 2 is one that Keras 3 was seen to load from its config."""
    kind, config = str(entry["class_name"]), entry.get("config")
    if kind == "InputLayer":
        return True
    if (
        not layer_record(kind).is_in_keras_3
        or not isinstance(config, Mapping)
        or any(key in config for key in NESTED_LAYER_KEYS)
    ):
        return False
    if config.get("dtype") in HALF or isinstance(config.get("activation"), Mapping):
        return False
    axis = config.get("axis", -1)
    if not (
        isinstance(axis, int)
        or (kind in LISTED_AXIS and isinstance(axis, Sequence) and len(axis) == 1)
    ):
        return False
    return all(
        key == INPUT_SHAPE or takes(kind, key) or (kind, key) in IGNORED_ARGUMENTS for key in config
    )
