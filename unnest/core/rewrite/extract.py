"""A graph without its wrapper: the template's own graph, with heads and surroundings re-attached.

whole       the template model itself
head        the template's layers and the outer model's in one graph, as Model(t.input, head(t.output)) is
embedded    the outer model with one call of the template in the wrapper's place
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from unnest.core.architecture import (
    NotAGraph,
    first_at_ends,
    functional,
    model_name,
    read,
    tensor_refs,
)
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref, keras_order
from unnest.core.model import Json, JsonObject, Scope
from unnest.core.recognise.layer_facts import stored_shape
from unnest.core.recognise.wrappers import Found
from unnest.core.rewrite.flatten import ShapesUnknown, sequential_as_functional


def scope(graph: Graph, found: Found) -> Scope:
    """How the wrapper sits in its graph.

    A wrapper that lists inputs or outputs in an order of its own, or leaves an output out, is whole too.
    """
    merged = [merge.tensor for merge in found.merges]
    nothing_else = set(found.sources) == set(graph.inputs) and set(graph.outputs) <= set(merged)
    if nothing_else and len(found.sources) == len(graph.inputs) and len(set(graph.outputs)) == len(graph.outputs):
        return "whole"
    followed = any(ref in merged for _, call in graph.calls() for ref in call.reads)
    if set(found.sources) <= set(graph.inputs) and followed:
        return "head"
    return "embedded"


def same_ends(graph: Graph, found: Found) -> bool:
    """Whether the parallel model has the template's inputs and outputs, all of them and in its order."""
    count = len(read(graph.layers[found.template].stored).outputs)
    return (
        found.sources == graph.inputs
        and tuple(merge.tensor for merge in found.merges) == graph.outputs
        and [merge.output for merge in found.merges] == list(range(count))
    )


TOP_LEVEL_ONLY = ("inbound_nodes", "name", "class_name", "config")


def standalone(outer: JsonObject, layer: Layer) -> JsonObject:
    """A nested model as its own top-level model, with what the writer puts beside a top-level config."""
    own = {key: layer.stored[key] for key in outer if key in layer.stored and key not in TOP_LEVEL_ONLY}
    kept = {key: value for key, value in outer.items() if key not in ("class_name", "config", *own)}
    if "name" in outer:
        kept["name"] = layer.name
    if "module" in kept and layer.class_name != outer["class_name"]:
        kept |= _home_of(layer.class_name)
    return {**kept, **own, "class_name": layer.class_name, "config": layer.config}


def _home_of(class_name: str) -> JsonObject:
    """Where Keras 2.12 finds the class of a model: of nested models its JSON does not say (source: its files)."""
    if class_name == "Sequential":
        return {"module": "keras", "registered_name": None}
    own = class_name == "Functional"
    return {"module": "keras.engine.functional" if own else None, "registered_name": class_name}


def cannot_flatten(graph: Graph, found: Found) -> str | None:
    """Why the template's layers cannot become the outer model's own."""
    template = graph.layers[found.template]
    if len(template.calls) > len(found.towers):
        return f"{template.name} is called elsewhere too"
    try:
        inner = own_layers(graph, found)
    except ShapesUnknown as doubt:
        return f"Keras 3 notes the shape of every tensor, and the file does not tell {doubt}"
    if _notes_tensors(template):
        from unnest.core.rewrite import keras3_tensor_specs

        unclear = keras3_tensor_specs.cannot_note(graph, found, read(inner))
        if unclear:
            return unclear
    gone = {template.name, *(c.layer for c in _removed(graph, found)), *(s.layer for s in found.sources)}
    both = sorted((set(graph.layers) - gone) & set(read(inner).layers))
    return f"both models have a layer {both[0]}" if both else None


def own_layers(graph: Graph, found: Found) -> JsonObject:
    """The template as the functional model whose layers a head is put upon."""
    inputs = [graph.layers[source.layer].stored for source in found.sources]
    return sequential_as_functional(graph.layers[found.template].stored, inputs)


def _removed(graph: Graph, found: Found) -> set[CallId]:
    """The calls that the model's outputs no longer need: merges, all towers but the first, slices of nobody else's."""
    cut, ends, first = found.cut(graph), found.ends, found.first

    def after(at: CallId) -> Iterable[Ref]:
        instead = {**ends, **cut} if at in first else ends
        return (instead.get(ref, ref) for ref in graph.call(at).reads)

    needed = _reached([ends.get(ref, ref) for ref in graph.outputs], after)
    return _reached(graph.outputs, lambda at: graph.call(at).reads) - needed


