"""Models that no Keras loads as they were, not even their own: shared, unbuilt or surplus layers.

Built from its JSON such a model has other layers than the one that was saved, and the file's weights do not fit them.
"""

from __future__ import annotations

from collections import Counter

from unnest.core import json_tree
from unnest.core.architecture import entry_name, is_input, is_model, layer_name, read
from unnest.core.architecture.graph import Call
from unnest.core.architecture.model_json_as_saved_alone import SHARED_OBJECT_ID
from unnest.core.architecture.nested_models import layer_entries, leaves, merged_models
from unnest.core.json_tree import LEAVES, OBJECT, is_list
from unnest.core.keras_facts.stored_class_names import is_keras_class, is_keras_layer
from unnest.core.keras_facts.weight_counts_by_config import (
    expected_weight_counts,
    must_have_weights,
)
from unnest.core.keras_facts.weights_of_wrapped_layers import expected_weight_total, wrapped_layer
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.merging import TAKE_LISTS
from unnest.core.layers.read_config_values import is_lambda_without_class
from unnest.core.model import Json, JsonObject, Stored


def layers_shared_between_models(model: Stored) -> list[str]:
    """Return the names of layers that several models of a path-keyed file share by its JSON, sorted."""
    times = Counter(t.ref for g in model.groups for t in g.tensors)
    return [] if all(n == 1 for n in times.values()) else layers_noted_as_shared(model)


def layers_noted_as_shared(model: Stored) -> list[str]:
    """Return the names of layers that the JSON notes to belong to another model in it, sorted."""
    return sorted(
        {
            layer_name(e)
            for e in layer_entries(model.architecture)
            if SHARED_OBJECT_ID in e and not is_input(e)
        }
    )


def wrapping_layer_without_weights(model: Stored) -> str | None:
    """Return the first wrapping layer of a path-keyed file whose inner layer is stored under another one only; or None.

    Built from the JSON each has one of its own, and every Keras looks for the weights in both: but where the JSON notes
    at both places that it is one. (Source: a Dense, and a Sequential, in two TimeDistributed layers, in `.keras` files
    of Keras 3.15 and tf_keras 2.21.)
    """
    architecture = model.architecture
    if architecture is None or not is_model(architecture):
        return None
    times = wrappers_by_shared_id(architecture)
    if 1 not in times.values():
        return None
    owners = _owners(model)
    for path, layer in leaves(architecture):
        is_met_once = times.get((wrapped_layer(layer.stored) or {}).get(SHARED_OBJECT_ID)) == 1
        if is_met_once and path not in owners and must_have_weights(layer.config):
            return layer.name
    return None


def built_layer_without_weights(model: Stored) -> str | None:
    """Return the first layer of a path-keyed file that was called, and of whose weights some are not in it; or None.

    Keras's own classes alone, within others too: what a custom class stores is not known. (Source: cell wrappers of
    `tf.nn` in TensorFlow 2.13 and 2.15, which a `.keras` passes over; loaded, the cell has new random weights.)
    """
    architecture = model.architecture
    if architecture is None or not is_model(architecture):
        return None
    counts = Counter((g.name, *t.owner)[:depth] for g in model.groups for t in g.tensors
                     for depth in range(1, len(t.owner) + 2))  # fmt: skip
    built_models = {path[:-1] for path in counts}
    for path, layer in leaves(architecture):
        held = layer_entries(layer.stored)
        is_called = bool(layer.calls) or path[:-1] in built_models
        if not is_called or any(SHARED_OBJECT_ID in entry for entry in held):
            continue
        if path not in counts and any(map(_has_weights, held)):
            return layer.name
        promised = expected_weight_total(layer.stored) if len(held) > 1 else None
        if promised is not None and counts[path] < promised:
            return layer.name
    return None


