"""Which part of a layer graph is a wrapper: slices, towers and merges around a template model.

What a wrapper is
    A *template* (a nested model) is called k times in one graph. Its j-th input is, in
    every tower, a slice of the same tensor, the j-th *source*. Its m-th outputs are joined,
    in the order of the towers, along the batch axis by one *merge* layer. Nobody else reads
    the slices or the towers' outputs. Then template(source) is what the merge gives, row by
    row, and slices, towers and merges can go.

What it is not
    Siamese twins (the towers read different sources), ensembles (the towers are calls of
    different models), a merge on another axis or an average (the towers' results are combined,
    not lined up), slices of channels or of time (the template's input then has another shape
    than its source, or the slice says so itself), a template whose outputs are used before
    they are joined.

What is evidence only
    Names of layers and classes, slice arguments, stored code. They can raise "likely" to
    "proven"; the verdict stands on the structure. Only where the structure leaves a choice (a
    single tower, a merge that does not say what it does) are they asked for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from unnest.core.architecture import is_model, read, tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref
from unnest.core.keras_facts.weight_specs import has_initializers
from unnest.core.model import Confidence
from unnest.core.recognise import slice_claims
from unnest.core.recognise.operations import operation


@dataclass(frozen=True)
class Merge:
    """The calls that join output number `output` of every tower, the last of them first."""

    output: int
    calls: tuple[CallId, ...]
    on_batch_axis: bool | None

    @property
    def layer(self) -> str:
        """The merge layer's name."""
        return self.calls[0].layer

    @property
    def tensor(self) -> Ref:
        """What the merge gives."""
        return Ref(self.calls[0].layer, self.calls[0].rank, 0)


@dataclass(frozen=True)
class Found:
    """One wrapper in a graph. `sources` are the tensors that are sliced, one per template input."""

    template: str
    towers: tuple[CallId, ...]
    sources: tuple[Ref, ...]
    slices: frozenset[CallId]
    merges: tuple[Merge, ...]
    confidence: Confidence
    evidence: tuple[str, ...]


def find(graph: Graph) -> list[Found]:
    """The wrappers of one graph (not of the models nested in it), in the order of their templates."""
    if graph.sequential:  # a chain has no room for towers
        return []
    candidates: dict[tuple[CallId, ...], list[Merge]] = {}
    for towers, merge in _merges(graph):
        candidates.setdefault(towers, []).append(merge)
    found = []
    taken: set[CallId] = set()
    for towers, merges in candidates.items():
        wrapper = _judge(graph, towers, merges)
        if wrapper and not taken.intersection(towers):
            taken.update(towers)
            found.append(wrapper)
    return found


def _merges(graph: Graph) -> Iterator[tuple[tuple[CallId, ...], Merge]]:
    """Every join of several calls of one model, with those calls in the order they are joined in."""
    for at, call in graph.calls():
        if not call.reads or not _can_merge(graph.layers[at.layer]):
            continue
        if _is_part_of_a_larger_merge(graph, at):
            continue
        leaves, calls = _join(graph, at)
        first = leaves[0]
        towers = tuple(ref.call for ref in leaves)
        if (
            is_model(graph.layers[first.layer].stored)
            and all(r.layer == first.layer and r.tensor == first.tensor for r in leaves)
            and len(set(towers)) == len(towers)
        ):
            on_batch = _on_batch_axis(graph, calls)
            if on_batch is False and len(towers) == 1 and slice_claims.passes_on(graph.layers[at.layer], call):
                on_batch = None  # to join one tower is to pass it on
            if on_batch is not False:
                yield towers, Merge(first.tensor, tuple(calls), on_batch)


def _can_merge(layer: Layer) -> bool:
    return not is_model(layer.stored) and not has_initializers(layer.config)


def _is_part_of_a_larger_merge(graph: Graph, at: CallId) -> bool:
    """Pairwise merges build a tree; only its root counts."""
    users = graph.readers.get(at, ())
    return (
        len(users) == 1
        and _joins_batch(graph, users[0][0])
        and _joins_batch(graph, at)
        and all(ref.call != at for ref in graph.outputs)
    )


def _joins_batch(graph: Graph, at: CallId) -> bool:
    layer = graph.layers[at.layer]
    return _can_merge(layer) and slice_claims.joins_on_batch_axis(layer, graph.call(at)) is True


