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
    they are joined, slices whose numbers do not come to the batch, layers that nothing stored
    calls slices. The reason is a `NearMiss`.

What is evidence only
    Names of layers, and of classes that are not Keras's own. What the slices are told
    (`slice_claims`) must add up; what it leaves open makes a wrapper "likely" instead of "proven".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from unnest.core.architecture import is_model, read, tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref
from unnest.core.keras_facts.layer_classes import is_keras_class
from unnest.core.keras_facts.weight_specs import has_initializers
from unnest.core.model import Confidence, NearMiss
from unnest.core.recognise import followed_slices, layer_facts, slice_claims
from unnest.core.recognise.op_calls import is_operation
from unnest.core.recognise.slice_claims import Claim, Slice, Told

if TYPE_CHECKING:  # brings NumPy, which most graphs do not need
    from unnest.core.recognise.computed_wrappers import ComputedWrapper
    from unnest.core.recognise.symbolic_rows import Joined
    from unnest.core.recognise.tower_copies import Copies


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
        """The joined tensor."""
        return Ref(self.calls[0].layer, self.calls[0].rank, 0)


@dataclass(frozen=True)
class Inline:
    """A first tower that is made of the graph's own layers.

    `cut`: what it reads of each slice -> what was sliced. `ends`: every merged tensor -> the tower's own.
    """

    calls: frozenset[CallId]
    cut: Mapping[Ref, Ref]
    ends: Mapping[Ref, Ref]


@dataclass(frozen=True)
class Found:
    """One wrapper in a graph. `sources` are the tensors that are sliced, one per template input.

    `template` is the nested model that is called, `towers` are its calls. Where the towers are the graph's own layers
    (`inline`), it is the layer that they end in. `bound_late` are the slice layers, where all of them store the bounds
    of the last part.
    """

    template: str
    towers: tuple[CallId, ...]
    sources: tuple[Ref, ...]
    slices: frozenset[CallId]
    merges: tuple[Merge, ...]
    confidence: Confidence
    evidence: tuple[str, ...]
    bound_late: tuple[str, ...] = ()
    inline: Inline | None = None

    def cut(self, graph: Graph) -> Mapping[Ref, Ref]:
        """What the first tower reads of each slice -> what was sliced."""
        if self.inline is not None:
            return self.inline.cut
        return dict(zip(graph.call(self.towers[0]).reads, self.sources, strict=True))

    @property
    def first(self) -> frozenset[CallId]:
        """The calls of the first tower."""
        return frozenset({self.towers[0]}) if self.inline is None else self.inline.calls

    @property
    def ends(self) -> Mapping[Ref, Ref]:
        """Every merged tensor -> the first tower's own."""
        if self.inline is not None:
            return self.inline.ends
        return {m.tensor: Ref(self.towers[0].layer, self.towers[0].rank, m.output) for m in self.merges}


class NotAWrapper(Exception):
    """What a candidate lacks; the message is one sentence."""


