"""Activation, Softmax, PReLU and ThresholdedReLU: what each computed then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import made, one, refuses


@pytest.mark.parametrize(
    ("kind", "config", "more", "new_kind", "new"),
    [
        ("Activation", {"activation": "relu"}, {}, "Activation", {"activation": "relu"}),
        ("Activation", {"activation": {"class_name": "ReLU", "config": {"name": "r", "max_value": 6.0}}}, {}, "ReLU",
         {"max_value": 6.0, "name": "l"}),
        ("Softmax", {"axis": 1}, {}, "Softmax", {"axis": 1}),
        ("Softmax", {"axis": 1}, {"masks": True}, "Softmax", {"axis": 1}),
        ("Softmax", {"axis": -1}, {"masks": True, "release": (2, 2, 4)}, "Activation", {"activation": "softmax"}),
        ("ThresholdedReLU", {"theta": 0.5}, {}, "ReLU", {"threshold": 0.5, "max_value": None}),
        ("PReLU", {"alpha_initializer": "zeros", "shared_axes": [1, 2]}, {}, "PReLU", {"shared_axes": [1, 2]}),
    ],
)  # fmt: skip
def test_class_and_config(
    kind: str, config: dict[str, Any], more: dict[str, Any], new_kind: str, new: dict[str, Any]
) -> None:
    layer = one(made(kind, config, **more))
    assert (layer.class_name, {key: layer.config[key] for key in new}) == (new_kind, new)


def test_axes_that_keras_1_does_not_store() -> None:
    """A weight of size 1 along an axis is shared there."""
    layer = one(made("PReLU", {"alpha_initializer": "zeros"}, (1, 1, 3)))
    assert layer.config["shared_axes"] == [1, 2]
    assert one(made("PReLU", {"alpha_initializer": "zeros"}, (4, 3))).config["shared_axes"] is None


def test_a_softmax_of_then_along_another_axis_than_the_last() -> None:
    """Where a mask may come, which today's heeds."""
    assert one(made("Softmax", {"axis": 1}, release=(2, 2, 4))).class_name == "Softmax"
    refuses("Softmax", {"axis": 1}, "heeds a mask in Keras 3", masks=True, release=(2, 2, 4))