def _join(graph: Graph, at: CallId) -> tuple[list[Ref], list[CallId]]:
    """What a merge joins, looking through the merges that it joins in turn."""
    leaves: list[Ref] = []
    calls = [at]
    todo = list(reversed(graph.call(at).reads))
    while todo:
        ref = todo.pop()
        if not is_model(graph.layers[ref.layer].stored) and (
            _is_part_of_a_larger_merge(graph, ref.call) or _passes_on(graph, ref.call)
        ):
            calls.append(ref.call)
            todo += reversed(graph.call(ref.call).reads)
        else:
            leaves.append(ref)
    return leaves, calls


def _passes_on(graph: Graph, at: CallId) -> bool:
    """A layer that is there for its name or device only, in the way of one reader."""
    return slice_claims.passes_on(graph.layers[at.layer], graph.call(at)) and len(graph.readers.get(at, ())) == 1


def _on_batch_axis(graph: Graph, calls: Sequence[CallId]) -> bool | None:
    joining = [c for c in calls if c is calls[0] or not _passes_on(graph, c)]
    told = [slice_claims.joins_on_batch_axis(graph.layers[c.layer], graph.call(c)) for c in joining]
    return False if False in told else None if None in told else True


def _judge(graph: Graph, towers: tuple[CallId, ...], merges: Sequence[Merge]) -> Found | None:
    """The wrapper around these towers, if it is one."""
    merges = sorted(merges, key=lambda m: m.output)
    outputs = [m.output for m in merges]
    joining = {c for m in merges for c in m.calls}
    if len(set(outputs)) < len(outputs) or not _only_read_by(graph, towers, joining) or not _alike(graph, towers):
        return None
    template = read(graph.layers[towers[0].layer].stored)
    cut = _slices(graph, towers)
    if cut is None or outputs[-1] >= len(template.outputs) or len(cut.sources) != template.arity:
        return None
    if _leaves_a_tower_out(graph, towers, cut):
        return None
    facts = slice_claims.facts([[graph.layers[c.layer] for c in lane] for lane in cut.lanes])
    if facts.shuffled or (cut.dealt_out and any(m.on_batch_axis for m in merges)):
        return None
    lined_up = all(m.on_batch_axis for m in merges)
    if not any(m.on_batch_axis for m in merges) and not _speaks_for_itself(graph, towers, cut, merges, facts):
        return None
    shown = all(slice_claims.shows_how(graph.layers[c.layer]) for lane in cut.lanes for c in lane)
    proven = lined_up and (cut.consecutive or cut.computed is not None or (facts.consecutive and shown))
    return Found(
        towers[0].layer,
        towers,
        cut.sources,
        cut.calls,
        tuple(merges),
        "proven" if proven else "likely",
        tuple(_evidence(graph, towers, cut, merges, facts)),
    )


def _alike(graph: Graph, towers: Sequence[CallId]) -> bool:
    """Whether all towers call the template in the same way: not one of them with `training=True`."""
    first, *others = (tensor_refs.without_tensors(graph.call(t).stored, graph.layers) for t in towers)
    return all(other == first for other in others)


def _speaks_for_itself(
    graph: Graph, towers: Sequence[CallId], cut: _Cut, merges: Sequence[Merge], facts: slice_claims.Facts
) -> bool:
    """Whether the slices are enough of a witness where no merge says what it does."""
    if all(slice_claims.combines(graph.layers[m.layer]) for m in merges):
        return False
    if len(towers) > 1:
        return facts.consecutive or cut.consecutive or cut.computed is not None
    names = [graph.layers[m.layer] for m in merges]
    cutting = [graph.layers[c.layer] for lane in cut.lanes for c in lane]
    return (cut.consecutive and cut.computed is not None) or (
        facts.consecutive
        and all(slice_claims.is_part_one_of_one(layer) for layer in cutting)
        and all(slice_claims.says_nothing(layer) for layer in names)
    )


def _leaves_a_tower_out(graph: Graph, towers: Sequence[CallId], cut: _Cut) -> bool:
    """Whether the template is called on a slice of the same sources that nobody merges."""
    calls = graph.layers[towers[0].layer].calls
    return any(
        _can_slice(graph, ref.call) and graph.call(ref.call).reads[0] in cut.sources
        for rank, call in enumerate(calls)
        if CallId(towers[0].layer, rank) not in towers
        for ref in call.reads
    )


