"""Slices of towers in a graph of layers, where some of them are opaque: stored code, custom classes.

Operations are computed. An opaque slice claims its rows (`slice_claims`): it becomes the operation `claimed`, which
takes these rows, and the graph is carried out like any other. So one equation decides, whether rows are computed or
claimed: what the merges join must be all rows, each once and in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from types import MappingProxyType
from typing import NamedTuple

from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.tensor_refs import without_tensors
from unnest.core.frontends.layer_op_calls import is_operation
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.apply import literal_axis
from unnest.core.ops.pseudo_ops import ClaimedRows
from unnest.core.wrappers import layer_batch_roles, slice_claims, slice_code_checks
from unnest.core.wrappers.batch_trials import DIVISIBLE, Joined, RowOrder, RowTrial, Taken
from unnest.core.wrappers.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.slice_claims import ClaimStatus, SliceClaim
from unnest.core.wrappers.slice_numbers_by_place import Slice
from unnest.core.wrappers.wrapper_types import NotAWrapper, listed

MAX_LAYERS_BEFORE_TOWER = 8
"""How many layers may lie between a source and a tower; the longest seen are three."""


class InputFacts(NamedTuple):
    """Facts beside the graph: the shape of the template's input, the classes that the caller vouches for."""

    shape: Shape | None = None
    vouched: frozenset[str] = frozenset()


@dataclass
class InputSlices:
    """The way from one source to the towers.

    `parts`: the tensors that the towers read of it; empty if all read the whole. `steps`: the calls between, one per
    tower, the nearest to the towers first. `passed`: layers that hand the source on before it is cut. `claims`: those
    of opaque slices, each with its slices. `shown`: the code of all opaque slices can be read and cuts rows.
    """

    source: Ref
    parts: Column = ()
    steps: list[tuple[CallId, ...]] = field(default_factory=list)
    passed: set[CallId] = field(default_factory=set)
    claims: list[tuple[SliceClaim, list[Ref]]] = field(default_factory=list)
    shown: bool = True

    @property
    def calls(self) -> set[CallId]:
        """The calls of the slices, and of layers that only hand a tensor on."""
        return self.passed.union(*self.steps)


