"""Functional and Sequential models of every dialect as graphs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer, nested, sequential, source
from unnest.budget import Budget, limited
from unnest.core.architecture import (
    NotAGraph,
    children,
    is_input,
    is_model,
    layer_name,
    model_name,
    read,
    replace_children,
    snake_case,
)
from unnest.core.model import Ref


def keras_3(name: str, *histories: list[Any]) -> dict[str, Any]:
    """A Dense layer's entry in Keras 3's form, called once on the tensors given."""
    config = {"shape": [None, 4], "dtype": "float32"}
    tensors = [
        {"class_name": "__keras_tensor__", "config": {**config, "keras_history": h}}
        for h in histories
    ]
    node = {"args": tensors, "kwargs": {}}
    return {**layer(name), "module": "keras.layers", "inbound_nodes": [node]}


def test_keras_1_nodes_have_no_arguments() -> None:
    entry = {**layer("y"), "inbound_nodes": [[["x", 0, 0]]]}
    assert read(functional(source(), entry)).layers["y"].calls[0].reads == (Ref("x", 0, 0),)


def test_keras_3_nodes_are_args_and_kwargs() -> None:
    graph = read(
        functional(source(), keras_3("a", ["x", 0, 0]), keras_3("y", ["x", 0, 0], ["a", 0, 0]))
    )
    assert graph.layers["y"].calls[0].reads == (Ref("x", 0, 0), Ref("a", 0, 0))


@pytest.mark.parametrize("number", [0, 1])
def test_calls_of_a_nested_model_are_ranked_from_0_whatever_the_file_calls_the_first(
    number: int,
) -> None:
    inner = nested(functional(source(), layer("y", ["x"]), name="inner"), ["x"])
    graph = read(functional(source(), inner, layer("y", [("inner", number, 0)])))
    assert graph.layers["y"].calls[0].reads == (Ref("inner", 0, 0),)
    assert graph.layers["inner"].first == number


def test_reads_inside_arguments_count_after_the_positional_ones() -> None:
    """An op layer's second operand sits in its keyword arguments (tf.keras 2.4 on)."""
    entry = {**layer("y"), "inbound_nodes": [["x", 0, 0, {"y": ["a", 0, 0], "name": None}]]}
    graph = read(functional(source(), layer("a", ["x"]), entry))
    assert graph.layers["y"].calls[0].reads == (Ref("x", 0, 0), Ref("a", 0, 0))


def test_a_sequential_is_a_chain_in_a_dict_as_in_a_bare_list() -> None:
    entries = [layer("a", batch_input_shape=[None, 4]), layer("b")]
    configs: list[Any] = [{"name": "s", "layers": entries}, entries]
    for config in configs:
        graph = read({"class_name": "Sequential", "config": config})
        assert [call.reads for layer in graph.layers.values() for call in layer.calls] == [
            (),
            (Ref("a", 0, 0),),
        ]
        assert graph.outputs == (Ref("b", 0, 0),)
        assert graph.sequential


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (functional(source(), layer("y", ["x"]), layer("y", ["x"])), "two layers are called 'y'"),
        (
            functional(source(), layer("a", ["y"]), layer("y", ["a"])),
            "read one another in a circle",
        ),
        (functional(source(), layer("y", [("x", 3, 0), ("x", 0, 0)])), "'x' has no call number 3"),
        (
            {
                "class_name": "Functional",
                "config": {"name": "n", "layers": [source()], "output_layers": []},
            },
            "no inputs",
        ),
        (
            functional(source(), {**layer("y"), "inbound_nodes": "x"}),
            "inbound_nodes that are no list",
        ),
        ({"class_name": "Net", "config": {}}, "holds no list of layers"),
        (
            functional(source(), {**layer("y", ["x"]), "class_name": {}}),
            "the class of 'y' is no name",
        ),
        (
            functional(source(), {**layer("y", ["x"]), "class_name": ""}),
            "the class of 'y' is no name",
        ),
        (
            functional(source(), layer("y", ["x"]), outputs=[["z", 0, 0]]),
            "output_layers names 'z', which is no layer",
        ),
        (functional(source(), inputs=[["z", 0, 0]]), "input_layers names 'z', which is no layer"),
    ],
)
def test_what_does_not_add_up_is_no_graph_and_says_where(
    model: dict[str, Any], reason: str
) -> None:
    with pytest.raises(NotAGraph, match=reason):
        read(model)


