"""Towers of a layer graph as a wrapper: its template, ends, merges, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.model import CallId, Ref
from unnest.core.recognition_results import Confidence
from unnest.core.wrappers.layer_graph import layer_batch_roles
from unnest.core.wrappers.layer_graph.find_slices_before_towers import (
    check_shapes,
)
from unnest.core.wrappers.layer_graph.layer_joins import on_batch_axis
from unnest.core.wrappers.layer_graph.wrapper_records import (
    MAX_NAMES_IN_EVIDENCE,
    Inline,
    LayerWrapper,
    Merge,
    NotAWrapper,
    listed,
)
from unnest.core.wrappers.search.batch_trials import Joined
from unnest.core.wrappers.search.tower_search import TowerSet


def wrapper_of(graph: Graph, towers: TowerSet) -> LayerWrapper:
    """Return towers of this graph as a wrapper. Raises NotAWrapper unless they are such towers."""
    calls = [
        {at for at in tower if not layer_batch_roles.passes_on_to_one_reader(graph, at)}
        for tower in towers.copies.calls
    ]
    if all(len(tower) == 1 for tower in calls):
        of_towers = [next(iter(tower)) for tower in calls]
        first = of_towers[0]
        is_cut = not towers.merges and _sources(towers).keys() == {*graph.call(first).reads}
        if graph.layers[first.layer].is_model and (towers.called_on or is_cut):
            return _around_a_model(graph, towers, of_towers)
    return _of_own_layers(graph, towers, calls)


def _sources(towers: TowerSet) -> Mapping[Ref, Ref]:
    """Return the source of each part that the first tower reads."""
    return {column[0]: source for column, source in towers.cut_points.items()}


def _around_a_model(graph: Graph, towers: TowerSet, calls: Sequence[CallId]) -> LayerWrapper:
    """Return the wrapper around calls of one nested model; layers that pass its outputs on belong to the joins."""
    template, call, source_of = graph.layers[calls[0].layer], graph.call(calls[0]), _sources(towers)
    sources = towers.sources or tuple(source_of[ref] for ref in call.inputs)
    called_on = towers.called_on or tuple(source_of[ref] for ref in call.reads)
    if not towers.called_on:  # else it was checked with its calls
        _check_model(graph, template, sources)
    number = f"{len(calls)} calls" if len(calls) > 1 else "1 call"
    merges = towers.merges or tuple(_merges_of_outputs(graph, towers, calls[0]))
    says_axis = bool(towers.merges) or all(on_batch_axis(graph, merge.calls) for merge in merges)
    passing = sorted(frozenset().union(*towers.copies.calls) - {*calls})
    return LayerWrapper(
        template.name,
        tuple(calls),
        sources,
        towers.slices,
        tuple(merge._replace(calls=(*merge.calls, *passing)) for merge in merges),
        "proven" if towers.is_known else "likely",
        (
            f"{number} of the one model {template.name}",
            *_cuts(towers, call.reads),
            *towers.sentences,
            *_join_lines(graph, towers, merges if says_axis else ()),
        ),
        called_on=called_on,
    )


def _check_model(graph: Graph, template: Layer, sources: Sequence[Ref]) -> None:
    """Raise NotAWrapper for a template that takes other tensors, or rows, than the sources."""
    if len(sources) != read(template.stored).arity:
        raise NotAWrapper(f"{template.name} is called with another number of tensors than it has")
    check_shapes(graph, template, sources)


def _of_own_layers(graph: Graph, towers: TowerSet, calls: Sequence[set[CallId]]) -> LayerWrapper:
    """The wrapper around towers that consist of the graph's own layers."""
    ends = towers.joins[0].operands
    if not towers.merges:
        check_own_layers(graph, calls[0], ends[0].layer)
    source_of = _sources(towers)
    inputs = [ref for ref in graph.inputs if ref in source_of.values()]
    layers = {at.layer for at in calls[0]}
    names = [name for name in graph.layers if name in layers]
    confidence: Confidence = "proven" if towers.is_known and towers.keeps_rows else "likely"
    return LayerWrapper(
        ends[0].layer,
        tuple(ref.call for ref in ends),
        towers.sources or tuple(dict.fromkeys([*inputs, *source_of.values()])),
        towers.slices,
        towers.merges or tuple(_merge(joined, joined.operands[0]) for joined in towers.joins),
        confidence,
        (
            f"{len(calls)} towers of the same layers: {listed(names)}",
            *_cuts(towers, ()),
            *towers.sentences,
            *_join_lines(graph, towers, towers.merges),
        ),
        inline=Inline(
            frozenset(calls[0]),
            tuple(map(frozenset, towers.copies.calls)),
            source_of,
            {joined.root: joined.operands[0] for joined in towers.joins},
        ),
    )


