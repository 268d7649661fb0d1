"""A Sequential's layers as a functional model's own, as `Model(s.input, s.output)` is saved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unnest.core.architecture import (
    NotAGraph,
    first_at_ends,
    layer_name,
    read,
    tensor_refs,
)
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.model import Json, JsonObject, Unknown


def sequential_as_functional(model: JsonObject, inputs: Sequence[JsonObject]) -> JsonObject:
    """Return a Sequential's layers as Model(s.input, s.output) stores them; a functional model unchanged.

    Where the Sequential does not store its input layer, `inputs[0]` is taken: the entry of the input
    layer that it is called on (the two are one object to the writer). Raises Unknown.
    """
    graph = read(model)
    if not graph.sequential:
        return model
    if _is_keras_3(inputs[0]):
        return _keras_3_chain(model, graph)
    layers = list(graph.layers.values())
    entries: list[JsonObject] = []
    if not graph.inputs:
        entries.append(_own_input(layers[0], inputs[0]))
    elif layers:
        entries.append({**layers[0].stored, "name": layers[0].name, "inbound_nodes": []})
        layers = layers[1:]
    keras_1 = _is_keras_1(inputs[0])
    previous: Json = [layer_name(entries[0]), 0, 0]
    if keras_1 and layers and layers[0].is_model:
        entries, previous = _inlined(layers[0].stored, inputs)
        layers = layers[1:]
    for layer in layers:
        assert isinstance(previous, list)
        node: Json = [previous if keras_1 else [*previous, {}]]
        entries.append({**layer.stored, "name": layer.name, "inbound_nodes": [node]})
        previous = [layer.name, int(layer.is_model), 0]
    return _of_one_chain(model, graph, entries, [layer_name(entries[0]), 0, 0], previous)


def _keras_3_chain(model: JsonObject, graph: Graph) -> JsonObject:
    """Return a Keras 3 Sequential as a functional model: it always stores its input layer, and full tensor specs.

    Raises Unknown.
    """
    if not graph.layers:
        raise Unknown("any shape of a model without layers")
    first, *rest = graph.layers.values()
    entries: list[JsonObject] = [{**first.stored, "name": first.name, "inbound_nodes": []}]
    spec = keras3_layer_output_specs.input_spec(first.stored)
    previous: Json = [first.name, 0, 0]
    for layer in rest:
        call = keras3_layer_output_specs.call_on(layer.stored, spec) if spec else None
        if spec is None or call is None:
            raise Unknown(f"the shapes after {layer.name!r}")
        node = tensor_refs.keras_3(previous, spec.shape, spec.dtype, call.kwargs)
        entries.append({**layer.stored, "name": layer.name, "inbound_nodes": [node]})
        previous, spec = [layer.name, 0, 0], call.output
    end: Json = [entries[-1]["name"], first_at_ends(entries[-1]), 0]
    return _of_one_chain(model, graph, entries, [first.name, 0, 0], end)


def _of_one_chain(
    model: JsonObject, graph: Graph, entries: list[JsonObject], start: Json, end: Json
) -> JsonObject:
    """Return a Sequential with the config of a functional model that has one input and one output."""
    config: JsonObject = {
        "name": graph.name,
        "layers": entries,
        "input_layers": [start],
        "output_layers": [end],
    }
    return {**model, "config": config}


def _own_input(first: Layer, called_on: JsonObject) -> JsonObject:
    """Return the input layer that a Sequential makes for itself, from the one that it is called on.

    The two are one object unless the wrapper was given an input of its own, which then has an automatic
    name; a Sequential's own is called after the first layer, if that layer was given a shape.

    Raises NotAGraph.
    """
    automatic = re.fullmatch(r"input(_layer)?_\d+", str(called_on.get("name")))
    if "batch_input_shape" not in first.settings or _is_keras_1(called_on) or not automatic:
        return called_on
    name = f"{first.name}_input"
    config = called_on.get("config")
    if not isinstance(config, Mapping):
        raise NotAGraph(f"the input layer of {first.name!r} has no config")
    return {**called_on, "name": name, "config": {**config, "name": name}}


def _inlined(model: JsonObject, inputs: Sequence[JsonObject]) -> tuple[list[JsonObject], Json]:
    """Return layers and output of the model that begins a Keras 1 Sequential, which become the Sequential's own.

    Raises NotAGraph.
    """
    inner = sequential_as_functional(model, inputs)
    graph = read(inner)
    config = inner["config"]
    assert isinstance(config, Mapping)
    outputs = tensor_refs.reads(config["output_layers"], graph.layers)
    if len(outputs) != 1:
        raise NotAGraph(f"{graph.name!r} begins a Sequential and has {len(outputs)} outputs")
    return [layer.stored for layer in graph.layers.values()], list(outputs[0])


def _is_keras_3(entry: JsonObject) -> bool:
    """Return True for a Keras 3 input layer, which says `batch_shape`, not `batch_input_shape`."""
    config = entry.get("config")
    return isinstance(config, Mapping) and "batch_shape" in config


def _is_keras_1(entry: JsonObject) -> bool:
    """Return True for a Keras 1 input layer, which says `input_dtype`, not `dtype`."""
    config = entry.get("config")
    return isinstance(config, Mapping) and "input_dtype" in config
