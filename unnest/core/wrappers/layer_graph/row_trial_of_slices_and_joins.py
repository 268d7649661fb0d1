"""Slices and joins of a layer graph carried out on numbered rows: which rows the towers read, and the joins give back.

Operations are computed. An opaque slice, which claims its rows (`slice_claims`), becomes the operation `claimed`, and
the graph is carried out like any other. So one equation decides, whether rows are computed or claimed: what the merges
join must be all rows, each once and in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import lcm
from types import MappingProxyType

from unnest.core.architecture.graph import Graph
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.families.opaque_ops_and_claimed_rows import ClaimedRows
from unnest.core.ops.registry import literal_axis
from unnest.core.wrappers.claims import slice_claims
from unnest.core.wrappers.claims.slice_claims import ClaimStatus
from unnest.core.wrappers.layer_graph import layer_batch_roles
from unnest.core.wrappers.layer_graph.batch_split_record import BatchSplit
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_records import NotAWrapper
from unnest.core.wrappers.search.batch_trials import (
    DIVISIBLE,
    Joined,
    RowOrder,
    RowTrial,
    TrialAnswer,
)


def with_rows_tried(
    tensors: LayerTensors,
    split: BatchSplit,
    shapes: Sequence[Shape | None],
    joins: Sequence[Joined],
    merges: Iterable[CallId],
) -> BatchSplit:
    """Return a split with the rows that its slices and the joins along the batch come to, carried out on numbered rows.

    `shapes` are those that the template takes, one per input; `merges` all calls that join, whatever they say.

    Raises:
        NotAWrapper: the towers do not read all rows in order, or the joins do not give them back.

    """
    graph = tensors.graph
    rows = dict(_claimed_rows(graph, split, merges))
    expected = {
        each.source: shape or (None, None) for each, shape in zip(split.inputs, shapes, strict=True)
    }
    taken = try_rows(
        graph, {each.parts: each.source for each in split.sliced}, expected, rows, joins
    )
    computing = [
        each.source.layer for each in split.sliced if any(_computes(graph, at) for at in each.calls)
    ]
    if taken.rows is RowOrder.NOT or not slice_claims.agree(split.claims):
        raise NotAWrapper(
            f"the towers do not read all rows of {computing[0]} in order"
            if computing
            else f"the inputs of {split.name} are cut in different places"
        )
    if computing:
        _check_axes(tensors, split)
        if taken.rows is RowOrder.UNKNOWN and taken.reach is None:
            raise NotAWrapper(f"it cannot be computed which rows of {computing[0]} the towers read")
    dealt_out = taken.rows is RowOrder.DEALT or ClaimStatus.DEALT in split.statuses
    if dealt_out and any(len(each.claims) > 1 for each in split.inputs):
        raise NotAWrapper(
            f"the rows of {split.inputs[0].source.layer} are dealt out more than once"
        )
    if dealt_out and joins:
        raise NotAWrapper(
            f"{joins[0].root.layer} gives all rows of {split.inputs[0].source.layer}, in another order"
        )
    if not computing:
        return split._replace(dealt_out=dealt_out)
    return split._replace(dealt_out=dealt_out, computed=taken.sentence, reach=taken.reach)


def _claimed_rows(
    graph: Graph, split: BatchSplit, merges: Iterable[CallId]
) -> Iterator[tuple[Ref, ClaimedRows]]:
    """Yield the rows of every opaque slice, and all rows for layers that only hand a tensor on.

    Slices without bounds use the bounds of the other inputs.
    """
    starts_by_count = {
        len(claim.part_starts): claim.part_starts
        for claim in reversed(split.claims)
        if claim.part_starts
    }
    for at in set().union(merges, *(each.calls for each in split.inputs)):
        if layer_batch_roles.passes_on(graph.layers[at.layer], graph.call(at)):
            yield Ref(*at, 0), ClaimedRows(0, 1)
    for claim, slices in (pair for each in split.inputs for pair in each.claims):
        count = len(slices)
        equal_parts = tuple(index / count for index in range(count))
        starts = claim.part_starts or starts_by_count.get(count) or equal_parts
        edges = (*starts, 1)
        for index, ref in enumerate(slices):
            if claim.status is ClaimStatus.DEALT:
                yield ref, ClaimedRows(index, every=count)
            else:
                yield ref, ClaimedRows(edges[index], edges[index + 1])


def try_rows(
    graph: Graph,
    sources: Mapping[Column, Ref],
    expected: Mapping[Ref, Shape],
    claimed: Mapping[Ref, ClaimedRows] = MappingProxyType({}),
    joins: Sequence[Joined] = (),
) -> TrialAnswer:
    """Return the rows of their sources that the towers read, and that the joins give back.

    `expected` are the shapes that the template takes, for sources whose shape the file does not store. Larger axes show
    every cut through a row, but may not fit a reshape; so only a cut that both show is one. Claimed rows are shares of
    the batch: where all rows are claimed, one batch is enough.
    """
    tensors = LayerTensors(graph, claimed=claimed)
    calls = tensors.calls_needed_for(
        [ref for column in sources for ref in column], sources.values()
    )
    names = {tensors.of(at).name for at in calls}
    if "" in names:
        return TrialAnswer(RowOrder.UNKNOWN)
    unknown = {ref: shape for ref, shape in expected.items() if tensors.shape(ref) is None}
    larger: dict[Ref, Shape] = {
        ref: (shape[0], *(None for _ in shape[1:])) for ref, shape in unknown.items()
    }
    towers = len(next(iter(sources)))
    sizes = [lcm(DIVISIBLE, towers)] if names <= {CLAIMED} else []
    supposed = LayerTensors(graph, larger, claimed) if larger else tensors
    taken = RowTrial(supposed, sources, joins).answer(sizes)
    if taken.rows is not RowOrder.NOT or not unknown:
        return taken
    smaller = RowTrial(LayerTensors(graph, unknown, claimed), sources, joins).answer(sizes)
    return taken if smaller.rows is RowOrder.NOT else TrialAnswer(RowOrder.UNKNOWN)


CLAIMED = "claimed"
"""The operation that stands for an opaque slice."""


def _computes(graph: Graph, at: CallId) -> bool:
    """Return True if a call is an operation, and there for more than its name or device."""
    return is_operation(
        graph.layers[at.layer], graph.call(at)
    ) and not layer_batch_roles.passes_on_to_one_reader(graph, at)


def _check_axes(tensors: LayerTensors, split: BatchSplit) -> None:
    """Raise NotAWrapper where operations say that they cut another axis."""
    first = split.sliced[0].steps[0]
    axes = {literal_axis(tensors.of(at)) for at in first if tensors.of(at).name}
    if not axes <= {0, None}:
        raise NotAWrapper(f"{first[0].layer} cuts another axis than the batch, or nothing at all")