def _only_read_by(graph: Graph, towers: Iterable[CallId], readers: set[CallId]) -> bool:
    given_out = {ref.call for ref in graph.outputs}
    return all(at not in given_out and all(user in readers for user, _ in graph.readers.get(at, ())) for at in towers)


@dataclass(frozen=True)
class _Cut:
    """How the sources reach the towers: `lanes` are the slice calls per input and tower.

    `dealt_out`: every tower takes each k-th row, so that only a merge that deals them back restores their order.
    `computed` says how it was computed that the towers read all rows in order, where it was.
    """

    sources: tuple[Ref, ...]
    lanes: tuple[tuple[CallId, ...], ...]
    calls: frozenset[CallId]
    consecutive: bool
    dealt_out: bool
    computed: str | None = None


def _slices(graph: Graph, towers: Sequence[CallId]) -> _Cut | None:
    """The slices in front of the towers, if every input is one source cut into as many slices."""
    inputs = [graph.call(tower).reads for tower in towers]
    if not inputs[0] or any(len(reads) != len(inputs[0]) for reads in inputs):
        return None
    columns = list(zip(*inputs, strict=True))
    traced = [cut for cut in (_trace(graph, column) for column in columns) if cut is not None]
    if len(traced) < len(columns) or not any(cut.lanes[0] for cut in traced):
        return None
    sources = tuple(cut.sources[0] for cut in traced)
    inner = _between(graph, {c for cut in traced for c in cut.calls}, set(sources))
    shapes = slice_claims.template_shapes(graph.layers[towers[0].layer].stored) or [None] * len(sources)
    if inner is None or not _only_for_towers(graph, traced, towers) or not _same_rows(graph, sources, shapes):
        return None
    whole = _Cut(
        sources,
        tuple(lane for cut in traced for lane in cut.lanes if lane),
        inner,
        all(cut.consecutive for cut in traced if cut.lanes[0]),
        any(cut.dealt_out for cut in traced),
    )
    if not any(operation(graph.layers[c.layer], graph.call(c)) for c in inner):
        return whole
    return _computed(graph, whole, _inputs(graph, columns, traced, shapes))


def _same_rows(graph: Graph, sources: Sequence[Ref], shapes: Sequence[slice_claims.Shape | None]) -> bool:
    """Whether the template takes rows of the sources' shapes, as far as those are stored."""
    return all(
        slice_claims.same_rows(slice_claims.stored_shape(graph.layers[source.layer]), shape)
        for source, shape in zip(sources, shapes, strict=False)
    )


_Given: TypeAlias = tuple[Ref, tuple[Ref, ...], slice_claims.Shape | None, slice_claims.Shape | None]
"""A template input: its source, what the towers read of it, the source's shape and the template's."""


def _inputs(
    graph: Graph,
    columns: Sequence[tuple[Ref, ...]],
    cuts: Sequence[_Cut],
    shapes: Sequence[slice_claims.Shape | None],
) -> Iterator[_Given]:
    for column, cut, expected in zip(columns, cuts, shapes, strict=False):
        (source,) = cut.sources
        shape = None if graph.call(source.call).reads else slice_claims.stored_shape(graph.layers[source.layer])
        yield source, column if cut.lanes[0] else (), shape, expected


def _computed(graph: Graph, cut: _Cut, inputs: Iterable[_Given]) -> _Cut | None:
    """The cut by operations with what they compute; None where that is not the rows of the sources."""
    from unnest.core.recognise import symbolic_rows

    taken = symbolic_rows.taken(graph, [symbolic_rows.Input(*given) for given in inputs])
    if taken.rows is symbolic_rows.Rows.NOT:
        return None
    dealt = taken.rows is symbolic_rows.Rows.DEALT
    return replace(
        cut,
        consecutive=cut.consecutive and not dealt,
        dealt_out=cut.dealt_out or dealt,
        computed=taken.sentence,
    )


MAX_STEPS = 8
"""How many layers may lie between a source and a tower; the longest seen are three."""


