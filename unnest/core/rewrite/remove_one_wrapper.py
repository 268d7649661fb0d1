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
    functional,
    read,
    tensor_refs,
)
from unnest.core.architecture.graph import Graph, Layer, keras_order, reached
from unnest.core.architecture.input_output_names import INPUTS, OUTPUTS, end_names, has_keys
from unnest.core.model import CallId, Json, JsonObject, Ref, Unknown
from unnest.core.rewrite.sequential_as_functional import sequential_as_functional
from unnest.core.wrappers.layer_graph.stored_layer_shapes import stored_shape
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper


def has_same_inputs_and_outputs(graph: Graph, wrapper: LayerWrapper) -> bool:
    """Return True if the parallel model has all of the template's inputs and outputs, in its order."""
    results = wrapper.results(graph)
    count = len(read(graph.layers[wrapper.template].stored).outputs)
    return (
        wrapper.sources == graph.inputs
        and (*results,) == graph.outputs
        and [*results.values()] == list(range(count))
    )


def exchanges_names(graph: Graph, wrapper: LayerWrapper) -> bool:
    """Return True if an input or output of the parallel model has the name of another one of the template's.

    Code that feeds the template by such a name, or reads it, would take one for the other.
    """
    template = read(graph.layers[wrapper.template].stored)
    results = wrapper.results(graph)
    places = {
        INPUTS: [_place(wrapper.sources, ref) for ref in graph.inputs],
        OUTPUTS: [results.get(ref) for ref in graph.outputs],
    }
    return any(
        _are_exchanged(end_names(graph, key), places[key], end_names(template, key))
        for key in places
    )


def _are_exchanged(
    outer_names: Sequence[str], places: Sequence[int | None], names: Sequence[str]
) -> bool:
    """Return True if a name of the outer model, in a place of the template, is another one's there."""
    return any(
        place is not None and place < len(names) and outer in names and outer != names[place]
        for outer, place in zip(outer_names, places, strict=True)
    )


def _place(sources: Sequence[Ref], ref: Ref) -> int | None:
    return sources.index(ref) if ref in sources else None


def why_not_flattened(graph: Graph, wrapper: LayerWrapper) -> str | None:
    """Return why the template's layers cannot become the outer model's own, as a clause; None if they can."""
    template = graph.layers[wrapper.template]
    if len(template.calls) > len(wrapper.towers):
        return f"{template.name} is called elsewhere too"
    places = [_place(wrapper.sources, ref) for ref in graph.inputs]
    names = [ref.layer for ref in read(template.stored).inputs]
    if not has_keys(graph, INPUTS) and _are_exchanged(
        [ref.layer for ref in graph.inputs], places, names
    ):
        return f"an input of {template.name} has the name of another one of {graph.name}"
    try:
        inner = template_as_functional(graph, wrapper)
    except Unknown as doubt:
        return f"Keras 3 stores the shape of every tensor, and the file does not have {doubt}"
    if _notes_tensors(template):
        from unnest.core.rewrite import infer_keras3_tensor_specs

        reason = infer_keras3_tensor_specs.why_not_noted(graph, wrapper, read(inner))
        if reason:
            return reason
    removed_layers = {
        template.name,
        *(c.layer for c in _removed(graph, wrapper)),
        *(s.layer for s in wrapper.sources),
    }
    clashing = sorted((set(graph.layers) - removed_layers) & set(read(inner).layers))
    return f"both models have a layer {clashing[0]}" if clashing else None


def template_as_functional(graph: Graph, wrapper: LayerWrapper) -> JsonObject:
    """Return the template as the functional model that carries the head.

    Raises:
        Unknown: Keras 3 stores shapes that the file does not hold.

    """
    inputs = [graph.layers[source.layer].stored for source in wrapper.sources]
    return sequential_as_functional(graph.layers[wrapper.template].stored, inputs)


