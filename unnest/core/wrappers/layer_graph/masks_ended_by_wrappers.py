"""Masks that end at a wrapper's slices or merges, and would be handed on without them."""

from __future__ import annotations

from collections.abc import Iterable

from unnest.core.architecture.graph import Graph
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.model import CallId
from unnest.core.wrappers.layer_graph.mask_paths import MaskEffects, mask_effects, mask_maker
from unnest.core.wrappers.layer_graph.wrapper_records import EnclosingModel, LayerWrapper
from unnest.core.wrappers.stored_code import code_names_and_numbers


def reason_by_masks(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None = None
) -> str | None:
    """Return why the model computes otherwise without a wrapper that ends masks; None where it computes the same.

    Functions and operations give no mask on, whatever they are given. What a custom class does is not known, but Keras
    of its own refuses a mask where the class does not say that it takes one.
    (Source: compute_mask of Lambda in Keras 1.2 to 3.15; TensorFlow 2.3 to 2.15, whose operation layers give none.)
    """
    for part, source in wrapper.sources_by_slice(graph).items():
        if part != source and _ends_masks(graph, [part.call]):
            maker = mask_maker(graph, source, outer)
            if maker is not None:
                return f"the mask of {maker} ends at the slices, and would reach {wrapper.template} without them"
    reader = effects_behind_merges(graph, wrapper, outer).reader
    if reader is None:
        return None
    return f"the mask of {wrapper.template} ends at the merge, and would reach {reader} without it"


def effects_behind_merges(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None = None
) -> MaskEffects:
    """Return what the masks that end at a wrapper's merges change where they do not end."""
    calls_by_tensor = {merge.tensor: merge.calls for merge in wrapper.merges}
    ended = [
        tensor
        for tensor, end in wrapper.ends.items()
        if _ends_masks(graph, calls_by_tensor.get(tensor, ()))
        and mask_maker(graph, end, outer) is not None
    ]
    return mask_effects(graph, ended, outer)


def _ends_masks(graph: Graph, calls: Iterable[CallId]) -> bool:
    """Return True if one of these calls runs a function without a mask of its own, or an operation."""
    for at in calls:
        layer = graph.layers[at.layer]
        is_code = code_names_and_numbers.is_function(layer) and layer.settings.get("mask") is None
        if is_code or is_operation(layer, graph.call(at)):
            return True
    return False
