"""Nested models that Keras loads with their weights in other places than they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, nested, sequential, tensors
from unnest.core.model import Group, Stored, Tensor
from unnest.core.weight_assignment.find_misplaced_weights import (
    has_state_of_fewer_weights,
    misplaced_nested_model,
    model_with_weights_stored_once,
)


def dense(name: str, **config: Any) -> dict[str, Any]:
    return layer(name, [], **{**DENSE, **config})


FROZEN_LAST = ["a/kernel:0", "a/bias:0", "c/kernel:0", "c/bias:0", "b/kernel:0", "b/bias:0"]
IN_ORDER = ["a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0", "c/kernel:0", "c/bias:0"]


def stored(names: Sequence[str], *more: dict[str, Any], **of_b: Any) -> Stored:
    """A model in which `nested` holds a, a model of b, c, and more."""
    inner = nested(sequential(dense("b", **of_b), name="inner"), [])
    within = nested(sequential(dense("a"), inner, dense("c"), *more, name="nested"), [])
    groups = (
        Group("nested", tuple(tensors(*names))),
        Group("out", tuple(tensors("out/kernel:0", "out/bias:0"))),
    )
    return Stored("model", sequential(within, dense("out"), name="outer"), groups=groups)


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (stored(FROZEN_LAST), "nested"),
        (stored(IN_ORDER), None),
        (
            stored(FROZEN_LAST, trainable=False),
            None,
        ),  # each frozen layer says so: TensorFlow's own Keras
        (stored(FROZEN_LAST[:5]), None),  # a weight is missing, which is said elsewhere
        (stored(["1", "2", "3", "4", "5", "6"]), None),  # names that tell nothing
        (
            stored(FROZEN_LAST, layer("own", [], kind="Own")),
            None,
        ),  # which may have weights, and freeze some
        (
            Stored("weights", groups=stored(FROZEN_LAST).groups),
            None,
        ),  # whoever builds the model freezes it
    ],
    ids=[
        "frozen last",
        "in order",
        "told",
        "incomplete",
        "nameless",
        "custom",
        "weights alone",
    ],
)
def test_misplaced(model: Stored, answer: str | None) -> None:
    assert misplaced_nested_model(model) == answer


KERNEL, BIAS = (4, 3), (3,)
SHAPES = {"kernel": KERNEL, "bias": BIAS}


def with_state(
    *shapes: tuple[int, ...], more: Sequence[dict[str, Any]] = (), **of_b: Any
) -> Stored:
    """A model of two Dense layers, one of them in a model within, and what its optimizer keeps."""
    inner = nested(sequential(dense("b", **of_b), *more, name="inner"), [])
    groups = tuple(
        Group(
            name,
            tuple(
                Tensor(f"{of}/{kind}:0", shape, "<f4", f"/{of}/{kind}")
                for kind, shape in SHAPES.items()
            ),
        )
        for name, of in (("inner", "b"), ("out", "out"))
    )
    state = tuple(Tensor(f"{k}:0", shape, "<f4", f"/state/{k}") for k, shape in enumerate(shapes))
    return Stored(
        "model", sequential(inner, dense("out"), name="outer"), groups=groups, optimizer=state
    )


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (with_state((), KERNEL, BIAS, KERNEL, BIAS, KERNEL, BIAS, KERNEL, BIAS), False),
        (with_state((), KERNEL, BIAS), True),
        (with_state((), KERNEL, BIAS, KERNEL, BIAS, trainable=False), False),
        (with_state((), KERNEL), True),
        (with_state((), (9, 9)), False),  # which optimizer's it is, is unknown
        (with_state(()), False),
        (with_state(), False),
        (
            with_state((), KERNEL, BIAS, more=[layer("own", [], kind="Own")]),
            True,
        ),  # it has no weights here
        (Stored("weights", groups=with_state().groups), False),
    ],
    ids=[
        "of all",
        "of one layer",
        "told",
        "of one weight",
        "of others",
        "a number",
        "none",
        "custom",
        "weights",
    ],
)
def test_states_of_fewer_weights_than_are_trained_when_it_is_loaded(
    model: Stored, answer: bool
) -> None:
    assert has_state_of_fewer_weights(model) is answer


def test_a_state_whose_weights_nobody_can_tell_is_none_of_fewer() -> None:
    """A custom layer may have frozen what the state is not of."""
    model = with_state((), KERNEL, BIAS)
    of_mine = sequential(layer("inner", [], kind="Own"), dense("out"), name="outer")
    assert not has_state_of_fewer_weights(model._replace(architecture=of_mine))


def twice(names: Sequence[str], contents: Any = "model") -> Stored:
    """A model with one within, in which two layers hold a Dense of one name, listed so."""
    held = {"class_name": "Dense", "config": {"name": "held", **DENSE}}
    steps = [layer(name, [], kind="TimeDistributed", layer=held) for name in ("first", "second")]
    within = nested(sequential(*steps, name="nested"), [])
    groups = (Group("nested", tuple(tensors(*names))),)
    return Stored(contents, sequential(within, name="outer"), groups=groups)


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (twice(["held/kernel:0", "held/bias:0"]), "nested"),
        (twice(["held/kernel:0", "held/bias:0"] * 2), None),
        (twice(["other/kernel:0", "other/bias:0"]), None),
        (twice(["held/kernel:0", "held/bias:0"], "weights"), None),  # for whoever builds the model
        (Stored("weights", groups=twice([]).groups), None),
    ],
    ids=["once", "at both places", "of another name", "weights alone", "without a graph"],
)
def test_weights_that_layers_share_and_that_are_listed_once(
    model: Stored, answer: str | None
) -> None:
    assert model_with_weights_stored_once(model) == answer
