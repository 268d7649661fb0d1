"""Models of layers for Keras 3: names, calls, the order of calls, and what a Sequential becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.core.build import DENSE, functional, layer, names, sequential, source, tensors
from tests.unit.core.keras3.test_rules import CODE
from unnest.core.architecture import read
from unnest.core.keras3.context import CannotConvert, Context
from unnest.core.keras3.models import arguments_of, converted, in_order, is_ref, nested, today_names
from unnest.core.keras3.pieces import Arguments, Known, NewLayer, Tree
from unnest.core.model import Tensor

X, Y = Known("x", 0, 0), Known("y", 0, 0)
LSTM = NewLayer("l", "LSTM", {"name": "l", "units": 2})
KERNEL, BIAS = Tensor("k", (4, 3), "<f4", "/k"), Tensor("b", (3,), "<f4", "/b")


def made(model: dict[str, Any], context: Context | None = None, **shares: tuple[Tensor, ...]) -> NewLayer:
    """The model for Keras 3."""
    return converted(read(model), shares, context or Context.of("2.2.4", "tensorflow"))


def entries(model: NewLayer) -> list[Any]:
    """The entries of its layers."""
    listed: Any = model.config["layers"]
    return list(listed)


def reads(entry: Mapping[str, Any]) -> list[list[Any]]:
    """What each call of a layer reads."""
    return [[a["config"]["keras_history"] for a in call["args"]] for call in entry["inbound_nodes"]]


@pytest.mark.parametrize(
    ("found", "masks", "today", "renamed"),
    [
        (["dense", "concat"], False, ["dense", "concat"], []),
        (["tower/dense"], False, ["tower_dense"], ["tower/dense"]),
        (["tower/dense", "tower_dense"], False, ["tower_dense_1", "tower_dense"], ["tower/dense"]),
        (["a/b/c", "a/b_c"], False, ["a_b_c", "a_b_c_1"], ["a/b/c", "a/b_c"]),
        (["any", "where_1", "wherever"], True, ["any_layer", "where_1_layer", "wherever"], ["any", "where_1"]),
        (["any", "where_1"], False, ["any", "where_1"], []),
        (["where/1"], True, ["where_1_1"], ["where/1"]),
        (["where/1"], False, ["where_1"], ["where/1"]),
        (["where/1", "where_1"], True, ["where_1_1", "where_1_layer"], ["where/1", "where_1"]),
    ],
)
def test_names_of_today(found: list[str], masks: bool, today: list[str], renamed: list[str]) -> None:
    """Without slashes; those of the operations that compute masks only where there are masks."""
    context = Context(masks=masks)
    graph = read(sequential(*(layer(name, **DENSE) for name in found)))
    assert today_names(graph.layers, context) == dict(zip(found, today, strict=True))
    assert [n for c in context.conversions() for n in c.layers] == renamed


@pytest.mark.parametrize(
    ("new", "given", "args", "kwargs"),
    [
        (LSTM, Arguments(([X, Y],), {}, {}), (X,), {"initial_state": [Y]}),
        (LSTM, Arguments(([X],), {}, {}), ([X],), {}),
        (LSTM, Arguments((X,), {"initial_state": None, "training": False}, {}), (X,), {"training": False}),
        (NewLayer("a", "Add", {}), Arguments(([X, Y],), {"mask": [None, None]}, {}), ([X, Y],), {}),
        (NewLayer("a", "Add", {}), Arguments(([X, Y],), {"mask": [None, Y]}, {}), ([X, Y],), {"mask": [None, Y]}),
    ],
)
def test_arguments_of_a_call(
    new: NewLayer, given: Arguments, args: tuple[Tree, ...], kwargs: Mapping[str, Tree]
) -> None:
    assert arguments_of(new, given, Context()) == (args, kwargs)


@pytest.mark.parametrize(
    ("new", "given", "why"),
    [
        (LSTM, Arguments((X,), {"training": True}, {}), r"'l' \(LSTM\): was called with training=True"),
        (LSTM, Arguments(([X, Y],), {"constants": [Y]}, {}), "constants of a cell"),
        (NewLayer("l", "RNN", {"num_constants": 1}), Arguments(([X, Y],), {}, {}), "constants of a cell"),
    ],
)
def test_arguments_that_keras_3_has_not(new: NewLayer, given: Arguments, why: str) -> None:
    with pytest.raises(CannotConvert, match=why):
        arguments_of(new, given, Context())


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(["x", 0, 0], True), (["x", 0, 0, {}], True), (["nobody", 0, 0], False), (["x", 0], False), ("x", False)],
)
def test_references_to_tensors(value: Any, is_one: bool) -> None:
    assert is_ref(value, read(functional(source(), layer("y", ["x"], **DENSE)))) is is_one


def test_calls_come_after_what_they_read() -> None:
    """Stored the other way round; among calls that are ready, in stored order."""
    graph = read(functional(
        layer("y", ["b", "a"], kind="Add"), layer("b", ["a"], **DENSE), layer("a", ["x"], **DENSE), source(),
    ))  # fmt: skip
    assert [at.layer for at, _ in in_order(graph)] == ["x", "a", "b", "y"]


def test_a_functional_model() -> None:
    """A layer called twice stays one layer with two calls; weights bear their layer's name."""
    model = made(
        functional(source(), layer("d", ["x"], ["x"], **DENSE), layer("y", [("d", 0, 0), ("d", 1, 0)], kind="Add")),
        d=(KERNEL, BIAS),
    )
    assert (model.name, model.class_name, names(entries(model))) == ("net", "Functional", ["x", "d", "y"])
    _, dense, add = entries(model)
    assert reads(dense) == [[["x", 0, 0]], [["x", 0, 0]]]
    first, second = add["inbound_nodes"][0]["args"][0]
    assert (first["config"]["keras_history"], second["config"]["keras_history"]) == (["d", 0, 0], ["d", 1, 0])
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("d",)), ("/b", ("d",))]
    assert (model.config["input_layers"], model.config["output_layers"]) == (["x", 0, 0], ["y", 0, 0])