def _owners(model: Stored) -> set[tuple[str, ...]]:
    """Return the path of every layer that owns weights, and of every layer around one."""
    return {(group.name, *t.owner)[: depth + 1] for group in model.groups for t in group.tensors
            for depth in range(len(t.owner) + 1)}  # fmt: skip


def _has_weights(entry: JsonObject) -> bool:
    """Return True for a class of Keras's own that has weights by its config."""
    kind, config = str(entry["class_name"]), entry.get("config")
    told = expected_weight_counts(kind, config) if is_keras_class(kind, entry) else None
    return told is not None and told.total > 0


def wrappers_by_shared_id(architecture: JsonObject) -> Counter[Json]:
    """Shared object id -> how many wrapping layers in the JSON hold the layer with that id."""
    held = (wrapped_layer(entry) for entry in layer_entries(architecture))
    return Counter(
        entry[SHARED_OBJECT_ID] for entry in held if entry is not None and SHARED_OBJECT_ID in entry
    )


def layer_with_lambda_without_class(model: Stored) -> str | None:
    """Return the first layer with a lambda as an argument that no Keras makes again, or None.

    (Source: Dense(activation=lambda x: ...) in `.keras` files of Keras 2.13, 2.15 and 3.15, which load in none.)
    """
    for entry in layer_entries(model.architecture):
        config = entry.get("config")
        if isinstance(config, OBJECT) and any(
            type(value) not in LEAVES and is_lambda_without_class(value)
            for value in config.values()
        ):
            return str(entry_name(entry))
    return None


def merge_of_one_tensor(model: Stored) -> str | None:
    """Return the first layer of Keras 1 or 2 that takes a list of tensors, and is called with one tensor; or None.

    So it is in a Sequential; and a list of one tensor is stored as that tensor. (Source: a public file of TensorFlow
    2.3; Add, Concatenate, Multiply and Maximum of TensorFlow 2.7 to 2.15, which do not load what they saved.)
    """
    if model.architecture is None or not is_model(model.architecture) or model.is_keras_3:
        return None
    return next(
        (
            layer.name
            for _, layer in leaves(model.architecture)
            if takes_list(layer.class_name, layer.stored)
            and any(_is_of_one_tensor(call) for call in layer.calls)
        ),
        None,
    )


def takes_list(class_name: str, entry: JsonObject) -> bool:
    """Return True for a layer of Keras's own that is called with a list of tensors, and with nothing else."""
    return class_name in TAKE_LISTS and is_keras_class(class_name, entry)


def _is_of_one_tensor(call: Call) -> bool:
    """Return True if a call of Keras 1 or 2 gives the layer one tensor, and no constant beside it."""
    return len(call.reads) == 1 and (not is_list(call.stored) or len(call.stored) == 1)


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
        config if isinstance(config, OBJECT) else {},
        first.settings if first is not None else {},
    ]
    has_weights = any(group.tensors for group in model.groups)
    if not has_weights or first is None or is_input(first.stored) or first.is_model:
        return None
    if merged_models(graph):  # which Keras 1 builds from the models' own inputs
        return None
    if any(
        holder.get(key) is not None for holder in holders for key in INPUT_SHAPES
    ) or wrapped_layer(first.stored):
        return None
    return graph.name


def cell_without_arguments(model: Stored) -> str | None:
    """Return the class of the first cell of which no argument is stored, not even how many units it has; or None.

    (Source: files of Keras 2.0.9 with LSTMCell, GRUCell and SimpleRNNCell, which have no `get_config` there.)
    """
    if model.is_keras_3:
        return None
    entries = layer_entries(model.architecture)
    return next(
        (
            str(entry["class_name"])
            for entry in entries
            if layer_record(str(entry["class_name"])).states
            and is_keras_class(str(entry["class_name"]), entry)
            and isinstance(config := entry.get("config"), OBJECT)
            and "units" not in config
        ),
        None,
    )


