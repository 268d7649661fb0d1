"""Keras 1's Sequential that begins with a Merge of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.graph.graph_builder import Builder, place_chain, place_piece
from unnest.core.keras3.graph.rename_layers_for_keras3 import keras_3_names
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer, Shares

ConvertGraph: TypeAlias = Callable[[Graph, Shares, Context], NewLayer]


def merged_branches(
    graph: Graph, shares: Shares, context: Context, converted: ConvertGraph
) -> NewLayer:
    """Convert Keras 1's Sequential that begins with a Merge of models to a model with an input for each of them.

    The file lists the weights of the branches' layers beside those of the others (source: Keras 1.2.2, keras/models.py:
    flattened_layers). `converted` makes a model of each branch.
    """
    merge, *rest = graph.layers.values()
    branches = _branches(merge, shares, context, converted)
    names = keras_3_names(graph.layers, context)
    context.note("sequential-graph", graph.name)
    builder = Builder(reserved={*names.values(), *(b.name for b in branches)})
    inputs, tensors = [], []
    for branch in branches:
        start = builder.input(_input_like(branch, merge))
        inputs.append(start)
        tensors.append(builder.place(LayerCall(branch, (start,)), branch.name))
    joined = {**merge.stored, "config": {k: v for k, v in merge.settings.items() if k != "layers"}}
    made = context.convert_layer(joined, names[merge.name], ())
    tensor = place_piece(builder, made, (tensors,), names[merge.name])
    pieces = [
        context.convert_layer(layer.stored, names[layer.name], shares.get(layer.name, ()))
        for layer in rest
    ]
    tensor = place_chain(builder, tensor, pieces, [names[layer.name] for layer in rest])
    if graph.outputs:
        context.graph.output_names[graph.outputs[0].layer] = tensor.layer
    return builder.model(graph.name, inputs, [tensor], {"trainable": True})


def _branches(
    merge: Layer, shares: Shares, context: Context, converted: ConvertGraph
) -> list[NewLayer]:
    """Convert the models in a Merge, each under a new name, as Keras 1 stores none. Raises CannotConvert."""
    entries = merge.settings["layers"]
    if context.masks:
        raise refused(
            merge.name,
            merge.class_name,
            "merges branches with masks, which Keras 3 merges otherwise",
        )
    if not isinstance(entries, Sequence) or not all(
        isinstance(e, Mapping) and is_model(e) for e in entries
    ):
        raise refused(merge.name, merge.class_name, "holds branches that are no models")
    graphs = [read(entry) for entry in entries if isinstance(entry, Mapping)]
    held = [name for graph in graphs for name in graph.layers]
    if len(held) > len(set(held)):
        raise refused(merge.name, merge.class_name, "its branches share layers")
    inner = replace(context, graph=replace(context.graph, output_names={}))
    return [
        converted(g, shares, inner).renamed(f"{merge.name}_branch_{k}")
        for k, g in enumerate(graphs)
    ]


def _input_like(branch: NewLayer, merge: Layer) -> NewLayer:
    """Return an input layer for a branch. Raises CannotConvert if the branch does not read exactly one tensor."""
    layers = branch.config["layers"]
    assert isinstance(layers, Sequence)
    settings = [
        e["config"]
        for e in layers
        if isinstance(e, Mapping) and e.get("class_name") == "InputLayer"
    ]
    if len(settings) != 1 or not isinstance(settings[0], Mapping):
        raise refused(
            merge.name, merge.class_name, "has a branch whose input is not stored, or with several"
        )
    name = f"{branch.name}_input"
    return NewLayer(name, "InputLayer", {**settings[0], "name": name})
