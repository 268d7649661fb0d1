"""Requirements for loading a model, by Keras version: facts of Keras 3.15 and tf_keras 2.21.

A reason says why tf_keras does not load a file for certain; for Keras 3, `loading_in_keras_3`.
(Source: every fixture loaded in both; the arguments, by leaving out keys of get_config() until the class took them.)
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core.architecture import is_input, is_model, layer_name, read
from unnest.core.architecture.models import MODEL_CLASSES
from unnest.core.architecture.nested_models import leaves, merged_models
from unnest.core.architecture.shared_object_ids import SHARED_OBJECT_ID
from unnest.core.byte_code import code_readings
from unnest.core.byte_code.code_objects import parts_of
from unnest.core.byte_code.code_readings import readings
from unnest.core.json_tree import LEAVES, OBJECT, is_list
from unnest.core.keras_facts.custom_functions import (
    activations,
    custom_objects,
    custom_objects_within,
    rules,
)
from unnest.core.keras_facts.expected_weight_counts import must_have
from unnest.core.keras_facts.stored_class_names import is_keras_class, is_namesake, operation_module
from unnest.core.keras_facts.wrapped_layers import wrapped
from unnest.core.layers.catalog import OTHER_NAMES, layer_record
from unnest.core.load_time_code import vocabularies
from unnest.core.model import Json, JsonObject, Stored

#: What a layer's config calls the layers that it holds.
NESTED_LAYER_KEYS = ("layer", "cell", "cells", "backward_layer", "forward_layer")
#: The first Keras 2 that runs on a Python that tf_keras runs on, too: earlier stored code is of other bytecode.
PYTHON_OF_TODAY = (2, 5)


class Needs(NamedTuple):
    """The code that a model's file does not hold, in the order of its layers."""

    classes: tuple[str, ...] = ()
    """Custom classes, by the name that the file calls them."""
    functions: tuple[str, ...] = ()
    """Functions that Lambda layers call by name."""
    stored_code: bool = False
    """True if it holds stored code, which only the Python that wrote it runs."""
    files: tuple[str, ...] = ()
    """Files that vocabularies are read from."""
    globals: tuple[str, ...] = ()
    """Names that stored code reads as globals, which the module that loads it has not."""


def layer_entries(model: Json) -> Sequence[JsonObject]:
    """Return the entry of every layer in a model, nested models and wrapped layers included; walked once a file."""
    return memoize(_find_layer_entries, model)


def _find_layer_entries(model: Json) -> Sequence[JsonObject]:
    """Return the entries of all layers in JSON, outer before inner."""
    entries: list[JsonObject] = []
    pending: list[Json] = [model]
    while pending:
        entry = pending.pop()
        if type(entry) in LEAVES:
            continue
        if not isinstance(entry, OBJECT):
            pending += reversed(entry) if is_list(entry) else ()
            continue
        if "class_name" not in entry:
            continue
        entries.append(entry)
        config = entry.get("config")
        if isinstance(config, OBJECT):
            pending += [
                config[key] for key in reversed(("layers", *NESTED_LAYER_KEYS)) if key in config
            ]
        else:
            pending.append(config)
    return tuple(entries)


def needs(model: Stored) -> Needs:
    """Return what has to be given to load the model."""
    return memoize(_needs, model)


def _needs(model: Stored) -> Needs:
    """Return the custom classes, functions and globals that loading needs, and whether it runs stored code."""
    classes: dict[str, None] = {}
    functions: dict[str, None] = {}
    stored_code = False
    global_names: dict[str, None] = {}
    for entry in layer_entries(model.architecture):
        if entry["class_name"] == "Lambda":
            name = _function(entry)
            stored_code = stored_code or name is None
            functions |= {name: None} if name is not None else {}
            global_names |= dict.fromkeys(_unknown_globals(entry, model))
        elif _is_namesake(entry, model) or not (
            is_own(entry) or (model.is_keras_3 and is_operation(entry))
        ):
            registered = entry.get("registered_name") if _is_found_by_registration(model) else None
            classes[str(registered or entry["class_name"])] = None
            _add_named(entry, classes, functions)
        else:
            _add_objects(entry, model, classes, functions)
    alone = tuple(name for name in functions if name not in classes)
    return Needs(tuple(classes), alone, stored_code, vocabularies(model), tuple(global_names))


#: Names that Python itself has: this one, and Python 2.
PYTHON_BUILTIN_NAMES = frozenset(dir(builtins)) | {
    "basestring", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"
}  # fmt: skip

