"""The operation behind each call of a graph."""

from __future__ import annotations

from tests.unit.core.wrappers.inline import Writer
from unnest.core.interpreters.tensor_graph import NO_CALL
from unnest.core.model import Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


def test_a_call_is_parsed_once() -> None:
    """And what is no operation says nothing."""
    writer = Writer()
    part = writer.rows(0, 2)
    (made,) = writer.dense(part)
    tensors = LayerTensors(writer.graph(made))
    assert tensors.of(Ref(*part).call) is tensors.of(Ref(*part).call)
    assert tensors.of(Ref(*made).call) is NO_CALL
