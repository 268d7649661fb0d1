"""The wrappers of a graph of layers whose slices, or merges, are no operations: stored code, custom classes.

What such layers are told are claims (`slice_claims`), and what they join is read off their configs and code (`merges`).
The claimed rows take the place of computed ones in the one equation (`slice_layers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unnest.core.architecture import is_model, read, tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Layer, Ref
from unnest.core.keras_facts.layer_classes import is_keras_class
from unnest.core.model import NearMiss, Shape
from unnest.core.recognise import lambda_slices, layer_facts, merges, slice_claims
from unnest.core.recognise.lambda_slices import takes_all_rows
from unnest.core.recognise.op_calls import is_operation
from unnest.core.recognise.slice_arguments import Slice
from unnest.core.recognise.slice_claims import ClaimStatus
from unnest.core.recognise.slice_layers import Cut, InputFacts, can_slice, check_shapes, cut, only_read_by, put_together
from unnest.core.recognise.wrapper_types import (
    Inline,
    LayerWrapper,
    Merge,
    MixesRows,
    NotAWrapper,
    check_own_layers,
    check_template,
    cut_by,
    joins,
    listed,
    or_why_not,
)

if TYPE_CHECKING:  # bring NumPy, which most graphs do not need
    from unnest.core.interpreters.tensor_graph import Column
    from unnest.core.recognise.layer_tensors import LayerTensors
    from unnest.core.recognise.match_towers import Copies


def around_models(
    graph: Graph, taken: Collection[CallId], vouched: Collection[str]
) -> Iterator[LayerWrapper | NearMiss]:
    """The wrappers around calls of one nested model, but for calls that are taken, and near misses."""
    candidates: dict[tuple[CallId, ...], list[Merge]] = {}
    missed: dict[tuple[CallId, ...], NearMiss] = {}
    for towers, candidate in merges.of_models(graph):
        if isinstance(candidate, NearMiss):
            missed.setdefault(towers, candidate)
        else:
            candidates.setdefault(towers, []).append(candidate)
    done = {*taken}
    for towers, joined in candidates.items():
        if not done.isdisjoint(towers):
            continue
        judged = or_why_not(joined[0].layer, partial(_around_a_model, graph, towers, joined, vouched))
        if isinstance(judged, LayerWrapper):
            done.update(towers)
            yield judged
        elif len(towers) > 1:
            missed[towers] = judged
    yield from (miss for towers, miss in missed.items() if done.isdisjoint(towers))
    for tower in _lone_towers(graph):
        if tower not in done:
            yield or_why_not(graph.call(tower).reads[0].layer, partial(_one_tower, graph, tower))


def _lone_towers(graph: Graph) -> Iterator[CallId]:
    """The only calls of models that read nothing but stored code which is told to be part one of one."""
    for name, layer in graph.layers.items():
        reads = [ref for call in layer.calls for ref in call.reads]
        is_called_once = len(layer.calls) == 1 and reads and is_model(layer.stored)
        if is_called_once and all(_is_told_all(graph, ref) for ref in reads):
            yield CallId(name, 0)


def _is_told_all(graph: Graph, ref: Ref) -> bool:
    """Return True if a layer runs a function that may cut, for all that its code shows, and is told part one of one."""
    layer, call = graph.layers[ref.layer], graph.call(ref.call)
    if not layer_facts.is_function(layer) or (layer_facts.stored_code(layer) and not layer_facts.shows_how(layer)):
        return False
    return slice_claims.claim([Slice(layer, call, ref.tensor)]).status is ClaimStatus.ROWS


def _one_tower(graph: Graph, tower: CallId) -> LayerWrapper:
    """The wrapper of one tower that nothing merges. Raises NotAWrapper unless the slices' code gives all rows back.

    Many a function takes a 0 and a 1 (a mean and a deviation, two limits), so that the numbers alone are no evidence.
    """
    template, reads = graph.layers[tower.layer], graph.call(tower).reads
    slices = cut(graph, [(ref,) for ref in reads], [InputFacts()] * len(reads), {tower})
    check_shapes(graph, template, slices.sources)
    for ref in reads:
        layer, call = graph.layers[ref.layer], graph.call(ref.call)
        if not layer_facts.shows_how(layer) or not takes_all_rows(Slice(layer, call, ref.tensor)):
            raise NotAWrapper(f"nothing is merged, and the code of {layer.name} does not show that it takes all rows")
    if len(reads) != read(template.stored).arity:
        raise NotAWrapper(f"{template.name} is called with another number of tensors than it has")
    taken = f"the code of {listed([ref.layer for ref in reads])} takes all rows, so that there is nothing to merge"
    evidence = (f"1 call of the one model {template.name}", *_evidence(graph, slices, ()), taken)
    return LayerWrapper(template.name, (tower,), slices.sources, slices.calls, (), "proven", evidence)


def _around_a_model(
    graph: Graph, towers: tuple[CallId, ...], joined: Sequence[Merge], vouched: Collection[str]
) -> LayerWrapper:
    """The wrapper around these towers. Raises NotAWrapper."""
    template = graph.layers[towers[0].layer]
    check_template(template)
    model = read(template.stored)
    joined = sorted(_each_with_its_output(graph, model, joined), key=lambda each: each.output)
    _check_outputs(graph, template, towers, joined)
    columns = _inputs(graph, template, towers)
    slices, called_on = _slices_of_inputs(graph, template, towers, columns, joined, vouched)
    _check_slices(graph, template, towers, slices, joined)
    given = _merge_input_shapes(graph, model, joined)
    merges.check(graph, model, towers, joined, given, dealt_out=slices.dealt_out)
    is_told = all(each.on_batch_axis for each in joined) and _are_shown(graph, joined, len(towers), slices, given)
    if not any(each.on_batch_axis for each in joined) and not _speaks_for_itself(graph, towers, slices, joined):
        raise NotAWrapper(f"neither {joined[0].layer} nor the slices say that the batch is put together again")
    number = f"{len(towers)} calls" if len(towers) > 1 else "1 call"
    layers = (at.layer for lane in slices.sliced for step in lane.steps for at in step)
    return LayerWrapper(
        template.name,
        towers,
        slices.sources,
        slices.calls,
        tuple(joined),
        "proven" if is_told and slices.is_proven else "likely",
        (f"{number} of the one model {template.name}", *_evidence(graph, slices, joined)),
        tuple(dict.fromkeys(layers)) if slices.is_bound_late else (),
        called_on=called_on,
    )


def _check_outputs(graph: Graph, template: Layer, towers: Sequence[CallId], joined: Sequence[Merge]) -> None:
    """Raises NotAWrapper where outputs of towers are joined twice, or read by others than the merges."""
    outputs = [each.output for each in joined]
    if len(set(outputs)) < len(outputs):
        raise NotAWrapper(f"one output of {template.name} is joined more than once")
    if not only_read_by(graph, towers, {at for each in joined for at in each.calls}):
        raise NotAWrapper(f"the outputs of {template.name} are read by others than {joined[0].layer} too")


def _inputs(graph: Graph, template: Layer, towers: Sequence[CallId]) -> list[Column]:
    """Return the towers' inputs, input by input. Raises NotAWrapper if they are called in different ways."""
    arguments = [tensor_refs.without_tensors(graph.call(at).arguments, graph.layers) for at in towers]
    if any(other != arguments[0] for other in arguments):  # one of them with `training=True`, say
        raise NotAWrapper(f"the calls of {template.name} differ in more than their tensors")
    inputs = [graph.call(at).reads for at in towers]
    if not inputs[0] or any(len(reads) != len(inputs[0]) for reads in inputs):
        raise NotAWrapper(f"the calls of {template.name} read different numbers of tensors")
    return [*zip(*inputs, strict=True)]


