"""A model written out as an expression."""

from __future__ import annotations

from typing import Any

from tests.unit.core.build import DENSE, functional, layer, nested, sequential, source
from unnest.core.weight_transfer.model_expressions import NodeOutput, outputs_of


def shown(value: NodeOutput) -> str:
    node = value.node
    if node.leaf is None:
        return f"input {node.argument}"
    what = str(node.argument) if node.kind == "Activation" else node.leaf.layer.name
    return f"{what}({', '.join(map(shown, node.inputs))})"


def written(*layers: dict[str, Any], end: str) -> str:
    (out,) = outputs_of(functional(source(), *layers, outputs=[(end, 0, 0)]))
    return shown(out)


def test_an_activation_is_the_same_as_argument_and_as_layer() -> None:
    argument = layer("d", ["x"], activation="relu", **DENSE)
    plain = layer("d", ["x"], activation="linear", **DENSE)
    act = layer("r", ["d"], kind="Activation", activation="relu")
    assert written(argument, end="d") == written(plain, act, end="r") == "relu(d(input 0))"
    assert written(plain, layer("r", ["d"], kind="ReLU"), end="r") == "relu(d(input 0))"
    assert written(plain, layer("r", ["d"], kind="ReLU", max_value=6.0), end="r") == "r(d(input 0))"


def test_what_passes_on_is_left_out() -> None:
    drop = layer("drop", ["x"], kind="Dropout", rate=0.5)
    assert written(drop, layer("d", ["drop"], **DENSE), end="d") == "d(input 0)"


def test_a_nested_model_is_written_out() -> None:
    inner = nested(sequential(layer("a", **DENSE), layer("b", **DENSE), name="inner"), ["x"])
    assert written(inner, end="inner") == "b(a(input 0))"


def test_a_class_of_ones_own_that_is_called_like_a_passing_one_stays() -> None:
    mine = {
        **layer("drop", ["x"], kind="Dropout"),
        "module": "mine",
        "registered_name": "mine>Dropout",
    }
    assert written(mine, end="drop") == "drop(input 0)"


def test_an_activation_with_two_names() -> None:
    old, new = (layer("d", ["x"], activation=name, **DENSE) for name in ("swish", "silu"))
    assert written(old, end="d") == written(new, end="d") == "silu(d(input 0))"
