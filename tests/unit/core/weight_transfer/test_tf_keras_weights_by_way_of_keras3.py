"""Weights in a tf_keras model: what the rules made of its own variables and of the file's cancels out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, sequential, source, tensors
from unnest.core.keras3.convert_stored_model import convert
from unnest.core.keras3.derived_weights import added, constant, scaled, transposed
from unnest.core.model import Group, Stored, Tensor
from unnest.core.weight_transfer.load_into_model import place_lists, place_model
from unnest.core.weight_transfer.target_model import TargetModel, TargetOptimizer
from unnest.core.weight_transfer.tf_keras_weights_by_way_of_keras3 import (
    as_tf_keras_weights,
    bind_pattern,
    keras_3_form_of_graph,
    keras_3_form_of_layers,
)
from unnest.errors import Refused

STORED, OWN = Tensor("w", (2, 2), "<f4", "file"), Tensor("0", (2, 2), "<f4", "target")


@pytest.mark.parametrize(
    "rule", [lambda t: t, lambda t: scaled(t, 1.2), lambda t: transposed(scaled(t, 1.2), 1, 0)]
)
def test_rules_of_both_cancel_out(rule: Any) -> None:
    bound: dict[str, Tensor] = {}
    assert bind_pattern(rule(OWN), rule(STORED), bound)
    assert bound == {"target": STORED}


def test_factors_of_the_target_alone_are_divided_by() -> None:
    bound: dict[str, Tensor] = {}
    assert bind_pattern(scaled(OWN, 2.0, 4.0), STORED, bound)
    assert bound == {"target": scaled(STORED, 0.5, 0.25)}


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (scaled(OWN, 0.0), STORED),
        (added(OWN, OWN), STORED),
        (transposed(OWN, 1, 0), STORED),
        (OWN, STORED._replace(shape=(2, 3))),
        (constant("zero", 0.0, (2, 2), "<f4"), STORED),
        (added(OWN, OWN), added(STORED, STORED._replace(ref="another"))),
    ],
)
def test_what_does_not_follow(pattern: Tensor, value: Tensor) -> None:
    assert not bind_pattern(pattern, value, {})


NAMES = ("a", "b")


def architecture(activation: str = "linear") -> dict[str, Any]:
    layers = (layer(name, **DENSE, activation=activation) for name in NAMES)
    return sequential(source(shape=(None, 3)), *layers)


def target(activation: str = "linear", optimizer: TargetOptimizer | None = None) -> TargetModel:
    return TargetModel(
        architecture(activation), dict.fromkeys([("a",), ("b",)], SHAPES), optimizer, "2.18.0"
    )


SHAPES = ((3, 3), (3,))
GROUPS = tuple(Group(name, tensors(f"{name}/kernel:0", f"{name}/bias:0")) for name in NAMES)
REFS = [t.ref for group in GROUPS for t in group.tensors]


@pytest.mark.parametrize("activation", ["linear", "hard_sigmoid"])
def test_weights_of_a_model(activation: str) -> None:
    """Keras 3 multiplies what feeds a hard_sigmoid, tf_keras does not: its variables are the file's arrays."""
    form = keras_3_form_of_graph(target(activation))
    converted = convert(
        Stored("model", architecture(activation), groups=GROUPS, keras_version="2.2.4")
    ).model
    assert converted is not None
    placed = as_tf_keras_weights(place_model(converted, form.target), form, target(activation))
    assert [t.ref for group in placed.groups for t in group.tensors] == REFS


def test_weights_alone() -> None:
    form = keras_3_form_of_layers(target("hard_sigmoid"))
    placed = as_tf_keras_weights(
        place_lists(GROUPS, form.target, "2.2.4", None), form, target("hard_sigmoid")
    )
    assert [t.ref for group in placed.groups for t in group.tensors] == REFS
    assert placed.conversions == ()


def test_a_weight_that_no_file_gives() -> None:
    """The form has a weight more than what was placed."""
    form = keras_3_form_of_layers(target())
    more = form._replace(own={**form.own, ("c",): (OWN,)})
    with pytest.raises(
        Refused, match="your model's 'c': the file does not have all of its weights"
    ):
        as_tf_keras_weights(place_lists(GROUPS, form.target, "2.2.4", None), more, target())


def test_a_model_that_keras_3_has_not() -> None:
    """No rule says what becomes of it: refused by name."""
    entry = layer("odd", kind="Dense", **DENSE, activation={"class_name": "Dense", "config": 3})
    odd = TargetModel(sequential(entry), {("odd",): SHAPES}, keras_version="2.18.0")
    with pytest.raises(Refused, match="your model: "):
        keras_3_form_of_graph(odd)


@pytest.mark.parametrize("form_of", [keras_3_form_of_graph, keras_3_form_of_layers])
def test_the_optimizer_s_state(form_of: Any) -> None:
    """Keras 3 has the learning rate among its variables, tf_keras has not."""
    adam = {
        "learning_rate": 0.01,
        "beta_1": 0.9,
        "beta_2": 0.999,
        "epsilon": 1e-7,
        "jit_compile": True,
    }
    trained = tuple(((name,), k) for name in NAMES for k in range(2))
    optimizer = TargetOptimizer(
        "Adam", ((), *(shape for shape in 2 * SHAPES for _ in "mv")), trained, adam
    )
    form = form_of(target(optimizer=optimizer))
    assert form.target.optimizer is not None
    assert form.target.optimizer.shapes == ((), *optimizer.shapes)
    state = tuple(
        Tensor(f"{k}", shape, "<f4", f"s{k}")
        for k, shape in enumerate(form.target.optimizer.shapes)
    )
    weights = place_lists(GROUPS, form.target, "2.18.0", None)
    placed = as_tf_keras_weights(
        weights._replace(optimizer=state), form, target(optimizer=optimizer)
    )
    assert [t.ref for t in placed.optimizer or ()] == [
        "s0",
        *(f"s{k}" for k in range(2, len(state))),
    ]