def _slices_of_inputs(
    graph: Graph,
    template: Layer,
    towers: Sequence[CallId],
    columns: Sequence[Column],
    joined: Sequence[Merge],
    vouched: Collection[str],
) -> tuple[Cut, tuple[Ref, ...]]:
    """The slices that the template's inputs read, and the sources of all tensors of its calls. Raises NotAWrapper."""
    stored_shapes = layer_facts.template_shapes(template.stored) or ()
    shapes = [*stored_shapes, *[None] * len(columns)][: len(columns)]
    inputs = len(graph.call(towers[0]).inputs)
    has_unread = read(template.stored).arity < inputs
    known = [InputFacts(None if has_unread else shape, frozenset(vouched)) for shape in shapes]
    slices = cut(graph, columns, known, {*towers})
    called_on = slices.sources
    slices, shapes = slices._replace(lanes=slices.lanes[:inputs]), shapes[:inputs]
    if has_unread:
        slices, shapes = _of_the_inputs(graph, template, slices, joined), [*stored_shapes]
    check_shapes(graph, template, slices.sources)
    return put_together(graph, slices, shapes, joined), called_on


def _check_slices(
    graph: Graph, template: Layer, towers: Sequence[CallId], slices: Cut, joined: Sequence[Merge]
) -> None:
    """Raises NotAWrapper where the slices are not what the calls of the template and the merges are of."""
    model = read(template.stored)
    if len(towers) == 1 and any(claim.status is ClaimStatus.PARTLY for claim in slices.claims):
        raise NotAWrapper(f"{template.name} is called once, and nothing tells that its slice is the whole batch")
    if joined[-1].output >= len(model.outputs) or len(slices.lanes) != model.arity:
        raise NotAWrapper(f"{template.name} is called with another number of tensors than it has")
    if _leaves_a_tower_out(graph, towers, slices):
        raise NotAWrapper(f"{template.name} is called on one more slice, which {joined[0].layer} does not join")


