"""Models whose own Keras does not load them: by their JSON and the groups of their weights."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras_facts.test_custom_objects_needed_to_load import layer
from unnest.core.keras_facts.unloadable_models import (
    cell_without_arguments,
    layer_with_array_in_rule,
    layer_with_function_object,
    layer_with_surplus_weights,
    layers_shared_between_models,
    merge_of_one_tensor,
    unbuilt_sequential,
    wrapping_layer_without_weights,
)
from unnest.core.model import Group, Json, JsonObject, Stored, Tensor

KERNEL = Tensor("kernel", (2, 2), "<f4", "kernel")


def sequential(*layers: JsonObject, groups: tuple[Group, ...], **config: Any) -> Stored:
    """A stored Sequential."""
    architecture: JsonObject = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": list(layers), **config},
    }
    return Stored("model", architecture, groups=groups, keras_version="2.2.4")


@pytest.mark.parametrize(
    ("first", "config", "name"),
    [
        (layer("Dense", units=2), {}, "m"),
        (layer("Dense", units=2, batch_input_shape=[None, 2]), {}, None),
        (layer("Dense", units=2), {"build_input_shape": [None, 2]}, None),
        (layer("TimeDistributed", layer=layer("Dense")), {}, None),
    ],
)
def test_a_sequential_without_an_input_shape(
    first: JsonObject, config: JsonObject, name: str | None
) -> None:
    """Only one that has weights."""
    weights = (Group("dense", (KERNEL,)),)
    assert unbuilt_sequential(sequential(first, groups=weights, **config)) == name
    assert unbuilt_sequential(sequential(first, groups=(Group("dense", ()),), **config)) is None


@pytest.mark.parametrize(
    ("kind", "name"), [("Flatten", "flatten"), ("Dense", None), ("Affine", None)]
)
def test_weights_of_a_layer_that_has_none(kind: str, name: str | None) -> None:
    """A class of Keras's that no release gave weights."""
    stored = sequential(layer(kind), groups=(Group(kind.lower(), (KERNEL,)),))
    assert layer_with_surplus_weights(stored) == name


def test_layers_noted_as_shared() -> None:
    """Only where a weight lies at two places, and the JSON numbers the layer."""
    shared = {**layer("Dense"), "shared_object_id": 1}
    twice = (Group("dense", (KERNEL,)), Group("again", (KERNEL,)))
    assert layers_shared_between_models(sequential(shared, groups=twice)) == ["dense"]
    assert layers_shared_between_models(sequential(shared, groups=twice[:1])) == []
    assert layers_shared_between_models(sequential(layer("Dense"), groups=twice)) == []


def test_a_wrapping_layer_whose_inner_layer_is_stored_elsewhere() -> None:
    """Unless the JSON notes at both places that it is one layer."""
    dense = {**layer("Dense", kernel_initializer=None), "shared_object_id": 1}
    first, second = (layer("TimeDistributed", layer=dense, name=name) for name in ("a", "b"))
    elsewhere, here = (Group(name, (KERNEL,)) for name in ("dense", "b"))
    both = sequential(first, second, groups=(elsewhere,))
    assert wrapping_layer_without_weights(both) is None
    assert wrapping_layer_without_weights(sequential(second, groups=(elsewhere,))) == "b"
    assert wrapping_layer_without_weights(sequential(second, groups=(here,))) is None


@pytest.mark.parametrize(
    ("kind", "stored", "name"),
    [
        ("Add", [["x", 0, 0, {}]], "merge"),
        ("Dot", [["x", 0, 0, {}]], "merge"),
        ("Add", [["x", 0, 0, {}], ["x", 0, 0, {}]], None),
        ("Add", [["x", 0, 0, {}], ["_CONSTANT_VALUE", -1, 1.0, {}]], None),
        ("Flatten", [["x", 0, 0, {}]], None),
        ("Mine>Add", [["x", 0, 0, {}]], None),
    ],
)
def test_a_merge_of_one_tensor(kind: str, stored: list[Json], name: str | None) -> None:
    """Of Keras's own classes alone; a constant beside the tensor makes a list."""
    inputs = {**layer("InputLayer", batch_input_shape=[None, 2]), "name": "x", "inbound_nodes": []}
    merge = {**layer(kind), "name": "merge", "inbound_nodes": [stored]}
    config: JsonObject = {
        "name": "m",
        "layers": [inputs, merge],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["merge", 0, 0]],
    }
    model = Stored("model", {"class_name": "Functional", "config": config}, keras_version="2.10.0")
    assert merge_of_one_tensor(model) == name


def test_a_sequential_gives_one_tensor() -> None:
    """A merge in it cannot have been built."""
    layers = (layer("Dense", units=2, batch_input_shape=[None, 2]), layer("Dot", axes=1))
    assert merge_of_one_tensor(sequential(*layers, groups=())) == "dot"


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (layer("LSTMCell"), "LSTMCell"),
        (layer("LSTMCell", units=2), None),
        (layer("MinimalRNNCell"), None),  # a custom class, which may well have no argument
    ],
)
def test_a_cell_without_arguments(cell: JsonObject, name: str | None) -> None:
    assert cell_without_arguments(sequential(layer("RNN", cell=cell), groups=())) == name


@pytest.mark.parametrize(
    ("value", "is_read", "is_read_in_h5"),
    [
        (0.5, True, True),
        ([[1.0]], True, True),
        ({"type": "ndarray", "value": [[1.0]]}, False, False),
        ({"class_name": "__numpy__", "config": {"value": [[1.0]]}}, True, False),
    ],
)
def test_an_array_in_an_initializer(value: Json, *, is_read: bool, is_read_in_h5: bool) -> None:
    """A Lambda's arguments are read again; what a custom class does with its own is not known."""
    constant: JsonObject = {"class_name": "Constant", "config": {"value": value}}
    model = sequential(layer("Dense", kernel_initializer=constant), groups=())
    assert (layer_with_array_in_rule(model, in_h5=False) is None) is is_read
    assert (layer_with_array_in_rule(model, in_h5=True) is None) is is_read_in_h5
    for other in (layer("Mine", kernel_initializer=constant), layer("Lambda", arguments=constant)):
        assert layer_with_array_in_rule(sequential(other, groups=()), in_h5=True) is None


@pytest.mark.parametrize("argument", ["activation", "recurrent_activation", "kernel_constraint"])
def test_a_function_that_an_h5_stores_as_an_object(argument: str) -> None:
    """A bare name is read again; what a custom class, or a Lambda, does with such an object is its own."""
    function: JsonObject = {"module": "builtins", "class_name": "function", "config": "mine"}

    def found(class_name: str, value: Json) -> str | None:
        return layer_with_function_object(
            sequential(layer(class_name, **{argument: value}), groups=())
        )

    assert found("LSTM", function) is not None
    assert [found("LSTM", "mine"), found("Mine", function), found("Lambda", function)] == [None] * 3
