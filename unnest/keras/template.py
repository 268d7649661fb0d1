"""Finding the template inside a parallel model that is in memory, whoever built it.

The recogniser is the one that reads files (`unnest.core.recognise.wrappers`); it works on names, so what it
finds is looked up among the live layers: the result is the very object that was wrapped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from unnest.core.architecture import NotAGraph, is_model, read
from unnest.core.architecture.graph import Graph
from unnest.core.model import JsonObject
from unnest.core.recognise import wrappers
from unnest.keras import keras_api
from unnest.keras.keras_api import Kit, Model, kit_of


def template_model(parallel: Model) -> Model:
    """The model that was made parallel: the very object, not a copy.

    `parallel` is a model of Keras 3 or tf_keras, made by `multi_gpu_model`, by an old copy of it or by
    hand; what was wrapped several times is unwrapped to the innermost model, and a wrapper inside a
    larger model (a Sequential, layers behind the merge) is found there. A model without towers is its own
    template.

    Raises TypeError where `parallel` is no Keras model, ValueError where it holds several wrappers around
    different templates.
    """
    templates = templates_in(parallel)
    if len(templates) > 1:
        names = ", ".join(repr(template.name) for template in templates)
        raise ValueError(
            f"model {parallel.name!r} holds several parallel models, around {names}: pass the one you mean"
        )
    return templates[0] if templates else parallel


def templates_in(model: Model) -> list[Model]:
    """The innermost templates of all wrappers in `model`, each once; empty where it holds none."""
    by_identity = {id(template): template for template in _templates(kit_of(model), model)}
    return list(by_identity.values())


def base_model(model: Model) -> Model | None:
    """A Functional or Sequential model with every parallel model among its layers replaced by its template.

    The result shares all other layers, and so all weights, with `model`, in the same order, and has its name.
    None where no layer of `model` is a parallel model, or where Keras cannot make `model`'s class anew from
    its layers. Raises ValueError where such a layer holds several parallel models.
    """
    kit = kit_of(model)
    replaced = {id(layer): template_model(layer) for layer in model.layers if keras_api.is_model(layer)}
    replaced = {of: template for of, template in replaced.items() if id(template) != of}
    if not replaced:
        return None
    clone = kit.keras.models.clone_model(model, clone_function=lambda layer: replaced.get(id(layer), layer))
    return clone if type(clone) is type(model) else None


def _templates(kit: Kit, model: Model) -> Iterator[Model]:
    """The innermost templates of the wrappers in `model`, at whatever level."""
    wrapped = _wrapped(kit, model)
    for inner in wrapped or nested(model):
        deeper = list(_templates(kit, inner))
        yield from deeper or ([inner] if inner in wrapped else [])


def _wrapped(kit: Kit, model: Model) -> list[Model]:
    """The templates that this one level of `model` wraps."""
    graph = graph_of(kit, model)
    if graph is None:
        return []
    layers = {layer.name: layer for layer in model.layers}
    return [layers[found.template] for found in wrappers.find(graph) if found.inline is None]


def nested(model: Model) -> list[Model]:
    """The models among a model's layers, and in the layers that hold one (TimeDistributed)."""
    held = (getattr(layer, "layer", layer) for layer in getattr(model, "layers", ()))
    return [layer for layer in held if keras_api.is_model(layer)]


def graph_of(kit: Kit, model: Model) -> Graph | None:
    """The layer graph as the core reads it; None where the model has none (sub-classed models)."""
    if not getattr(model, "inputs", None) or not any(keras_api.is_model(layer) for layer in model.layers):
        return None
    views = (_read(view(kit, model)) for view in (_stored, _drawn))
    return next((graph for graph in views if graph is not None), None)


def _read(architecture: JsonObject | None) -> Graph | None:
    if architecture is None or not is_model(architecture):
        return None
    try:
        return read(architecture)
    except NotAGraph:
        return None


