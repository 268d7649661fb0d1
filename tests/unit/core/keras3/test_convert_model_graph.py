"""Models of layers for Keras 3: functional ones, the order of calls, and models in models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, names, source, tensors
from tests.unit.core.keras3.layers.making import of_keras_2_2
from unnest.core.architecture import read
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.convert_model_graph import convert_graph, convert_nested
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.model import Tensor

X, Y = GraphTensor("x", 0, 0), GraphTensor("y", 0, 0)
LSTM = NewLayer("l", "LSTM", {"name": "l", "units": 2})
KERNEL, BIAS = Tensor("k", (4, 3), "<f4", "/k"), Tensor("b", (3,), "<f4", "/b")


def made(
    model: dict[str, Any], context: Context | None = None, **shares: tuple[Tensor, ...]
) -> NewLayer:
    """The model for Keras 3."""
    return convert_graph(read(model), shares, context or of_keras_2_2())


def entries(model: NewLayer) -> list[Any]:
    """The entries of its layers."""
    listed: Any = model.config["layers"]
    return list(listed)


def reads(entry: Mapping[str, Any]) -> list[list[Any]]:
    """Return the tensors that each call of a layer reads."""
    return [[a["config"]["keras_history"] for a in call["args"]] for call in entry["inbound_nodes"]]


def test_a_functional_model() -> None:
    """A layer called twice stays one layer with two calls; weights bear their layer's name."""
    model = made(
        functional(
            source(),
            layer("d", ["x"], ["x"], **DENSE),
            layer("y", [("d", 0, 0), ("d", 1, 0)], kind="Add"),
        ),
        d=(KERNEL, BIAS),
    )
    assert (model.name, model.class_name, names(entries(model))) == (
        "net",
        "Functional",
        ["x", "d", "y"],
    )
    _, dense, add = entries(model)
    assert reads(dense) == [[["x", 0, 0]], [["x", 0, 0]]]
    first, second = add["inbound_nodes"][0]["args"][0]
    assert (first["config"]["keras_history"], second["config"]["keras_history"]) == (
        ["d", 0, 0],
        ["d", 1, 0],
    )
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("d",)), ("/b", ("d",))]
    assert (model.config["input_layers"], model.config["output_layers"]) == (
        ["x", 0, 0],
        ["y", 0, 0],
    )


def test_an_output_under_its_new_name() -> None:
    context = of_keras_2_2()
    model = made(
        functional(source(), layer("t/y", ["x"], **DENSE), outputs=[("t/y", 0, 0)]), context
    )
    assert model.config["output_layers"] == ["t_y", 0, 0]
    assert context.graph.output_names == {"t/y": "t_y"}


@pytest.mark.parametrize("trainable", [True, False, None])
def test_whether_a_model_is_trained(trainable: bool | None) -> None:
    model = functional(source(), layer("y", ["x"], **DENSE))
    model["config"]["trainable"] = trainable
    assert made(model).config.get("trainable") is trainable


def test_weights_of_a_model_in_another() -> None:
    """One flat list, cut by layers; the outputs of an inner model have no compile settings."""
    context = of_keras_2_2()
    inner = functional(source(), layer("t/y", ["x"], **DENSE), outputs=[("t/y", 0, 0)])
    model = convert_nested(inner, "core", (KERNEL, BIAS), context)
    assert (model.name, model.config["name"]) == ("core", "core")
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("t_y",)), ("/b", ("t_y",))]
    assert context.graph.output_names == {}
    assert [c.rule for c in context.conversions()] == ["layer-name"]


def test_weights_that_cannot_be_placed() -> None:
    inner = functional(source(), layer("y", ["x"], **DENSE))
    with pytest.raises(
        CannotConvert, match=r"^'core' \(Functional\): its weights cannot be placed"
    ):
        convert_nested(inner, "core", tensors("a", "b", "c"), of_keras_2_2())


def test_a_call_in_the_form_of_keras_3() -> None:
    dense = layer("y", **DENSE)
    dense["inbound_nodes"] = [
        {"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}]}
    ]
    with pytest.raises(CannotConvert, match=r"'y' \(Dense\): is called as Keras 3 calls layers"):
        made(functional(source(), dense))