def _reached(ends: Iterable[Ref], reads: Callable[[CallId], Iterable[Ref]]) -> set[CallId]:
    """The calls that some tensors are made by."""
    reached: set[CallId] = set()
    pending = [ref.call for ref in ends]
    while pending:
        at = pending.pop()
        if at not in reached:
            reached.add(at)
            pending += [ref.call for ref in reads(at)]
    return reached


class _Inner(NamedTuple):
    """A tensor of the template's own graph, which takes the place of one of the outer graph's."""

    layer: Layer
    ref: Ref


class _Renumbering:
    """References of the outer graph, translated to what stands in their place afterwards."""

    def __init__(self, graph: Graph, removed: set[CallId], instead: Mapping[Ref, _Inner | Ref]) -> None:
        self._graph = graph
        self._instead = instead
        self._rank = {
            CallId(name, rank): new
            for name, layer in graph.layers.items()
            for new, rank in enumerate(r for r in range(len(layer.calls)) if CallId(name, r) not in removed)
        }

    def __call__(self, raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        """How the new file spells, in a call, the tensor that the old one spells so."""
        return self._new(raw, lambda layer: layer.first)

    def rewrite(self, stored: Json) -> Json:
        """A stored call with its references as the new file spells them."""
        return tensor_refs.rewrite(stored, self._graph.layers, self)

    def at_ends(self, raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        """The same in the model's lists of inputs and outputs."""
        return self._new(raw, lambda layer: layer.first_at_ends)

    def _new(self, raw: tensor_refs.RawRef, first: Callable[[Layer], int]) -> tensor_refs.RawRef:
        name, number, tensor = raw
        ref = Ref(name, number - first(self._graph.layers[name]), tensor)
        new = self._instead.get(ref, ref)
        if isinstance(new, _Inner):
            return (new.layer.name, first(new.layer) + new.ref.rank, new.ref.tensor)
        if new.call not in self._rank:
            raise NotAGraph(f"{new.layer!r} belongs to a wrapper, but what surrounds the wrapper needs it")
        return (new.layer, first(self._graph.layers[new.layer]) + self._rank[new.call], new.tensor)


def in_place(graph: Graph, found: Found) -> JsonObject:
    """The first tower, reading the sources, where the wrapper was."""
    removed, first = _removed(graph, found), found.first
    instead: dict[Ref, _Inner | Ref] = {**found.ends}
    renumber = _Renumbering(graph, removed, instead)
    renumber_tower = _Renumbering(graph, removed, {**instead, **found.cut(graph)})

    rows = _fixed_batch(graph, found)

    def spell(at: CallId, stored: Json) -> Json:
        if at not in first:
            return renumber.rewrite(stored)
        rewritten = renumber_tower.rewrite(stored)
        return rewritten if rows is None else tensor_refs.with_rows(rewritten, rows)

    entries = [entry for layer in graph.layers.values() for entry in _kept(graph, layer, removed, spell)]
    return _with_layers(graph, entries, renumber)


def _fixed_batch(graph: Graph, found: Found) -> int | None:
    """The batch that the model's own layers take once they are no tower, where it is fixed."""
    shapes = [stored_shape(graph.layers[source.layer]) for source in found.sources] if found.inline else []
    return next((shape[0] for shape in shapes if shape), None)


def _with_layers(graph: Graph, entries: Iterable[JsonObject], change: _Renumbering) -> JsonObject:
    config = graph.model["config"]
    assert isinstance(config, Mapping)
    ends = [tensor_refs.rewrite(config[key], graph.layers, change.at_ends) for key in ("input_layers", "output_layers")]
    return in_keras_order(graph, functional(graph.model, entries, *ends))


def in_keras_order(before: Graph, model: JsonObject) -> JsonObject:
    """The model's layers in the order that its writer would keep them in.

    The rule is believed only if it explains the order that the writer did keep.
    """
    if keras_order(lambda at: before.call(at).reads, before.inputs, before.outputs) != list(before.layers):
        return model
    graph = read(model)
    order = keras_order(lambda at: graph.call(at).reads, graph.inputs, graph.outputs)
    if set(order) != set(graph.layers):
        return model
    config = model["config"]
    assert isinstance(config, Mapping)
    return {**model, "config": {**config, "layers": [graph.layers[name].stored for name in order]}}


def flattened(graph: Graph, found: Found) -> JsonObject:
    """The template's layers as the outer model's own."""
    template = graph.layers[found.template]
    inner_model = own_layers(graph, found)
    inner = read(inner_model)
    removed = _removed(graph, found) | set(found.towers)
    note = _note(graph, found, inner)
    own = [_Inner(inner.layers[ref.layer], ref) for ref in inner.outputs]
    instead: dict[Ref, _Inner | Ref] = {merge.tensor: own[merge.output] for merge in found.merges}
    fed = [_Inner(inner.layers[ref.layer], ref) for ref in inner.inputs]
    instead.update(zip(found.sources, fed, strict=True))
    renumber = _Renumbering(graph, removed, instead)
    own_inputs = {source.layer for source in found.sources}
    entries: list[JsonObject] = []
    for name, layer in graph.layers.items():
        if name == template.name:
            entries += [part.stored for part in inner.layers.values()]
        elif name not in own_inputs:
            entries += _kept(graph, layer, removed, lambda _, stored: renumber.rewrite(note(stored)))
    return _with_layers(graph, entries, renumber)


def _note(graph: Graph, found: Found, inner: Graph) -> Callable[[Json], Json]:
    """How a call of the head is stored behind the template's own layers."""
    if not _notes_tensors(graph.layers[found.template]):
        return lambda stored: stored
    from unnest.core.rewrite import keras3_tensor_specs

    return functools.partial(keras3_tensor_specs.noting, graph, found, keras3_tensor_specs.made_by(inner))


def _notes_tensors(template: Layer) -> bool:
    """Whether flattening it takes shapes that the file does not hold: a Sequential of Keras 3."""
    return read(template.stored).sequential and any(tensor_refs.is_keras_3(call.stored) for call in template.calls)


def _kept(graph: Graph, layer: Layer, removed: set[CallId], spell: Callable[[CallId, Json], Json]) -> list[JsonObject]:
    """A layer's entry with the calls that are left, spelled anew; nothing where none is left."""
    at = [CallId(layer.name, rank) for rank in range(len(layer.calls))]
    if graph.call(at[0]).stored is None:  # an input layer
        return [layer.stored]
    calls = [spell(call, graph.call(call).stored) for call in at if call not in removed]
    return [{**layer.stored, "inbound_nodes": calls}] if calls else []


def instead_of_nested(graph: Graph, nested: str, model: JsonObject) -> tuple[JsonObject, str]:
    """The outer model with another model in the place of a nested one, and the name that it goes by there.

    It keeps its own name unless another layer of the outer model has it.
    """
    layer = graph.layers[nested]
    name = model_name(model)
    config = model["config"]
    if name != layer.name and name in graph.layers:
        name = layer.name
        config = {**config, "name": name} if isinstance(config, Mapping) else config
    own = {key: value for key, value in model.items() if key in layer.stored and key not in TOP_LEVEL_ONLY}
    entry = {**layer.stored, **own, "class_name": model["class_name"], "config": config}
    if "name" in entry:
        entry["name"] = name
    outer = with_entry(graph, nested, entry)
    if graph.sequential:
        return outer, name

    keras_3 = any(tensor_refs.is_keras_3(call.stored) for call in layer.calls)
    follows_the_rule = keras_3 and layer.first_at_ends == first_at_ends(layer.stored)
    shift = first_at_ends(model) - layer.first_at_ends if follows_the_rule else 0

    def rename(raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        return (name, *raw[1:]) if raw[0] == layer.name else raw

    def rename_at_ends(raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        return (name, raw[1] + shift, raw[2]) if raw[0] == layer.name else raw

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
    ends = [tensor_refs.rewrite(config[key], graph.layers, rename_at_ends) for key in ("input_layers", "output_layers")]
    return functional(outer, renamed, *ends), name


def with_entry(graph: Graph, layer: str, entry: JsonObject) -> JsonObject:
    """The model with another entry for one layer."""
    entries = [entry if name == layer else other.stored for name, other in graph.layers.items()]
    config = graph.model["config"]
    if isinstance(config, Mapping):
        return {**graph.model, "config": {**config, "layers": entries}}
    return {**graph.model, "config": entries}