def _stored(kit: Kit, model: Model) -> JsonObject | None:
    """The architecture as a file of the model would have it; None where it does not serialize.

    Layers without a configuration of their own make Keras raise whatever it likes: then the live graph is
    drawn instead, which knows all of the structure and less of the evidence.
    """
    try:
        stored: JsonObject = json.loads(model.to_json())
    except Exception:  # noqa: BLE001 - get_config is anyone's code
        return None
    return stored


def _drawn(kit: Kit, model: Model) -> JsonObject:
    """The same from the live nodes, in the form of Keras 2, with what configuration the layers do have."""
    if isinstance(model, kit.keras.Sequential):
        return {"class_name": "Sequential", "config": {"name": model.name, "layers": _entries(kit, model, {})}}
    ranks = _ranks(kit, model)
    config = {
        "name": model.name,
        "layers": _entries(kit, model, ranks),
        "input_layers": [_history(x, ranks) for x in model.inputs],
        "output_layers": [_history(y, ranks) for y in model.outputs],
    }
    return {"class_name": "Functional", "config": config}


def _entries(kit: Kit, model: Model, ranks: dict[tuple[int, int], int]) -> list[JsonObject]:
    entries: list[JsonObject] = []
    for layer in _operations(model):
        entry: dict[str, Any] = {"class_name": type(layer).__name__, "name": layer.name, "config": _config(kit, layer)}
        if keras_api.is_model(layer) and getattr(layer, "inputs", None):
            entry["config"] = _drawn(kit, layer)["config"]
        nodes = [n for i, n in enumerate(layer._inbound_nodes) if (id(layer), i) in ranks]
        if ranks:
            entry["inbound_nodes"] = [calls for calls in (_reads(node, ranks) for node in nodes) if calls]
        entries.append(entry)
    return entries


def _config(kit: Kit, layer: Model) -> dict[str, Any]:
    """What can be had of a layer's configuration as JSON, and an input layer's shape in any case."""
    try:
        found: dict[str, Any] = json.loads(json.dumps(layer.get_config(), default=lambda o: None))
    except Exception:  # noqa: BLE001 - get_config is anyone's code
        found = {"name": layer.name}
    if isinstance(layer, kit.keras.layers.InputLayer):
        found["batch_shape"] = list(layer.output.shape if kit.name == "keras" else layer.output_shape[0])
    return found


def _reads(node: Any, ranks: dict[tuple[int, int], int]) -> list[Any]:
    return [[*_history(t, ranks), {}] for t in _inputs(node)]


def _history(tensor: Any, ranks: dict[tuple[int, int], int]) -> list[Any]:
    layer, number, index = tensor._keras_history
    return [layer.name, ranks[id(layer), number], index]


def _ranks(kit: Kit, model: Model) -> dict[tuple[int, int], int]:
    """Which calls of which layers belong to the model, each layer's counted from 0 (1 for models)."""
    members: set[tuple[int, int]] = set()
    todo = [(t._keras_history[0], t._keras_history[1]) for t in [*model.outputs, *model.inputs]]
    ranks: dict[tuple[int, int], int] = {}
    while todo:
        layer, number = todo.pop()
        if (id(layer), number) in members:
            continue
        members.add((id(layer), number))
        todo += [tuple(t._keras_history[:2]) for t in _inputs(layer._inbound_nodes[number])]
    for layer in _operations(model):
        own = [i for i in range(len(layer._inbound_nodes)) if (id(layer), i) in members]
        ranks.update({(id(layer), i): rank for rank, i in enumerate(own)})
    return ranks


def _operations(model: Model) -> list[Any]:
    """Layers and, in Keras 3, bare operations."""
    return list(getattr(model, "operations", None) or model.layers)


def _inputs(node: Any) -> list[Any]:
    if getattr(node, "is_input", False):
        return []
    tensors = node.input_tensors if hasattr(node, "input_tensors") else node.keras_inputs
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
