"""Masks that end where a wrapper's slices begin, and would reach its template without them."""

from __future__ import annotations

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import gives_sequences
from unnest.core.layers.record import MaskUse
from unnest.core.model import Ref
from unnest.core.wrappers.layer_graph.wrapper_records import LayerWrapper
from unnest.core.wrappers.stored_code import code_names_and_numbers


def ended_mask(graph: Graph, wrapper: LayerWrapper) -> str | None:
    """Return the layer whose mask the slices of a wrapper end; None if they end none.

    Functions and operations give no mask on, whatever they are given. What a custom class does is not known, but Keras
    of its own refuses a mask where the class does not say that it takes one.
    (Source: compute_mask of Lambda in Keras 1.2 to 3.15; TensorFlow 2.3 to 2.15, whose operation layers give none.)
    """
    for part, source in wrapper.sources_by_slice(graph).items():
        layer = graph.layers[part.layer]
        is_code = code_names_and_numbers.is_function(layer) and layer.settings.get("mask") is None
        if part != source and (is_code or is_operation(layer, graph.call(part.call))):
            masking = _masking_layer(graph, source)
            if masking is not None:
                return masking
    return None


def _masking_layer(graph: Graph, tensor: Ref) -> str | None:
    """Return the layer that made the mask of a tensor, by the layers that hand it on; None without one."""
    pending, met = [tensor], {tensor}
    while pending:
        here = pending.pop()
        layer = graph.layers[here.layer]
        if layer.is_model:
            inner = read(layer.stored)
            if here.tensor < len(inner.outputs) and _masking_layer(
                inner, inner.outputs[here.tensor]
            ):
                return layer.name
        elif _makes_mask(layer):
            return layer.name
        reads = [ref for ref in graph.call(here.call).reads if _hands_on(layer) and ref not in met]
        met.update(reads)
        pending += reads
    return None


def _makes_mask(layer: Layer) -> bool:
    return layer.class_name == "Masking" or layer.settings.get("mask_zero") is True


def _hands_on(layer: Layer) -> bool:
    use = layer_record(layer.class_name).mask
    if use is MaskUse.HEEDS:
        return gives_sequences(layer.settings)
    return use in {MaskUse.PASSES, MaskUse.HEEDS_AND_PASSES, MaskUse.MERGES}