@dataclass(frozen=True)
class Recognised:
    """The wrappers of one graph, in the order of their templates, and why the nearest candidates are none."""

    wrappers: tuple[Found, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()


def find(graph: Graph, vouched: Collection[str] = ()) -> list[Found]:
    """The wrappers of one graph (not of the models nested in it); `vouched` are classes said to cut the batch."""
    return [*recognise(graph, vouched).wrappers]


def recognise(graph: Graph, vouched: Collection[str] = ()) -> Recognised:
    """The wrappers of one graph (not of the models nested in it), and the near misses."""
    if graph.sequential:  # a chain has no room for towers
        return Recognised()
    computed, near_computed = _computed(graph)
    found = [each for each in computed if each.inline is None]
    taken = {call for wrapper in found for call in wrapper.towers}
    candidates: dict[tuple[CallId, ...], list[Merge]] = {}
    missed: dict[tuple[CallId, ...], NearMiss] = {}
    for towers, candidate in _merges(graph):
        if isinstance(candidate, NearMiss):
            missed.setdefault(towers, candidate)
        elif taken.isdisjoint(towers):
            candidates.setdefault(towers, []).append(candidate)
    for towers, merges in candidates.items():
        judged = _or_why_not(merges[0].layer, partial(_judge, graph, towers, merges, vouched))
        if isinstance(judged, Found) and taken.isdisjoint(towers):
            taken.update(towers)
            found.append(judged)
        elif isinstance(judged, NearMiss) and len(towers) > 1:
            missed[towers] = judged
    near = {miss.layer: miss for towers, miss in missed.items() if taken.isdisjoint(towers)}
    if not found:
        told = [] if computed else [*_inline(graph)]
        found = [*computed, *(each for each in told if isinstance(each, Found))]
        for miss in (*(each for each in told if isinstance(each, NearMiss)), *near_computed):
            near.setdefault(miss.layer, miss)
    joined = {c.layer for wrapper in found for merge in wrapper.merges for c in merge.calls}
    return Recognised(tuple(found), tuple(miss for layer, miss in near.items() if layer not in joined))


def _computed(graph: Graph) -> tuple[list[Found], list[NearMiss]]:
    """The wrappers whose slices and joins are operations, and why others are none."""
    if not any(layer_facts.may_join(layer) for layer in graph.layers.values()):
        return [], []
    from unnest.core.recognise import computed_wrappers
    from unnest.core.recognise.layer_tensors import LayerTensors

    computed, near = computed_wrappers.find(LayerTensors(graph))
    judged = [
        _or_why_not(each.joins[0].root.layer, partial(_described, graph, each))
        for each in computed
        if each.reader is None
    ]
    reasons = [each for each in judged if isinstance(each, NearMiss)]
    return [each for each in judged if isinstance(each, Found)], [*reasons, *near]


def _or_why_not(layer: str, judge: Callable[[], Found]) -> Found | NearMiss:
    """The wrapper that is judged at this join, or why it is none."""
    try:
        return judge()
    except NotAWrapper as reason:
        return NearMiss(layer, str(reason))


def _described(graph: Graph, wrapper: ComputedWrapper) -> Found:
    """The same as a wrapper of this graph. Raises NotAWrapper for towers that are none."""
    calls = [{at for at in tower if not _passes_on(graph, at)} for tower in wrapper.copies.calls]
    cut = {column[0]: source for column, source in wrapper.sources.items()}
    if all(len(tower) == 1 for tower in calls):
        towers = [next(iter(tower)) for tower in calls]
        if is_model(graph.layers[towers[0].layer].stored) and cut.keys() == {*graph.call(towers[0]).reads}:
            return _around_a_model(graph, wrapper, towers, cut)
    joins, (first, *_) = wrapper.joins, wrapper.copies.calls
    ends_in = joins[0].operands[0].layer
    if not any(layer_facts.learns_row_by_row(graph.layers[at.layer]) for at in first):
        raise NotAWrapper(f"the towers that end in {ends_in} hold no weights but those of normalizations, if any")
    fixed = [at.layer for at in first if layer_facts.fixes_rows(graph.layers[at.layer], graph.call(at))]
    if fixed:
        raise NotAWrapper(f"{min(fixed)} is built for the number of rows of one tower, and takes no other")
    layers = {at.layer for at in first}
    given = [ref for ref in graph.inputs if ref in cut.values()]
    return Found(
        ends_in,
        tuple(ref.call for ref in joins[0].operands),
        tuple(dict.fromkeys([*given, *cut.values()])),
        wrapper.slices,
        tuple(_merge(joined, joined.operands[0]) for joined in joins),
        "proven",
        (
            f"{len(calls)} towers of the same layers: {_listed([name for name in graph.layers if name in layers])}",
            wrapper.sentence,
            _puts_together(joins[0]),
        ),
        inline=Inline(frozenset(first), cut, {joined.root: joined.operands[0] for joined in joins}),
    )


def _around_a_model(graph: Graph, wrapper: ComputedWrapper, towers: Sequence[CallId], cut: Mapping[Ref, Ref]) -> Found:
    """The wrapper around calls of one nested model; layers that only pass its outputs on are part of the joins."""
    template, reads = graph.layers[towers[0].layer], graph.call(towers[0]).reads
    sources = tuple(cut[ref] for ref in reads)
    if len(reads) != read(template.stored).arity:
        raise NotAWrapper(f"{template.name} is called with another number of tensors than it has")
    _check_shapes(graph, template, sources)
    columns = {column[0]: column for column in wrapper.sources}
    merges = []
    for joined in wrapper.joins:
        end = joined.operands[0]
        while end.call != towers[0]:
            end = graph.call(end.call).reads[0]
        merges.append((_merge(joined, end), joined))
    merges.sort(key=lambda pair: pair[0].output)
    evidence = [f"{len(towers)} calls of the one model {template.name}"]
    evidence += [_cut_by(cut[ref], [part.call for part in columns[ref]]) for ref in reads]
    evidence.append(wrapper.sentence)
    is_told = all(_on_batch_axis(graph, merge.calls) for merge, _ in merges)
    evidence += [_joins(graph, merge) for merge, _ in merges] if is_told else [_puts_together(wrapper.joins[0])]
    passing = frozenset().union(*wrapper.copies.calls) - {*towers}
    merged = tuple(replace(merge, calls=(*merge.calls, *sorted(passing))) for merge, _ in merges)
    return Found(template.name, tuple(towers), sources, wrapper.slices, merged, "proven", tuple(evidence))


def _merge(joined: Joined, end: Ref) -> Merge:
    """A computed join as a merge of the outputs that the first tower ends in."""
    return Merge(end.tensor, (joined.root.call, *sorted(joined.calls - {joined.root.call})), on_batch_axis=True)


def _puts_together(joined: Joined) -> str:
    return f"{joined.root.layer} puts the towers' rows together, each once and in order"


def _inline(graph: Graph) -> Iterator[Found | NearMiss]:
    """Towers of the graph's own layers behind slices that are told their parts, and why others are none."""
    from unnest.core.recognise.layer_tensors import LayerTensors
    from unnest.core.recognise.tower_copies import Unlike, walk_back

    found: dict[frozenset[CallId], list[tuple[Merge, Copies]]] = {}
    tensors = LayerTensors(graph)
    for at, call in graph.calls():
        layer = graph.layers[at.layer]
        if len(call.reads) == 1 or not layer_facts.may_join(layer) or not _joins_batch(graph, at):
            continue
        if _is_part_of_a_larger_merge(graph, at):
            continue
        operands, calls = _join(graph, at) if call.reads else ([], [])
        if (
            len(operands) == 0
            or not _can_merge(layer)
            or _on_batch_axis(graph, calls) is not True
            or len({*operands}) < len(operands)
        ):
            continue
        try:
            copies = walk_back(tensors, tuple(operands), lambda column: _told_apart(graph, column))
            if copies.entries:
                merge = Merge(operands[0].tensor, tuple(calls), on_batch_axis=True)
                found.setdefault(frozenset(c.call for e in copies.entries for c in e), []).append((merge, copies))
        except Unlike:
            continue
    for outputs in found.values():
        merges, towers = [merge for merge, _ in outputs], [copies for _, copies in outputs]
        yield _or_why_not(merges[0].layer, partial(_told_inline, graph, merges, towers))


def _told_apart(graph: Graph, column: tuple[Ref, ...]) -> Ref | None:
    """What slices by stored code, or by a class of somebody's own, are cut from; None where they are all the same."""
    layers = [graph.layers[ref.layer] for ref in column]
    for ref, layer in zip(column, layers, strict=True):
        is_own = layer_facts.is_function(layer) or not is_keras_class(layer.class_name, layer.stored)
        if not _can_slice(graph, ref.call) or is_operation(layer, graph.call(ref.call)) or not is_own:
            return None
    is_split = len({ref.call for ref in column}) == 1
    told = [{key: value for key, value in layer.settings.items() if key != "name"} for layer in layers]
    return graph.call(column[0].call).reads[0] if is_split or any(one != told[0] for one in told) else None


def _told_inline(graph: Graph, merges: Sequence[Merge], copies: Sequence[Copies]) -> Found:
    """The wrapper around such towers. Raises NotAWrapper unless what the slices are told is all rows in order."""
    columns = [*dict.fromkeys(column for copy in copies for column in copy.entries)]
    calls = [set().union(*(copy.calls[k] for copy in copies)) for k in range(len(columns[0]))]
    towers, joining = set().union(*calls), {c for merge in merges for c in merge.calls}
    cut, traced = _cut(graph, columns, [_Known(None, frozenset())] * len(columns), towers)
    ends = [_join(graph, merge.calls[0])[0] for merge in merges]
    if not _only_read_by(graph, sorted(towers), towers | joining):
        raise NotAWrapper(f"the towers that end in {ends[0][0].layer} are read by others than {merges[0].layer} too")
    cut_from = {column[0]: each.sources[0] for column, each in zip(columns, traced, strict=True)}
    for at in sorted(at for at in calls[0] if is_model(graph.layers[at.layer].stored)):
        reads = graph.call(at).reads
        if all(ref in cut_from for ref in reads):
            _check_shapes(graph, graph.layers[at.layer], [cut_from[ref] for ref in reads])
    if not cut.claims or any(claim.told is not Told.ROWS for claim in cut.claims):
        raise NotAWrapper(f"nothing stored tells that {cut.lanes[0][0].layer} and its like cut {cut.sources[0].layer}")
    if not any(layer_facts.learns_row_by_row(graph.layers[at.layer]) for at in calls[0]):
        raise NotAWrapper(f"the towers that end in {ends[0][0].layer} hold no weights but those of normalizations")
    evidence = _evidence(graph, [end.call for end in ends[0]], cut, merges)
    names = [name for name in graph.layers if name in {at.layer for at in calls[0]}]
    return Found(
        ends[0][0].layer,
        tuple(end.call for end in ends[0]),
        tuple(dict.fromkeys(cut.sources)),
        cut.calls,
        tuple(merges),
        "proven" if cut.is_proven else "likely",
        (f"{len(calls)} towers of the same layers: {_listed(names)}", *[*evidence][1:]),
        inline=Inline(
            frozenset(calls[0]),
            cut_from,
            {merge.tensor: end[0] for merge, end in zip(merges, ends, strict=True)},
        ),
    )


def _merges(graph: Graph) -> Iterator[tuple[tuple[CallId, ...], Merge | NearMiss]]:
    """Every join of calls of models, with those calls in the order they are joined in."""
    for at, call in graph.calls():
        if not call.reads or not _can_merge(graph.layers[at.layer]) or _is_part_of_a_larger_merge(graph, at):
            continue
        leaves, calls = _join(graph, at)
        if not all(is_model(graph.layers[ref.layer].stored) for ref in leaves):
            continue
        towers = tuple(ref.call for ref in leaves)
        reason = _joins_no_towers(at, leaves)
        on_batch = _on_batch_axis(graph, calls)
        if on_batch is False and len(towers) == 1 and layer_facts.passes_on(graph.layers[at.layer], call):
            on_batch = None  # to join one tower is to pass it on
        if reason is None and on_batch is False:
            kind = graph.layers[at.layer].class_name
            reason = f"{at.layer} ({kind}) does not line the outputs of {leaves[0].layer} up along the batch"
        if reason is None:
            yield towers, Merge(leaves[0].tensor, tuple(calls), on_batch)
        elif len(towers) > 1:
            yield towers, NearMiss(at.layer, reason)


def _joins_no_towers(at: CallId, leaves: Sequence[Ref]) -> str | None:
    """Why a layer that reads outputs of models alone joins no towers."""
    models = [*dict.fromkeys(ref.layer for ref in leaves)]
    if len(models) > 1:
        return f"{at.layer} joins the outputs of different models: {_listed(models)}"
    if len({ref.tensor for ref in leaves}) > 1:
        return f"{at.layer} joins different outputs of {models[0]}"
    if len({ref.call for ref in leaves}) < len(leaves):
        return f"{at.layer} joins one call of {models[0]} more than once"
    return None


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
    return _can_merge(layer) and layer_facts.joins_on_batch_axis(layer, graph.call(at)) is True


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
    return layer_facts.passes_on(graph.layers[at.layer], graph.call(at)) and len(graph.readers.get(at, ())) == 1


def _on_batch_axis(graph: Graph, calls: Sequence[CallId]) -> bool | None:
    joining = [c for c in calls if c is calls[0] or not _passes_on(graph, c)]
    told = [layer_facts.joins_on_batch_axis(graph.layers[c.layer], graph.call(c)) for c in joining]
    return False if False in told else None if None in told else True


def _judge(graph: Graph, towers: tuple[CallId, ...], merges: Sequence[Merge], vouched: Collection[str]) -> Found:
    """The wrapper around these towers. Raises NotAWrapper."""
    merges = sorted(merges, key=lambda m: m.output)
    outputs, template = [m.output for m in merges], towers[0].layer
    joining = {c for m in merges for c in m.calls}
    if len(set(outputs)) < len(outputs):
        raise NotAWrapper(f"one output of {template} is joined more than once")
    if not _only_read_by(graph, towers, joining):
        raise NotAWrapper(f"the outputs of {template} are read by others than {merges[0].layer} too")
    if not _alike(graph, towers):
        raise NotAWrapper(f"the calls of {template} differ in more than their tensors")
    model = read(graph.layers[template].stored)
    cut = _slices(graph, towers, vouched)
    if outputs[-1] >= len(model.outputs) or len(cut.sources) != model.arity:
        raise NotAWrapper(f"{template} is called with another number of tensors than it has")
    if _leaves_a_tower_out(graph, towers, cut):
        raise NotAWrapper(f"{template} is called on one more slice, which {merges[0].layer} does not join")
    _check_merges(graph, model, towers, cut, merges)
    if not any(m.on_batch_axis for m in merges) and not _speaks_for_itself(graph, towers, cut, merges):
        raise NotAWrapper(f"neither {merges[0].layer} nor the slices say that the batch is put together again")
    return Found(
        template,
        towers,
        cut.sources,
        cut.calls,
        tuple(merges),
        "proven" if all(m.on_batch_axis for m in merges) and cut.is_proven else "likely",
        tuple(_evidence(graph, towers, cut, merges)),
        tuple(dict.fromkeys(c.layer for lane in cut.lanes for c in lane)) if cut.is_bound_late else (),
    )


def _check_merges(graph: Graph, template: Graph, towers: Sequence[CallId], cut: _Cut, merges: Sequence[Merge]) -> None:
    """Raises NotAWrapper for merges that do not line the towers' rows up in the order that they are cut in."""
    if cut.dealt_out and any(m.on_batch_axis for m in merges):
        raise NotAWrapper(f"the rows are dealt out one by one, and {merges[0].layer} joins them end to end")
    for merge in merges:
        layer = graph.layers[merge.layer]
        if len(graph.call(merge.calls[0]).reads) < len(towers) or _may_be_a_number(template, merge.output):
            continue
        if reason := followed_slices.objection_to_merge(layer, len(towers), dealt_out=cut.dealt_out):
            raise NotAWrapper(reason)
    if all(layer_facts.combines(graph.layers[m.layer]) for m in merges):
        raise NotAWrapper(
            f"{merges[0].layer} adds, averages or stacks the outputs of {towers[0].layer} instead of lining them up"
        )
    for merge in merges:
        if layer_facts.combines(graph.layers[merge.layer]) and not _averages_numbers(graph, template, merge):
            raise NotAWrapper(
                f"{merge.layer} makes one of the rows of {towers[0].layer}'s outputs instead of lining them up"
            )


def _averages_numbers(graph: Graph, template: Graph, merge: Merge) -> bool:
    """Whether a merge averages an output that may be a single number, such as a loss."""
    return layer_facts.averages(graph.layers[merge.layer]) and _may_be_a_number(template, merge.output)


def _may_be_a_number(template: Graph, index: int) -> bool:
    """Whether an output of a model may be no rows but a single number; a layer of Keras's gives rows."""
    output = template.outputs[index]
    while is_model(template.layers[output.layer].stored):
        template = read(template.layers[output.layer].stored)
        output = template.outputs[output.tensor]
    layer = template.layers[output.layer]
    return layer_facts.is_function(layer) or not is_keras_class(layer.class_name, layer.stored)


def _alike(graph: Graph, towers: Sequence[CallId]) -> bool:
    """Whether all towers call the template in the same way: not one of them with `training=True`."""
    first, *others = (tensor_refs.without_tensors(graph.call(t).stored, graph.layers) for t in towers)
    return all(other == first for other in others)


def _speaks_for_itself(graph: Graph, towers: Sequence[CallId], cut: _Cut, merges: Sequence[Merge]) -> bool:
    """Whether the slices are enough of a witness where no merge says what it does."""
    told = any(claim.told in (Told.ROWS, Told.DEALT, Told.LATE) for claim in cut.claims)
    if len(towers) > 1:
        return told or cut.computed is not None or cut.reach is not None
    names = [graph.layers[m.layer] for m in merges]
    cutting = [graph.layers[c.layer] for lane in cut.lanes for c in lane]
    return cut.computed is not None or (
        told
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


def _only_read_by(graph: Graph, calls: Iterable[CallId], readers: set[CallId]) -> bool:
    given_out = {ref.call for ref in graph.outputs}
    return all(at not in given_out and all(user in readers for user, _ in graph.readers.get(at, ())) for at in calls)


@dataclass(frozen=True)
class _Cut:
    """How the sources reach the towers: `lanes` are the slice calls per input and tower.

    `claims` are what the slices that are no operations are told. `dealt_out`: every tower takes each k-th row, so that
    only a merge that deals them back restores their order. `shown`: the code of the slices can be read and cuts rows.
    `parts` are what the towers read of one source, where they read no whole. `computed` says how it was computed that
    the towers read all rows in order, where it was; `reach` up to which row, where bounds are numbers.
    """

    sources: tuple[Ref, ...]
    lanes: tuple[tuple[CallId, ...], ...]
    calls: frozenset[CallId]
    dealt_out: bool
    claims: tuple[Claim, ...]
    shown: bool
    parts: tuple[Ref, ...] = ()
    computed: str | None = None
    reach: int | None = None

    @property
    def is_proven(self) -> bool:
        """Whether it is told, or computed, of every input that the towers read all its rows in order."""
        if self.claims:
            return self.shown and all(claim.told is Told.ROWS for claim in self.claims)
        return self.computed is not None

    @property
    def is_bound_late(self) -> bool:
        """Whether all slices store the bounds of the last part."""
        return any(claim.told is Told.LATE for claim in self.claims)


@dataclass(frozen=True)
class _Known:
    """What is known beside the graph: the shape of the template's input, the classes that the caller vouches for."""

    shape: layer_facts.Shape | None
    vouched: frozenset[str]


def _slices(graph: Graph, towers: Sequence[CallId], vouched: Collection[str]) -> _Cut:
    """The slices in front of the towers. Raises NotAWrapper where an input is no source that is cut for every tower."""
    inputs = [graph.call(tower).reads for tower in towers]
    template = graph.layers[towers[0].layer]
    if not inputs[0] or any(len(reads) != len(inputs[0]) for reads in inputs):
        raise NotAWrapper(f"the calls of {template.name} read different numbers of tensors")
    columns = list(zip(*inputs, strict=True))
    shapes = layer_facts.template_shapes(template.stored) or []
    shapes = [*shapes, *[None] * (len(columns) - len(shapes))][: len(columns)]
    cut, traced = _cut(graph, columns, [_Known(shape, frozenset(vouched)) for shape in shapes], {*towers})
    _check_shapes(graph, template, cut.sources)
    if not any(_is_operation(graph, c) and not _passes_on(graph, c) for lane in cut.lanes for c in lane):
        return cut
    return _carried_out(graph, cut, traced, shapes)


def _cut(
    graph: Graph, columns: Sequence[tuple[Ref, ...]], known: Sequence[_Known], towers: set[CallId]
) -> tuple[_Cut, list[_Cut]]:
    """How what the towers read is cut, all inputs together and one by one. Raises NotAWrapper."""
    name = min(towers).layer
    traced = [_trace(graph, c, k) for c, k in zip(columns, known, strict=True)]
    cuts = [cut for cut in traced if cut.lanes[0]]
    if not cuts:
        raise NotAWrapper(f"every call of {name} reads the whole of {columns[0][0].layer}")
    sources = tuple(cut.sources[0] for cut in traced)
    for source in (cut.sources[0] for cut in traced if not cut.lanes[0]):
        # A support set, anchors: what every tower takes whole are no rows of the batch, or no tower would run.
        shape = layer_facts.stored_shape(graph.layers[source.layer])
        if graph.call(source.call).reads and (not shape or shape[0] is None):
            raise NotAWrapper(f"every call of {name} reads all rows of {source.layer}, and parts of the others")
    between = _between(graph, {c for cut in traced for c in cut.calls}, set(sources))
    _check_readers(graph, cuts, towers)
    claims = [claim for cut in cuts for claim in cut.claims]
    if not slice_claims.agree(claims):
        raise NotAWrapper(f"the inputs of {name} are cut in different places")
    return _Cut(
        sources,
        tuple(lane for cut in cuts for lane in cut.lanes),
        between,
        any(cut.dealt_out for cut in cuts),
        tuple(claims),
        all(cut.shown for cut in cuts),
    ), traced


def _check_shapes(graph: Graph, template: Layer, sources: Sequence[Ref]) -> None:
    """Raises NotAWrapper where a row of a source is none for the template."""
    for source, shape in zip(sources, layer_facts.template_shapes(template.stored) or (), strict=False):
        if not layer_facts.same_rows(layer_facts.stored_shape(graph.layers[source.layer]), shape):
            raise NotAWrapper(f"{template.name} takes rows of another shape than those of {source.layer}")


def _carried_out(
    graph: Graph,
    cut: _Cut,
    traced: Sequence[_Cut],
    shapes: Sequence[layer_facts.Shape | None],
) -> _Cut:
    """The cut by operations with what they compute. Raises NotAWrapper where that is not the rows of the sources."""
    from unnest.core.recognise.kernels import literal_axis
    from unnest.core.recognise.layer_tensors import LayerTensors
    from unnest.core.recognise.symbolic_rows import Rows, taken_of_layers

    tensors, source = LayerTensors(graph), cut.sources[0].layer
    parts = {each.parts: each.sources[0] for each in traced if each.parts}
    expected = {each.sources[0]: shape or (None, None) for each, shape in zip(traced, shapes, strict=True)}
    taken = taken_of_layers(graph, parts, expected)
    if taken.rows is Rows.NOT:
        raise NotAWrapper(f"computed: the towers do not read all rows of {source} in order")
    axes = {literal_axis(tensors.of(at)) for at in cut.lanes[0] if tensors.of(at).name}
    if not axes <= {0, None}:
        raise NotAWrapper(f"{cut.lanes[0][0].layer} cuts another axis than the batch, or nothing at all")
    if taken.rows is Rows.UNKNOWN and taken.reach is None:
        raise NotAWrapper(f"it cannot be computed which rows of {source} the towers read")
    is_dealt = cut.dealt_out or taken.rows is Rows.DEALT
    return replace(cut, dealt_out=is_dealt, computed=taken.sentence, reach=taken.reach)


MAX_STEPS = 8
"""How many layers may lie between a source and a tower; the longest seen are three."""


def _trace(graph: Graph, column: Sequence[Ref], known: _Known) -> _Cut:
    """Walk back from one input of all towers, in step, until all come from one tensor. Raises NotAWrapper."""
    lanes: list[tuple[CallId, ...]] = []
    claims: list[Claim] = []
    shown = True
    parts: tuple[Ref, ...] = ()
    if 1 < len(set(column)) < len(column):
        raise NotAWrapper("two towers read the same tensor")
    at = list(column)
    while len(set(at)) > 1 or (len(at) == 1 and not parts):
        _check_slices(graph, at)
        if len(lanes) == MAX_STEPS:
            raise NotAWrapper(f"more than {MAX_STEPS} layers lie between the towers and what they read")
        lanes.append(tuple(ref.call for ref in at))
        if not all(layer_facts.passes_on(graph.layers[ref.layer], graph.call(ref.call)) for ref in at):
            parts = parts or tuple(at)
            if not all(_is_operation(graph, ref.call) for ref in at):
                for group in _of_one_parent(graph, at):
                    claims.append(_claim(graph, group, known))
                    is_split = len({ref.call for ref in group}) == 1 < len(group)
                    shown &= is_split or all(layer_facts.shows_how(graph.layers[ref.layer]) for ref in group)
        at = [graph.call(ref.call).reads[0] for ref in at]
    source, passed = _before_the_slices(graph, at[0])
    return _Cut(
        (source,),
        tuple(lanes) if parts else ((),),
        frozenset(c for lane in lanes for c in lane) | passed,
        dealt_out=any(claim.told is Told.DEALT for claim in claims),
        claims=tuple(claims),
        shown=shown,
        parts=parts,
    )


def _is_operation(graph: Graph, at: CallId) -> bool:
    return is_operation(graph.layers[at.layer], graph.call(at))


def _slice(graph: Graph, ref: Ref) -> Slice:
    return Slice(graph.layers[ref.layer], graph.call(ref.call), ref.tensor)


def _check_slices(graph: Graph, at: Sequence[Ref]) -> None:
    """Raises NotAWrapper for what cannot be a slice."""
    for ref in at:
        if is_model(graph.layers[ref.layer].stored) or not graph.call(ref.call).reads:
            raise NotAWrapper(f"the towers read different tensors: {_listed([*dict.fromkeys(r.layer for r in at)])}")
        if not _can_slice(graph, ref.call):
            raise NotAWrapper(f"{ref.layer}, which has weights, stands between the towers and what they read")


def _of_one_parent(graph: Graph, at: Sequence[Ref]) -> list[list[Ref]]:
    """Slices in groups that cut one tensor each; a slice that several towers read counts once. Raises NotAWrapper."""
    groups: dict[Ref, list[Ref]] = {}
    previous = None
    for ref in at:
        parent = graph.call(ref.call).reads[0]
        while graph.call(parent.call).reads and _passes_on(graph, parent.call):
            parent = graph.call(parent.call).reads[0]
        group = groups.setdefault(parent, [])
        if group and parent != previous:
            raise NotAWrapper(f"the parts of {parent.layer} are not joined one after the other")
        if not group or group[-1] != ref:
            group.append(ref)
        previous = parent
    return [*groups.values()]


def _claim(graph: Graph, group: Sequence[Ref], known: _Known) -> Claim:
    """What the slices of one tensor claim. Raises NotAWrapper where that is not its rows in order."""
    slices = [_slice(graph, ref) for ref in group]
    source = graph.layers[slices[0].call.reads[0].layer]
    shape = layer_facts.stored_shape(source)
    rows = shape[0] if shape else None
    claim = followed_slices.checked(slice_claims.claim(slices, rows), slices)
    if claim.told is Told.OTHERWISE:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} does not cut the batch")
    if claim.told is not Told.OPAQUE:
        return claim
    classes = {s.layer.class_name for s in slices}
    if classes <= known.vouched:
        return Claim(Told.PARTLY, f"the caller vouches that {_listed(sorted(classes))} cuts the batch in order")
    share = known.shape[0] if known.shape else None
    if not rows or not share or share * len(group) != rows or rows == share:
        raise NotAWrapper(claim.sentence or f"{group[0].layer} says nothing")
    return Claim(Told.PARTLY, f"{source.name} has {rows} rows, and the template takes {share}")


def _before_the_slices(graph: Graph, source: Ref) -> tuple[Ref, frozenset[CallId]]:
    """The source behind layers that only pass it on, and these."""
    passed: set[CallId] = set()
    while not is_model((layer := graph.layers[source.layer]).stored):
        if not layer_facts.passes_on(layer, graph.call(source.call)):
            break
        passed.add(source.call)
        source = graph.call(source.call).reads[0]
    return source, frozenset(passed)


def _can_slice(graph: Graph, at: CallId) -> bool:
    layer = graph.layers[at.layer]
    return bool(graph.call(at).reads) and not is_model(layer.stored) and not has_initializers(layer.config)


def _between(graph: Graph, calls: set[CallId], sources: set[Ref]) -> frozenset[CallId]:
    """The slices and whatever they compute their bounds from. Raises NotAWrapper if that is more than the sources."""
    between = set(calls)
    todo = list(calls)
    while todo:
        for ref in graph.call(todo.pop()).reads:
            if ref in sources or ref.call in between:
                continue
            if not _can_slice(graph, ref.call):
                raise NotAWrapper(f"the slices read {ref.layer} too")
            between.add(ref.call)
            todo.append(ref.call)
    return frozenset(between)


def _check_readers(graph: Graph, cuts: Iterable[_Cut], towers: Iterable[CallId]) -> None:
    """Raises NotAWrapper where somebody else than the towers reads what the slices cut out."""
    slices = {c for cut in cuts for lane in cut.lanes for c in lane}
    readers = set(towers) | slices
    for at in sorted(slices):
        if not _only_read_by(graph, [at], readers):
            raise NotAWrapper(f"{at.layer}, which a tower reads, is read by others too")


SHOWN = 4
"""Names that a line of evidence lists."""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if names[SHOWN:] else "")


def _evidence(graph: Graph, towers: Sequence[CallId], cut: _Cut, merges: Sequence[Merge]) -> Iterator[str]:
    number = f"{len(towers)} calls" if len(towers) > 1 else "1 call"
    yield f"{number} of the one model {towers[0].layer}"
    for source, lane in zip(cut.sources, cut.lanes, strict=False):
        yield _cut_by(source, lane)
    yield from dict.fromkeys(claim.sentence for claim in cut.claims if claim.sentence)
    if cut.computed:
        yield cut.computed
    if cut.reach is not None:
        yield f"bounds are numbers: no tower reads more than the first {cut.reach} rows"
    yield from (_joins(graph, merge) for merge in merges)


def _cut_by(source: Ref, slices: Sequence[CallId]) -> str:
    names = ", ".join(dict.fromkeys(at.layer for at in slices[:SHOWN])) + (", ..." if slices[SHOWN:] else "")
    return f"every tower reads a slice of {source.layer}, cut by {names}"


def _joins(graph: Graph, merge: Merge) -> str:
    kind = graph.layers[merge.layer].class_name
    axis = " on the batch axis" if merge.on_batch_axis else ""
    return f"{merge.layer} ({kind}) joins output {merge.output} of every tower in order{axis}"