def layer_with_array_in_rule(model: Stored, *, in_h5: bool) -> str | None:
    """Return the first layer with an array among an initializer's arguments that Keras does not read again; or None.

    Keras before 2.2 stores `{"type": "ndarray", "value": [...]}`, and reads it again among a Lambda's arguments alone;
    from 2.12 on `__numpy__`, which the loader of `.keras` reads and that of `.h5` does not. (Source: Constant(matrix)
    of Keras 2.0.9, 2.1.6 and TensorFlow 2.15, which that Keras, and tf_keras 2.21, refuse; 2.3.1 to 2.7 store a list.)
    """
    if model.is_keras_3 or not any(
        _is_stored_array(part, in_h5=in_h5) for part in json_tree.all_objects(model.architecture)
    ):
        return None
    for entry in layer_entries(model.architecture):
        config = entry.get("config")
        rules = (
            [v for k, v in config.items() if k.endswith(RULES)]
            if isinstance(config, OBJECT) and is_keras_class(str(entry["class_name"]), entry)
            else []
        )
        if any(_is_stored_array(part, in_h5=in_h5) for part in json_tree.objects(rules)):
            return layer_name(entry)
    return None


def _is_stored_array(part: JsonObject, *, in_h5: bool) -> bool:
    return part.keys() == {"type", "value"} or (in_h5 and part.get("class_name") == "__numpy__")


def layer_with_function_object(model: Stored) -> str | None:
    """Return the first of Keras's layers with a custom function that Keras 2 does not read from .h5; None without one.

    Keras 2.13 to 2.15 store it as an object of the class "function", which their loader of `.keras` makes again alone;
    Keras 3 makes it again from both. (Source: activations and rules of one's own in files of TensorFlow 2.13 and 2.15.)
    """
    if model.is_keras_3 or not any(map(_is_function, json_tree.all_objects(model.architecture))):
        return None
    for entry in layer_entries(model.architecture):
        kind, config = str(entry["class_name"]), entry.get("config")
        is_kerass = kind != "Lambda" and is_keras_class(kind, entry)
        arguments = config.values() if is_kerass and isinstance(config, OBJECT) else ()
        if any(isinstance(part, OBJECT) and _is_function(part) for part in arguments):
            return layer_name(entry)
    return None


def _is_function(part: JsonObject) -> bool:
    return part.get("class_name") == "function" and isinstance(part.get("config"), str)


#: How the arguments end that hold an initializer, a regularizer or a constraint.
RULES = ("_initializer", "_regularizer", "_constraint")


#: Either half of the salt that TensorFlow 2.3 stores for None.
SALT_OF_NONE = 0xDECAFCAFFE


def has_salt_of_none(config: JsonObject) -> bool:
    """Return True for a Hashing of TensorFlow 2.3 that was given no salt: loaded, it hashes with the stored one.

    (Source: TensorFlow 2.3, keras/layers/preprocessing/hashing.py; two files of it, in it and in tf_keras 2.21.)
    """
    return config.get("salt") == [SALT_OF_NONE, SALT_OF_NONE]


def layer_with_salt_of_none(model: Stored) -> str | None:
    """Return the first Hashing that hashes otherwise once it is loaded, or None."""
    for entry in layer_entries(model.architecture):
        config = entry.get("config")
        if (
            entry["class_name"] == "Hashing"
            and is_keras_class("Hashing", entry)
            and isinstance(config, OBJECT)
            and has_salt_of_none(config)
        ):
            return layer_name(entry)
    return None


def layer_with_surplus_weights(model: Stored) -> str | None:
    """Return the first Keras layer with weights that its class lacks, or None: every Keras refuses the model."""
    architecture = model.architecture
    if architecture is None or not is_model(architecture):
        return None
    layers = read(architecture).layers
    of_groups = (
        layers[group.name] for group in model.groups if group.tensors and group.name in layers
    )
    refused = (
        e.name for e in of_groups if layer_record(e.class_name).is_weightless and is_keras_layer(e)
    )
    return next(refused, None)