def _each_with_its_output(graph: Graph, model: Graph, joined: Sequence[Merge]) -> Iterator[Merge]:
    """The merges, each of an output of its own where the template lists one tensor several times.

    What reads such a tensor is stored as reading the last of these outputs, whichever it read. (Source: files of Keras
    2.0.9 to 2.2.4 and of tf.keras 2.3.)
    """
    listed: dict[Ref, list[int]] = {}
    for output, ref in enumerate(model.outputs):
        listed.setdefault(ref, []).append(output)
    times = Counter(merge.output for merge in joined)
    outputs = {last: iter(same) for same in listed.values() if 1 < times[last := same[-1]] == len(same)}
    places = {ref: place for place, ref in enumerate(graph.outputs)}
    for merge in sorted(joined, key=lambda each: places.get(each.tensor, len(places))):
        yield merge._replace(output=next(outputs[merge.output])) if merge.output in outputs else merge


def _of_the_inputs(graph: Graph, template: Layer, slices: Cut, joined: Sequence[Merge]) -> Cut:
    """The slices that the template's inputs read, of a template that is called with more tensors than it stores inputs.

    Keras 1 to 2.3 leave an input that no layer reads out of a nested model's config, and not out of its calls; such a
    call cannot be loaded, and nothing but the template can be taken out. (Source: files of Keras 2.0.9 to 2.3.1.) The
    tensors are in the order of the inputs: names tell which are theirs, or else shapes. Raises NotAWrapper.
    """
    inputs, merged = read(template.stored).inputs, {merge.tensor for merge in joined}
    shapes = layer_facts.template_shapes(template.stored) or ()
    by_name = {lane.source.layer: lane for lane in slices.lanes}
    lanes = [by_name[ref.layer] for ref in inputs if ref.layer in by_name]
    if len(lanes) < len(inputs):
        following = iter(slices.lanes)
        fitting = (next((lane for lane in following if _takes_rows(graph, lane.source, s)), None) for s in shapes)
        lanes = [lane for lane in fitting if lane is not None]
    is_whole = set(slices.sources) == set(graph.inputs) and set(graph.outputs) <= merged
    if not is_whole or not lanes or len(lanes) < len(inputs):
        number = len(slices.lanes)
        raise NotAWrapper(f"{template.name} is called with {number} tensors, and stores {len(inputs)} inputs")
    return slices._replace(lanes=tuple(lanes))


def _takes_rows(graph: Graph, source: Ref, shape: Shape | None) -> bool:
    return layer_facts.same_rows(layer_facts.stored_shape(graph.layers[source.layer]), shape)


def _merge_input_shapes(graph: Graph, model: Graph, joined: Sequence[Merge]) -> dict[Ref, Shape | None]:
    """The shapes of what the calls of a model give to merges that are stored with their code, by the joined tensor."""
    from unnest.core.recognise.layer_tensors import LayerTensors

    tensors = LayerTensors(model)
    return {m.tensor: tensors.shape(model.outputs[m.output]) for m in joined if merges.has_code(graph, m)}


