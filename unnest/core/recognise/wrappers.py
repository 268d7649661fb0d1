"""Wrappers in a layer graph: slices, towers and merges around a template model.

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

from collections.abc import Collection, Iterator
from functools import partial

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Call, CallId, Graph, Layer
from unnest.core.model import NearMiss
from unnest.core.ops.registry import operation_of
from unnest.core.recognise import claimed_wrappers, layer_facts
from unnest.core.recognise.op_calls import is_operation, parse_op_call
from unnest.core.recognise.wrapper_types import LayerWrapper, Recognised, or_why_not


def find(graph: Graph, vouched: Collection[str] = ()) -> list[LayerWrapper]:
    """The wrappers of one graph (not of the models nested in it); `vouched` are classes said to cut the batch."""
    return [*recognise(graph, vouched).wrappers]


def recognise(graph: Graph, vouched: Collection[str] = ()) -> Recognised:
    """The wrappers of one graph (not of the models nested in it), and the near misses.

    Towers of the graph's own layers count only where none are calls of one nested model.
    """
    if graph.sequential:  # a chain has no room for towers
        return Recognised()
    computed = [*_computed(graph)]
    around = [each for each in computed if isinstance(each, LayerWrapper) and each.inline is None]
    judged = [*claimed_wrappers.around_models(graph, {at for each in around for at in each.towers}, vouched)]
    found = [*around, *(each for each in judged if isinstance(each, LayerWrapper))]
    if not found:
        found = [each for each in computed if isinstance(each, LayerWrapper)]
        told = [] if found else [*claimed_wrappers.of_own_layers(graph)]
        found += [each for each in told if isinstance(each, LayerWrapper)]
        judged += [*told, *computed]
    objections = [_objection(graph, wrapper, vouched) for wrapper in found]
    found = [wrapper for wrapper, objection in zip(found, objections, strict=True) if objection is None]
    judged += [objection for objection in objections if objection is not None]
    near: dict[str, NearMiss] = {}
    for miss in judged:
        if isinstance(miss, NearMiss):
            near.setdefault(miss.layer, miss)
    if not found and not near:
        near = {miss.layer: miss for miss in _never_joined(graph)}
    joined = {at.layer for wrapper in found for merge in wrapper.merges for at in merge.calls}
    return Recognised(tuple(found), tuple(miss for layer, miss in near.items() if layer not in joined))


def shows_row_cuts(graph: Graph) -> bool:
    """Return True if every layer that may cut the batch can be read, in nested models too: none is opaque code."""
    return all(map(_can_be_read, graph.layers.values()))


def _can_be_read(layer: Layer) -> bool:
    if is_model(layer.stored):
        return shows_row_cuts(read(layer.stored))
    if any(call.stored and is_operation(layer, call) for call in layer.calls):
        return all(_is_registered(layer, call) for call in layer.calls)
    return layer_facts.keeps_rows(layer) is not None and not layer_facts.runs_others_code(layer)


def _is_registered(layer: Layer, call: Call) -> bool:
    """Return True if the call of an operation can be read, tensors included, and the registry knows the operation."""
    what = parse_op_call(layer, call)
    return what is not None and operation_of(what) is not None and bool(call.reads)


def _objection(graph: Graph, wrapper: LayerWrapper, vouched: Collection[str]) -> NearMiss | None:
    """Return what the graph behind a wrapper says against it; None where it says nothing.

    Keras stores no merge that is not read. A head that counts towers speaks against slices of code that is not stored.
    """
    layer = wrapper.merges[0].layer if wrapper.merges else wrapper.template
    if not any(ref in graph.outputs or graph.readers.get(ref.call) for ref in wrapper.results(graph)):
        return NearMiss(layer, f"nothing reads what {layer} gives")
    if wrapper.confidence == "proven" or not any(_is_unknown_code(graph, at, vouched) for at in wrapper.slices):
        return None
    from unnest.core.recognise.counted_towers import counting_layer

    head = counting_layer(graph, wrapper)
    if head is None:
        return None
    towers = len(wrapper.towers)
    return NearMiss(layer, f"{head} splits what {layer} gives in {towers} again: the towers may be views of one batch")


def _is_unknown_code(graph: Graph, at: CallId, vouched: Collection[str]) -> bool:
    """Return True if what a slice does is not stored, and the caller does not vouch for its class either."""
    layer = graph.layers[at.layer]
    is_shown = is_operation(layer, graph.call(at)) or layer_facts.shows_how(layer)
    return not is_shown and layer.class_name not in vouched


def _never_joined(graph: Graph) -> Iterator[NearMiss]:
    """Return why the last layer with weights that is called several times is not a template (siamese twins)."""
    shared = [layer for layer in graph.layers.values() if len(layer.calls) > 1 and layer_facts.learns_row_by_row(layer)]
    for layer in shared[-1:]:
        calls = f"the {len(layer.calls)} calls of {layer.name}"
        yield NearMiss(layer.name, f"nothing is known to join the outputs of {calls} along the batch")


def _computed(graph: Graph) -> Iterator[LayerWrapper | NearMiss]:
    """The wrappers whose slices and joins are operations, and near misses."""
    if not any(layer_facts.may_join(layer) for layer in graph.layers.values()):
        return
    from unnest.core.recognise import computed_wrappers, layer_wrappers
    from unnest.core.recognise.layer_tensors import LayerTensors

    computed, near = computed_wrappers.find(LayerTensors(graph))
    for each in computed:
        if each.reader is None:
            yield or_why_not(each.joins[0].root.layer, partial(layer_wrappers.described, graph, each))
    yield from near
