"""Arguments that make two layers of a class compute different things."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.weight_transfer.compare_configs import config_difference


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ({"units": 3, "name": "a", "trainable": True}, {"units": 3, "name": "b", "trainable": False}, None),
        ({"kernel_initializer": "zeros"}, {"kernel_initializer": {"class_name": "Ones", "config": {}}}, None),
        ({"strides": [1, 1]}, {"strides": (1, 1)}, None),
        ({"strides": [1, 1]}, {"strides": [2, 2]}, "strides [1, 1] and [2, 2]"),
        ({"axis": -1}, {"axis": [3]}, None),
        ({"axis": 1}, {"axis": 3}, "axis 1 and 3"),
        ({"padding": "same"}, {"padding": "valid"}, "padding 'same' and 'valid'"),
        ({"implementation": 1, "gone": 3}, {"implementation": 2}, None),
        (
            {"layer": {"class_name": "LSTM", "config": {"activation": "tanh", "name": "a"}}},
            {"layer": {"class_name": "LSTM", "config": {"activation": "relu", "name": "a"}}},
            "layer LSTM and LSTM",
        ),
        ({"interpolation": "nearest"}, {"interpolation": "bilinear"}, "interpolation 'nearest' and 'bilinear'"),
    ],
)  # fmt: skip
def test_difference(one: dict[str, Any], other: dict[str, Any], told: str | None) -> None:
    assert config_difference(one, other, activated=False) == told


def test_an_activation_that_is_compared_elsewhere() -> None:
    assert config_difference({"activation": "relu"}, {"activation": "tanh"}, activated=True) is None
    assert (
        config_difference({"activation": "relu"}, {"activation": "tanh"}, activated=False)
        == "activation 'relu' and 'tanh'"
    )
