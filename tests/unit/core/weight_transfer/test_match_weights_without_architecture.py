"""Weights that a file lists under other names, or in another order, than the caller's model has."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import (
    DENSE,
    NORM,
    functional,
    layer,
    nested,
    sequential,
    source,
    tensors,
)
from unnest.core.architecture.nested_models import LeafPath, leaves
from unnest.core.model import Group, Tensor
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_transfer.match_weights_without_architecture import (
    check_names,
    layer_name,
    leaves_by_name,
    listed_weights,
)
from unnest.core.weight_transfer.target_model import TargetModel


def dense(name: str, size: int = 3) -> tuple[Any, ...]:
    return tensors(f"{name}/kernel:0", f"{name}/bias:0", shape=(size,))


def target(model: dict[str, Any]) -> TargetModel:
    with_weights = [leaf for leaf in leaves(model) if leaf.layer.class_name != "InputLayer"]
    return TargetModel(model, {leaf.path: ((3, 3), (3,)) for leaf in with_weights})


def chain(*names: str) -> TargetModel:
    return target(sequential(*(layer(name, **DENSE) for name in names)))


def placed(groups: list[Group], model: TargetModel) -> dict[str, list[str]]:
    found = listed_weights(groups, model, is_keras_1=False)
    return {"/".join(path): [t.name for t in own] for path, own in found.weights.items()}


def test_groups_stand_for_layers_in_order() -> None:
    groups = [Group(f"dense_{k}", dense(f"dense_{k}")) for k in (3, 4)]
    assert placed(groups, chain("dense", "dense_1")) == {
        "dense": ["dense_3/kernel:0", "dense_3/bias:0"], "dense_1": ["dense_4/kernel:0", "dense_4/bias:0"],
    }  # fmt: skip


def test_names_that_contradict_the_order() -> None:
    groups = [Group(n, dense(n)) for n in ("right", "left")]
    with pytest.raises(Ambiguous, match="'right' stands in the place of 'left'"):
        placed(groups, chain("left", "right"))


def test_other_names_are_told() -> None:
    groups = [Group(n, dense(n)) for n in ("fc1", "fc2")]
    assert listed_weights(groups, chain("one", "two"), is_keras_1=False).by_order == ("one", "two")


def test_a_parallel_model_s_one_list() -> None:
    """Names shifted by one overlap with those of other layers."""
    group = Group("model_1", (*dense("dense_1"), *dense("dense_2")))
    assert placed([group], chain("dense", "dense_1"))["dense_1"] == [
        "dense_2/kernel:0",
        "dense_2/bias:0",
    ]


def test_the_layer_that_does_not_fit_a_list_has_its_name_in_the_message() -> None:
    model = target(sequential(layer("dense", **DENSE), layer("dense_1", **DENSE)))._replace(
        shapes={("dense",): ((3, 3), (3,)), ("dense_1",): ((3, 3), (3,))}
    )
    shapes = {
        "dense_1/kernel:0": (3, 3),
        "dense_1/bias:0": (3,),
        "dense_2/kernel:0": (3, 5),
        "dense_2/bias:0": (5,),
    }
    stored = tuple(Tensor(name, shape, "<f4", name) for name, shape in shapes.items())
    with pytest.raises(Ambiguous) as raised:
        placed([Group("model_1", (*stored, stored[-1]._replace(ref="again")))], model)
    assert str(raised.value).split("; ") == [
        "its 5 weights do not fit the layers of your model",
        "your layer 'dense_1' needs a weight of shape (3, 3), which the file lacks",
        "no layer of yours takes 'dense_2/kernel:0' of the file, of shape (3, 5)",
    ]


def test_a_list_whose_first_layer_was_frozen() -> None:
    group = Group("model_1", (*dense("dense_2"), *dense("dense_1")))
    assert placed([group], chain("dense", "dense_1"))["dense"] == [
        "dense_1/kernel:0",
        "dense_1/bias:0",
    ]


def test_a_list_without_names_of_equal_shapes() -> None:
    """Nothing shows which of the two was frozen."""
    group = Group("model_1", (*dense("p"), *dense("q")))
    with pytest.raises(Ambiguous, match="no name says"):
        placed([group], chain("one", "two"))


def test_a_frozen_model_in_a_list() -> None:
    """All of it stands behind what is trained, its statistics last."""
    inner = nested(sequential(layer("a", **DENSE), layer("n", **NORM), name="inner"), ["x"])
    model = target(
        functional(source(), inner, layer("c", ["inner"], **DENSE), outputs=[("c", 0, 0)])
    )
    norm = tensors("n/gamma:0", "n/beta:0", "n/moving_mean:0", "n/moving_variance:0")
    found = placed([Group("t", (*dense("c"), *dense("a"), *norm))], model)
    assert found["inner/n"] == [t.name for t in norm]
    assert found["c"] == ["c/kernel:0", "c/bias:0"]


def test_a_layer_too_few() -> None:
    with pytest.raises(Ambiguous, match="weights of 3 layers, your model 2 layers"):
        placed([Group(n, dense(n)) for n in "abc"], chain("a", "b"))


def test_keras_s_name_of_another_class() -> None:
    with pytest.raises(Ambiguous, match="'lstm_1' stands where your model has the Dense 'dense'"):
        placed([Group("lstm_1", dense("lstm_1"))], chain("dense"))


def test_names_of_variables() -> None:
    model, path_by_name = leaves_by_name(
        ["dense_5/kernel", "dense_6/kernel"], chain("dense", "dense_1")
    )
    assert path_by_name == {"dense_5": ("dense",), "dense_6": ("dense_1",)}
    assert [leaf.path for leaf in leaves(model)] == [("dense_5",), ("dense_6",)]


def test_names_as_witnesses_of_places() -> None:
    weights: dict[LeafPath, tuple[Any, ...]] = {
        ("left",): dense("right"),
        ("right",): dense("left"),
    }
    assert layer_name(weights["left",]) == "right"
    with pytest.raises(Ambiguous):
        check_names({path: layer_name(own) for path, own in weights.items()}, weights)
    check_names({("left",): "right", ("right",): "left"}, {**weights, ("left",): dense("right", 4)})