def test_an_output_under_its_new_name() -> None:
    context = Context.of("2.2.4", "tensorflow")
    model = made(functional(source(), layer("t/y", ["x"], **DENSE), outputs=[("t/y", 0, 0)]), context)
    assert model.config["output_layers"] == ["t_y", 0, 0]
    assert context.output_names == {"t/y": "t_y"}


@pytest.mark.parametrize("trainable", [True, False, None])
def test_whether_a_model_is_trained(trainable: bool | None) -> None:
    model = functional(source(), layer("y", ["x"], **DENSE))
    model["config"]["trainable"] = trainable
    assert made(model).config.get("trainable") is trainable


def test_a_sequential_stays_one() -> None:
    """With an input layer for the shape that its first layer kept."""
    context = Context.of("2.2.4", "tensorflow")
    chain = sequential(layer("a", **DENSE, trainable=True, batch_input_shape=[None, 4]), layer("b", kind="Flatten"))
    model = made(chain, context, a=(KERNEL, BIAS))
    assert (model.name, model.class_name, model.module) == ("seq", "Sequential", "keras")
    assert names(entries(model)) == ["a_input", "a", "b"]
    assert entries(model)[0]["config"] == {
        "batch_shape": [None, 4], "dtype": "float32", "sparse": False, "name": "a_input",
    }  # fmt: skip
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("a",)), ("/b", ("a",))]
    assert [(c.rule, c.layers) for c in context.conversions() if c.rule == "input-layer"] == [("input-layer", ("a",))]
    assert context.output_names == {"b": "b"}


@pytest.mark.parametrize(
    ("first", "shape", "listed", "built"),
    [
        ({"batch_input_shape": [None, 4]}, None, ["a_input", "a"], None),
        ({}, [None, 4], ["a"], [None, 4]),
        ({}, None, ["a"], None),
    ],
)
def test_the_shape_of_a_sequential(
    first: dict[str, Any], shape: list[int | None] | None, listed: list[str], built: list[int | None] | None
) -> None:
    """Kept where it is stored; where none is, none is made up."""
    chain = sequential(layer("a", **DENSE, trainable=True, **first))
    if shape is not None:
        chain["config"]["build_input_shape"] = shape
    model = made(chain)
    assert names(entries(model)) == listed
    assert model.config.get("build_input_shape") == built


@pytest.mark.parametrize(
    ("kind", "config", "dtype"),
    [
        ("Dense", {**DENSE, "dtype": "float16"}, "float16"),
        ("Dense", {**DENSE, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}}, "float16"),
        ("Flatten", {"dtype": "int32"}, "int32"),
        ("Embedding", {"input_dim": 9, "output_dim": 3, "dtype": "int32"}, "float32"),
    ],
)
def test_the_dtype_of_a_sequential_s_input(kind: str, config: dict[str, Any], dtype: str) -> None:
    """That of its first layer; an Embedding casts the ids that it is given."""
    model = made(sequential(layer("a", kind=kind, **config, trainable=True, batch_input_shape=[None, 4])))
    assert entries(model)[0]["config"]["dtype"] == dtype


def test_a_sequential_that_holds_operations_is_functional() -> None:
    context = Context.of("2.2.4", "tensorflow")
    context.masks = True  # without them the Lambda is a Rescaling
    half = layer("half", kind="Lambda", **CODE, trainable=True, batch_input_shape=[None, 4])
    model = made(sequential(half, layer("b", **DENSE)), context, b=(KERNEL, BIAS))
    assert (model.name, model.class_name) == ("seq", "Functional")
    assert [e["class_name"] for e in entries(model)] == ["InputLayer", "Divide", "Dense"]
    assert ("sequential-graph", ("seq",)) in [(c.rule, c.layers) for c in context.conversions()]
    assert context.output_names == {"b": "b"}


def test_operations_need_a_shape() -> None:
    """A Sequential that stores none cannot become functional."""
    with pytest.raises(CannotConvert, match=r"'seq' \(Sequential\): its input shape is not stored"):
        made(sequential(layer("half", kind="Lambda", **CODE)))


def test_weights_of_a_model_in_another() -> None:
    """One flat list, cut by layers; the outputs of an inner model are nobody's compile settings."""
    context = Context.of("2.2.4", "tensorflow")
    inner = functional(source(), layer("t/y", ["x"], **DENSE), outputs=[("t/y", 0, 0)])
    model = nested(inner, "core", (KERNEL, BIAS), context)
    assert (model.name, model.config["name"]) == ("core", "core")
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("t_y",)), ("/b", ("t_y",))]
    assert context.output_names == {}
    assert [c.rule for c in context.conversions()] == ["layer-name"]


def test_weights_that_cannot_be_placed() -> None:
    inner = functional(source(), layer("y", ["x"], **DENSE))
    with pytest.raises(CannotConvert, match=r"^'core' \(Functional\): its weights cannot be placed"):
        nested(inner, "core", tensors("a", "b", "c"), Context.of("2.2.4", "tensorflow"))


def test_a_call_in_the_form_of_keras_3() -> None:
    dense = layer("y", **DENSE)
    dense["inbound_nodes"] = [{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}]}]
    with pytest.raises(CannotConvert, match=r"'y' \(Dense\): is called as Keras 3 calls layers"):
        made(functional(source(), dense))
