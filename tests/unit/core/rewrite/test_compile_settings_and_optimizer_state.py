"""Compile settings under the template's output names, optimizer state in another order of weights."""

from __future__ import annotations

import pytest

from tests.unit.core.build import functional, layer, source, tensors
from unnest.core.architecture import read
from unnest.core.model import JsonObject, Tensor
from unnest.core.rewrite.compile_settings_and_optimizer_state import (
    output_names,
    rename_outputs,
    reorder_optimizer_state,
    reorder_outputs,
)


def test_losses_metrics_and_weights_by_output_follow_the_merge_layers_new_names() -> None:
    training: JsonObject = {
        "loss": {"concatenate_1": "mse", "b": "mae"},
        "loss_weights": {"concatenate_1": 0.5},
        "metrics": [{"class_name": "Mean", "config": {"name": "concatenate_1_mae"}}],
        "optimizer_config": {"class_name": "Adam", "config": {"concatenate_1": 1}},
    }
    assert rename_outputs(training, {"concatenate_1": "a", "b": "b"}) == {
        "loss": {"a": "mse", "b": "mae"},
        "loss_weights": {"a": 0.5},
        "metrics": [{"class_name": "Mean", "config": {"name": "a_mae"}}],
        "optimizer_config": {"class_name": "Adam", "config": {"concatenate_1": 1}},
    }


def test_lists_by_output_follow_the_order_of_the_outputs() -> None:
    """Of metrics only lists of lists are by output; an output that the parallel model had not is not trained."""
    training: JsonObject = {
        "loss": ["mae", "mse"],
        "loss_weights": [1.0, 0.5],
        "metrics": ["mse", "mae"],
        "weighted_metrics": [["a"], []],
        "sample_weight_mode": None,
    }
    assert reorder_outputs(training, (2, 0), 3) == {
        "loss": ["mse", None, "mae"],
        "loss_weights": [0.5, 1.0, 1.0],
        "metrics": ["mse", "mae"],
        "weighted_metrics": [[], [], ["a"]],
        "sample_weight_mode": None,
    }
    by_name: JsonObject = {"loss": {"a": "mse"}, "loss_weights": [1.0]}
    assert reorder_outputs(by_name, (1, 0), 2) == by_name
    assert reorder_outputs(training, (0, 1), 2) is training
    assert reorder_outputs(None, (1, 0), 2) is None


def test_nothing_to_rename_is_the_very_object() -> None:
    training: JsonObject = {"loss": "mse"}
    assert rename_outputs(training, {"a": "a"}) is training
    assert rename_outputs(None, {"a": "b"}) is None


def test_output_names_that_repeat_are_numbered() -> None:
    def names(*outputs: str) -> list[str]:
        layers = [source(), *(layer(name, ["x"]) for name in dict.fromkeys(outputs))]
        return output_names(read(functional(*layers, outputs=[(name, 0, 0) for name in outputs])))

    assert names("a", "b", "a", "a") == ["a", "b", "a_1", "a_2"]
    assert names("a", "a_1", "a") == ["a", "a_1", "a_2"]


def test_a_model_that_returns_a_mapping_goes_by_its_keys() -> None:
    model = functional(source(), layer("dense_5", ["x"]), layer("dense_6", ["x"]))
    model["config"]["output_layers"] = {"logit": ["dense_5", 0, 0], "emb": ["dense_6", 0, 0]}
    assert output_names(read(model)) == ["emb", "logit"]


def slots(*names: str) -> tuple[Tensor, ...]:
    """Slot variables: `m0` has the shape of weight 0, `m1` that of weight 1; what has no digit is a scalar."""
    shapes = {"0": (2, 3), "1": (3,)}
    return tuple(Tensor(name, shapes.get(name[-1], ()), "<f4", name) for name in names)


WEIGHTS = (*tensors("w", shape=(2, 3)), Tensor("b", (3,), "<f4", "/b"))


@pytest.mark.parametrize(
    ("state", "after"),
    [
        (["iter", "m0", "m1", "v0", "v1"], ["iter", "m1", "m0", "v1", "v0"]),  # slot by slot
        (["iter", "m0", "v0", "m1", "v1"], ["iter", "m1", "v1", "m0", "v0"]),  # weight by weight
        (["iter", "rate", "m0", "m1"], ["iter", "rate", "m1", "m0"]),  # more scalars
        (["iter"], ["iter"]),
    ],
)
def test_state_follows_its_weights(state: list[str], after: list[str]) -> None:
    moved = reorder_optimizer_state(slots(*state), WEIGHTS, WEIGHTS[::-1])
    assert moved is not None
    assert [t.name for t in moved] == after


def test_state_whose_layout_is_not_clear_is_not_guessed() -> None:
    alike = tensors("a", "b")
    # Either layout fits.
    assert reorder_optimizer_state(tensors("m0", "v0", "m1", "v1"), alike, alike[::-1]) is None
    # One too many.
    assert reorder_optimizer_state(slots("m0", "m1", "m0"), WEIGHTS, WEIGHTS[::-1]) is None
    # Other weights.
    assert reorder_optimizer_state(slots("iter", "m0", "m1"), WEIGHTS, WEIGHTS[:1]) is None
