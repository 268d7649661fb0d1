"""Compile settings under the template's output names, optimizer state in another order of weights."""

from __future__ import annotations

import pytest

from tests.unit.core.build import tensors
from unnest.core.architecture import compile_config
from unnest.core.model import JsonObject, Tensor


def test_losses_metrics_and_weights_by_output_follow_the_merge_layers_new_names() -> None:
    training: JsonObject = {
        "loss": {"concatenate_1": "mse", "b": "mae"},
        "loss_weights": {"concatenate_1": 0.5},
        "metrics": [{"class_name": "Mean", "config": {"name": "concatenate_1_mae"}}],
        "optimizer_config": {"class_name": "Adam", "config": {"concatenate_1": 1}},
    }
    assert compile_config.with_output_names(training, {"concatenate_1": "a", "b": "b"}) == {
        "loss": {"a": "mse", "b": "mae"},
        "loss_weights": {"a": 0.5},
        "metrics": [{"class_name": "Mean", "config": {"name": "a_mae"}}],
        "optimizer_config": {"class_name": "Adam", "config": {"concatenate_1": 1}},
    }


def test_nothing_to_rename_is_the_very_object() -> None:
    training: JsonObject = {"loss": "mse"}
    assert compile_config.with_output_names(training, {"a": "a"}) is training
    assert compile_config.with_output_names(None, {"a": "b"}) is None


@pytest.mark.parametrize(
    ("training", "name"),
    [
        ({"optimizer_config": {"class_name": "Adam", "config": {}}}, "Adam"),
        ({"optimizer": {"class_name": "SGD"}}, "SGD"),
        ({"optimizer": "adam"}, "adam"),
        ({"loss": "mse"}, None),
        (None, None),
    ],
)
def test_the_optimizers_class_wherever_the_version_puts_it(
    training: JsonObject | None, name: str | None
) -> None:
    assert compile_config.optimizer_class(training) == name


def test_output_names_that_repeat_are_numbered() -> None:
    assert compile_config.output_names(["a", "b", "a", "a"]) == ["a", "b", "a_1", "a_2"]
    assert compile_config.output_names(["a", "a_1", "a"]) == ["a", "a_1", "a_2"]


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
    moved = compile_config.reordered(slots(*state), WEIGHTS, WEIGHTS[::-1])
    assert moved is not None
    assert [t.name for t in moved] == after


def test_state_whose_layout_is_not_clear_is_not_guessed() -> None:
    alike = tensors("a", "b")
    assert (
        compile_config.reordered(tensors("m0", "v0", "m1", "v1"), alike, alike[::-1]) is None
    )  # either layout fits
    assert (
        compile_config.reordered(slots("m0", "m1", "m0"), WEIGHTS, WEIGHTS[::-1]) is None
    )  # one too many
    assert (
        compile_config.reordered(slots("iter", "m0", "m1"), WEIGHTS, WEIGHTS[:1]) is None
    )  # other weights