#: First numbers of the Keras that wrote a model, newest first -> names that stored code finds in the module that loads
#: it. (Source: the globals of Lambda's module in Keras 1.2.2 to 2.3.1, TensorFlow 2.0 to 2.15 and tf_keras 2.21, and of
#: Keras 3.15's python_utils.)
MODULE_GLOBALS: tuple[tuple[tuple[int, ...], frozenset[str]], ...] = (
    ((3,), frozenset({"binascii", "codecs", "marshal", "os", "python_types"})),
    ((2, 5), frozenset({"np", "python_types", "sys", "tf"})),
    ((0,), frozenset({"K", "np", "python_types"})),
)
#: More that tf.keras of TensorFlow 1.13 to 2.4 has there; the code of its own `multi_gpu_model` reads `array_ops`.
TENSORFLOW_MODULES = frozenset({"array_ops", "math_ops", "nn", "ops", "tensor_shape"})


def _unknown_globals(entry: JsonObject, model: Stored) -> list[str]:
    """Return the names that a Lambda's stored code reads and that neither Python nor its Keras's module has, sorted."""
    config = entry.get("config")
    text = parts_of(config.get("function"))[0] if isinstance(config, Mapping) else None
    if text is None:
        return []
    in_module = next(
        names
        for first, names in MODULE_GLOBALS
        if model.release[: len(first)] >= first or first == (0,)
    )
    if not model.is_standalone and () < model.release < (2, 5):
        in_module |= TENSORFLOW_MODULES
    return sorted(code_readings.global_names(text) - in_module - PYTHON_BUILTIN_NAMES)


def unknown_globals(model: Stored, container: str) -> tuple[str, ...]:
    """Return the names that stored code reads and that no loader can give it: all that it lacks, but in a Keras 2 .h5.

    (Source: tf_keras 2.21 and Keras 3.15: `custom_objects` become globals of a Lambda of an .h5 of Keras 2 alone.)
    """
    return needs(model).globals if model.is_keras_3 or container == "keras" else ()


def _is_found_by_registration(model: Stored) -> bool:
    """Return True if classes are looked for by the names that they are registered by, which stand beside their own.

    The loader of `.h5` in Keras 2, whose models are of no module, looks for the class's own, also in nested models,
    whose layers have both. (Source: files of tf_keras 2.21, loaded by it.)
    """
    return isinstance(model.architecture, Mapping) and "module" in model.architecture


def _add_objects(
    entry: JsonObject, model: Stored, classes: dict[str, None], functions: dict[str, None]
) -> None:
    """Add custom classes and functions in the arguments of one of Keras's own layers."""
    config = entry.get("config")
    if not isinstance(config, Mapping) or "layers" in config:
        return
    if model.is_keras_3:
        for name, is_function in custom_objects(
            {k: v for k, v in config.items() if k not in NESTED_LAYER_KEYS}
        ):
            (functions if is_function else classes)[name] = None
    else:
        functions |= dict.fromkeys(activations(config, model.release))
        if model.release[:1] != (1,):  # whose rules have other names and forms
            functions |= dict.fromkeys(rules(config))


def _add_named(entry: JsonObject, classes: dict[str, None], functions: dict[str, None]) -> None:
    """Add classes and functions outside Keras in the arguments of a custom class."""
    config = entry.get("config")
    if not isinstance(config, Mapping):
        return
    arguments = {k: v for k, v in config.items() if k not in ("layers", *NESTED_LAYER_KEYS)}
    for name, is_function in (*custom_objects(arguments), *custom_objects_within(arguments)):
        (functions if is_function else classes)[name] = None


def _is_namesake(entry: JsonObject, model: Stored) -> bool:
    """Return True for a custom class that has the name of one of Keras's, which the file's Keras had not."""
    if model.is_keras_3:
        generations = layer_record(str(entry["class_name"])).keras
        is_keras_module = str(entry.get("module")).startswith("keras")
        return bool(generations) and {3}.isdisjoint(generations) and not is_keras_module
    in_tensorflow = "-tf" in (model.keras_version or "")
    return is_namesake(
        str(entry["class_name"]), entry.get("config"), model.release, in_tensorflow=in_tensorflow
    )


def is_of_keras_1(class_name: str) -> bool:
    """True for a class of Keras 1 that Keras 2 no longer shows."""
    record = layer_record(class_name)
    return 1 in record.keras and not record.exported and record.is_in_keras_2


