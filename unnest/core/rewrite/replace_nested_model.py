"""Put another model, or another entry, in the place of a layer of a graph, with the references to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import (
    first_at_ends,
    functional,
    model_name,
    tensor_refs,
)
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.model_json_as_saved_alone import TOP_LEVEL_ONLY
from unnest.core.model import Json, JsonObject


def replace_nested_model(
    graph: Graph, name_in_outer: str, model: JsonObject
) -> tuple[JsonObject, str]:
    """Return the outer model with another model in place of a nested one, and the name it has there.

    It keeps its own name unless another layer of the outer model has it.
    """
    layer = graph.layers[name_in_outer]
    name, entry = _entry_in_place_of(layer, model, graph)
    outer = replace_entry(graph, name_in_outer, entry)
    if graph.sequential:
        return outer, name
    keras_3 = any(tensor_refs.is_keras_3(call.stored) for call in layer.calls)
    follows_the_rule = keras_3 and layer.first_at_ends == first_at_ends(layer.stored)
    shift = first_at_ends(model) - layer.first_at_ends if follows_the_rule else 0
    return _with_references_renamed(outer, graph, layer.name, name, shift), name


def _entry_in_place_of(
    layer: Layer, model: JsonObject, graph: Graph
) -> tuple[str, dict[str, Json]]:
    """Return the entry of a model in the place of a nested one, with the calls of that, and its name there."""
    name = model_name(model)
    config = model["config"]
    if name != layer.name and name in graph.layers:
        name = layer.name
        config = {**config, "name": name} if isinstance(config, Mapping) else config
    inner_keys = {
        key: value
        for key, value in model.items()
        if key in layer.stored and key not in TOP_LEVEL_ONLY
    }
    entry = {**layer.stored, **inner_keys, "class_name": model["class_name"], "config": config}
    if "name" in entry:
        entry["name"] = name
    return name, entry


def _with_references_renamed(
    outer: JsonObject, graph: Graph, old: str, new: str, shift: int
) -> JsonObject:
    """Return the model with every reference to the layer `old` as one to `new`.

    `shift` is added to the number of the call that its input and output lists name.
    """

    def rename(raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        return (new, *raw[1:]) if raw[0] == old else raw

    def rename_at_ends(raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        return (new, raw[1] + shift, raw[2]) if raw[0] == old else raw

    config = outer["config"]
    assert isinstance(config, Mapping)
    entries = config["layers"]
    assert isinstance(entries, Sequence)
    renamed = [
        {**e, "inbound_nodes": tensor_refs.rewrite(e["inbound_nodes"], graph.layers, rename)}
        if e.get("inbound_nodes")
        else e
        for e in entries
        if isinstance(e, Mapping)
    ]
    ends = [
        tensor_refs.rewrite(config[key], graph.layers, rename_at_ends)
        for key in ("input_layers", "output_layers")
    ]
    return functional(outer, renamed, *ends)


def replace_entry(graph: Graph, layer_name: str, entry: JsonObject) -> JsonObject:
    """Return the model with another entry for one layer."""
    entries = [
        entry if name == layer_name else other.stored for name, other in graph.layers.items()
    ]
    config = graph.model["config"]
    if isinstance(config, Mapping):
        return {**graph.model, "config": {**config, "layers": entries}}
    return {**graph.model, "config": entries}