def _trace(graph: Graph, column: Sequence[Ref]) -> _Cut | None:
    """Walk back from one input of all towers, in step, until all come from one tensor."""
    lanes: list[tuple[CallId, ...]] = []
    steps: list[slice_claims.Step] = []
    at = list(column)
    while len(set(at)) > 1 or (len(at) == 1 and not steps):
        calls = tuple(ref.call for ref in at)
        if len(lanes) == MAX_STEPS or not all(_can_slice(graph, c) for c in calls):
            return None
        lanes.append(calls)
        if not all(slice_claims.passes_on(graph.layers[c.layer], graph.call(c)) for c in calls):
            slices = [(graph.layers[c.layer], graph.call(c), r) for c, r in zip(calls, at, strict=True)]
            step = slice_claims.step(slices, _fixed_rows(graph, calls[0]))
            if step is slice_claims.Step.CANNOT:
                return None
            steps.append(step)
        at = [graph.call(c).reads[0] for c in calls]
    source, passed = _before_the_slices(graph, at[0], len(column), indexed=slice_claims.Step.INDEXES in steps)
    if source is None:
        return None
    calls_between = frozenset(c for lane in lanes for c in lane) | passed
    told = {slice_claims.Step.CUTS, slice_claims.Step.INDEXES}
    return _Cut(
        (source,),
        tuple(lanes) or ((),),
        calls_between,
        consecutive=bool(told.intersection(steps)),
        dealt_out=slice_claims.Step.STRIDES in steps,
    )


def _fixed_rows(graph: Graph, at: CallId) -> int | None:
    """The batch size of what a slice reads, where it is fixed."""
    shape = slice_claims.stored_shape(graph.layers[graph.call(at).reads[0].layer])
    return shape[0] if shape else None


def _before_the_slices(graph: Graph, source: Ref, parts: int, *, indexed: bool) -> tuple[Ref | None, frozenset[CallId]]:
    """The source behind layers that only pass it on, or that stack its parts for an index to take apart."""
    passed: set[CallId] = set()
    while True:
        call, layer = graph.call(source.call), graph.layers[source.layer]
        if indexed and slice_claims.stacks_parts(layer, call, parts):
            indexed = False
        elif is_model(layer.stored) or not slice_claims.passes_on(layer, call):
            return (None if indexed else source), frozenset(passed)
        passed.add(source.call)
        source = call.reads[0]


def _can_slice(graph: Graph, at: CallId) -> bool:
    layer = graph.layers[at.layer]
    return bool(graph.call(at).reads) and not is_model(layer.stored) and not has_initializers(layer.config)


def _between(graph: Graph, calls: set[CallId], sources: set[Ref]) -> frozenset[CallId] | None:
    """The slices and whatever they compute their bounds from; None if that is more than the sources."""
    seen = set(calls)
    todo = list(calls)
    while todo:
        for ref in graph.call(todo.pop()).reads:
            if ref in sources or ref.call in seen:
                continue
            if not _can_slice(graph, ref.call):
                return None
            seen.add(ref.call)
            todo.append(ref.call)
    return frozenset(seen)


def _only_for_towers(graph: Graph, cuts: Iterable[_Cut], towers: Iterable[CallId]) -> bool:
    """Nobody but the towers reads what the slices cut out."""
    lanes = {c for cut in cuts for lane in cut.lanes for c in lane}
    return _only_read_by(graph, lanes, set(towers) | lanes)


SHOWN = 4
"""Slices that a line of evidence names."""


def _evidence(
    graph: Graph, towers: Sequence[CallId], cut: _Cut, merges: Sequence[Merge], facts: slice_claims.Facts
) -> Iterator[str]:
    template = towers[0].layer
    number = f"{len(towers)} calls" if len(towers) > 1 else "1 call"
    yield f"{number} of the one model {template}"
    for source, lane in zip(cut.sources, cut.lanes, strict=False):
        names = ", ".join(dict.fromkeys(c.layer for c in lane[:SHOWN])) + (", ..." if lane[SHOWN:] else "")
        yield f"every tower reads a slice of {source.layer}, cut by {names}"
    yield from facts.sentences
    if cut.computed:
        yield cut.computed
    for merge in merges:
        kind = graph.layers[merge.layer].class_name
        axis = " on the batch axis" if merge.on_batch_axis else ""
        yield f"{merge.layer} ({kind}) joins output {merge.output} of every tower in order{axis}"