def _removed(graph: Graph, wrapper: LayerWrapper) -> set[CallId]:
    """Return calls that the outputs no longer need: merges, towers but the first, slices that only these read."""
    sources_of_slices, tower_output_of_merge, first = (
        wrapper.sources_by_slice(graph),
        wrapper.ends,
        wrapper.first,
    )

    def reads_after(call_id: CallId) -> Iterable[Ref]:
        replaced = (
            {**tower_output_of_merge, **sources_of_slices}
            if call_id in first
            else tower_output_of_merge
        )
        return (replaced.get(ref, ref) for ref in graph.call(call_id).reads)

    behind_outputs = _calls_behind(graph.outputs, lambda call_id: graph.call(call_id).reads)
    # Losses and metrics that were added to the model (`AddLoss`) lead to no output.
    added = [
        ref
        for call_id, call in graph.calls()
        if call_id not in behind_outputs
        for ref in call.reads
    ]
    ends = (*graph.outputs, *added)
    needed = _calls_behind([tower_output_of_merge.get(ref, ref) for ref in ends], reads_after)
    return _calls_behind(ends, lambda call_id: graph.call(call_id).reads) - needed


def _calls_behind(tensors: Iterable[Ref], reads: Callable[[CallId], Iterable[Ref]]) -> set[CallId]:
    """Return the calls that lead to some tensors, all the way back."""
    return reached(
        (ref.call for ref in tensors), lambda call_id: [ref.call for ref in reads(call_id)]
    )


class _TemplateTensor(NamedTuple):
    """A tensor of the template's own graph, and the layer that makes it, in the place of one of the outer graph's."""

    layer: Layer
    ref: Ref


