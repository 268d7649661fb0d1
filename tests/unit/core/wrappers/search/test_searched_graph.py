"""Questions of the search to a graph: the calls behind a tensor, moved tensors, numbers that it mentions."""

from __future__ import annotations

from tests.unit.core.wrappers.inline import Writer, X
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


def test_what_a_call_moves_and_mentions() -> None:
    writer = Writer()
    part = writer.rows(0, 2)
    tensors = LayerTensors(writer.graph(part))
    assert tensors.moved(Ref(*part).call) == [Ref(*X)]
    assert sorted(tensors.literals([Ref(*part).call])) == [0, 2]


def test_what_lies_behind() -> None:
    """The calls between some tensors and others, or what the caller gives; and who reads them."""
    writer = Writer()
    parts = writer.dense(*writer.split())
    joined = writer.join(parts)
    tensors = LayerTensors(writer.graph(joined))
    assert tensors.calls_needed_for([Ref(*joined)], [Ref(*part) for part in parts]) == {
        CallId("joined", 0)
    }
    assert len(tensors.calls_needed_for([Ref(*joined)], [])) == 4
    assert tensors.readers[CallId("dense", 1)] == {CallId("joined", 0)}


def test_the_first_call_that_is_read_by_others() -> None:
    """Or that the graph gives out; in the order of the names."""
    writer = Writer()
    first, second = writer.split()
    ends = [*writer.dense(first, second), *writer.dense(second, name="other")]
    tensors = LayerTensors(writer.graph(*ends))
    split, towers = CallId("op_1", 0), {CallId("dense", 0), CallId("dense", 1)}
    assert tensors.read_by_others([split], towers) == split
    assert tensors.read_by_others([split], {*towers, CallId("other", 0)}) is None
    assert tensors.read_by_others([split, CallId("dense", 0)], {CallId("other", 0)}) == CallId(
        "dense", 0
    )
