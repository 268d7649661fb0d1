"""The layer graph of a model in memory, in the form in which the core reads a file's."""

from __future__ import annotations

import json
from typing import Any

from unnest.core.architecture import NotAGraph, is_model, read
from unnest.core.architecture.graph import Graph
from unnest.core.model import JsonObject
from unnest.keras import keras_api
from unnest.keras.keras_api import KerasApi, Model


def graph_of(api: KerasApi, model: Model) -> Graph | None:
    """Return the layer graph as the core reads it; None for sub-classed models."""
    if not getattr(model, "inputs", None) or not any(
        keras_api.is_model(layer) for layer in model.layers
    ):
        return None
    architectures = (
        _graph_or_none(architecture_of(api, model))
        for architecture_of in (_architecture_from_json, _architecture_from_nodes)
    )
    return next((graph for graph in architectures if graph is not None), None)


def _graph_or_none(architecture: JsonObject | None) -> Graph | None:
    if architecture is None or not is_model(architecture):
        return None
    try:
        return read(architecture)
    except NotAGraph:
        return None


def _architecture_from_json(api: KerasApi, model: Model) -> JsonObject | None:
    """Return the architecture as a file of the model would have it; None if it does not serialize.

    Layers without a configuration of their own make Keras raise whatever it likes: then the live graph is
    drawn instead, which knows all of the structure and less of the evidence.
    """
    try:
        stored: JsonObject = json.loads(model.to_json())
    except Exception:  # noqa: BLE001 - get_config is anyone's code
        return None
    return stored


def _architecture_from_nodes(api: KerasApi, model: Model) -> JsonObject:
    """Return a model's architecture from its live nodes, in the form of Keras 2, with the configs that layers have."""
    if isinstance(model, api.keras.Sequential):
        return {
            "class_name": "Sequential",
            "config": {"name": model.name, "layers": _layer_entries(api, model, {})},
        }
    call_numbers = _call_numbers(api, model)
    config = {
        "name": model.name,
        "layers": _layer_entries(api, model, call_numbers),
        "input_layers": [_tensor_reference(x, call_numbers) for x in model.inputs],
        "output_layers": [_tensor_reference(y, call_numbers) for y in model.outputs],
    }
    return {"class_name": "Functional", "config": config}


def _layer_entries(
    api: KerasApi, model: Model, call_numbers: dict[tuple[int, int], int]
) -> list[JsonObject]:
    """Return the JSON entries of a model's layers; `call_numbers`: (id of layer, node index) -> number of the call."""
    entries: list[JsonObject] = []
    for layer in _operations(model):
        entry: dict[str, Any] = {
            "class_name": type(layer).__name__,
            "name": layer.name,
            "config": _config(api, layer),
        }
        if keras_api.is_model(layer) and getattr(layer, "inputs", None):
            entry["config"] = _architecture_from_nodes(api, layer)["config"]
        nodes = [n for i, n in enumerate(layer._inbound_nodes) if (id(layer), i) in call_numbers]
        if call_numbers:
            entry["inbound_nodes"] = [
                calls
                for calls in (_input_references(node, call_numbers) for node in nodes)
                if calls
            ]
        entries.append(entry)
    return entries


def _config(api: KerasApi, layer: Model) -> dict[str, Any]:
    """Return the parts of a layer's configuration that JSON can hold, with an input layer's shape in any case."""
    try:
        config: dict[str, Any] = json.loads(json.dumps(layer.get_config(), default=lambda o: None))
    except Exception:  # noqa: BLE001 - get_config is anyone's code
        config = {"name": layer.name}
    if isinstance(layer, api.keras.layers.InputLayer):
        config["batch_shape"] = list(
            layer.output.shape if api.name == "keras" else layer.output_shape[0]
        )
    return config


def _input_references(node: Any, call_numbers: dict[tuple[int, int], int]) -> list[Any]:
    return [[*_tensor_reference(t, call_numbers), {}] for t in _inputs(node)]


def _tensor_reference(tensor: Any, call_numbers: dict[tuple[int, int], int]) -> list[Any]:
    layer, number, index = tensor._keras_history
    return [layer.name, call_numbers[id(layer), number], index]


def _call_numbers(api: KerasApi, model: Model) -> dict[tuple[int, int], int]:
    """Return the calls of layers that belong to the model, each layer's numbered from 0 (from 1 for models)."""
    members: set[tuple[int, int]] = set()
    pending = [(t._keras_history[0], t._keras_history[1]) for t in [*model.outputs, *model.inputs]]
    call_numbers: dict[tuple[int, int], int] = {}
    while pending:
        layer, number = pending.pop()
        if (id(layer), number) in members:
            continue
        members.add((id(layer), number))
        pending += [tuple(t._keras_history[:2]) for t in _inputs(layer._inbound_nodes[number])]
    for layer in _operations(model):
        numbers = [i for i in range(len(layer._inbound_nodes)) if (id(layer), i) in members]
        call_numbers.update({(id(layer), i): call_index for call_index, i in enumerate(numbers)})
    return call_numbers


def _operations(model: Model) -> list[Any]:
    """Return the layers and, in Keras 3, bare operations."""
    return list(getattr(model, "operations", None) or model.layers)


def _inputs(node: Any) -> list[Any]:
    if getattr(node, "is_input", False):
        return []
    tensors = node.input_tensors if hasattr(node, "input_tensors") else node.keras_inputs
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
