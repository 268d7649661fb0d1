"""Calls of before Keras 3: which values are tensors, and what else a layer is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, source
from unnest.core.architecture import read
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.convert_call_arguments import is_ref, keras_3_arguments, parse_call
from unnest.core.keras3.layer_replacements import LayerArguments, NewLayer, NodeTree
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.model import Json

X, Y = GraphTensor("x", 0, 0), GraphTensor("y", 0, 0)
LSTM = NewLayer("l", "LSTM", {"name": "l", "units": 2})
GRAPH = read(functional(source(), layer("y", ["x"], **DENSE)))


@pytest.mark.parametrize(
    ("new", "given", "args", "kwargs"),
    [
        (LSTM, LayerArguments(([X, Y],), {}, {}), (X,), {"initial_state": [Y]}),
        (LSTM, LayerArguments(([X],), {}, {}), ([X],), {}),
        (
            LSTM,
            LayerArguments((X,), {"initial_state": None, "training": False}, {}),
            (X,),
            {"training": False},
        ),
        (
            NewLayer("a", "Add", {}),
            LayerArguments(([X, Y],), {"mask": [None, None]}, {}),
            ([X, Y],),
            {},
        ),
        (
            NewLayer("a", "Add", {}),
            LayerArguments(([X, Y],), {"mask": [None, Y]}, {}),
            ([X, Y],),
            {"mask": [None, Y]},
        ),
        (NewLayer("a", "Add", {}), LayerArguments((X,), {}, {}), ([X],), {}),
        (
            NewLayer("a", "Add", {}, module=None, registered_name="My>Add"),
            LayerArguments((X,), {}, {}),
            (X,),
            {},
        ),
    ],
)
def test_arguments_of_a_call(
    new: NewLayer, given: LayerArguments, args: tuple[NodeTree, ...], kwargs: Mapping[str, NodeTree]
) -> None:
    assert keras_3_arguments(new, given, Context()) == (args, kwargs)


@pytest.mark.parametrize(
    ("layer", "training", "is_noted"),
    [
        (NewLayer("d", "Dropout", {"rate": 0.5}), False, True),
        (NewLayer("d", "Dropout", {"rate": 0.5}), 0, True),
        (NewLayer("d", "Dropout", {"rate": 0.5}), None, False),
        (NewLayer("d", "Dropout", {"rate": 0.0}), False, False),
        (NewLayer("l", "LSTM", {"recurrent_dropout": 0.1}), False, True),
        (LSTM, False, False),
        (NewLayer("n", "BatchNormalization", {"trainable": True}), False, True),
        (NewLayer("n", "BatchNormalization", {"trainable": False}), False, False),
        (NewLayer("r", "Dense", {"units": 2}), False, False),
    ],
)
def test_calls_at_inference_are_noted(
    layer: NewLayer, training: NodeTree, *, is_noted: bool
) -> None:
    """Of layers that act in training, which Keras 3's fit has them do all the same."""
    context = Context()
    keras_3_arguments(layer, LayerArguments((X,), {"training": training}, {}), context)
    assert context.notes.called_at_inference == [layer.name] * is_noted


CELLS: list[Json] = [
    {"class_name": kind, "config": {"name": kind}} for kind in ("LSTMCell", "GRUCell")
]
STACKED = NewLayer(
    "l", "RNN", {"cell": {"class_name": "StackedRNNCells", "config": {"cells": CELLS}}}
)


def test_states_of_several_cells_are_told_apart() -> None:
    """They were one list; which cell came first in it changed with Keras 2.2."""
    given = LayerArguments(([X, Y, Y, X],), {}, {})
    assert keras_3_arguments(STACKED, given, Context.of("2.2.4", None)) == (
        (X,),
        {"initial_state": [[Y, Y], [X]]},
    )
    for states, version in (([X, Y, Y, X], "2.1.6"), ([X, Y, X], "2.2.4")):
        with pytest.raises(
            CannotConvert, match=r"'l' \(RNN\): whose of its cells an initial state is"
        ):
            keras_3_arguments(STACKED, LayerArguments((states,), {}, {}), Context.of(version, None))


@pytest.mark.parametrize(
    ("new", "given", "why"),
    [
        (
            LSTM,
            LayerArguments((X,), {"training": True}, {}),
            r"'l' \(LSTM\): was called with training=True",
        ),
        (LSTM, LayerArguments(([X, Y],), {"constants": [Y]}, {}), "constants of a cell"),
        (
            NewLayer("d", "Dot", {"axes": 1, "normalize": False}),
            LayerArguments((X,), {}, {}),
            "is called with one tensor",
        ),
        (
            NewLayer("l", "RNN", {"num_constants": 1}),
            LayerArguments(([X, Y],), {}, {}),
            "constants of a cell",
        ),
    ],
)
def test_arguments_that_keras_3_has_not(new: NewLayer, given: LayerArguments, why: str) -> None:
    with pytest.raises(CannotConvert, match=why):
        keras_3_arguments(new, given, Context())


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        (["x", 0, 0], True),
        (["x", 0, 0, {}], True),
        (["nobody", 0, 0], False),
        (["x", 0], False),
        ("x", False),
    ],
)
def test_references_to_tensors(value: Any, is_one: bool) -> None:
    assert is_ref(value, GRAPH) is is_one


@pytest.mark.parametrize(
    ("node", "args", "kwargs"),
    [
        ([["x", 0, 0]], [["x", 0, 0]], {}),
        ([["x", 0, 0, {"training": True}]], [["x", 0, 0]], {"training": True}),
        (["x", 0, 0, {"axis": 1}], [["x", 0, 0]], {"axis": 1}),
        (
            [["x", 0, 0, {"a": 1}], ["x", 0, 0, {"a": 2, "b": 3}]],
            [[["x", 0, 0], ["x", 0, 0]]],
            {"a": 1, "b": 3},
        ),
        (["_CONSTANT_VALUE", -1, 5, {"y": ["x", 0, 0]}], [5], {"y": ["x", 0, 0]}),
        (["_CONSTANT_VALUE", -1, [[5]], {"y": ["x", 0, 0]}], [[[5]]], {"y": ["x", 0, 0]}),
    ],
    ids=[
        "a tensor",
        "named arguments",
        "an operation",
        "the first that names one",
        "a constant",
        "lists",
    ],
)
def test_arguments_behind_tensors(node: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    assert parse_call(node, GRAPH, GRAPH.layers["y"]) == (args, kwargs)
