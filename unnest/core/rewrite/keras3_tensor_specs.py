"""What Keras 3 notes of tensors in calls, where a Sequential's layers become a functional model's own.

A functional config of Keras 3 holds the shape and dtype of every tensor that a call reads; a Sequential's
does not. What the writer would note is inferred (`shapes`), and held against what the file does note.
"""

from __future__ import annotations

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import CallId, Graph, Ref
from unnest.core.keras_facts import shape_inference
from unnest.core.model import Json
from unnest.core.recognise.wrappers import Found


def cannot_note(graph: Graph, found: Found, inner: Graph) -> str | None:
    """Why the calls of a Keras 3 Sequential and of the head cannot be noted as the writer would note them."""
    if _casts(inner) and not _casts(graph):
        return "how this version of Keras notes a cast is not in the file"
    hidden = [name for name, layer in inner.layers.items() if shape_inference.hides_policy(layer.stored)]
    if _casts(inner) and hidden:
        return f"{hidden[0]} does not store in which dtype it computes"
    made = made_by(inner)
    for merge in found.merges:
        towers = set(shape_inference.noted([graph.call(call).stored for call in merge.calls]))
        if made is None or {(spec.shape[1:], spec.dtype) for spec in towers} != {(made.shape[1:], made.dtype)}:
            return "the file notes another output than its layers promise"
        for at, _ in graph.readers.get(merge.tensor.call, ()):
            if not _reads_the_same(graph, at, merge.tensor, made):
                return f"{at.layer} notes another tensor than the template makes"
    return None


def _casts(graph: Graph) -> bool:
    """Whether some layer casts what it reads, and its call notes the tensor as it was before."""
    return any(
        shape_inference.converts(graph.layers[at.layer].stored, spec)
        for at, call in graph.calls()
        for spec in shape_inference.noted(call.stored)
    )


def made_by(inner: Graph) -> shape_inference.Spec | None:
    """The tensor that comes out of a chain of layers."""
    last = list(inner.layers.values())[-1]
    given = next(shape_inference.noted(last.calls[0].stored), None)
    call = shape_inference.called(last.stored, given) if given else None
    return call.output if call else None


def _reads_the_same(graph: Graph, at: CallId, tensor: Ref, made: shape_inference.Spec) -> bool:
    """Whether only the noted dtype differs between a call on the merged tensor and one on the template's own.

    A merge layer may cast what the towers made to a dtype of its own.
    """
    call, entry = graph.call(at), graph.layers[at.layer].stored
    then = {spec for ref, spec in zip(call.reads, shape_inference.noted(call.stored), strict=False) if ref == tensor}
    if then == {made} or len(then) != 1 or len(call.reads) != 1:
        return then == {made}
    (old,) = then
    before, after = shape_inference.called(entry, old), shape_inference.called(entry, made)
    return old.shape == made.shape and before is not None and before == after


def noting(graph: Graph, found: Found, made: shape_inference.Spec | None, stored: Json) -> Json:
    """A call of the head as Keras 3 notes it where no merge has cast what the template makes."""
    for merge in found.merges if made else ():
        number = merge.tensor.rank + graph.layers[merge.layer].first
        stored = tensor_refs.with_dtype(stored, [merge.layer, number, merge.tensor.tensor], made.dtype if made else "")
    return stored
