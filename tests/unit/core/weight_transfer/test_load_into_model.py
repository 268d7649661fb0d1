"""A file's weights in the caller's model: all of them, or a refusal that names the layer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, sequential, tensors
from unnest.core.model import Group, Stored
from unnest.core.weight_transfer.load_into_model import place_leaves, place_lists, place_model
from unnest.core.weight_transfer.state_for_compiled_optimizer import StateAlone
from unnest.core.weight_transfer.target_model import TargetModel, TargetOptimizer
from unnest.errors import Refused


def dense(name: str) -> tuple[Any, ...]:
    return tensors(f"{name}/kernel:0", f"{name}/bias:0")


def chain(*names: str) -> dict[str, Any]:
    return sequential(*(layer(name, **DENSE) for name in names))


def target(*names: str, optimizer: TargetOptimizer | None = None) -> TargetModel:
    return TargetModel(chain(*names), {(name,): ((3, 3), (3,)) for name in names}, optimizer)


STORED = Stored(
    "model",
    chain("a", "b"),
    groups=(Group("a", dense("a")), Group("b", dense("b"))),
    keras_version="3.0.0",
)


def test_a_model_s_weights() -> None:
    placed = place_model(STORED, target("c", "d"))
    assert [(g.name, [t.name for t in g.tensors]) for g in placed.groups] == [
        ("c", ["a/kernel:0", "a/bias:0"]), ("d", ["b/kernel:0", "b/bias:0"]),
    ]  # fmt: skip


def test_other_shapes() -> None:
    other = target("c", "d")._replace(shapes={("c",): ((3, 3), (3,)), ("d",): ((4, 3), (3,))})
    with pytest.raises(
        Refused, match=r"weights for 'd' have the shapes \(3, 3\), \(3,\), your model has \(4, 3\)"
    ):
        place_model(STORED, other)
    with pytest.raises(Refused, match=r"your model has \(9, 9\)"):
        place_lists(
            STORED.groups,
            other._replace(shapes={("c",): ((9, 9), (3,)), ("d",): ((3, 3), (3,))}),
            "2.2.4",
            None,
        )


def test_a_layer_without_weights() -> None:
    with pytest.raises(Refused, match="no weights for 'd'"):
        place_leaves({("c",): dense("c")}, target("c", "d"), {}, is_keras_3=True)


def test_the_optimizer_s_state() -> None:
    state = tensors("iteration", "rate", shape=())
    stored = STORED._replace(
        optimizer=state, training={"optimizer": {"class_name": "SGD", "config": {}}}
    )
    sgd = TargetOptimizer("SGD", ((), ()))
    assert place_model(stored, target("c", "d", optimizer=sgd)).optimizer == state
    assert place_model(stored, target("c", "d")).optimizer is None
    for other, why in (
        (TargetOptimizer("Adam", ((), ())), "optimizer is SGD"),
        (TargetOptimizer("SGD", ((),)), "other variables"),
    ):
        placed = place_model(stored, target("c", "d", optimizer=other))
        assert placed.optimizer is None
        assert why in placed.findings[0].message


def test_lists_by_order_are_told() -> None:
    placed = place_lists((Group("fc", dense("fc")),), target("c"), "2.2.4", None)
    assert [f.code for f in placed.findings] == ["placed-by-order"]


def test_state_of_weights_alone() -> None:
    """Set where the class and the shapes are the target's; else a finding says why not."""
    state = tensors("iteration", "rate", shape=()) + tensors("m", "n", shape=(3,))
    sgd = TargetOptimizer("SGD", ((), (), (3,), (3,)))
    names: dict[tuple[str, ...], str | None] = {("c",): "c"}
    for alone, compiled, codes in (
        (StateAlone(state, ("SGD",), is_keras_3=True), sgd, ()),
        (StateAlone(state, (), is_keras_3=True), sgd, ("state-by-shapes",)),
        (StateAlone(state, ("adam_1",), is_keras_3=True), sgd, ("optimizer-dropped",)),
        (StateAlone(state, ("sgd",), is_keras_3=True), None, ("optimizer-dropped",)),
        (StateAlone(state[:3], ("sgd",), is_keras_3=True), sgd, ("optimizer-dropped",)),
        (StateAlone(state[:2], (), is_keras_3=True), sgd, ("never-trained",)),
    ):
        placed = place_leaves(
            {("c",): dense("c")},
            target("c", optimizer=compiled),
            names,
            is_keras_3=True,
            state=alone,
        )
        assert tuple(f.code for f in placed.findings) == codes
        assert (placed.optimizer == state) is (codes in ((), ("state-by-shapes",)))
