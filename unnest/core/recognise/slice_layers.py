"""The slices of towers in a graph of layers: which layers they are, and which rows of their sources they take.

Operations are computed. Layers of stored code, and custom classes, claim their rows (`slice_claims`): each
becomes an operation that takes the rows claimed for it, and the engine carries it out like any other. So one equation
decides, whether rows are computed or claimed: what the merges join must be all rows, each once and in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref
from unnest.core.architecture.tensor_refs import without_tensors
from unnest.core.model import Shape
from unnest.core.ops.opaque import ClaimedRows
from unnest.core.recognise import lambda_slices, layer_facts, slice_claims
from unnest.core.recognise.merges import join, passes_on
from unnest.core.recognise.op_calls import is_operation
from unnest.core.recognise.slice_arguments import Slice
from unnest.core.recognise.slice_claims import ClaimStatus, SliceClaim
from unnest.core.recognise.wrapper_types import Merge, NotAWrapper, listed

MAX_STEPS = 8
"""How many layers may lie between a source and a tower; the longest seen are three."""


class InputFacts(NamedTuple):
    """Facts beside the graph: the shape of the template's input, the classes that the caller vouches for."""

    shape: Shape | None = None
    vouched: frozenset[str] = frozenset()


@dataclass
class Lane:
    """How one source reaches the towers.

    `parts`: what each tower reads of it; nothing where all read the whole. `steps`: the calls between, one per tower,
    the nearest to the towers first. `passed`: what hands the source on before it is cut. `claims`: of slices that are
    no operations, each with the slices it is about. `shown`: their code can be read and cuts rows.
    """

    source: Ref
    parts: tuple[Ref, ...] = ()
    steps: list[tuple[CallId, ...]] = field(default_factory=list)
    passed: set[CallId] = field(default_factory=set)
    claims: list[tuple[SliceClaim, list[Ref]]] = field(default_factory=list)
    shown: bool = True

    @property
    def calls(self) -> set[CallId]:
        """The slices and what only hands on."""
        return self.passed.union(*self.steps)


class Cut(NamedTuple):
    """How the sources reach the towers of that name: a lane for each, some of which may be read whole.

    `calls` are the slices, and whatever they compute their bounds from. `dealt_out`: every tower takes each k-th row,
    so that only a merge that deals them back restores their order. `computed` says how it was computed that the towers
    read all rows in order, where slices are operations; `reach` up to which row, where bounds are numbers.
    """

    name: str
    lanes: tuple[Lane, ...]
    calls: frozenset[CallId]
    dealt_out: bool = False
    computed: str | None = None
    reach: int | None = None

    @property
    def sources(self) -> tuple[Ref, ...]:
        """The tensors that are sliced, or read whole, one per input."""
        return tuple(lane.source for lane in self.lanes)

    @property
    def sliced(self) -> list[Lane]:
        """Without those that every tower reads whole."""
        return [lane for lane in self.lanes if lane.parts]

    @property
    def claims(self) -> list[SliceClaim]:
        """Of all slices that are no operations."""
        return [claim for lane in self.lanes for claim, _ in lane.claims]

    @property
    def is_proven(self) -> bool:
        """True if it is stored, or computed, of every input that the towers read all its rows in order."""
        if self.claims:
            return all(lane.shown for lane in self.sliced) and all(
                claim.status is ClaimStatus.ROWS for claim in self.claims
            )
        return self.computed is not None

    @property
    def is_bound_late(self) -> bool:
        """Return True if all slices store the bounds of the last part."""
        return any(claim.status is ClaimStatus.LATE for claim in self.claims)


def cut(graph: Graph, columns: Sequence[tuple[Ref, ...]], known: Sequence[InputFacts], towers: set[CallId]) -> Cut:
    """How what the towers read is cut: `columns` has a tensor of every tower for each input. Raises NotAWrapper."""
    name = min(towers).layer
    lanes = [_lane(graph, column, each) for column, each in zip(columns, known, strict=True)]
    if not any(lane.parts for lane in lanes):
        raise NotAWrapper(f"every call of {name} reads the whole of {columns[0][0].layer}")
    for source in (lane.source for lane in lanes if not lane.parts):
        # A support set, anchors: what every tower takes whole are no rows of the batch, or no tower would run.
        shape = layer_facts.stored_shape(graph.layers[source.layer])
        if graph.call(source.call).reads and (not shape or shape[0] is None):
            raise NotAWrapper(f"every call of {name} reads all rows of {source.layer}, and parts of the others")
    calls = _between(graph, set().union(*(lane.calls for lane in lanes)), {lane.source for lane in lanes})
    _check_readers(graph, lanes, towers)
    return Cut(name, tuple(lanes), calls)