@pytest.mark.parametrize("entry", [{}, {"config": {"layers": [{}]}}])
def test_why_it_is_none_is_one_line_whatever_it_is_called(entry: dict[str, Any]) -> None:
    """A class of line feeds and escape sequences, as the fuzzer made one."""
    with pytest.raises(NotAGraph) as error:
        read({"class_name": "\n\x1b[31m", **entry})
    assert str(error.value).isprintable()


@pytest.mark.parametrize("kind", ["Dense", "\n\x1b[31m"])
def test_a_layer_without_a_name(kind: str) -> None:
    with pytest.raises(NotAGraph) as error:
        layer_name({"class_name": kind, "config": {}})
    assert str(error.value) == f"a layer of class {kind!r} has no name"


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        (sequential(layer("a")), True),
        ({"class_name": "Net", "config": {"layers": []}}, True),
        (
            {"class_name": "Sequential", "config": []},
            False,
        ),  # an empty list is no model of Keras 1's
        ({"class_name": "Net", "config": {"layers": [8, 8]}}, False),  # sizes, not layers
        ({"class_name": "Merge", "config": {"concat_axis": 1, "layers": [layer("a")]}}, False),
        (layer("a"), False),
        ("model", False),
    ],
)
def test_a_model_is_what_has_its_layers_in_it(entry: Any, answer: bool) -> None:
    assert is_model(entry) is answer


def test_a_models_name_is_its_configs_else_its_entrys_else_its_class() -> None:
    assert model_name(functional(name="net")) == "net"
    assert model_name({"class_name": "Sequential", "name": "s", "config": []}) == "s"
    assert model_name({"class_name": "Sequential", "config": []}) == "Sequential"


def test_an_input_layer_has_a_shape_and_nothing_to_train() -> None:
    assert is_input(source())
    assert is_input({"class_name": "Anything", "config": {"batch_shape": [None]}})
    inner = functional(source(), layer("y", ["x"]))
    assert not is_input({**inner, "config": {**inner["config"], "batch_input_shape": [None, 4]}})
    assert not is_input(layer("a", batch_input_shape=[None, 4], trainable=True))


def test_models_inside_a_layers_config_are_found_and_replaced_in_place() -> None:
    inner, other = sequential(layer("a")), sequential(layer("b"))
    entry = layer("td", ["x"], kind="TimeDistributed", layer=inner, extra=[{"deep": inner}])
    paths = dict(children(entry))
    assert paths == {("config", "layer"): inner, ("config", "extra", 0, "deep"): inner}
    new = replace_children(entry, {("config", "extra", 0, "deep"): other})
    assert dict(children(new)) == {
        ("config", "layer"): inner,
        ("config", "extra", 0, "deep"): other,
    }
    assert dict(children(entry)) == paths  # the entry itself is left as it was


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        ("Dense", "dense"),
        ("Conv2DTranspose", "conv2d_transpose"),
        ("BatchNormalization", "batch_normalization"),
        ("GroupQueryAttention", "grouped_query_attention"),  # GroupedQueryAttention in Keras's code
    ],
)
def test_snake_case(stored: str, name: str) -> None:
    assert snake_case(stored) == name


def test_a_graph_is_read_once_for_its_config() -> None:
    """A template that becomes a model of its own keeps its config; under another name it is read again."""
    model = functional(source(), layer("y", ["x"]))
    alone = {**model, "keras_version": "2.2.4"}
    with limited(Budget("m.h5", 10_000, 1 << 20)):
        assert read(alone).layers is read(model).layers
        assert read(alone).model is alone
        assert read(model).model is model
        renamed = {**model, "config": {**model["config"], "name": "other"}}
        assert read(renamed).layers is not read(model).layers
        assert read(renamed).name == "other"
