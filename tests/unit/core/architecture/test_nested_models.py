"""The leaf layers of models in models, and whose their weights are."""

from __future__ import annotations

from tests.unit.core.build import functional, layer, nested, sequential, source
from unnest.budget import Budget, limited
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import by_owner, layer_entries, leaf_entries, leaves
from unnest.core.model import Json, JsonObject, Tensor

INNER = sequential(layer("a"), layer("b"), name="inner")
MODEL = functional(source(), nested(INNER, ["x"]), layer("y", ["inner"]))


def test_leaves_in_stored_order_with_the_models_around_them() -> None:
    assert [leaf.path for leaf in leaves(MODEL)] == [("x",), ("inner", "a"), ("inner", "b"), ("y",)]
    assert [leaf.name for leaf in leaves(MODEL)][1] == "inner/a"


def test_another_model_may_be_entered() -> None:
    """Here none, then one that a layer holds."""

    def held(each: Layer) -> JsonObject | None:
        return INNER if each.name == "y" else None

    assert [leaf.path for leaf in leaves(MODEL, inner_model=lambda _: None)] == [
        ("x",),
        ("inner",),
        ("y",),
    ]
    assert [leaf.path for leaf in leaves(MODEL, inner_model=held)] == [
        ("x",),
        ("inner",),
        ("y", "a"),
        ("y", "b"),
    ]


def test_entries_of_a_layer_are_its_own() -> None:
    dense = layer("y", ["x"])
    assert [*leaf_entries(dense)] == [dense]
    assert [entry["config"]["name"] for entry in leaf_entries(INNER)] == ["a", "b"]  # type: ignore[index, call-overload]


def test_weights_by_the_layer_that_owns_them() -> None:
    weights = [
        Tensor(name, (3,), "<f4", name, owner=owner)
        for name, owner in (("k", ("a", "b")), ("l", ()), ("m", ("a",)))
    ]
    owned = by_owner(weights)
    assert {name: [(t.name, t.owner) for t in own] for name, own in owned.items()} == {
        "a": [("k", ("b",)), ("m", ())], "": [("l", ())],
    }  # fmt: skip


def test_each_layer_is_charged_at_every_walk() -> None:
    budget = Budget("m.h5", steps=10_000, memory=1)
    with limited(budget):
        assert len([*leaves(MODEL)]) == 4
        before = budget.steps
        assert len([*leaves(MODEL)]) == 4
    assert before - budget.steps == 5


def _entry(kind: str, **config: Json) -> Json:
    return {"class_name": kind, "config": config}


def test_layers_of_nested_models_and_within_layers_are_entries() -> None:
    """In textual order, outer before inner; the value of another key is no layer."""
    cell = _entry("LSTMCell", kernel_initializer=_entry("Zeros"))
    model = _entry("Sequential", layers=[_entry("RNN", cell=cell), _entry("Dense")])
    found = layer_entries(_entry("Functional", layers=[_entry("InputLayer"), model]))
    names = ["Functional", "InputLayer", "Sequential", "RNN", "LSTMCell", "Dense"]
    assert [entry["class_name"] for entry in found] == names