def put_together(graph: Graph, cut: Cut, shapes: Sequence[Shape | None], merges: Sequence[Merge]) -> Cut:
    """The cut with what comes of it when the slices, and the merges that say how they join, are carried out.

    `shapes` are those that the template takes, one per input. Raises NotAWrapper where that is not all rows in order.
    """
    from unnest.core.recognise.batch_trials import Joined, RowOrder, rows_of_layers

    joins = [Joined(m.tensor, tuple(join(graph, m.calls[0])[0]), frozenset(m.calls)) for m in merges if m.on_batch_axis]
    parts = {lane.parts: lane.source for lane in cut.sliced}
    expected = {lane.source: shape or (None, None) for lane, shape in zip(cut.lanes, shapes, strict=True)}
    taken = rows_of_layers(graph, parts, expected, dict(_claimed(graph, cut, merges)), joins)
    operations = [lane.source.layer for lane in cut.sliced if any(_computes(graph, at) for at in lane.calls)]
    source = next(iter(operations), None)
    if taken.rows is RowOrder.NOT or not slice_claims.agree(cut.claims):
        raise NotAWrapper(
            f"the inputs of {cut.name} are cut in different places"
            if source is None
            else f"computed: the towers do not read all rows of {source} in order"
        )
    if source is not None:
        _check_axes(graph, cut)
        if taken.rows is RowOrder.UNKNOWN and taken.reach is None:
            raise NotAWrapper(f"it cannot be computed which rows of {source} the towers read")
    dealt_out = taken.rows is RowOrder.DEALT or any(claim.status is ClaimStatus.DEALT for claim in cut.claims)
    if dealt_out and any(len(lane.claims) > 1 for lane in cut.lanes):
        raise NotAWrapper(f"the rows of {cut.lanes[0].source.layer} are dealt out more than once")
    if dealt_out and joins:
        raise NotAWrapper(f"{merges[0].layer} gives all rows of {cut.lanes[0].source.layer}, in another order")
    computed, reach = (taken.sentence, taken.reach) if source is not None else (None, None)
    return cut._replace(dealt_out=dealt_out, computed=computed, reach=reach)


def _claimed(graph: Graph, cut: Cut, merges: Sequence[Merge]) -> Iterator[tuple[Ref, ClaimedRows]]:
    """The rows of every slice that is no operation, and all of them for what only hands a tensor on.

    Slices that do not tell where they cut do so where those of other inputs do.
    """
    told = {len(claim.edges): claim.edges for claim in reversed(cut.claims) if claim.edges}
    between = set().union(*(lane.calls for lane in cut.lanes), *(merge.calls for merge in merges))
    yield from ((Ref(*at, 0), ClaimedRows(0, 1)) for at in between if _hands_on(graph, at))
    for lane in cut.lanes:
        for claim, group in lane.claims:
            count = len(group)
            edges = (*(claim.edges or told.get(count) or (k / count for k in range(count))), 1)
            for k, ref in enumerate(group):
                is_dealt = claim.status is ClaimStatus.DEALT
                yield ref, ClaimedRows(k, every=count) if is_dealt else ClaimedRows(edges[k], edges[k + 1])


def _hands_on(graph: Graph, at: CallId) -> bool:
    return layer_facts.passes_on(graph.layers[at.layer], graph.call(at))


def _computes(graph: Graph, at: CallId) -> bool:
    """Return True if a call is an operation, and there for more than its name or device."""
    return is_operation(graph.layers[at.layer], graph.call(at)) and not passes_on(graph, at)


def _check_axes(graph: Graph, cut: Cut) -> None:
    """Raises NotAWrapper where operations say that they cut another axis."""
    from unnest.core.ops.apply import literal_axis
    from unnest.core.recognise.layer_tensors import LayerTensors

    tensors, first = LayerTensors(graph), cut.sliced[0].steps[0]
    if not {literal_axis(tensors.of(at)) for at in first if tensors.of(at).name} <= {0, None}:
        raise NotAWrapper(f"{first[0].layer} cuts another axis than the batch, or nothing at all")


