"""Slices before the towers of a layer graph: which tensor each input of the towers is cut from, and by which calls.

A slice is an operation, or opaque: stored code, a custom class. Opaque slices claim their rows (`slice_claims`); which
rows all of them come to is worked out in `row_trial_of_slices_and_joins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.tensor_refs import without_tensors
from unnest.core.frontends.operation_layers_as_op_calls import is_operation
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref, Shape
from unnest.core.wrappers.claims import check_slice_claims_by_code, slice_claims
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, SliceClaim
from unnest.core.wrappers.claims.stored_slice_numbers import Slice
from unnest.core.wrappers.layer_graph import layer_batch_roles, stored_layer_shapes
from unnest.core.wrappers.layer_graph.batch_split_record import BatchSplit, InputSlices
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors
from unnest.core.wrappers.layer_graph.wrapper_records import AreUneven, NotAWrapper, listed
from unnest.core.wrappers.stored_code import code_names_and_numbers

MAX_LAYERS_BEFORE_TOWER = 8
"""How many layers may lie between a source and a tower; the longest seen are three."""


class InputFacts(NamedTuple):
    """Facts beside the graph: the shape of the template's input, the classes that the caller vouches for."""

    shape: Shape | None = None
    vouched: frozenset[str] = frozenset()


def split_batch(
    tensors: LayerTensors,
    columns: Sequence[Column],
    facts: Sequence[InputFacts],
    towers: set[CallId],
) -> BatchSplit:
    """Return the slices before the towers' inputs; `columns` has a tensor of every tower for each input.

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
        shape = stored_layer_shapes.stored_shape(graph.layers[source.layer])
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


def _hands_on(graph: Graph, at: CallId) -> bool:
    return layer_batch_roles.passes_on(graph.layers[at.layer], graph.call(at))


def check_shapes(graph: Graph, template: Layer, sources: Sequence[Ref]) -> None:
    """Raise NotAWrapper where a row of a source is no row for the template."""
    for source, shape in zip(
        sources, stored_layer_shapes.template_shapes(template.stored) or (), strict=False
    ):
        if not stored_layer_shapes.same_rows(
            stored_layer_shapes.stored_shape(graph.layers[source.layer]), shape
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
        NotAWrapper: one reads several tensors, which it may combine, or each is applied to a slice of its own, or one
            to a slice that is another's input as it is.

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
        parents = [graph.call(ref.call).reads[0] for ref in refs]
        behind = next(
            (
                ref
                for ref, parent in zip(refs, parents, strict=True)
                if {*graph.call(parent.call).reads} & {*parents}
            ),
            None,
        )
        if behind is not None:
            raise AreUneven(f"{behind.layer} stands behind some slices alone, not all")
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
        whole = graph.noted_shapes.get(source) or stored_layer_shapes.stored_shape(
            graph.layers[source.layer]
        )
        promise = (
            stored_layer_shapes.promised_shape(layer)
            if code_names_and_numbers.stored_code(layer) is None
            else None
        )
        if promise is not None and whole is not None and len(promise) != len(whole):
            promise = None  # not what Keras asks for, and what it then ignores
        noted = graph.noted_shapes.get(ref)
        if not all(stored_layer_shapes.same_rows(whole, part) for part in (noted, promise)):
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
    shape = stored_layer_shapes.stored_shape(source)
    rows = shape[0] if shape else None
    claim = check_slice_claims_by_code.checked(slice_claims.claim(slices, rows), slices, shape)
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
    if not is_split and not all(code_names_and_numbers.shows_how(layer) for layer, _, _ in slices):
        return False
    has_code = any(code_names_and_numbers.stored_code(layer) for layer, _, _ in slices)
    shape = stored_layer_shapes.stored_shape(graph.layers[slices[0].call.reads[0].layer])
    return not has_code or check_slice_claims_by_code.are_followed(slices, shape)


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
