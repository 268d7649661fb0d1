"""Reasons why Keras 3 does not load a model's file: facts of Keras 3.15.

A reason says that it does not load for certain. Without a reason, and for a file of an older Keras, that is no
promise: the loader takes some files of Keras 2, and not all of these compute what they did.
(Source: 8,000 models of eleven stacks, most of a single layer, loaded by Keras 3.15; `tests/layer_cases.py`.)
"""

from __future__ import annotations

from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.nested_models import NESTED_LAYER_KEYS, layer_entries
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.keras_facts.custom_objects_needed_to_load import PYTHON_OF_TODAY, needs
from unnest.core.keras_facts.loading_in_tf_keras import (
    has_paths_of_keras_2_12,
    has_paths_of_windows,
    pads_to_none,
    state_under_paths_of_keras_2_12,
)
from unnest.core.keras_facts.stored_class_names import is_keras_entry, is_operation
from unnest.core.layers.catalog import OTHER_NAMES, layer_record, takes
from unnest.core.layers.keras_1_arguments import OF_KERAS_1_ALONE
from unnest.core.model import JsonObject, Stored

#: (class, argument) that Keras 3's constructor takes without a word, to no effect or to that of then.
IGNORED_ARGUMENTS = frozenset({
    ("Embedding", "input_length"), ("GRU", "implementation"), ("LSTM", "implementation"), ("LeakyReLU", "alpha"),
    ("ConvLSTM2D", "unroll"),
})  # fmt: skip
#: Operations of Keras 3 in whose place its .h5 loader takes the layer of that name, to the same effect.
SAME_AS_LAYERS = frozenset({"Concatenate", "Softmax"})


def why_not_keras_3(model: Stored, container: str) -> str | None:
    """Return why Keras 3 does not load it for certain; None where it does, or, of an older file, may."""
    if model.is_keras_3:
        return _refused_in_h5(model) if container == "h5" else None
    entries = (_refused_entry(entry) for entry in layer_entries(model.architecture or {}))
    return (
        _refused_form(model, container)
        or next(filter(None, entries), None)
        or _refused_code(model)
        or (_refused_graph(model) if container == "h5" else None)
        or (_refused_in_archive(model) if container == "keras" else None)
    )


def _refused_in_h5(model: Stored) -> str | None:
    """Return what Keras 3 does not find again in an .h5 of its own: operations, written without their module.

    Of those that are called as a layer is, it takes the layer: two of these compute the same, and take the same.
    """
    operations = (
        e for e in layer_entries(model.architecture) if "module" not in e and is_operation(e)
    )
    lost = next((e for e in operations if e["class_name"] not in SAME_AS_LAYERS), None)
    if lost is not None:
        return f"an operation ({lost['class_name']}), of which .h5 does not say the module"
    return (
        MISTAKEN
        if any(_is_mistaken(entry) for entry in layer_entries(model.architecture))
        else None
    )


MISTAKEN = "Attention with the score_mode 'dot', which Keras 3 takes for its function of that name"


def _is_mistaken(entry: JsonObject) -> bool:
    """Return True if the .h5 loader of Keras 3 makes a function of a plain text (source: Keras 3.15.1)."""
    config = entry.get("config")
    return (
        entry["class_name"] == "Attention"
        and isinstance(config, OBJECT)
        and config.get("score_mode") == "dot"
    )


def _refused_form(model: Stored, container: str) -> str | None:
    """Return what Keras 3 does not take, whatever the layers are."""
    architecture, version = model.architecture or {}, model.keras_version
    if container == "json" and "module" not in architecture:
        return f"the form of the JSON, of Keras {version or '2 or older'}"
    if container == "keras" and "." in str(architecture.get("module")):
        return f"the form of a .keras of Keras {version or 2}"
    if has_paths_of_keras_2_12(model, container):
        return state_under_paths_of_keras_2_12(model)
    if has_paths_of_windows(model, container):
        return "weights under paths of Windows"
    if model.release[:1] == (1,) and any(
        _is_of_keras_1(entry) for entry in layer_entries(architecture)
    ):
        return f"the arguments of Keras {version}"
    return None


def _is_of_keras_1(entry: JsonObject) -> bool:
    config = entry.get("config")
    return isinstance(config, OBJECT) and not OF_KERAS_1_ALONE.isdisjoint(config)


def _refused_code(model: Stored) -> str | None:
    """Return why the stored code of Lambda layers does not run.

    (Source: Keras 3.15 refuses each of 41 files with such a Lambda, `.h5` and `.keras` alike.)
    """
    if not needs(model).stored_code:
        return None
    if model.release < PYTHON_OF_TODAY:
        return "its Lambda code was compiled by another Python"
    return "Lambda layers with stored code, which Keras 3 runs with safe_mode=False alone"