def check_shapes(graph: Graph, template: Layer, sources: Sequence[Ref]) -> None:
    """Raises NotAWrapper where a row of a source is none for the template."""
    for source, shape in zip(sources, layer_facts.template_shapes(template.stored) or (), strict=False):
        if not layer_facts.same_rows(layer_facts.stored_shape(graph.layers[source.layer]), shape):
            raise NotAWrapper(f"{template.name} takes rows of another shape than those of {source.layer}")


def _lane(graph: Graph, column: Sequence[Ref], known: InputFacts) -> Lane:
    """Walk back from one input of all towers, in step, until all come from one tensor. Raises NotAWrapper."""
    if 1 < len(set(column)) < len(column):
        raise NotAWrapper("two towers read the same tensor")
    lane = Lane(column[0])
    at = [*column]
    while len(set(at)) > 1 or (len(at) == 1 and not lane.parts):
        _check_slices(graph, at)
        if len(lane.steps) == MAX_STEPS:
            raise NotAWrapper(f"more than {MAX_STEPS} layers lie between the towers and what they read")
        lane.steps.append(tuple(ref.call for ref in at))
        if not all(_hands_on(graph, ref.call) for ref in at):
            lane.parts = lane.parts or tuple(at)
            if not all(is_operation(graph.layers[ref.layer], graph.call(ref.call)) for ref in at):
                groups = _of_one_parent(graph, at)
                _check_they_cut(graph, at, groups)
                _check_rows_stay_whole(graph, groups)
                lane.claims += [(_claim(graph, group, known), group) for group in groups]
        at = [graph.call(ref.call).reads[0] for ref in at]
    lane.shown = all(_shows_how(graph, group) for _, group in lane.claims)
    lane.source = at[0]
    while (
        (layer := graph.layers[lane.source.layer]) and not is_model(layer.stored) and _hands_on(graph, lane.source.call)
    ):
        lane.passed.add(lane.source.call)
        lane.source = graph.call(lane.source.call).reads[0]
    return lane


def _check_they_cut(graph: Graph, at: Sequence[Ref], groups: Sequence[Sequence[Ref]]) -> None:
    """Raises NotAWrapper where layers of stored code, or custom ones, compute a tower's input out of its slice.

    What reads several tensors combines them; what is applied to every slice by itself cuts none in parts.
    """
    several = next((ref for ref in at if len(graph.call(ref.call).reads) > 1), None)
    if several is not None:
        raise NotAWrapper(f"{several.layer} reads several tensors, which it may combine")
    for group in groups:
        calls = {
            (ref.layer, ref.tensor, repr(without_tensors(graph.call(ref.call).stored, graph.layers))) for ref in group
        }
        if len(calls) < len(group):
            raise NotAWrapper(
                f"{group[0].layer} is called on one tensor several times alike, and gives no different parts"
            )
    if len(groups) == len(at) > 1:
        raise NotAWrapper(f"{at[0].layer} stands between a slice and its tower, and cuts nothing in parts")


def _check_rows_stay_whole(graph: Graph, groups: Iterable[Sequence[Ref]]) -> None:
    """Raises NotAWrapper where a row of a slice is known to have another shape than one of what is cut.

    Keras 3 notes the shape of every tensor that is read; a Lambda's author may have said what it gives, which counts
    where its code is not there to say so itself.
    """
    for ref in (ref for group in groups for ref in group):
        layer, source = graph.layers[ref.layer], graph.call(ref.call).reads[0]
        whole = graph.noted_shapes.get(source) or layer_facts.stored_shape(graph.layers[source.layer])
        promise = layer_facts.promised_shape(layer) if layer_facts.stored_code(layer) is None else None
        if promise is not None and whole is not None and len(promise) != len(whole):
            promise = None  # not what Keras asks for, and what it then ignores
        noted = graph.noted_shapes.get(ref) or None  # no axes at all is what `--keras 3` notes of what it does not know
        if not all(layer_facts.same_rows(whole, part) for part in (noted, promise)):
            raise NotAWrapper(f"{ref.layer} gives rows of another shape than those of {source.layer}")


