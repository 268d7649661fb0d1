"""Infer the tensor specs that Keras 3 stores in calls, if a Sequential's layers become a functional model's own.

A functional config of Keras 3 holds the shape and dtype of every tensor that a call reads; a Sequential's does not.
What the writer would store is inferred (`keras3_layer_output_specs`), and compared with what the file does store.
"""

from __future__ import annotations

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Graph
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.model import CallId, Json, Ref
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper


def why_not_noted(graph: Graph, wrapper: LayerWrapper, inner: Graph) -> str | None:
    """Return why calls of a Keras 3 Sequential and of the head cannot be stored as its writer would, or None."""
    if _casts(inner) and not _casts(graph):
        return "how this version of Keras notes a cast is not in the file"
    without_policy = [
        name
        for name, layer in inner.layers.items()
        if keras3_layer_output_specs.hides_policy(layer.stored)
    ]
    if _casts(inner) and without_policy:
        return f"{without_policy[0]} does not store in which dtype it computes"
    output = chain_output_spec(inner)
    for merge in wrapper.merges:
        tower_specs = set(
            keras3_layer_output_specs.noted_specs([graph.call(call).stored for call in merge.calls])
        )
        if output is None or {(spec.shape[1:], spec.dtype) for spec in tower_specs} != {
            (output.shape[1:], output.dtype)
        }:
            return "the file notes another output than its layers promise"
        for reader, _ in graph.readers.get(merge.tensor.call, ()):
            if not _reads_the_same(graph, reader, merge.tensor, output):
                return f"{reader.layer} notes another tensor than the template makes"
    return None


def _casts(graph: Graph) -> bool:
    """Return True if some layer casts its input, and its call stores the tensor as it was before."""
    return any(
        keras3_layer_output_specs.casts_input(graph.layers[call_id.layer].stored, spec)
        for call_id, call in graph.calls()
        for spec in keras3_layer_output_specs.noted_specs(call.stored)
    )


def chain_output_spec(inner: Graph) -> keras3_layer_output_specs.Spec | None:
    """Return shape and dtype of the output of a chain of layers; None if its last layer does not show them."""
    last = list(inner.layers.values())[-1]
    input_spec = next(keras3_layer_output_specs.noted_specs(last.calls[0].stored), None)
    call = keras3_layer_output_specs.call_on(last.stored, input_spec) if input_spec else None
    return call.output if call else None


def _reads_the_same(
    graph: Graph, reader: CallId, tensor: Ref, output: keras3_layer_output_specs.Spec
) -> bool:
    """Return True if a call gives the same on the template's output as on the merged tensor.

    Nothing may differ but the dtype that is stored for the tensor: a merge layer may cast to a dtype of its own.
    """
    call, entry = graph.call(reader), graph.layers[reader.layer].stored
    noted_specs = {
        spec
        for ref, spec in zip(
            call.reads, keras3_layer_output_specs.noted_specs(call.arguments), strict=False
        )
        if ref == tensor
    }
    if noted_specs == {output}:
        return True
    if len(noted_specs) != 1 or len(call.reads) != 1:
        return False
    (noted,) = noted_specs
    with_noted, with_output = (
        keras3_layer_output_specs.call_on(entry, noted),
        keras3_layer_output_specs.call_on(entry, output),
    )
    return noted.shape == output.shape and with_noted is not None and with_noted == with_output


def with_output_noted(
    graph: Graph, wrapper: LayerWrapper, output: keras3_layer_output_specs.Spec | None, stored: Json
) -> Json:
    """Return a call of the head with the tensor specs that Keras 3 notes when no merge has cast the outputs."""
    for merge in wrapper.merges if output else ():
        number = merge.tensor.call_index + graph.layers[merge.layer].first
        stored = tensor_refs.with_dtype(
            stored, [merge.layer, number, merge.tensor.tensor], output.dtype if output else ""
        )
    return stored
