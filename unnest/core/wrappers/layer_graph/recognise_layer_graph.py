"""Find the wrappers in a layer graph: slices, towers and merges around a template model.

What a wrapper is
    A *template* (a nested model) is called k times in one graph. Its j-th input is, in
    every tower, a slice of the same tensor, the j-th *source*. Its m-th outputs are joined,
    in the order of the towers, along the batch axis by one *merge* layer. No other layer reads
    the slices or the towers' outputs. Then template(source) is what the merge gives, row by
    row, and slices, towers and merges can go.

What it is not
    Siamese twins (the towers read different sources), ensembles (the towers are calls of
    different models), a merge on another axis or an average (the towers' results are combined,
    not lined up), slices of channels or of time (the template's input then has another shape
    than its source, or the slice says so itself), a template whose outputs are used before
    they are joined, slices whose numbers do not come to the batch, layers that nothing stored
    calls slices. The reason is a `NearMiss`.

What is evidence only
    Names of layers, and of classes that are not Keras's own. What the slices are told
    (`slice_claims`) must add up; what it leaves open makes a wrapper "likely" instead of "proven".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from unnest.budget import memoize
from unnest.core.architecture import read
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.layer_graph import layer_batch_roles
from unnest.core.wrappers.layer_graph.wrapper_records import (
    NO_ASSUMPTIONS,
    Assumptions,
    EnclosingModel,
    LayerWrapper,
    NotAWrapper,
    Recognised,
)
from unnest.core.wrappers.stored_code import code_names_and_numbers

if TYPE_CHECKING:  # brings NumPy's part of the search, which most graphs do not need
    from unnest.core.wrappers.search.tower_search import TowerSet


def recognise(
    graph: Graph, assumptions: Assumptions = NO_ASSUMPTIONS, outer: EnclosingModel | None = None
) -> Recognised:
    """Return the wrappers of one graph (not of the models nested in it), and the near misses.

    Towers of the graph's own layers count only where none are calls of one nested model. `outer`: the place of a nested
    graph, from which masks may come.
    """
    if graph.sequential:  # a chain has no room for towers
        return Recognised()
    wrappers, misses = _search(graph, assumptions.slice_layers)
    objections = [
        _ghost_normalization(graph, wrapper, outer)
        or _objection(graph, wrapper, assumptions.slice_layers)
        or _masks_objection(graph, wrapper, assumptions, outer)
        for wrapper in wrappers
    ]
    found = [
        _with_doubt_by_masks(graph, wrapper, assumptions, outer)
        for wrapper, objection in zip(wrappers, objections, strict=True)
        if objection is None
    ]
    near: dict[str, NearMiss] = {}
    for miss in (*filter(None, objections), *misses):
        near.setdefault(miss.layer, miss)
    if not found and not near:
        near = {miss.layer: miss for miss in _never_joined(graph)}
    joined = {at.layer for wrapper in found for merge in wrapper.merges for at in merge.calls}
    return Recognised(
        tuple(found), tuple(miss for layer, miss in near.items() if layer not in joined)
    )


def _search(graph: Graph, vouched: Collection[str]) -> tuple[list[LayerWrapper], list[NearMiss]]:
    """Return the wrappers of a graph, and the near misses: operations are asked first, then opaque layers."""
    may_join = any(layer_batch_roles.may_join(layer) for layer in graph.layers.values())
    if not may_join and not any(layer.is_model for layer in graph.layers.values()):
        return [], []
    from unnest.core.wrappers.layer_graph import (
        opaque_slice_towers,
        single_tower_call,
        towers_of_own_layers,
    )
    from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
    from unnest.core.wrappers.search.operation_slice_towers import find_towers
    from unnest.core.wrappers.search.tower_search import find

    tensors = LayerTensors(graph)
    computed, computed_misses = _wrappers_of(graph, *find_towers(tensors)) if may_join else ([], [])
    wrappers = [wrapper for wrapper in computed if wrapper.inline is None]
    joining = [at for wrapper in wrappers for merge in wrapper.merges for at in merge.calls]
    claimed, misses = _wrappers_of(
        graph, *find(opaque_slice_towers.calls_of_models(tensors, vouched), joining)
    )
    wrappers += claimed
    taken = {at for wrapper in wrappers for at in wrapper.towers}
    alone, alone_misses = _wrappers_of(graph, *find(single_tower_call.lone_calls(tensors, taken)))
    wrappers += alone
    misses += alone_misses
    if wrappers:
        return wrappers, misses
    if computed:
        return computed, [*misses, *computed_misses]
    inline, inline_misses = _wrappers_of(
        graph, *find(towers_of_own_layers.towers_of_own_layers(tensors))
    )
    return inline, [*misses, *inline_misses, *computed_misses]


def _wrappers_of(
    graph: Graph, found: Iterable[TowerSet], misses: Iterable[NearMiss]
) -> tuple[list[LayerWrapper], list[NearMiss]]:
    """Return towers that no other layer reads as wrappers, and the near misses with those of rejected towers."""
    from unnest.core.wrappers.layer_graph.wrapper_from_towers import wrapper_of

    wrappers, none = [], []
    for towers in found:
        if towers.reader is not None:
            continue
        try:
            wrappers.append(wrapper_of(graph, towers))
        except NotAWrapper as reason:
            none.append(reason.near_miss(towers.joins[0].root.layer))
    return wrappers, [*none, *misses]


def shows_row_cuts(graph: Graph) -> bool:
    """Return True if every layer that may cut the batch can be read, in nested models too: none is opaque code."""
    return all(map(_can_be_read, graph.layers.values()))


def differs_in_training(graph: Graph) -> bool:
    """Return True if stored code of a layer names what no serving graph shows: a gradient, a phase of training."""
    return any(map(code_names_and_numbers.acts_in_training, graph.layers.values()))


def _can_be_read(layer: Layer) -> bool:
    if layer.is_model:
        return shows_row_cuts(read(layer.stored))
    from unnest.core.frontends.operation_layers_as_op_calls import is_operation

    if any(call.stored and is_operation(layer, call) for call in layer.calls):
        return all(_is_registered(layer, call) for call in layer.calls)
    return code_names_and_numbers.keeps_rows(
        layer
    ) is not None and not layer_batch_roles.runs_others_code(layer)


def _is_registered(layer: Layer, call: Call) -> bool:
    """Return True if the call of an operation can be read, tensors included, and the registry knows the operation."""
    from unnest.core.frontends.operation_layers_as_op_calls import parse_op_call
    from unnest.core.ops.registry import operation_of

    op_call = parse_op_call(layer, call)
    return op_call is not None and operation_of(op_call) is not None and bool(call.reads)


def _ghost_normalization(
    graph: Graph, wrapper: LayerWrapper, outer: EnclosingModel | None
) -> NearMiss | None:
    """Return the near miss for a template that learns nothing but normalizations, within a larger model.

    There, statistics of parts of a batch are a purpose of their own (ghost batch normalization). What a whole model is
    called on are the parts of data parallelism, whatever its weights.
    """
    is_part = outer is not None or wrapper.scope(graph) != "whole"
    template = graph.layers[wrapper.template]
    if wrapper.inline is None and is_part and layer_batch_roles.only_normalizes(template.stored):
        reason = f"{wrapper.template} holds no weights, except those of normalizations"
        return NearMiss(wrapper.end_layer, reason)
    return None


def _masks_objection(
    graph: Graph, wrapper: LayerWrapper, assumptions: Assumptions, outer: EnclosingModel | None
) -> NearMiss | None:
    """Return the near miss for a wrapper that ends a mask which would change what is computed; None for others."""
    from unnest.core.wrappers.layer_graph.masks_ended_by_wrappers import reason_by_masks

    reason = reason_by_masks(graph, wrapper, assumptions, outer)
    if reason is None:
        return None
    return NearMiss(wrapper.end_layer, reason)


def _with_doubt_by_masks(
    graph: Graph, wrapper: LayerWrapper, assumptions: Assumptions, outer: EnclosingModel | None
) -> LayerWrapper:
    """Return a wrapper with what custom code, which is not stored, may do with masks: it is likely then."""
    from unnest.core.wrappers.layer_graph.masks_ended_by_wrappers import doubt_by_masks

    doubt = doubt_by_masks(graph, wrapper, assumptions, outer)
    return wrapper if doubt is None else wrapper._replace(confidence="likely", mask_doubt=doubt)


def _objection(graph: Graph, wrapper: LayerWrapper, vouched: Collection[str]) -> NearMiss | None:
    """Return what the graph behind a wrapper says against it; None where it says nothing.

    Keras stores no merge that is not read. A head that counts towers speaks against slices of code that is not stored.
    """
    layer = wrapper.end_layer
    if not any(
        ref in graph.outputs or graph.readers.get(ref.call) for ref in wrapper.results(graph)
    ):
        return NearMiss(layer, f"nothing reads what {layer} gives")
    if wrapper.confidence == "proven" or not any(
        _is_unknown_code(graph, at, vouched) for at in wrapper.slices
    ):
        return None
    from unnest.core.wrappers.layer_graph.augmentation_heads import counting_layer

    head = counting_layer(graph, wrapper)
    if head is None:
        return None
    towers = len(wrapper.towers)
    return NearMiss(
        layer,
        f"{head} splits what {layer} gives in {towers} again: the towers may be views of one batch",
    )


def _is_unknown_code(graph: Graph, at: CallId, vouched: Collection[str]) -> bool:
    """Return True if what a slice does is not stored, and the caller does not vouch for its class either."""
    from unnest.core.frontends.operation_layers_as_op_calls import is_operation

    layer = graph.layers[at.layer]
    is_shown = is_operation(layer, graph.call(at)) or code_names_and_numbers.shows_how(layer)
    return not is_shown and layer.class_name not in vouched


def _never_joined(graph: Graph) -> Iterator[NearMiss]:
    """Return why the last layer with weights that is called several times is not a template (siamese twins)."""
    shared = [
        layer
        for layer in graph.layers.values()
        if len(layer.calls) > 1 and layer_batch_roles.learns_row_by_row(layer)
    ]
    for layer in shared[-1:]:
        calls = f"the {len(layer.calls)} calls of {layer.name}"
        yield NearMiss(
            layer.name, f"no layer is known to join the outputs of {calls} along the batch"
        )


def mixing_layer(model: Graph) -> str | None:
    """Return the layer of a model, or of one nested in it, that works along the batch for certain; None without one.

    Computed once for a model, however many models hold it.
    """
    return memoize(_mixing_layer, model)


def _mixing_layer(model: Graph) -> str | None:
    """Name of the first layer that computes one row from several, in the model or in those nested in it."""
    from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
    from unnest.core.wrappers.search.row_mixing_trials import mixing_call

    tensors = LayerTensors(model)
    if not all(tensors.maps_rows(at) for at, call in model.calls() if call.reads):
        # A Sequential without a stored input begins with what its first layer gives.
        entries = dict.fromkeys(model.inputs or [Ref(name, 0, 0) for name in [*model.layers][:1]])
        at = mixing_call(tensors, model.outputs, entries) if model.outputs else None
        if at is not None:
            return at.layer
    nested = (layer for layer in model.layers.values() if layer.is_model and layer.calls)
    return next(
        (name for layer in nested if (name := mixing_layer(read(layer.stored))) is not None), None
    )
