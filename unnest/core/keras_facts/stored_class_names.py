"""Classes of Keras among those that a file names: their names today, and the modules of operations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from unnest.core.architecture.automatic_names import snake_case
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.graph_to_and_from_json import MODEL_CLASSES
from unnest.core.json_tree import OBJECT
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS, ROOT
from unnest.core.layers.catalog import LAYER_RECORDS, OTHER_NAMES, UNKNOWN_RECORD, layer_record
from unnest.core.layers.record import KerasLayer
from unnest.core.model import Json, JsonObject


@cache
def automatic_stems() -> frozenset[str]:
    """Return Keras's names of unnamed layers, without numbers; computed when first needed, by few files."""
    return frozenset(snake_case(layer.name) for layer in LAYER_RECORDS.values() if layer.exported)


def current_class_name(class_name: str) -> str:
    """Return today's name of a class: TensorFlow numbered some (BatchNormalizationV1), and Model became Functional."""
    if class_name == "Model":
        return "Functional"
    if class_name in OTHER_NAMES:
        return OTHER_NAMES[class_name]
    is_numbered = class_name.endswith(("V1", "V2")) and layer_record(class_name[:-2]).exported
    return class_name[:-2] if is_numbered else class_name


def record_of(class_name: str, config: Json) -> KerasLayer:
    """Return the record of a layer's class, by the class's name today; `UNKNOWN_RECORD` for a custom class.

    A config without an argument that Keras's class always stores is that of a custom class of the same name.
    """
    record = layer_record(current_class_name(class_name))
    return record if _has_its_arguments(record, config) else UNKNOWN_RECORD


def has_users_module(entry: Mapping[str, Json]) -> bool:
    """Return True if a `.keras` stores no module for the class: it is the user's, whatever it is called.

    (Source: files of Keras 2.13 to 3.3.)
    """
    return "module" in entry and entry["module"] is None


def is_keras_class(class_name: str, entry: Mapping[str, Json]) -> bool:
    """Return True if a layer's class is one of Keras's own, so that its name says what it does.

    A `.keras` stores the class's module, and both Keras 2 and 3 put a package before the name of whatever is registered
    by another package (`package>Name`); elsewhere the name is all there is.
    """
    module = entry.get("module")
    if has_users_module(entry):
        return False
    if isinstance(module, str) and module.partition(".")[0] not in KERAS_MODULES:
        return False
    if isinstance(entry.get("registered_name"), str) and ">" in str(entry["registered_name"]):
        return False
    name = class_name if class_name in LAYER_RECORDS else current_class_name(class_name)
    return name in LAYER_RECORDS and _has_its_arguments(LAYER_RECORDS[name], entry.get("config"))


def is_keras_layer(layer: Layer) -> bool:
    """Return True if the class of a graph's layer is one of Keras's own, as `is_keras_class` says."""
    return is_keras_class(layer.class_name, layer.stored)


#: The last release of Keras of its own before it became a part of TensorFlow.
LAST_STANDALONE = (2, 3)


def is_namesake(
    class_name: str, config: Json, release: tuple[int, ...], *, in_tensorflow: bool
) -> bool:
    """Return True for a custom layer of Keras 1 or 2 with the name of a layer of today's Keras.

    `release` is the numbers of the writer's version, empty where it is not told.
    """
    record = layer_record(class_name)
    if release and record.keras and release[0] not in record.keras:
        return True
    if not record.in_tensorflow_since:
        return False
    if release and (
        release < record.in_tensorflow_since
        or (release[:2] <= LAST_STANDALONE and not in_tensorflow)
    ):
        return True
    return not _has_its_arguments(record, config)


def _has_its_arguments(record: KerasLayer, config: Json) -> bool:
    """Return True unless a config lacks an argument, by today's name, that Keras's class of that name always stores."""
    if not record.always_stored:
        return True
    if not isinstance(config, OBJECT):
        return False
    stored = {record.renamed_arguments.get(argument, argument) for argument in config}
    return stored.issuperset(record.always_stored)


#: The packages that store Keras's own classes.
KERAS_MODULES = frozenset({"keras", "tf_keras", "tensorflow"})


def operation_module(entry: JsonObject) -> str | None:
    """Return the module of a Keras 3 operation, as stored or by its class; None for a layer, or a custom one.

    Of an entry without one, as `.h5` has it, the config decides: only a layer's says whether it is trained, or, of
    SpatialDropout and Discretization, in which type it computes.
    """
    stored = entry.get("module")
    if isinstance(stored, str):
        return stored if stored.startswith((ROOT, "keras.ops")) else None
    config = entry.get("config")
    kind = str(entry.get("class_name"))
    if (
        not isinstance(config, OBJECT)
        or "trainable" in config
        or ("dtype" in config and layer_record(kind).exported)
    ):
        return None
    return MODULE_BY_CLASS.get(kind)


def is_keras_entry(entry: JsonObject) -> bool:
    """Return True if an entry's class is one of Keras's. Operations of Keras 3 tell by their module."""
    if has_users_module(entry):
        return False
    kind, module = str(entry["class_name"]), str(entry.get("module", ""))
    record = layer_record(OTHER_NAMES.get(kind, kind))
    if record.exported:
        return is_keras_class(kind, entry)
    return (
        record.is_in_keras_2
        or (kind in MODEL_CLASSES and not _is_sequential_by_another_name(entry))
        or module.startswith(("keras.src.ops", "keras.ops"))
    )


def _is_sequential_by_another_name(entry: JsonObject) -> bool:
    """Return True for a model that lists its layers alone, and is not called Sequential: a class of the user's."""
    config = entry.get("config")
    return (
        entry["class_name"] != "Sequential"
        and isinstance(config, OBJECT)
        and "layers" in config
        and "input_layers" not in config
    )


def _is_given(entry: JsonObject) -> bool:
    """Return True if a class of Keras 3's is found by its registered name alone."""
    return has_users_module(entry) and isinstance(entry.get("registered_name"), str)


def is_operation(entry: JsonObject) -> bool:
    """True if an entry of Keras 3 is an operation, Keras's own or custom: only layers can be trained or not."""
    if operation_module(entry) is not None:
        return True
    config = entry.get("config")
    return (
        not (is_keras_entry(entry) or _is_given(entry))
        and isinstance(config, OBJECT)
        and "trainable" not in config
    )
