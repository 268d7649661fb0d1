"""Layers that join the outputs of towers, their operands, and the axis, as far as they show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.keras_facts.layer_classes import is_keras_class
from unnest.core.model import NearMiss, Shape
from unnest.core.recognise import lambda_slices, layer_facts
from unnest.core.recognise.slice_arguments import Slice
from unnest.core.recognise.wrapper_types import Merge, NotAWrapper, listed


def of_models(graph: Graph) -> Iterator[tuple[tuple[CallId, ...], Merge | NearMiss]]:
    """Every join of calls of models, with those calls in the order they are joined in."""
    for at, call in graph.calls():
        if (
            not call.reads
            or not layer_facts.is_weightless(graph.layers[at.layer])
            or is_part_of_a_larger_merge(graph, at)
        ):
            continue
        leaves, calls = join(graph, at)
        if not all(is_model(graph.layers[ref.layer].stored) for ref in leaves):
            continue
        towers = tuple(ref.call for ref in leaves)
        reason = _joins_no_towers(at, leaves)
        on_batch = on_batch_axis(graph, calls)
        if on_batch is False and len(towers) == 1 and layer_facts.passes_on(graph.layers[at.layer], call):
            on_batch = None  # to join one tower is to pass it on
        if reason is None and on_batch is False:
            kind = graph.layers[at.layer].class_name
            reason = f"{at.layer} ({kind}) does not line the outputs of {leaves[0].layer} up along the batch"
        if reason is None:
            yield towers, Merge(leaves[0].tensor, tuple(calls), on_batch)
        elif len(towers) > 1:
            yield towers, NearMiss(at.layer, reason)


def of_tensors(graph: Graph) -> Iterator[tuple[Merge, tuple[Ref, ...]]]:
    """Every join of several tensors, with these in their order.

    It says that it lines them up along the batch, or its code may give rows back that were cut in any way.
    """
    for at, call in graph.calls():
        layer = graph.layers[at.layer]
        if len(call.reads) == 1 or not layer_facts.may_join(layer):
            continue
        says_so = joins_batch(graph, at)
        if not says_so and not lambda_slices.may_put_together(layer, len(call.reads)):
            continue
        if is_part_of_a_larger_merge(graph, at):
            continue
        operands, calls = join(graph, at)
        is_join = bool(operands) and (not says_so or on_batch_axis(graph, calls) is True)
        if is_join and len({*operands}) == len(operands):
            yield Merge(operands[0].tensor, tuple(calls), on_batch_axis=says_so or None), tuple(operands)


def _joins_no_towers(at: CallId, leaves: Sequence[Ref]) -> str | None:
    """Return why a layer that reads outputs of models alone does not join towers."""
    models = [*dict.fromkeys(ref.layer for ref in leaves)]
    if len(models) > 1:
        return f"{at.layer} joins the outputs of different models: {listed(models)}"
    if len({ref.tensor for ref in leaves}) > 1:
        return f"{at.layer} joins different outputs of {models[0]}"
    if len({ref.call for ref in leaves}) < len(leaves):
        return f"{at.layer} joins one call of {models[0]} more than once"
    return None


def is_part_of_a_larger_merge(graph: Graph, at: CallId) -> bool:
    """Pairwise merges build a tree; only its root counts."""
    users = graph.readers.get(at, ())
    return (
        len(users) == 1
        and joins_batch(graph, users[0][0])
        and joins_batch(graph, at)
        and all(ref.call != at for ref in graph.outputs)
    )


def joins_batch(graph: Graph, at: CallId) -> bool:
    """Return True if a call says that it lines its inputs up along the batch."""
    layer = graph.layers[at.layer]
    return _joins_on_batch_axis(graph, at) is True and layer_facts.is_weightless(layer)


def _joins_on_batch_axis(graph: Graph, at: CallId) -> bool | None:
    """True if a call lines its inputs up along axis 0; None if it does not say. Code that can be followed says it.

    Code that takes the rows of its inputs in turn says nothing of it either: it undoes another cut.
    """
    layer, call = graph.layers[at.layer], graph.call(at)
    told = layer_facts.joins_on_batch_axis(layer, call)
    alone = Slice(layer, call, 0)
    if len(call.reads) == 1 and told and lambda_slices.are_followed([alone], None):
        return lambda_slices.takes_all_rows(alone)  # what joins a tensor with itself is no join
    if told is True or len(call.reads) == 1 or not layer_facts.is_function(layer):
        return told
    if lambda_slices.puts_together(layer, len(call.reads), dealt_out=False):
        return True
    return None if lambda_slices.puts_together(layer, len(call.reads), dealt_out=True) else told


def join(graph: Graph, at: CallId) -> tuple[list[Ref], list[CallId]]:
    """Return the operands of a merge, looking through the merges that it joins in turn.

    For a merge that is joined again the first of its leaves stands, which shows that they are joined twice: looking
    through it each time would take twice as long for each such merge in a row.
    """
    leaves: list[Ref] = []
    calls = [at]
    first_leaf: dict[CallId, int] = {}
    todo = list(reversed(graph.call(at).reads))
    while todo:
        ref = todo.pop()
        if first_leaf.get(ref.call, len(leaves)) < len(leaves):
            leaves.append(leaves[first_leaf[ref.call]])
        elif not is_model(graph.layers[ref.layer].stored) and (
            is_part_of_a_larger_merge(graph, ref.call) or passes_on(graph, ref.call)
        ):
            calls.append(ref.call)
            first_leaf[ref.call] = len(leaves)
            todo += reversed(graph.call(ref.call).reads)
        else:
            leaves.append(ref)
    return leaves, calls


def passes_on(graph: Graph, at: CallId) -> bool:
    """A layer that is there for its name or device only, in the way of one reader."""
    return layer_facts.passes_on(graph.layers[at.layer], graph.call(at)) and len(graph.readers.get(at, ())) == 1


def on_batch_axis(graph: Graph, calls: Sequence[CallId]) -> bool | None:
    """Return True if calls that join in turn do so along the batch; None if one does not say."""
    joining = [c for c in calls if c is calls[0] or not passes_on(graph, c)]
    told = [_joins_on_batch_axis(graph, c) for c in joining]
    return False if False in told else None if None in told else True


def check(
    graph: Graph,
    template: Graph,
    towers: Sequence[CallId],
    merges: Sequence[Merge],
    given: Mapping[Ref, Shape | None],
    *,
    dealt_out: bool,
) -> None:
    """Raises NotAWrapper for merges that say that they do something else than to give the towers' rows back.

    `given` are the shapes of what the towers give, by the joined tensor; `dealt_out`: every tower holds each k-th row.
    """
    for merge in merges:
        if not _may_be_a_number(template, merge.output):
            check_code(graph, merge, len(towers), given.get(merge.tensor), dealt_out=dealt_out)
    if all(layer_facts.combines(graph.layers[m.layer]) for m in merges):
        raise NotAWrapper(
            f"{merges[0].layer} adds, averages or stacks the outputs of {towers[0].layer} instead of lining them up"
        )
    for merge in merges:
        if layer_facts.combines(graph.layers[merge.layer]) and not _averages_numbers(graph, template, merge):
            raise NotAWrapper(
                f"{merge.layer} makes one of the rows of {towers[0].layer}'s outputs instead of lining them up"
            )


def check_code(graph: Graph, merge: Merge, towers: int, shape: Shape | None, *, dealt_out: bool) -> None:
    """Raises NotAWrapper for a merge of all towers with code that can be followed, and does not give all rows back.

    `shape` is that of what each of them gives.
    """
    if len(graph.call(merge.calls[0]).reads) < towers:
        return
    if reason := lambda_slices.objection_to_merge(graph.layers[merge.layer], towers, shape, dealt_out=dealt_out):
        raise NotAWrapper(reason)


def has_code(graph: Graph, merge: Merge) -> bool:
    """Return True if the layer that joins last is stored with its code."""
    return layer_facts.stored_code(graph.layers[merge.layer]) is not None


def _averages_numbers(graph: Graph, template: Graph, merge: Merge) -> bool:
    """Return True if a merge averages an output that may be a single number, such as a loss."""
    return layer_facts.averages(graph.layers[merge.layer]) and _may_be_a_number(template, merge.output)


def _may_be_a_number(template: Graph, index: int) -> bool:
    """Return True if an output of a model may be no rows but a single number; a layer of Keras's gives rows."""
    output = template.outputs[index]
    while is_model(template.layers[output.layer].stored):
        template = read(template.layers[output.layer].stored)
        output = template.outputs[output.tensor]
    layer = template.layers[output.layer]
    return layer_facts.is_function(layer) or not is_keras_class(layer.class_name, layer.stored)
