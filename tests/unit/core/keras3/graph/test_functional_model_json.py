"""A model holds the layers and calls that its outputs need."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.graph.test_graph_builder import DENSE, NUMPY, started, tensor
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer
from unnest.core.keras3_op_node import GraphTensor, OpNode
from unnest.core.model import Tensor


def test_a_model_holds_what_its_outputs_need() -> None:
    """In Keras's order, with each weight under its layer's name, and no layer that leads nowhere."""
    builder, x = started(None, 4)
    first = builder.place(LayerCall(DENSE, (x,)), "d")
    builder.place(LayerCall(DENSE.renamed("unused"), (x,)), "unused")
    last = builder.place(OpNode(NUMPY, "Tanh", {}, (first,)), "t")  # type: ignore[arg-type]  # placed trees are operands
    assert isinstance(last, GraphTensor)
    model = builder.model("m", [x], [last], {"trainable": True})
    config: Any = model.config
    assert [layer["name"] for layer in config["layers"]] == ["x", "d", "t_tanh"]
    assert [len(layer["inbound_nodes"]) for layer in config["layers"]] == [0, 1, 1]
    assert (config["name"], config["trainable"]) == ("m", True)
    assert (config["input_layers"], config["output_layers"]) == (["x", 0, 0], ["t_tanh", 0, 0])
    assert [(w.owner, w.ref) for w in model.weights] == [(("d",), "/d/k")]
    assert (model.class_name, model.module) == ("Functional", "keras.src.models.functional")


def test_a_call_that_no_output_needs_is_left_out() -> None:
    """Keras finds no layer for what such a call reads; the calls behind it, and what reads them, move up."""
    builder, x = started(None, 4)
    reads_unused = builder.place(OpNode(NUMPY, "Tanh", {}, (x,)), "unused")
    shared = [builder.place(LayerCall(DENSE, (operand,)), "d") for operand in (x, reads_unused, x)]
    last = builder.place(OpNode(NUMPY, "Add", {}, (shared[0], shared[2])), "sum")  # type: ignore[arg-type]  # as above
    assert isinstance(last, GraphTensor)
    assert isinstance(shared[2], GraphTensor)
    config: Any = builder.model("m", [x], [last, shared[2]], {}).config
    assert [layer["name"] for layer in config["layers"]] == ["x", "d", "sum_add"]
    assert (
        config["layers"][1]["inbound_nodes"] == [{"args": [tensor("x", None, 4)], "kwargs": {}}] * 2
    )
    read = [
        operand["config"]["keras_history"]
        for operand in config["layers"][2]["inbound_nodes"][0]["args"]
    ]
    assert read == [["d", 0, 0], ["d", 1, 0]]
    assert config["output_layers"] == [["sum_add", 0, 0], ["d", 1, 0]]


@pytest.mark.parametrize(("kind", "rank"), [("Functional", 1), ("Sequential", 0)])
def test_the_calls_of_a_functional_model_are_counted_from_one(kind: str, rank: int) -> None:
    """Among the outputs alone: the node that reads the call counts from 0. Two outputs are a list of ends."""
    builder, x = started(None, 4)
    held = NewLayer(
        "held", kind, {"name": "held", "layers": []}, (Tensor("k", (4, 3), "<f4", "/k", ("d",)),)
    )
    inner = builder.place(LayerCall(held, (x,)), "held")
    behind = builder.place(LayerCall(DENSE, (inner,)), "d")
    assert isinstance(inner, GraphTensor)
    assert isinstance(behind, GraphTensor)
    assert builder.entries["d"].nodes == [{"args": [tensor("held")], "kwargs": {}}]
    model = builder.model("m", [x], [inner, behind], {})
    assert model.config["output_layers"] == [["held", rank, 0], ["d", 0, 0]]
    assert [w.owner for w in model.weights] == [("held", "d"), ("d",)]