def _merges_of_outputs(graph: Graph, towers: TowerSet, first: CallId) -> list[Merge]:
    """Return the computed joins as merges, each of an output of the template that the first tower calls."""
    merges = []
    for joined in towers.joins:
        end = joined.operands[0]
        while end.call != first:
            end = graph.call(end.call).reads[0]
        merges.append(_merge(joined, end))
    return sorted(merges, key=lambda merge: merge.output)


def _merge(joined: Joined, end: Ref) -> Merge:
    """Return a computed join as a merge of the output that the first tower ends in."""
    root = joined.root.call
    return Merge(end.tensor, (root, *sorted(joined.calls - {root})), on_batch_axis=True)


def _cuts(towers: TowerSet, reads: Sequence[Ref]) -> Iterator[str]:
    """Yield the lines of evidence that name the slices: those found, or those of the tensors that a model reads."""
    parts = {
        column[0]: (source, [ref.call for ref in column])
        for column, source in towers.cut_points.items()
    }
    for source, slices in towers.cuts or [parts[ref] for ref in reads]:
        yield slice_evidence(source, slices)


def _join_lines(graph: Graph, towers: TowerSet, merges: Sequence[Merge]) -> Iterator[str]:
    """Yield the lines of evidence that name the merges, or the line that the joins were computed."""
    yield from (join_evidence(graph, merge) for merge in merges)
    if towers.joins and not merges:
        yield f"{towers.joins[0].root.layer} puts the towers' rows together, each once and in order"


def slice_evidence(source: Ref, slices: Sequence[CallId]) -> str:
    """Return the line of evidence that says which tensor is sliced, and by which layers."""
    names = ", ".join(dict.fromkeys(at.layer for at in slices[:MAX_NAMES_IN_EVIDENCE])) + (
        ", ..." if slices[MAX_NAMES_IN_EVIDENCE:] else ""
    )
    return f"every tower reads a slice of {source.layer}, cut by {names}"


def join_evidence(graph: Graph, merge: Merge) -> str:
    """Return the line of evidence that says which layer joins an output."""
    kind = graph.layers[merge.layer].class_name
    axis = " on the batch axis" if merge.on_batch_axis else ""
    return f"{merge.layer} ({kind}) joins output {merge.output} of every tower in order{axis}"


def check_own_layers(graph: Graph, tower: Iterable[CallId], end: str) -> None:
    """Raise NotAWrapper for a tower of own layers that reads nothing of the rows, or fixes their number.

    Statistics of parts of a batch are a purpose of their own (ghost batch normalization).
    """
    layers = {at: graph.layers[at.layer] for at in tower}
    if not any(map(layer_batch_roles.learns_row_by_row, layers.values())):
        raise NotAWrapper(
            f"the towers that end in {end} hold no weights, except those of normalizations"
        )
    fixed = [
        at.layer
        for at, layer in layers.items()
        if layer_batch_roles.fixes_rows(layer, graph.call(at))
    ]
    if fixed:
        raise NotAWrapper(
            f"{min(fixed)} is built for the number of rows of one tower, and takes no other"
        )