def is_own(entry: JsonObject) -> bool:
    """Return True if an entry's class is one of Keras's. Operations of Keras 3 tell by their module."""
    kind, module = str(entry["class_name"]), str(entry.get("module") or "")
    record = layer_record(OTHER_NAMES.get(kind, kind))
    if record.exported:
        return not _is_given(entry) and is_keras_class(kind, entry)
    return (
        record.is_in_keras_2
        or kind in MODEL_CLASSES
        or module.startswith(("keras.src.ops", "keras.ops"))
    )


def _is_given(entry: JsonObject) -> bool:
    """Return True if a class of Keras 3's is found by its registered name alone."""
    return (
        "module" in entry
        and entry["module"] is None
        and isinstance(entry.get("registered_name"), str)
    )


def is_operation(entry: JsonObject) -> bool:
    """True if an entry of Keras 3 is an operation, Keras's own or custom: only layers can be trained or not."""
    if operation_module(entry) is not None:
        return True
    config = entry.get("config")
    return (
        not (is_own(entry) or _is_given(entry))
        and isinstance(config, Mapping)
        and "trainable" not in config
    )


def _function(entry: JsonObject) -> str | None:
    """Return the name by which a Lambda stores its function; None for stored code."""
    config = entry.get("config")
    function = config.get("function") if isinstance(config, Mapping) else None
    if isinstance(function, str):
        return function if parts_of(function)[0] is None else None
    if isinstance(function, Mapping) and function.get("class_name") == "function":
        return str(function.get("config"))
    return None


def is_by_old_paths(model: Stored, container: str) -> bool:
    """Return True if the weights lie where Keras 2.12 to 2.14 alone look for them."""
    first = next((t.ref for g in model.groups for t in g.tensors), "")
    return container in ("keras", "weights_h5") and first.startswith(
        "_layer_checkpoint_dependencies"
    )


def shared_between_models(model: Stored) -> list[str]:
    """Return the names of layers that several models of a path-keyed file share by its JSON, sorted."""
    times = Counter(t.ref for g in model.groups for t in g.tensors)
    return [] if all(n == 1 for n in times.values()) else noted_as_shared(model)


def noted_as_shared(model: Stored) -> list[str]:
    """Return the names of layers that the JSON notes to belong to another model in it, sorted."""
    return sorted(
        {
            layer_name(e)
            for e in layer_entries(model.architecture)
            if SHARED_OBJECT_ID in e and not is_input(e)
        }
    )


def without_its_weights(model: Stored) -> str | None:
    """Return the first wrapping layer of a path-keyed file whose inner layer is stored under another one only; or None.

    Built from the JSON each has one of its own, and every Keras looks for the weights in both: but where the JSON notes
    at both places that it is one. (Source: a Dense, and a Sequential, in two TimeDistributed layers, in `.keras` files
    of Keras 3.15 and tf_keras 2.21.)
    """
    architecture = model.architecture
    if architecture is None or not is_model(architecture):
        return None
    times = times_applied(architecture)
    if 1 not in times.values():
        return None
    owners = {(group.name, *t.owner)[: depth + 1] for group in model.groups for t in group.tensors
              for depth in range(len(t.owner) + 1)}  # fmt: skip
    for path, layer in leaves(architecture):
        is_met_once = times.get((wrapped(layer.stored) or {}).get(SHARED_OBJECT_ID)) == 1
        if is_met_once and path not in owners and must_have(layer.config):
            return layer.name
    return None


def times_applied(architecture: JsonObject) -> Counter[Json]:
    """Shared object id -> how many wrapping layers in the JSON hold the layer with that id."""
    held = (wrapped(entry) for entry in layer_entries(architecture))
    return Counter(
        entry[SHARED_OBJECT_ID] for entry in held if entry is not None and SHARED_OBJECT_ID in entry
    )


#: Where a Sequential stores the shape that its layers are built on: in its config, or in its first layer's.
INPUT_SHAPES = ("build_input_shape", "batch_input_shape", "batch_shape")


