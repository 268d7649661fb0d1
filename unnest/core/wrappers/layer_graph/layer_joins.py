"""Layers that join the outputs of towers, as their configs and stored code describe it: operands, order, axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unnest.budget import memoize
from unnest.core.architecture import read
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.model import CallId, Ref, Shape
from unnest.core.wrappers.claims import check_merge_code, check_slice_claims_by_code
from unnest.core.wrappers.claims.stored_slice_numbers import Slice
from unnest.core.wrappers.layer_graph import layer_batch_roles
from unnest.core.wrappers.layer_graph.wrapper_records import Merge, NotAWrapper, listed
from unnest.core.wrappers.search.match_towers import expand_join
from unnest.core.wrappers.stored_code import code_names_and_numbers, layer_code_rows

if TYPE_CHECKING:  # it joins layers in its turn
    from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


class LayerJoin(NamedTuple):
    """A merge, and the tensors that it joins: one of every tower, in order. `objection`: why it joins no towers."""

    merge: Merge
    operands: tuple[Ref, ...]
    objection: str | None = None

    @property
    def towers(self) -> tuple[CallId, ...]:
        """The calls that make the operands."""
        return tuple(ref.call for ref in self.operands)


def joins_of_models(tensors: LayerTensors) -> Iterator[LayerJoin]:
    """Yield every layer that joins calls of nested models alone, with the objection where these are no towers."""
    graph = tensors.graph
    if not any(layer.is_model for layer in graph.layers.values()):
        return
    for at, call in graph.calls():
        layer = graph.layers[at.layer]
        if (
            not call.reads
            or not layer_batch_roles.is_weightless(layer)
            or is_part_of_a_larger_merge(graph, at)
        ):
            continue
        operands, calls = operands_and_calls(graph, at)
        if not all(graph.layers[ref.layer].is_model for ref in operands):
            continue
        on_batch = on_batch_axis(graph, calls)
        if on_batch is False and _counts_back_to_batch(tensors, calls, operands[0]):
            on_batch = True
        if on_batch is False and len(operands) == 1 and layer_batch_roles.passes_on(layer, call):
            on_batch = None  # to join one tower is to pass it on
        reason = _joins_no_towers(at, operands)
        if reason is None and on_batch is False:
            join, template = f"{at.layer} ({layer.class_name})", operands[0].layer
            reason = f"{join} does not concatenate the outputs of {template} along the batch"
        if reason is None or len(operands) > 1:
            yield LayerJoin(
                Merge(operands[0].tensor, tuple(calls), on_batch), tuple(operands), reason
            )


def _counts_back_to_batch(tensors: LayerTensors, calls: Sequence[CallId], operand: Ref) -> bool:
    """Return True if joins concatenate along an axis that, counted from the last one of an operand, is the batch."""
    layers = tensors.graph.layers
    axes = [layer_batch_roles.concatenation_axis(layers[at.layer]) for at in calls]
    if not all(axis is not None and axis < 0 for axis in axes):
        return False
    shape = tensors.shape(operand)
    return shape is not None and all(axis == -len(shape) for axis in axes)


def joins_of_tensors(graph: Graph) -> Iterator[LayerJoin]:
    """Yield every layer that joins several tensors along the batch.

    Its config says so, or its code may give back rows that were cut in any way.
    """
    for at, call in graph.calls():
        layer = graph.layers[at.layer]
        if len(call.reads) == 1 or not layer_batch_roles.may_join(layer):
            continue
        says_so = joins_batch(graph, at)
        if not says_so and not layer_code_rows.may_put_together(layer, len(call.reads)):
            continue
        if is_part_of_a_larger_merge(graph, at):
            continue
        operands, calls = operands_and_calls(graph, at)
        is_join = bool(operands) and (not says_so or on_batch_axis(graph, calls) is True)
        if is_join and len({*operands}) == len(operands):
            yield LayerJoin(
                Merge(operands[0].tensor, tuple(calls), on_batch_axis=says_so or None),
                tuple(operands),
            )


def _joins_no_towers(at: CallId, operands: Sequence[Ref]) -> str | None:
    """Return why a layer that reads outputs of models alone does not join towers."""
    models = [*dict.fromkeys(ref.layer for ref in operands)]
    if len(models) > 1:
        return f"{at.layer} joins the outputs of different models: {listed(models)}"
    if len({ref.tensor for ref in operands}) > 1:
        return f"{at.layer} joins different outputs of {models[0]}"
    if len({ref.call for ref in operands}) < len(operands):
        return f"{at.layer} joins one call of {models[0]} more than once"
    return None


def is_part_of_a_larger_merge(graph: Graph, at: CallId) -> bool:
    """Return True if a join along the batch is read by such a join alone: pairwise merges build a tree."""
    readers = graph.readers.get(at, ())
    return (
        len(readers) == 1
        and joins_batch(graph, readers[0][0])
        and joins_batch(graph, at)
        and all(ref.call != at for ref in graph.outputs)
    )


def joins_batch(graph: Graph, at: CallId) -> bool:
    """Return True if a call says that it lines its inputs up along the batch; worked out once a file."""
    return memoize(_joins_batch, graph.layers[at.layer], graph.call(at))


def _joins_batch(layer: Layer, call: Call) -> bool:
    return _joins_on_batch_axis(layer, call) is True and layer_batch_roles.is_weightless(layer)


def _joins_on_batch_axis(layer: Layer, call: Call) -> bool | None:
    """Return True if a call lines its inputs up along axis 0; None if unknown. Code that can be followed says it.

    Code that takes the rows of its inputs in turn is unknown too: it undoes another cut.
    """
    answer = layer_batch_roles.joins_on_batch_axis(layer, call)
    operands = len(call.reads)
    if operands == 1:
        alone = Slice(layer, call, 0)
        if answer and check_slice_claims_by_code.are_followed([alone], None):
            # A join of a tensor with itself is no join.
            return check_slice_claims_by_code.takes_all_rows(alone)
        return answer
    if answer is True or not code_names_and_numbers.is_function(layer):
        return answer
    if layer_code_rows.puts_together(layer, operands, dealt_out=False):
        return True
    return None if layer_code_rows.puts_together(layer, operands, dealt_out=True) else answer


def operands_and_calls(graph: Graph, at: CallId) -> tuple[list[Ref], list[CallId]]:
    """Return the operands of a join and its calls, expanding the joins that it joins in turn."""
    operands, within = expand_join(graph.call(at).reads, lambda ref: _parts(graph, ref))
    return operands, [at, *within]


def _parts(graph: Graph, ref: Ref) -> Sequence[Ref]:
    """Return the operands of a join that another one reads, or the tensor that a layer passes on."""
    is_within = not graph.layers[ref.layer].is_model and (
        is_part_of_a_larger_merge(graph, ref.call)
        or layer_batch_roles.passes_on_to_one_reader(graph, ref.call)
    )
    return graph.call(ref.call).reads if is_within else ()


def on_batch_axis(graph: Graph, calls: Sequence[CallId]) -> bool | None:
    """Return True if nested joins are joins along the batch; None if one of them does not say."""
    joining = [
        calls[0],
        *(at for at in calls[1:] if not layer_batch_roles.passes_on_to_one_reader(graph, at)),
    ]
    answers = [_joins_on_batch_axis(graph.layers[at.layer], graph.call(at)) for at in joining]
    return False if False in answers else None if None in answers else True


def check_joins(
    graph: Graph,
    template: Graph,
    towers: Sequence[CallId],
    merges: Sequence[Merge],
    shapes: Mapping[Ref, Shape | None],
    *,
    dealt_out: bool,
) -> None:
    """Check that merges of a template's outputs give the towers' rows back, or average a number.

    `shapes` are those of the towers' outputs, by the joined tensor; `dealt_out`: every tower holds each k-th row.

    Raises:
        NotAWrapper: the layer combines rows, or its code gives something else.

    """
    for merge in merges:
        if not _may_be_a_number(template, merge.output):
            check_code(graph, merge, len(towers), shapes.get(merge.tensor), dealt_out=dealt_out)
    model = towers[0].layer
    if all(layer_batch_roles.combines(graph.layers[merge.layer]) for merge in merges):
        raise NotAWrapper(
            f"{merges[0].layer} adds, averages or stacks the outputs of {model} instead of concatenating them"
        )
    for merge in merges:
        if layer_batch_roles.combines(graph.layers[merge.layer]) and not _averages_numbers(
            graph, template, merge
        ):
            raise NotAWrapper(
                f"{merge.layer} makes one of the rows of {model}'s outputs instead of concatenating them"
            )


def check_code(
    graph: Graph, merge: Merge, towers: int, shape: Shape | None, *, dealt_out: bool
) -> None:
    """Check the code of a merge of all towers, if it can be followed; `shape` is that of each tower's output.

    Raises:
        NotAWrapper: the code does not give all rows back.

    """
    if len(graph.call(merge.calls[0]).reads) < towers:
        return
    reason = check_merge_code.objection_to_merge(
        graph.layers[merge.layer], towers, shape, dealt_out=dealt_out
    )
    if reason is not None:
        raise NotAWrapper(reason)


def is_shown(
    graph: Graph, merge: Merge, towers: int, shape: Shape | None, *, dealt_out: bool
) -> bool:
    """Return True unless a merge of all towers has code that cannot be followed; arguments as `check_code` has them."""
    if len(graph.call(merge.calls[0]).reads) != towers:
        return True
    return layer_code_rows.is_shown(graph.layers[merge.layer], towers, shape, dealt_out=dealt_out)


def has_code(graph: Graph, merge: Merge) -> bool:
    """Return True if the layer that joins last is stored with its code."""
    return code_names_and_numbers.stored_code(graph.layers[merge.layer]) is not None


def _averages_numbers(graph: Graph, template: Graph, merge: Merge) -> bool:
    """Return True if a merge averages an output that may be a single number, such as a loss."""
    return layer_batch_roles.averages(graph.layers[merge.layer]) and _may_be_a_number(
        template, merge.output
    )


def _may_be_a_number(template: Graph, index: int) -> bool:
    """Return True if an output of a model may be a single number instead of rows; a layer of Keras's gives rows."""
    output = template.outputs[index]
    while template.layers[output.layer].is_model:
        template = read(template.layers[output.layer].stored)
        output = template.outputs[output.tensor]
    layer = template.layers[output.layer]
    return code_names_and_numbers.is_function(layer) or not is_keras_layer(layer)
