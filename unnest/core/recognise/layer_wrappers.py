"""A wrapper whose slices and joins are operations, described in a graph of layers: its template, ends, merges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.recognise.batch_trials import Joined
from unnest.core.recognise.computed_wrappers import ComputedWrapper
from unnest.core.recognise.merges import on_batch_axis, passes_on
from unnest.core.recognise.slice_layers import check_shapes
from unnest.core.recognise.wrapper_types import (
    Inline,
    LayerWrapper,
    Merge,
    NotAWrapper,
    check_own_layers,
    check_template,
    cut_by,
    joins,
    listed,
)


def described(graph: Graph, wrapper: ComputedWrapper) -> LayerWrapper:
    """The same as a wrapper of this graph. Raises NotAWrapper for towers that are none."""
    calls = [{at for at in tower if not passes_on(graph, at)} for tower in wrapper.copies.calls]
    cut = {column[0]: source for column, source in wrapper.sources.items()}
    if all(len(tower) == 1 for tower in calls):
        towers = [next(iter(tower)) for tower in calls]
        if is_model(graph.layers[towers[0].layer].stored) and cut.keys() == {*graph.call(towers[0]).reads}:
            return _around_a_model(graph, wrapper, towers, cut)
    joins, (first, *_) = wrapper.joins, wrapper.copies.calls
    ends_in = joins[0].operands[0].layer
    check_own_layers(graph, first, ends_in)
    layers = {at.layer for at in first}
    given = [ref for ref in graph.inputs if ref in cut.values()]
    return LayerWrapper(
        ends_in,
        tuple(ref.call for ref in joins[0].operands),
        tuple(dict.fromkeys([*given, *cut.values()])),
        wrapper.slices,
        tuple(_merge(joined, joined.operands[0]) for joined in joins),
        "proven" if wrapper.keeps_rows else "likely",
        (
            f"{len(calls)} towers of the same layers: {listed([name for name in graph.layers if name in layers])}",
            wrapper.sentence,
            _puts_together(joins[0]),
        ),
        inline=Inline(frozenset(first), cut, {joined.root: joined.operands[0] for joined in joins}),
    )


def _around_a_model(
    graph: Graph, wrapper: ComputedWrapper, towers: Sequence[CallId], cut: Mapping[Ref, Ref]
) -> LayerWrapper:
    """The wrapper around calls of one nested model; layers that only pass its outputs on are part of the joins."""
    template, call = graph.layers[towers[0].layer], graph.call(towers[0])
    sources, called_on = (tuple(cut[ref] for ref in refs) for refs in (call.inputs, call.reads))
    if len(sources) != read(template.stored).arity:
        raise NotAWrapper(f"{template.name} is called with another number of tensors than it has")
    check_template(template)
    check_shapes(graph, template, sources)
    columns = {column[0]: column for column in wrapper.sources}
    merges = []
    for joined in wrapper.joins:
        end = joined.operands[0]
        while end.call != towers[0]:
            end = graph.call(end.call).reads[0]
        merges.append((_merge(joined, end), joined))
    merges.sort(key=lambda pair: pair[0].output)
    evidence = [f"{len(towers)} calls of the one model {template.name}"]
    evidence += [cut_by(cut[ref], [part.call for part in columns[ref]]) for ref in call.reads]
    evidence.append(wrapper.sentence)
    is_told = all(on_batch_axis(graph, merge.calls) for merge, _ in merges)
    evidence += [joins(graph, merge) for merge, _ in merges] if is_told else [_puts_together(wrapper.joins[0])]
    passing = frozenset().union(*wrapper.copies.calls) - {*towers}
    merged = tuple(merge._replace(calls=(*merge.calls, *sorted(passing))) for merge, _ in merges)
    slices, lines = wrapper.slices, tuple(evidence)
    return LayerWrapper(template.name, (*towers,), sources, slices, merged, "proven", lines, called_on=called_on)


def _merge(joined: Joined, end: Ref) -> Merge:
    """A computed join as a merge of the outputs that the first tower ends in."""
    return Merge(end.tensor, (joined.root.call, *sorted(joined.calls - {joined.root.call})), on_batch_axis=True)


def _puts_together(joined: Joined) -> str:
    return f"{joined.root.layer} puts the towers' rows together, each once and in order"
