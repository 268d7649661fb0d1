"""Nested models that Keras loads with their weights in other places than they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, nested, sequential, tensors
from unnest.core.assign.loading_order import misplaced
from unnest.core.model import Group, Stored


def dense(name: str, **config: Any) -> dict[str, Any]:
    return layer(name, [], **{**DENSE, **config})


FROZEN_LAST = ["a/kernel:0", "a/bias:0", "c/kernel:0", "c/bias:0", "b/kernel:0", "b/bias:0"]
IN_ORDER = ["a/kernel:0", "a/bias:0", "b/kernel:0", "b/bias:0", "c/kernel:0", "c/bias:0"]


def stored(names: Sequence[str], *more: dict[str, Any], **of_b: Any) -> Stored:
    """A model in which `nested` holds a, a model of b, c, and more."""
    inner = nested(sequential(dense("b", **of_b), name="inner"), [])
    within = nested(sequential(dense("a"), inner, dense("c"), *more, name="nested"), [])
    groups = (Group("nested", tuple(tensors(*names))), Group("out", tuple(tensors("out/kernel:0", "out/bias:0"))))
    return Stored("model", sequential(within, dense("out"), name="outer"), groups=groups)


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        (stored(FROZEN_LAST), "nested"),
        (stored(IN_ORDER), None),
        (stored(FROZEN_LAST, trainable=False), None),  # each frozen layer says so: TensorFlow's own Keras
        (stored(FROZEN_LAST[:5]), None),  # a weight is missing, which is said elsewhere
        (stored(["1", "2", "3", "4", "5", "6"]), None),  # names that tell nothing
        (stored(FROZEN_LAST, layer("own", [], kind="Own")), None),  # which may have weights, and freeze some
        (Stored("weights", groups=stored(FROZEN_LAST).groups), None),  # whoever builds the model freezes it
    ],
    ids=["frozen last", "in order", "told", "incomplete", "nameless", "somebody's own", "weights alone"],
)
def test_misplaced(model: Stored, answer: str | None) -> None:
    assert misplaced(model) == answer