def _shows_how(graph: Graph, group: Sequence[Ref]) -> bool:
    """Return True if slices of one tensor have code that cuts rows and can be followed to its end, or are a split."""
    slices = [Slice(graph.layers[ref.layer], graph.call(ref.call), ref.tensor) for ref in group]
    is_split = len({ref.call for ref in group}) == 1 < len(group)
    if not is_split and not all(layer_facts.shows_how(layer) for layer, _, _ in slices):
        return False
    has_code = any(layer_facts.stored_code(layer) for layer, _, _ in slices)
    shape = layer_facts.stored_shape(graph.layers[slices[0].call.reads[0].layer])
    return not has_code or lambda_slices.are_followed(slices, shape)


def _check_slices(graph: Graph, at: Sequence[Ref]) -> None:
    """Raises NotAWrapper for what cannot be a slice."""
    for ref in at:
        if is_model(graph.layers[ref.layer].stored) or not graph.call(ref.call).reads:
            raise NotAWrapper(f"the towers read different tensors: {listed([*dict.fromkeys(r.layer for r in at)])}")
        if not can_slice(graph, ref.call):
            raise NotAWrapper(f"{ref.layer}, which has weights, stands between the towers and what they read")


def _of_one_parent(graph: Graph, at: Sequence[Ref]) -> list[list[Ref]]:
    """Slices in groups that cut one tensor each; a slice that several towers read counts once. Raises NotAWrapper."""
    groups: dict[Ref, list[Ref]] = {}
    previous = None
    for ref in at:
        parent = graph.call(ref.call).reads[0]
        while graph.call(parent.call).reads and passes_on(graph, parent.call):
            parent = graph.call(parent.call).reads[0]
        group = groups.setdefault(parent, [])
        if group and parent != previous:
            raise NotAWrapper(f"the parts of {parent.layer} are not joined one after the other")
        if not group or group[-1] != ref:
            group.append(ref)
        previous = parent
    return [*groups.values()]


def _claim(graph: Graph, group: Sequence[Ref], known: InputFacts) -> SliceClaim:
    """Return the claim of one tensor's slices. Raises NotAWrapper if it is not the rows in order."""
    slices = [Slice(graph.layers[ref.layer], graph.call(ref.call), ref.tensor) for ref in group]
    source = graph.layers[slices[0].call.reads[0].layer]
    shape = layer_facts.stored_shape(source)
    rows = shape[0] if shape else None
    claim = lambda_slices.checked(slice_claims.claim(slices, rows), slices, shape)
    if claim.status is ClaimStatus.OTHERWISE:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} does not cut the batch")
    if claim.status is not ClaimStatus.OPAQUE:
        return claim
    classes = {s.layer.class_name for s in slices}
    if classes <= known.vouched:
        return SliceClaim(
            ClaimStatus.PARTLY, f"the caller vouches that {listed(sorted(classes))} cuts the batch in order"
        )
    share = known.shape[0] if known.shape else None
    if not rows or not share or share * len(group) != rows or rows == share:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} says nothing")
    return SliceClaim(ClaimStatus.PARTLY, f"{source.name} has {rows} rows, and the template takes {share}")


def can_slice(graph: Graph, at: CallId) -> bool:
    """Return True if a call may cut rows at all: it reads something, and has no weights."""
    return bool(graph.call(at).reads) and layer_facts.is_weightless(graph.layers[at.layer])


def _between(graph: Graph, calls: set[CallId], sources: set[Ref]) -> frozenset[CallId]:
    """The slices and whatever they compute their bounds from. Raises NotAWrapper if that is more than the sources."""
    between = set(calls)
    todo = list(calls)
    while todo:
        for ref in graph.call(todo.pop()).reads:
            if ref in sources or ref.call in between:
                continue
            if not can_slice(graph, ref.call):
                raise NotAWrapper(f"the slices read {ref.layer} too")
            between.add(ref.call)
            todo.append(ref.call)
    return frozenset(between)


def _check_readers(graph: Graph, lanes: Iterable[Lane], towers: set[CallId]) -> None:
    """Raises NotAWrapper if another layer than the towers reads what the slices cut out."""
    slices = {at for lane in lanes for step in lane.steps for at in step if lane.parts}
    for at in sorted(slices):
        if not only_read_by(graph, [at], towers | slices):
            raise NotAWrapper(f"{at.layer}, which a tower reads, is read by others too")


def only_read_by(graph: Graph, calls: Iterable[CallId], readers: set[CallId]) -> bool:
    """Return True if nothing else reads the outputs of some calls, and the graph does not give them out."""
    given_out = {ref.call for ref in graph.outputs}
    return all(at not in given_out and all(user in readers for user, _ in graph.readers.get(at, ())) for at in calls)