def _are_shown(
    graph: Graph, joined: Sequence[Merge], towers: int, slices: Cut, given: Mapping[Ref, Shape | None]
) -> bool:
    """Return True if no merge of all towers has code that cannot be followed; `given` as `merges.check` has it."""
    return all(
        lambda_slices.is_shown(graph.layers[merge.layer], towers, given.get(merge.tensor), dealt_out=slices.dealt_out)
        for merge in joined
        if len(graph.call(merge.calls[0]).reads) == towers
    )


def _leaves_a_tower_out(graph: Graph, towers: Sequence[CallId], slices: Cut) -> bool:
    """Return True if the template is called on a slice of the same sources that no layer merges."""
    calls = graph.layers[towers[0].layer].calls
    return any(
        can_slice(graph, ref.call) and graph.call(ref.call).reads[0] in slices.sources
        for rank, call in enumerate(calls)
        if CallId(towers[0].layer, rank) not in towers
        for ref in call.reads
    )


def _speaks_for_itself(graph: Graph, towers: Sequence[CallId], slices: Cut, joined: Sequence[Merge]) -> bool:
    """Return True if the slices are enough of a witness where no merge says what it does."""
    told = any(claim.status in (ClaimStatus.ROWS, ClaimStatus.DEALT, ClaimStatus.LATE) for claim in slices.claims)
    if len(towers) > 1:
        return told or slices.computed is not None or slices.reach is not None
    names = [graph.layers[merge.layer] for merge in joined]
    cutting = [graph.layers[at.layer] for lane in slices.sliced for step in lane.steps for at in step]
    return slices.computed is not None or (
        told
        and all(slice_claims.is_part_one_of_one(layer) for layer in cutting)
        and all(slice_claims.says_nothing(layer) for layer in names)
    )


def _evidence(graph: Graph, slices: Cut, joined: Sequence[Merge]) -> Iterator[str]:
    yield from (cut_by(lane.source, lane.steps[0]) for lane in slices.sliced)
    yield from dict.fromkeys(claim.sentence for claim in slices.claims if claim.sentence)
    if slices.computed:
        yield slices.computed
    if slices.reach is not None:
        yield f"bounds are numbers: no tower reads more than the first {slices.reach} rows"
    yield from (joins(graph, merge) for merge in joined)


def of_own_layers(graph: Graph) -> Iterator[LayerWrapper | NearMiss]:
    """Towers of the graph's own layers behind slices that are told their parts, and near misses."""
    from unnest.core.recognise.layer_tensors import LayerTensors
    from unnest.core.recognise.match_towers import Unlike, walk_back

    candidates: dict[frozenset[CallId], list[tuple[Merge, Copies]]] = {}
    tensors = LayerTensors(graph)
    for merge, operands in merges.of_tensors(graph):
        try:
            copies = walk_back(tensors, operands, partial(_differing_sources, graph))
        except Unlike:
            continue
        if copies.entries:
            entries = frozenset(ref.call for column in copies.entries for ref in column)
            candidates.setdefault(entries, []).append((merge, copies))
    for outputs in candidates.values():
        joined, towers = [merge for merge, _ in outputs], [copies for _, copies in outputs]
        yield or_why_not(joined[0].layer, partial(_inline, graph, joined, towers))


def _keep_rows(tensors: LayerTensors, ends: Sequence[Ref], shapes: Mapping[Ref, Shape | None]) -> bool:
    """Return True if all in a tower of the graph's own layers is known to keep every row where it is.

    `shapes` are those of what it reads. Raises NotAWrapper for one that works along the batch.
    """
    from unnest.core.recognise.batch_axis import rows_kept

    kept = rows_kept(tensors, ends, shapes)
    if kept.objection is not None:
        raise MixesRows(kept.objection)
    return kept.is_told