def _refused_entry(entry: JsonObject) -> str | None:
    """Return why Keras 3 refuses one layer entry; None if it does not."""
    kind, config = str(entry["class_name"]), entry.get("config")
    record = layer_record(kind)
    if record.is_missing_in_keras_3 or kind in OTHER_NAMES:
        return f"a {kind} layer"
    if kind == "Sequential" and not isinstance(config, OBJECT):
        return "a Sequential that is stored as a bare list"
    key = next(
        (key for key in record.refused_arguments if isinstance(config, OBJECT) and key in config),
        None,
    )
    if key is not None:
        return f"{kind} with `{key}`"
    return (
        _refused_value(kind, config)
        if isinstance(config, OBJECT) and is_keras_entry(entry)
        else None
    )


def _refused_value(kind: str, config: JsonObject) -> str | None:
    """Return what one of Keras's own layers holds that Keras 3's class of that name does not take.

    (Source: Keras 3.15, on `.h5` files of Keras 2.0.9 to tf.keras 2.15.)
    """
    axis, stddev = config.get("axis"), config.get("stddev")
    if isinstance(config.get("dtype"), OBJECT):
        return f"{kind} with a dtype policy of Keras 2"
    if (
        kind in ("GRU", "GRUCell")
        and "reset_after" not in config
        and config.get("use_bias") is not False
    ):
        return f"a {kind} without `reset_after`, as Keras wrote before 2.1.5"
    if kind in ("BatchNormalization", "LayerNormalization") and is_list(axis) and len(axis) > 1:
        return f"{kind} over {len(axis)} axes"
    if pads_to_none(kind, config):
        return f"a {kind} that pads to no number of words, as TensorFlow wrote up to 2.5"
    if kind == "GaussianNoise" and isinstance(stddev, (int, float)) and stddev > 1:
        return "GaussianNoise of more than 1"
    return _refused_object(kind, config)


def _refused_object(kind: str, config: JsonObject) -> str | None:
    """Return what Keras 3 does not build of the objects among a layer's arguments.

    It looks for the class of a layer within a layer by its module, and its initializers but Constant take no dtype.
    """
    for values in [config[key] for key in (*NESTED_LAYER_KEYS, "activation") if key in config]:
        for value in values if isinstance(values, list) else (values,):
            if not isinstance(value, OBJECT) or not isinstance(value.get("config"), OBJECT):
                continue
            if (
                layer_record(str(value.get("class_name"))).exported or is_model(value)
            ) and "module" not in value:
                return f"the {value['class_name']} within {kind}, stored without its module"
    for key, value in config.items():
        if (
            not key.endswith("_initializer")
            or not isinstance(value, OBJECT)
            or value.get("class_name") == "Constant"
        ):
            continue
        arguments = value.get("config")
        if isinstance(arguments, OBJECT) and "dtype" in arguments:
            return f"{kind} with a dtype in its `{key}`"
    return None


def _refused_in_archive(model: Stored) -> str | None:
    """Return what Keras 3 does not take of a `.keras` of Keras 2: its loader drops no argument, as that of `.h5` does.

    (Source: 1,550 `.keras` of TensorFlow 2.15, loaded by Keras 3.15.)
    """
    for entry in layer_entries(model.architecture):
        kind, config = str(entry["class_name"]), entry.get("config")
        if str(entry.get("module")).startswith("keras.src."):
            return f"a {kind} within the model, whose module Keras 3 lacks"
        if is_model(entry) or not isinstance(config, OBJECT) or not is_keras_entry(entry):
            continue
        lost = (k for k in config if not takes(kind, k) and (kind, k) not in IGNORED_ARGUMENTS)
        if kind != "InputLayer" and (key := next(lost, None)):
            return f"{kind} with `{key}`"
        if kind == "BatchNormalization" and isinstance(config.get("axis"), list):
            return "BatchNormalization with its axis in a list"
    return None


def _refused_graph(model: Stored) -> str | None:
    """Return what the `.h5` loader of Keras 3 does not rebuild of the models in a file of Keras 2.

    Keras 2 counts the calls of a nested model from 1, since its own graph is call 0, and Keras 3 from 0, but where a
    functional model is the output: it misses the last, and takes others for those before. A Sequential without an
    input layer is built late, and its weights are not found.
    (Source: Keras 3.15, keras/src/models/functional.py: deserialize_node, get_tensor; sequential.py: from_config.)
    """
    for entry in layer_entries(model.architecture):
        if not is_model(entry):
            if _is_mistaken(entry):
                return MISTAKEN
            continue
        graph = read(entry)
        first = next(iter(graph.layers.values()), None)
        config = entry.get("config")
        is_built = isinstance(config, OBJECT) and "build_input_shape" in config
        if graph.sequential and first is not None and not is_input(first.stored) and not is_built:
            return "a Sequential without an input layer"
        refs = [ref for _, call in graph.calls() for ref in call.reads]
        refs += [ref for ref in graph.outputs if graph.layers[ref.layer].class_name == "Sequential"]
        late = (
            r.layer
            for r in refs
            if r.call_index + graph.layers[r.layer].first >= len(graph.layers[r.layer].calls)
        )
        if refused := next(late, None):
            return f"a model within the model ({refused}), whose calls Keras 2 counts from 1"
        for layer in graph.layers.values():
            if layer_record(layer.class_name).takes_states and any(
                len(call.reads) > 1 for call in layer.calls
            ):
                return f"an initial state as a further input of {layer.name} ({layer.class_name})"
    return None
