"""A Sequential's layers as a functional model's own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, names, sequential, source
from unnest.core.architecture import read
from unnest.core.model import Ref, Unknown
from unnest.core.rewrite.sequential_as_functional import sequential_as_functional

DENSE_3: dict[str, Any] = {
    "class_name": "Dense",
    "config": {
        "name": "a",
        "units": 3,
        "trainable": True,
        "dtype": "float32",
        "activation": "linear",
    },
}
INPUT_3: dict[str, Any] = {
    "class_name": "InputLayer",
    "config": {"name": "x", "batch_shape": [None, 4], "dtype": "float32"},
}


def test_a_functional_model_is_the_very_object() -> None:
    model = functional(source(), layer("y", ["x"]))
    assert sequential_as_functional(model, [source()]) is model


def test_a_chain_reads_the_input_that_it_is_called_on() -> None:
    model = sequential_as_functional(sequential(layer("a"), layer("b")), [source("given")])
    graph = read(model)
    assert list(graph.layers) == ["given", "a", "b"]
    assert (graph.inputs, graph.outputs) == ((Ref("given", 0, 0),), (Ref("b", 0, 0),))
    assert graph.layers["b"].calls[0].reads == (Ref("a", 0, 0),)


def test_an_automatic_input_gives_way_to_the_sequentials_own() -> None:
    """Its own is called after the first layer, where that was given a shape."""
    model = sequential(layer("a", batch_input_shape=[None, 4], trainable=True))
    config: Any = sequential_as_functional(model, [source("input_1")])["config"]
    assert names(config["layers"]) == ["a_input", "a"]
    config = sequential_as_functional(model, [source("mine")])["config"]
    assert names(config["layers"]) == ["mine", "a"]


def test_keras_3_notes_every_tensor() -> None:
    model: dict[str, Any] = {
        "class_name": "Sequential",
        "config": {"name": "s", "layers": [INPUT_3, DENSE_3]},
    }
    config: Any = sequential_as_functional(model, [INPUT_3])["config"]
    ((tensor,),) = [node["args"] for node in config["layers"][1]["inbound_nodes"]]
    assert tensor["config"] == {
        "shape": [None, 4],
        "dtype": "float32",
        "keras_history": ["x", 0, 0],
    }
    assert config["output_layers"] == [["a", 0, 0]]


def test_a_shape_that_nothing_tells_is_not_guessed() -> None:
    mine: dict[str, Any] = {
        "class_name": "Mine",
        "config": {"name": "m", "trainable": True, "dtype": "float32"},
    }
    layers = [INPUT_3, mine, DENSE_3]
    model: dict[str, Any] = {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}
    with pytest.raises(Unknown, match="the shapes after 'm'"):
        sequential_as_functional(model, [INPUT_3])