def _differing_sources(graph: Graph, column: tuple[Ref, ...]) -> Ref | None:
    """Return the sources of slices by stored code or custom classes; None if they are all the same."""
    layers = [graph.layers[ref.layer] for ref in column]
    for ref, layer in zip(column, layers, strict=True):
        is_own = layer_facts.is_function(layer) or not is_keras_class(layer.class_name, layer.stored)
        if not can_slice(graph, ref.call) or is_operation(layer, graph.call(ref.call)) or not is_own:
            return None
    is_split = len({ref.call for ref in column}) == 1
    told = [{key: value for key, value in layer.settings.items() if key != "name"} for layer in layers]
    return graph.call(column[0].call).reads[0] if is_split or any(one != told[0] for one in told) else None


def _inline(graph: Graph, joined: Sequence[Merge], copies: Sequence[Copies]) -> LayerWrapper:
    """The wrapper around such towers. Raises NotAWrapper unless what the slices are told is all rows in order."""
    from unnest.core.recognise.layer_tensors import LayerTensors

    columns = [*dict.fromkeys(column for copy in copies for column in copy.entries)]
    calls = [set().union(*(copy.calls[k] for copy in copies)) for k in range(len(columns[0]))]
    ends = [merges.join(graph, merge.calls[0])[0] for merge in joined]
    last = ends[0][0].layer
    slices = _batch_split(graph, joined, columns, calls, last)
    source_of = {column[0]: lane.source for column, lane in zip(columns, slices.lanes, strict=True)}
    check_own_layers(graph, calls[0], last)
    tensors = LayerTensors(graph)
    shapes = {column[0]: tensors.rows_alone(source) for column, source in zip(columns, slices.sources, strict=True)}
    keeps_rows = _keep_rows(tensors, [end[0] for end in ends], shapes)
    slices = put_together(graph, slices, [None] * len(columns), joined)
    given = {merge.tensor: tensors.shape(end[0], {**shapes}) for merge, end in zip(joined, ends, strict=True)}
    for merge in joined:
        merges.check_code(graph, merge, len(columns[0]), given[merge.tensor], dealt_out=slices.dealt_out)
    are_shown = _are_shown(graph, joined, len(columns[0]), slices, given)
    if not are_shown and not all(merge.on_batch_axis for merge in joined):
        raise NotAWrapper(f"it cannot be told whether {joined[0].layer} gives the rows of its towers back")
    names = [name for name in graph.layers if name in {at.layer for at in calls[0]}]
    is_proven = slices.is_proven and keeps_rows and are_shown
    return LayerWrapper(
        last,
        tuple(end.call for end in ends[0]),
        tuple(dict.fromkeys(slices.sources)),
        slices.calls,
        tuple(joined),
        "proven" if is_proven else "likely",
        (f"{len(calls)} towers of the same layers: {listed(names)}", *_evidence(graph, slices, joined)),
        inline=Inline(
            frozenset(calls[0]),
            source_of,
            {merge.tensor: end[0] for merge, end in zip(joined, ends, strict=True)},
        ),
    )


def _batch_split(
    graph: Graph, joined: Sequence[Merge], columns: Sequence[Column], calls: Sequence[set[CallId]], last: str
) -> Cut:
    """How rows are cut for towers of these calls, each of which ends in the layer `last`.

    Raises NotAWrapper unless slices are told all rows, for towers that no other layer reads.
    """
    towers, joining = set().union(*calls), {at for merge in joined for at in merge.calls}
    if not all(calls):
        raise NotAWrapper(f"{joined[0].layer} joins what {columns[0][0].layer} and its like give, and no towers")
    slices = cut(graph, columns, [InputFacts()] * len(columns), towers)
    if not only_read_by(graph, sorted(towers), towers | joining):
        raise NotAWrapper(f"the towers that end in {last} are read by others than {joined[0].layer} too")
    source_of = {column[0]: lane.source for column, lane in zip(columns, slices.lanes, strict=True)}
    for at in sorted(at for at in calls[0] if is_model(graph.layers[at.layer].stored)):
        reads = graph.call(at).reads
        if all(ref in source_of for ref in reads):
            check_shapes(graph, graph.layers[at.layer], [source_of[ref] for ref in reads])
    if not slices.claims or not {claim.status for claim in slices.claims} <= {ClaimStatus.ROWS, ClaimStatus.DEALT}:
        first = slices.sliced[0]
        raise NotAWrapper(f"nothing stored tells that {first.steps[0][0].layer} and its like cut {first.source.layer}")
    return slices
