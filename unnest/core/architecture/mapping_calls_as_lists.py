"""Calls of models that are given their inputs by name, as calls with the list of the inputs.

`model({"query": q, "document": d})`: a functional model takes what has the names of its inputs, in its own order, and
nothing else. The names are those of its input layers, or the keys of the mapping that it was made with. Where one is
missing, or the inputs are nested, it takes all of the mapping in the order of the keys.
(Source: `_flatten_to_reference_inputs` of tf.keras 2.3 to 2.21 and of Keras 3.0 to 3.3.)

Before, tf.keras took every mapping in the order of its keys. (Source: TensorFlow 2.0, whose files predict so.)

Keras 3.4 to 3.6 take every mapping in the order of its keys; since 3.7 a model with a mapping of inputs does so, one
with a list goes by name. (Source: `_standardize_inputs` of Keras 3.4, 3.6, 3.7, 3.15.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unnest.core import json_tree
from unnest.core.architecture import tensor_refs
from unnest.core.json_tree import OBJECT, is_list, is_object
from unnest.core.model import Json, JsonObject

INPUTS, MASK = "inputs", "mask"
"""Arguments of a call of a model that may be mappings: the first one, and the masks of its tensors."""

BY_NAME, BY_KEYS, BY_NAME_OR_KEYS = (2, 3), (3, 4), (3, 7)
"""Keras goes since these by name, by the order of the keys, and by name if a model has a list of inputs."""

READINGS_OF_3 = ((3, 0), BY_KEYS, BY_NAME_OR_KEYS)
"""A release for each way in which Keras 3 has read a mapping."""


class ModelCall(NamedTuple):
    """A stored call of a model, its inputs in a list, and the tensors of the mapping that the model does not take."""

    node: Json
    unused: tuple[Json, ...] = ()


def with_input_list(node: Json, model: JsonObject) -> ModelCall:
    """Return a stored call of a model with the list of its inputs in the place of a mapping, else as it is."""
    return _with_list(node, model, BY_NAME_OR_KEYS)


def _with_list(node: Json, model: JsonObject, release: tuple[int, ...]) -> ModelCall:
    """Return a stored call of `model` with its inputs as a list, in the order of that Keras release."""
    inputs, is_keras_3 = _first_argument(node)
    model_inputs = _inputs_of(model) if is_object(inputs) else None
    if not is_object(inputs) or model_inputs is None:
        return ModelCall(node)
    names = model_inputs.names
    has_order_of_keys = release >= BY_KEYS and (
        model_inputs.is_mapping or release < BY_NAME_OR_KEYS
    )
    goes_by_keys = has_order_of_keys if is_keras_3 else release < BY_NAME
    if goes_by_keys or any(name not in inputs for name in names):
        names = sorted(inputs)[: len(names)] if is_keras_3 else sorted(inputs)
    unused = tuple(inputs[name] for name in sorted(inputs) if name not in names)
    listed = [inputs[name] for name in names]
    return ModelCall(_with_inputs(node, listed, names) if is_keras_3 else listed, unused)


def _with_inputs(node: Json, inputs: Json, names: Sequence[str]) -> Json:
    """Return a Keras 3 call with other inputs; the masks of the old ones are put in a list in the order of `names`."""
    assert isinstance(node, OBJECT)
    args, kwargs = node["args"], node.get("kwargs")
    args, kwargs = args if is_list(args) else (), {**kwargs} if isinstance(kwargs, OBJECT) else {}
    if not args:
        del kwargs[INPUTS]
    masks = kwargs.get(MASK)
    if isinstance(masks, OBJECT):
        kwargs[MASK] = [masks.get(name) for name in names]
    return {**node, "args": [inputs, *args[1:]], "kwargs": kwargs}


def with_calls_of_release(architecture: JsonObject, release: tuple[int, ...]) -> JsonObject:
    """Return the architecture with calls that its writer read otherwise than today's Keras of its dialect.

    They give the model what the writer gave it, in a list, or by the model's own keys.
    """
    if not ((2,) <= release < BY_NAME or (3,) <= release < BY_NAME_OR_KEYS):
        return architecture
    if not any(map(_is_called_with_mapping, json_tree.all_objects(architecture))):
        return architecture

    def change(entry: JsonObject, changed: dict[str, Json]) -> Json:
        calls = entry.get("inbound_nodes")
        if is_list(calls) and _inputs_of(entry) is not None:
            changed["inbound_nodes"] = [_call_today(node, entry, release) for node in calls]
        return changed if changed != entry else entry

    today = json_tree.transform(architecture, change)
    assert isinstance(today, Mapping)
    return today


def _is_called_with_mapping(entry: JsonObject) -> bool:
    """Return True for a functional model that another model calls with a mapping: all read a list alike."""
    calls = entry.get("inbound_nodes")
    is_mapping = is_list(calls) and any(is_object(_first_argument(node)[0]) for node in calls)
    return is_mapping and _inputs_of(entry) is not None


def model_called_differently(architecture: JsonObject) -> str | None:
    """Return the first model in a JSON of Keras 3 that its releases give other inputs in a call, or None.

    That JSON does not say which release wrote it.
    """
    for entry in json_tree.objects(architecture):
        calls = entry.get("inbound_nodes")
        if not is_list(calls) or _inputs_of(entry) is None:
            continue
        calls_of_3 = [
            node for node in calls if isinstance(node, OBJECT) and tensor_refs.is_keras_3(node)
        ]
        readings = [
            [_call_today(node, entry, release) for node in calls_of_3] for release in READINGS_OF_3
        ]
        if any(reading != calls_of_3 for reading in readings):
            return str(entry.get("name"))
    return None


def _call_today(node: Json, model: JsonObject, release: tuple[int, ...]) -> Json:
    """Return the call that Keras reads today as that release read the stored one."""
    written = _with_list(node, model, release).node
    inputs, model_inputs = _first_argument(written)[0], _inputs_of(model)
    if written == with_input_list(node, model).node or model_inputs is None or not is_list(inputs):
        return node
    if not model_inputs.is_mapping or not tensor_refs.is_keras_3(node):
        return written
    return _with_inputs(written, dict(zip(model_inputs.names, inputs, strict=False)), ())


class _Inputs(NamedTuple):
    """The names by which a model takes its inputs, in its order, and whether it was made with a mapping of them."""

    names: list[str]
    is_mapping: bool


def _inputs_of(model: JsonObject) -> _Inputs | None:
    """Return the inputs of a functional model; None if they are nested, and for other layers."""
    config = model.get("config")
    ends, layers = (
        (config.get("input_layers"), config.get("layers"))
        if isinstance(config, OBJECT)
        else (None, None)
    )
    if ends is None or not is_list(layers):
        return None
    entries = [entry for entry in layers if isinstance(entry, OBJECT)]
    settings = [
        each if isinstance(each := entry.get("config"), OBJECT) else {} for entry in entries
    ]
    known = {
        str(entry.get("name", own.get("name")))
        for entry, own in zip(entries, settings, strict=True)
    }
    names: list[str] = sorted(ends) if isinstance(ends, OBJECT) else []
    refs = [ends[key] for key in names] if isinstance(ends, OBJECT) else ends
    refs = [ends] if tensor_refs.is_ref(ends, known) else refs
    if not is_list(refs) or not all(tensor_refs.is_ref(ref, known) for ref in refs):
        return None
    return _Inputs(
        names or [str(ref[0]) for ref in refs if is_list(ref)], is_mapping=isinstance(ends, OBJECT)
    )


def _first_argument(node: Json) -> tuple[Json, bool]:
    """Return a stored call's first argument, and whether Keras 3 stored it; a lone tensor reference does not count."""
    if not is_object(node) or not tensor_refs.is_keras_3(node):
        return node, False
    args, kwargs = node["args"], node.get("kwargs")
    first = (
        args[0]
        if is_list(args) and args
        else kwargs.get(INPUTS)
        if isinstance(kwargs, OBJECT)
        else None
    )
    is_tensor = isinstance(first, OBJECT) and first.get("class_name") == tensor_refs.KERAS_3_TENSOR
    return None if is_tensor else first, True