class _Renumbering:
    """References of the outer graph, translated to what stands in their place afterwards."""

    def __init__(
        self, graph: Graph, removed: set[CallId], replacements: Mapping[Ref, _TemplateTensor | Ref]
    ) -> None:
        self._graph = graph
        self._replacements = replacements
        self._new_index = {
            CallId(name, call_index): new
            for name, layer in graph.layers.items()
            for new, call_index in enumerate(
                r for r in range(len(layer.calls)) if CallId(name, r) not in removed
            )
        }

    def __call__(self, raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        """Return the new file's reference, in a call, for a reference of the old file."""
        return self._new(raw, lambda layer: layer.first)

    def rewrite(self, stored: Json) -> Json:
        """Return a stored call with its references as the new file spells them."""
        return tensor_refs.rewrite(stored, self._graph.layers, self)

    def at_ends(self, raw: tensor_refs.RawRef) -> tensor_refs.RawRef:
        """Return the new reference for one in the model's lists of inputs and outputs."""
        return self._new(raw, lambda layer: layer.first_at_ends)

    def _new(self, raw: tensor_refs.RawRef, first: Callable[[Layer], int]) -> tensor_refs.RawRef:
        name, number, tensor = raw
        ref = Ref(name, number - first(self._graph.layers[name]), tensor)
        new = self._replacements.get(ref, ref)
        if isinstance(new, _TemplateTensor):
            return (new.layer.name, first(new.layer) + new.ref.call_index, new.ref.tensor)
        if new.call not in self._new_index:
            raise NotAGraph(
                f"{new.layer!r} belongs to a wrapper, but what surrounds the wrapper needs it"
            )
        return (
            new.layer,
            first(self._graph.layers[new.layer]) + self._new_index[new.call],
            new.tensor,
        )


def with_first_tower_in_place(graph: Graph, wrapper: LayerWrapper) -> JsonObject:
    """Return the outer model with the first tower, reading the sources, in place of the wrapper. Raises NotAGraph."""
    removed, first = _removed(graph, wrapper), wrapper.first
    replacements: dict[Ref, _TemplateTensor | Ref] = {**wrapper.ends}
    renumber = _Renumbering(graph, removed, replacements)
    renumber_tower = _Renumbering(
        graph, removed, {**replacements, **wrapper.sources_by_slice(graph)}
    )

    rows = _fixed_batch(graph, wrapper)

    def rewritten(call_id: CallId, stored: Json) -> Json:
        if call_id not in first:
            return renumber.rewrite(stored)
        in_tower = renumber_tower.rewrite(stored)
        return in_tower if rows is None else tensor_refs.with_rows(in_tower, rows)

    entries = [
        entry
        for layer in graph.layers.values()
        for entry in _entries_left(graph, layer, removed, rewritten)
    ]
    return _with_layers(graph, entries, renumber)


def _fixed_batch(graph: Graph, wrapper: LayerWrapper) -> int | None:
    """Return the fixed batch that the model's own layers take when they are no tower any more; None if not fixed."""
    shapes = (
        [stored_shape(graph.layers[source.layer]) for source in wrapper.sources]
        if wrapper.inline
        else []
    )
    return next((shape[0] for shape in shapes if shape), None)


def _with_layers(graph: Graph, entries: Iterable[JsonObject], change: _Renumbering) -> JsonObject:
    config = graph.model["config"]
    assert isinstance(config, Mapping)
    ends = [
        tensor_refs.rewrite(config[key], graph.layers, change.at_ends)
        for key in ("input_layers", "output_layers")
    ]
    return sort_layers(graph, functional(graph.model, entries, *ends))


def sort_layers(before: Graph, model: JsonObject) -> JsonObject:
    """Return the model with its layers in the order in which its writer would keep them.

    The rule is believed only if it explains the order that the writer did keep.
    """
    if keras_order(before.stored_reads, before.inputs, before.outputs) != list(before.layers):
        return model
    graph = read(model)
    order = keras_order(graph.stored_reads, graph.inputs, graph.outputs)
    if set(order) != set(graph.layers):
        return model
    config = model["config"]
    assert isinstance(config, Mapping)
    return {**model, "config": {**config, "layers": [graph.layers[name].stored for name in order]}}


def with_template_flattened(graph: Graph, wrapper: LayerWrapper) -> JsonObject:
    """Return the outer model with the template's layers as its own, and no wrapper. Raises NotAGraph, Unknown."""
    template = graph.layers[wrapper.template]
    inner_model = template_as_functional(graph, wrapper)
    inner = read(inner_model)
    removed = _removed(graph, wrapper) | set(wrapper.towers)
    with_template_specs = _noting_template_output(graph, wrapper, inner)
    template_outputs = [_TemplateTensor(inner.layers[ref.layer], ref) for ref in inner.outputs]
    replacements: dict[Ref, _TemplateTensor | Ref] = {
        result: template_outputs[output] for result, output in wrapper.results(graph).items()
    }
    template_inputs = [_TemplateTensor(inner.layers[ref.layer], ref) for ref in inner.inputs]
    replacements.update(zip(wrapper.sources, template_inputs, strict=True))
    renumber = _Renumbering(graph, removed, replacements)
    source_layers = {source.layer for source in wrapper.sources}
    entries: list[JsonObject] = []
    for name, layer in graph.layers.items():
        if name == template.name:
            entries += [part.stored for part in inner.layers.values()]
        elif name not in source_layers:
            entries += _entries_left(
                graph,
                layer,
                removed,
                lambda _, stored: renumber.rewrite(with_template_specs(stored)),
            )
    return _with_layers(graph, entries, renumber)


def _noting_template_output(
    graph: Graph, wrapper: LayerWrapper, inner: Graph
) -> Callable[[Json], Json]:
    """Return a function that stores a call of the head behind the template's own layers."""
    if not _notes_tensors(graph.layers[wrapper.template]):
        return lambda stored: stored
    from unnest.core.rewrite import infer_keras3_tensor_specs

    return functools.partial(
        infer_keras3_tensor_specs.with_output_noted,
        graph,
        wrapper,
        infer_keras3_tensor_specs.chain_output_spec(inner),
    )


def _notes_tensors(template: Layer) -> bool:
    """Return True if flattening needs shapes that the file does not hold: a Sequential of Keras 3."""
    return read(template.stored).sequential and any(
        tensor_refs.is_keras_3(call.stored) for call in template.calls
    )


def _entries_left(
    graph: Graph, layer: Layer, removed: set[CallId], rewritten: Callable[[CallId, Json], Json]
) -> list[JsonObject]:
    """Return [a layer's entry] with the calls that are left, rewritten; [] if none is left."""
    call_ids = [CallId(layer.name, index) for index in range(len(layer.calls))]
    if graph.call(call_ids[0]).stored is None:  # an input layer
        return [layer.stored]
    calls = [
        rewritten(call_id, graph.call(call_id).stored)
        for call_id in call_ids
        if call_id not in removed
    ]
    return [{**layer.stored, "inbound_nodes": calls}] if calls else []
