"""Masks that end at a wrapper's slices or merges, and would be handed on without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from unnest.core.architecture.graph import Graph
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.model import CallId
from unnest.core.wrappers.layer_graph.mask_paths import (
    MaskEffects,
    MaskRules,
    is_custom_class,
    mask_effects,
    mask_maker,
)
from unnest.core.wrappers.layer_graph.wrapper_records import (
    Assumptions,
    EnclosingModel,
    LayerWrapper,
)
from unnest.core.wrappers.stored_code import code_names_and_numbers


class EndedMask(NamedTuple):
    """A mask that ends, or may end, at the slices or the merge, and what it changes without them."""

    maker: str
    verb: Literal["ends", "may end"]
    place: Literal["slices", "merge"]
    effects: MaskEffects

    @property
    def sentence(self) -> str:
        """Where the mask ends, and the layer that it would reach."""
        them = "them" if self.place == "slices" else "it"
        end = f"the mask of {self.maker} {self.verb} at the {self.place}"
        return f"{end}, and would reach {self.effects.reader} without {them}"


def ended_masks(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None, rules: MaskRules
) -> Iterator[EndedMask]:
    """Yield the masks that end at a wrapper.

    Functions and operations give no mask on, whatever they are given. A custom class ends one in TensorFlow unless its
    code, which is not stored, says otherwise; Keras of its own raises an error there.
    (Source: compute_mask of Lambda in Keras 1.2 to 3.15; TensorFlow 2.3 to 2.15, whose operation layers give none;
    compute_mask of Layer in Keras 2.3.1, TensorFlow 2.3 and Keras 3.15.)
    """
    merged = {end: tensor for tensor, end in wrapper.ends.items()}
    for part, source in wrapper.sources_by_slice(graph).items():
        verb = _mask_end(graph, [part.call], rules) if part != source else None
        maker = mask_maker(graph, source, outer, rules) if verb else None
        if verb and maker:
            yield EndedMask(
                maker, verb, "slices", mask_effects(graph, [part], outer, rules, merged)
            )
    calls_by_tensor = {merge.tensor: merge.calls for merge in wrapper.merges}
    for tensor, end in wrapper.ends.items():
        verb = _mask_end(graph, calls_by_tensor.get(tensor, ()), rules)
        if verb and mask_maker(graph, end, outer, rules) is not None:
            effects = mask_effects(graph, [tensor], outer, rules)
            yield EndedMask(wrapper.template, verb, "merge", effects)


def _mask_end(
    graph: Graph, calls: Iterable[CallId], rules: MaskRules
) -> Literal["ends", "may end"] | None:
    """Return what a mask does at these calls: it ends at functions and operations, and may end at custom classes."""
    layers = [(graph.layers[at.layer], graph.call(at)) for at in calls]
    if any(
        is_operation(layer, call)
        or (code_names_and_numbers.is_function(layer) and layer.settings.get("mask") is None)
        for layer, call in layers
    ):
        return "ends"
    may_end = rules.in_tensorflow and any(is_custom_class(layer) for layer, _ in layers)
    return "may end" if may_end else None


def reason_by_masks(
    graph: Graph,
    wrapper: LayerWrapper,
    assumptions: Assumptions,
    outer: EnclosingModel | None = None,
) -> str | None:
    """Return why the model computes otherwise without a wrapper that ends masks; None where it computes the same."""
    return _first_sentence(graph, wrapper, outer, MaskRules(assumptions.in_tensorflow))


def doubt_by_masks(
    graph: Graph,
    wrapper: LayerWrapper,
    assumptions: Assumptions,
    outer: EnclosingModel | None = None,
) -> str | None:
    """Return how the model computes otherwise without the wrapper if custom code makes a mask; None if it does not."""
    rules = MaskRules(assumptions.in_tensorflow, custom_code_makes_masks=True)
    return _first_sentence(graph, wrapper, outer, rules)


def _first_sentence(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None, rules: MaskRules
) -> str | None:
    ended = ended_masks(graph, wrapper, outer, rules)
    return next((mask.sentence for mask in ended if mask.effects.reader is not None), None)


def mask_end_before_loss(
    graph: Graph,
    wrapper: LayerWrapper,
    assumptions: Assumptions,
    outer: EnclosingModel | None = None,
) -> str | None:
    """Return where a mask ends, slices or merge, that would reach an output of the model, and the loss; else None."""
    ended = ended_masks(graph, wrapper, outer, MaskRules(assumptions.in_tensorflow))
    return next((mask.place for mask in ended if mask.effects.outputs), None)
