"""Masks that end at a wrapper's slices or merges, and would be handed on without them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from unnest.core.architecture.graph import Graph, Layer
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.keras_facts.stored_class_names import is_keras_class
from unnest.core.model import CallId
from unnest.core.wrappers.layer_graph.mask_paths import MaskEffects, mask_effects, mask_maker
from unnest.core.wrappers.layer_graph.wrapper_records import (
    Assumptions,
    EnclosingModel,
    LayerWrapper,
)
from unnest.core.wrappers.stored_code import code_names_and_numbers


def reason_by_masks(
    graph: Graph,
    wrapper: LayerWrapper,
    assumptions: Assumptions,
    outer: EnclosingModel | None = None,
) -> str | None:
    """Return why the model computes otherwise without a wrapper that ends masks; None where it computes the same.

    Functions and operations give no mask on, whatever they are given. A custom class ends one unless its code, which is
    not stored, says otherwise; Keras of its own raises an error there.
    (Source: compute_mask of Lambda in Keras 1.2 to 3.15; TensorFlow 2.3 to 2.15, whose operation layers give none;
    compute_mask of Layer in Keras 2.3.1, TensorFlow 2.3 and Keras 3.15.)
    """
    for part, source in wrapper.sources_by_slice(graph).items():
        verb = _mask_end(graph, [part.call]) if part != source else None
        if verb == "may end" and not assumptions.in_tensorflow:
            continue
        maker = mask_maker(graph, source, outer) if verb else None
        if maker is not None:
            readers = (at for at, ref in graph.readers.get(part.call, ()) if ref == part)
            reader = next((at.layer for at in readers if at in wrapper.first), wrapper.template)
            return (
                f"the mask of {maker} {verb} at the slices, and would reach {reader} without them"
            )
    heeding = effects_behind_merges(graph, wrapper, outer).reader
    verb = _mask_end(graph, [at for merge in wrapper.merges for at in merge.calls])
    if heeding is None or (verb == "may end" and not assumptions.in_tensorflow):
        return None
    return (
        f"the mask of {wrapper.template} {verb} at the merge, and would reach {heeding} without it"
    )


def effects_behind_merges(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None = None
) -> MaskEffects:
    """Return what the masks that end, or may end, at a wrapper's merges change where they do not end."""
    calls_by_tensor = {merge.tensor: merge.calls for merge in wrapper.merges}
    ended = [
        tensor
        for tensor, end in wrapper.ends.items()
        if _mask_end(graph, calls_by_tensor.get(tensor, ()))
        and mask_maker(graph, end, outer) is not None
    ]
    return mask_effects(graph, ended, outer)


def _mask_end(graph: Graph, calls: Iterable[CallId]) -> Literal["ends", "may end"] | None:
    """Return what a mask does at these calls: it ends at functions and operations, and may end at custom classes."""
    layers = [(graph.layers[at.layer], graph.call(at)) for at in calls]
    if any(
        is_operation(layer, call)
        or (code_names_and_numbers.is_function(layer) and layer.settings.get("mask") is None)
        for layer, call in layers
    ):
        return "ends"
    return "may end" if any(_is_custom_class(layer) for layer, _ in layers) else None


def _is_custom_class(layer: Layer) -> bool:
    """Return True for a class outside Keras, and outside `unnest.keras`, the slices of which cut masks, too."""
    name = layer.stored.get("registered_name") or layer.class_name
    return not (
        layer.is_model
        or code_names_and_numbers.is_function(layer)
        or str(name).startswith("unnest>")
        or is_keras_class(layer.class_name, layer.stored)
    )