class BatchSplit(NamedTuple):
    """The slices of all sources of the towers, some of which may be read whole.

    `name`: the layer that the towers are calls of, or end in. `calls`: the slices, and the calls that compute their
    bounds. `dealt_out`: every tower takes each k-th row, so that only a merge that deals them back restores their
    order. `computed`: the sentence on the batches tried, if some slices are operations; `reach`: the number of rows
    that the towers read of a larger batch, if bounds are numbers.
    """

    name: str
    inputs: tuple[InputSlices, ...]
    calls: frozenset[CallId]
    dealt_out: bool = False
    computed: str | None = None
    reach: int | None = None

    @property
    def sources(self) -> tuple[Ref, ...]:
        """The tensors that are sliced, or read whole, one per input."""
        return tuple(each.source for each in self.inputs)

    @property
    def sliced(self) -> list[InputSlices]:
        """The inputs of which every tower reads a part."""
        return [each for each in self.inputs if each.parts]

    @property
    def claims(self) -> list[SliceClaim]:
        """The claims of all opaque slices."""
        return [claim for each in self.inputs for claim, _ in each.claims]

    @property
    def is_proven(self) -> bool:
        """True if it is stored, or computed, of every input that the towers read all its rows in order."""
        if not self.claims:
            return self.computed is not None
        return all(each.shown for each in self.sliced) and self.statuses == {ClaimStatus.ROWS}

    @property
    def nearest(self) -> tuple[tuple[Ref, tuple[CallId, ...]], ...]:
        """The slices nearest to the towers, by their source."""
        return tuple((each.source, each.steps[0]) for each in self.sliced)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The evidence on the rows that the towers read, as sentences."""
        sentences = dict.fromkeys(claim.sentence for claim in self.claims if claim.sentence)
        if self.computed:
            sentences[self.computed] = None
        if self.reach is not None:
            sentences[
                f"bounds are numbers: no tower reads more than the first {self.reach} rows"
            ] = None
        return tuple(sentences)

    @property
    def statuses(self) -> set[ClaimStatus]:
        """The statuses of the claims of all slices."""
        return {claim.status for claim in self.claims}


def split_batch(
    tensors: LayerTensors,
    columns: Sequence[Column],
    facts: Sequence[InputFacts],
    towers: set[CallId],
) -> BatchSplit:
    """Return the slices behind the towers' inputs; `columns` has a tensor of every tower for each input.

    Raises:
        NotAWrapper: the towers do not read slices of the same sources, or another layer reads the slices.

    """
    graph, name = tensors.graph, min(towers).layer
    inputs = [
        _slices_of(graph, column, known) for column, known in zip(columns, facts, strict=True)
    ]
    if not any(each.parts for each in inputs):
        raise NotAWrapper(f"every call of {name} reads the whole of {columns[0][0].layer}")
    for source in (each.source for each in inputs if not each.parts):
        # A support set, anchors: what every tower takes whole are no rows of the batch, or no tower would run.
        shape = layer_batch_roles.stored_shape(graph.layers[source.layer])
        if graph.call(source.call).reads and (not shape or shape[0] is None):
            raise NotAWrapper(
                f"every call of {name} reads all rows of {source.layer}, and parts of the others"
            )
    calls = _with_bounds(
        graph, set().union(*(each.calls for each in inputs)), {each.source for each in inputs}
    )
    slices = {at for each in inputs for step in each.steps for at in step if each.parts}
    if (at := tensors.read_by_others(slices, towers | slices)) is not None:
        raise NotAWrapper(f"{at.layer}, which a tower reads, is read by other layers too")
    return BatchSplit(name, tuple(inputs), calls)


def join_rows(
    tensors: LayerTensors,
    split: BatchSplit,
    shapes: Sequence[Shape | None],
    joins: Sequence[Joined],
    merges: Iterable[CallId],
) -> BatchSplit:
    """Carry the slices out, and the joins along the batch, and return the split with the result.

    `shapes` are those that the template takes, one per input; `merges` all calls that join, whatever they say.

    Raises:
        NotAWrapper: the towers do not read all rows in order, or the joins do not give them back.

    """
    graph = tensors.graph
    rows = dict(_claimed_rows(graph, split, merges))
    expected = {
        each.source: shape or (None, None) for each, shape in zip(split.inputs, shapes, strict=True)
    }
    taken = rows_taken(
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
    edges_of = {len(claim.edges): claim.edges for claim in reversed(split.claims) if claim.edges}
    for at in set().union(merges, *(each.calls for each in split.inputs)):
        if _hands_on(graph, at):
            yield Ref(*at, 0), ClaimedRows(0, 1)
    for claim, slices in (pair for each in split.inputs for pair in each.claims):
        count = len(slices)
        equal_parts = tuple(index / count for index in range(count))
        edges = (*(claim.edges or edges_of.get(count) or equal_parts), 1)
        for index, ref in enumerate(slices):
            if claim.status is ClaimStatus.DEALT:
                yield ref, ClaimedRows(index, every=count)
            else:
                yield ref, ClaimedRows(edges[index], edges[index + 1])


def rows_taken(
    graph: Graph,
    sources: Mapping[Column, Ref],
    expected: Mapping[Ref, Shape],
    claimed: Mapping[Ref, ClaimedRows] = MappingProxyType({}),
    joins: Sequence[Joined] = (),
) -> Taken:
    """Return the rows of their sources that the towers read, and that the joins give back.

    `expected` are the shapes that the template takes, for sources whose shape the file does not store. Larger axes show
    every cut through a row, but may not fit a reshape; so only a cut that both show is one. Claimed rows are shares of
    the batch: where all rows are claimed, one batch is enough.
    """
    tensors = LayerTensors(graph, claimed=claimed)
    calls = tensors.behind([ref for column in sources for ref in column], sources.values())
    names = {tensors.of(at).name for at in calls}
    if "" in names:
        return Taken(RowOrder.UNKNOWN)
    unknown = {ref: shape for ref, shape in expected.items() if tensors.shape(ref) is None}
    larger: dict[Ref, Shape] = {
        ref: (shape[0], *(None for _ in shape[1:])) for ref, shape in unknown.items()
    }
    towers = len(next(iter(sources)))
    sizes = [lcm(DIVISIBLE, towers)] if names <= {CLAIMED} else []
    taken = RowTrial(LayerTensors(graph, larger, claimed), sources, joins).answer(sizes)
    if taken.rows is not RowOrder.NOT:
        return taken
    smaller = RowTrial(LayerTensors(graph, unknown, claimed), sources, joins).answer(sizes)
    return taken if smaller.rows is RowOrder.NOT else Taken(RowOrder.UNKNOWN)


CLAIMED = "claimed"
"""The operation that stands for an opaque slice."""


def _hands_on(graph: Graph, at: CallId) -> bool:
    return layer_batch_roles.passes_on(graph.layers[at.layer], graph.call(at))


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


def check_shapes(graph: Graph, template: Layer, sources: Sequence[Ref]) -> None:
    """Raise NotAWrapper where a row of a source is no row for the template."""
    for source, shape in zip(
        sources, layer_batch_roles.template_shapes(template.stored) or (), strict=False
    ):
        if not layer_batch_roles.same_rows(
            layer_batch_roles.stored_shape(graph.layers[source.layer]), shape
        ):
            raise NotAWrapper(
                f"{template.name} takes rows of another shape than those of {source.layer}"
            )


def _slices_of(graph: Graph, column: Column, facts: InputFacts) -> InputSlices:
    """Walk back from one input of all towers, in step, until all come from one tensor.

    Raises:
        NotAWrapper: they come from different tensors, or a layer between is no slice.

    """
    if 1 < len({*column}) < len(column):
        raise NotAWrapper("two towers read the same tensor")
    slices = InputSlices(column[0])
    here = [*column]
    while len({*here}) > 1 or (len(here) == 1 and not slices.parts):
        _check_slices(graph, here)
        if len(slices.steps) == MAX_LAYERS_BEFORE_TOWER:
            raise NotAWrapper(
                f"more than {MAX_LAYERS_BEFORE_TOWER} layers lie between the towers and what they read"
            )
        slices.steps.append(tuple(ref.call for ref in here))
        if not all(_hands_on(graph, ref.call) for ref in here):
            slices.parts = slices.parts or tuple(here)
            if not all(is_operation(graph.layers[ref.layer], graph.call(ref.call)) for ref in here):
                slices.claims += _claims(graph, here, facts)
        here = [graph.call(ref.call).reads[0] for ref in here]
    slices.shown = all(_shows_how(graph, group) for _, group in slices.claims)
    slices.source = here[0]
    while not graph.layers[slices.source.layer].is_model and _hands_on(graph, slices.source.call):
        slices.passed.add(slices.source.call)
        slices.source = graph.call(slices.source.call).reads[0]
    return slices


def _check_slices(graph: Graph, refs: Sequence[Ref]) -> None:
    """Raise NotAWrapper for layers that cannot be slices."""
    for ref in refs:
        if graph.layers[ref.layer].is_model or not graph.call(ref.call).reads:
            layers = [*dict.fromkeys(each.layer for each in refs)]
            raise NotAWrapper(f"the towers read different tensors: {listed(layers)}")
        if not can_slice(graph, ref.call):
            raise NotAWrapper(
                f"{ref.layer}, which has weights, stands between the towers and what they read"
            )


def _claims(
    graph: Graph, refs: Sequence[Ref], facts: InputFacts
) -> list[tuple[SliceClaim, list[Ref]]]:
    """Return the claims of opaque slices, one step of all towers, by the tensor that they cut. Raises NotAWrapper."""
    groups = _of_one_parent(graph, refs)
    _check_they_cut(graph, refs, groups)
    _check_rows_stay_whole(graph, groups)
    return [(_claim(graph, group, facts), group) for group in groups]


def _of_one_parent(graph: Graph, refs: Sequence[Ref]) -> list[list[Ref]]:
    """Return slices in groups that cut one tensor each; a slice that several towers read counts once.

    Raises:
        NotAWrapper: the slices of one tensor do not follow each other.

    """
    groups: dict[Ref, list[Ref]] = {}
    previous = None
    for ref in refs:
        parent = graph.call(ref.call).reads[0]
        while graph.call(parent.call).reads and layer_batch_roles.passes_on_to_one_reader(
            graph, parent.call
        ):
            parent = graph.call(parent.call).reads[0]
        group = groups.setdefault(parent, [])
        if group and parent != previous:
            raise NotAWrapper(f"the parts of {parent.layer} are not joined one after the other")
        if not group or group[-1] != ref:
            group.append(ref)
        previous = parent
    return [*groups.values()]


def _check_they_cut(graph: Graph, refs: Sequence[Ref], groups: Sequence[Sequence[Ref]]) -> None:
    """Check that opaque layers cut a tensor, instead of computing a tower's input out of its slice.

    Raises:
        NotAWrapper: one reads several tensors, which it may combine, or each is applied to a slice of its own.

    """
    several = next((ref for ref in refs if len(graph.call(ref.call).reads) > 1), None)
    if several is not None:
        raise NotAWrapper(f"{several.layer} reads several tensors, which it may combine")
    for group in groups:
        stored = [graph.call(ref.call).stored for ref in group]
        arguments = [repr(without_tensors(each, graph.layers)) for each in stored]
        calls = {(ref.layer, ref.tensor, told) for ref, told in zip(group, arguments, strict=True)}
        if len(calls) < len(group):
            raise NotAWrapper(
                f"{group[0].layer} is called on one tensor several times alike, and gives no different parts"
            )
    if len(groups) == len(refs) > 1:
        raise NotAWrapper(
            f"{refs[0].layer} stands between a slice and its tower, and does not cut its input"
        )


def _check_rows_stay_whole(graph: Graph, groups: Iterable[Sequence[Ref]]) -> None:
    """Check that a row of a slice has the shape of a row of its source, as far as both are known.

    Keras 3 notes the shape of every tensor that is read; a Lambda's author may have said what it gives, which counts
    where its code is not there to say so itself.

    Raises:
        NotAWrapper: the shapes differ.

    """
    for ref in (ref for group in groups for ref in group):
        layer, source = graph.layers[ref.layer], graph.call(ref.call).reads[0]
        whole = graph.noted_shapes.get(source) or layer_batch_roles.stored_shape(
            graph.layers[source.layer]
        )
        promise = (
            layer_batch_roles.promised_shape(layer)
            if layer_batch_roles.stored_code(layer) is None
            else None
        )
        if promise is not None and whole is not None and len(promise) != len(whole):
            promise = None  # not what Keras asks for, and what it then ignores
        noted = graph.noted_shapes.get(ref)
        if not all(layer_batch_roles.same_rows(whole, part) for part in (noted, promise)):
            raise NotAWrapper(
                f"{ref.layer} gives rows of another shape than those of {source.layer}"
            )


def _claim(graph: Graph, group: Sequence[Ref], facts: InputFacts) -> SliceClaim:
    """Return the claim of one tensor's slices.

    Raises:
        NotAWrapper: it is something else than the rows in order, or nothing stored is a claim.

    """
    slices = [Slice(graph.layers[ref.layer], graph.call(ref.call), ref.tensor) for ref in group]
    source = graph.layers[slices[0].call.reads[0].layer]
    shape = layer_batch_roles.stored_shape(source)
    rows = shape[0] if shape else None
    claim = slice_code_checks.checked(slice_claims.claim(slices, rows), slices, shape)
    if claim.status is ClaimStatus.OTHERWISE:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} does not cut the batch")
    if claim.status is not ClaimStatus.OPAQUE:
        return claim
    classes = {each.layer.class_name for each in slices}
    if classes <= facts.vouched:
        sentence = f"the caller vouches that {listed(sorted(classes))} cuts the batch in order"
        return SliceClaim(ClaimStatus.PARTLY, sentence)
    share = facts.shape[0] if facts.shape else None
    if not rows or not share or share * len(group) != rows or rows == share:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} says nothing")
    return SliceClaim(
        ClaimStatus.PARTLY, f"{source.name} has {rows} rows, and the template takes {share}"
    )


def _shows_how(graph: Graph, group: Sequence[Ref]) -> bool:
    """Return True if slices of one tensor have code that cuts rows and can be followed to its end, or are a split."""
    slices = [Slice(graph.layers[ref.layer], graph.call(ref.call), ref.tensor) for ref in group]
    is_split = len({ref.call for ref in group}) == 1 < len(group)
    if not is_split and not all(layer_batch_roles.shows_how(layer) for layer, _, _ in slices):
        return False
    has_code = any(layer_batch_roles.stored_code(layer) for layer, _, _ in slices)
    shape = layer_batch_roles.stored_shape(graph.layers[slices[0].call.reads[0].layer])
    return not has_code or slice_code_checks.are_followed(slices, shape)


def can_slice(graph: Graph, at: CallId) -> bool:
    """Return True if a call may cut rows at all: it reads something, and has no weights."""
    return bool(graph.call(at).reads) and layer_batch_roles.is_weightless(graph.layers[at.layer])


def _with_bounds(graph: Graph, calls: set[CallId], sources: set[Ref]) -> frozenset[CallId]:
    """Return slices with the calls that compute their bounds from the sources.

    Raises:
        NotAWrapper: they read another tensor than the sources.

    """
    between = {*calls}
    pending = [*calls]
    while pending:
        for ref in graph.call(pending.pop()).reads:
            if ref in sources or ref.call in between:
                continue
            if not can_slice(graph, ref.call):
                raise NotAWrapper(f"the slices read {ref.layer} too")
            between.add(ref.call)
            pending.append(ref.call)
    return frozenset(between)