def unbuilt_sequential(model: Stored) -> str | None:
    """Return the name of the outermost model where it is a Sequential with weights and without an input shape.

    (Source: files of Keras 2.2.4 and 2.3.1 that their own Keras, and tf_keras 2.21, refuse: "a model with 0 layers".)
    """
    architecture = model.architecture
    if (
        architecture is None
        or architecture.get("class_name") != "Sequential"
        or not is_model(architecture)
    ):
        return None
    graph = read(architecture)
    first = next(iter(graph.layers.values()), None)
    config = architecture.get("config")
    holders = [
        config if isinstance(config, Mapping) else {},
        first.settings if first is not None else {},
    ]
    has_weights = any(group.tensors for group in model.groups)
    if not has_weights or first is None or is_input(first.stored) or first.is_model:
        return None
    if merged_models(graph):  # which Keras 1 builds from the models' own inputs
        return None
    if any(holder.get(key) is not None for holder in holders for key in INPUT_SHAPES) or wrapped(
        first.stored
    ):
        return None
    return graph.name


def with_surplus_weights(model: Stored) -> str | None:
    """Return the first Keras layer with weights that its class lacks, or None: every Keras refuses the model."""
    architecture = model.architecture
    if architecture is None or not is_model(architecture):
        return None
    layers = read(architecture).layers
    of_groups = (
        layers[group.name] for group in model.groups if group.tensors and group.name in layers
    )
    refused = (
        e.name
        for e in of_groups
        if layer_record(e.class_name).is_weightless and is_keras_class(e.class_name, e.stored)
    )
    return next(refused, None)


BECAUSE_OF_KERAS_3 = "it is of Keras 3"


def why_not_tf_keras(model: Stored, container: str) -> str | None:
    """Return why tf_keras does not load it; None if it does."""
    return memoize(_why_not_tf_keras, model, container)


def _why_not_tf_keras(model: Stored, container: str) -> str | None:
    """Return why tf_keras does not load the model; None if it does."""
    if model.is_keras_3:
        return BECAUSE_OF_KERAS_3
    written = model.release
    if written[:1] == (1,):
        return f"the arguments of Keras {model.keras_version}"
    if is_by_old_paths(model, container):
        return f"weights where only Keras {model.keras_version} looks for them"
    if needs(model).stored_code and written < PYTHON_OF_TODAY:
        return f"its Lambda code was compiled by another Python{_version_list(pythons(model))}"
    entries = (_refused_by_tf_keras(entry) for entry in layer_entries(model.architecture))
    return next((reason for reason in entries if reason is not None), None)


def _refused_by_tf_keras(entry: JsonObject) -> str | None:
    """Return the part of a Keras 2 layer that tf_keras does not load as it was.

    (Source: tf_keras 2.21, on files of Keras 2.0.4 and 2.0.9.)
    """
    kind, config = str(entry["class_name"]), entry.get("config")
    if not isinstance(config, Mapping) or not is_own(entry):
        return None
    if is_of_keras_1(kind):
        return f"a {kind} layer"
    if kind in ("GRU", "GRUCell") and "reset_after" not in config:
        return f"a {kind} without `reset_after`, as Keras wrote before 2.1.5"
    if kind == "Embedding" and str(config.get("dtype")).startswith("int"):
        return f"an Embedding with the dtype {config['dtype']}, that of its ids"
    if pads_to_none(kind, config):
        return f"a {kind} that pads to no number of words, as TensorFlow wrote up to 2.5"
    array = next(
        (
            key
            for key, value in config.items()
            if type(value) not in LEAVES and isinstance(value, OBJECT) and set(value) == ARRAY
        ),
        None,
    )
    return None if array is None else f"{kind} with `{array}` as an array"


def pads_to_none(kind: str, config: JsonObject) -> bool:
    """Return whether a TextVectorization is to pad to a number of words that is not set, which later Kerases refuse."""
    return (
        kind == "TextVectorization"
        and config.get("pad_to_max_tokens") is True
        and config.get("max_tokens") is None
    )


#: How Keras 2 stored an array among a layer's arguments.
ARRAY = {"type", "value"}


def pythons(model: Stored) -> tuple[str, ...]:
    """Return the Python versions that may have compiled all stored code of the Lambda layers, oldest first."""
    common: list[str] | None = None
    for entry in layer_entries(model.architecture):
        config = entry.get("config") if entry["class_name"] == "Lambda" else None
        code = parts_of(config.get("function"))[0] if isinstance(config, Mapping) else None
        if code is not None:
            versions = dict.fromkeys(python.version for _, python in readings(code))
            common = [v for v in versions if common is None or v in common]
    return tuple(common or ())


def _version_list(versions: Sequence[str]) -> str:
    """Return the versions as words of a sentence."""
    return f", {' or '.join(versions)}" if versions else ""
