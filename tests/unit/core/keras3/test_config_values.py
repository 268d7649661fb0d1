"""Initializers, regularizers, constraints and dtypes of older Kerases, as Keras 3 writes them."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.config_values import named, plain


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        ({"class_name": "__tuple__", "items": [1, {"class_name": "TensorShape", "items": [2]}]}, [1, [2]]),
        ({"type": "ndarray", "value": [1.0, 2.0]}, [1.0, 2.0]),
        ({"type": "ndarray", "value": [1.0], "more": 1}, {"type": "ndarray", "value": [1.0], "more": 1}),
        ({"class_name": "Zeros", "config": {}, "shared_object_id": 7}, {"class_name": "Zeros", "config": {}}),
        ((1, (2, 3)), [1, [2, 3]]),
        ("text", "text"),
    ],
)
def test_plain(value: Any, bare: Any) -> None:
    assert plain(value) == bare


def test_an_array_of_keras_3_keeps_its_clothes() -> None:
    array = {"class_name": "__numpy__", "config": {"value": [1], "dtype": "int64"}}
    assert plain(array) is array


@pytest.mark.parametrize(
    ("value", "name", "config"),
    [
        ("glorot_uniform", "glorot_uniform", {}),
        ({"class_name": "Zeros", "config": {"dtype": "float32"}}, "Zeros", {"dtype": "float32"}),
        ({"name": "WeightRegularizer", "l1": 0.1}, "WeightRegularizer", {"l1": 0.1}),
        ({"class_name": "function", "config": "mine", "registered_name": "function"}, "mine", {}),
        ({"class_name": "Mine", "config": {}, "registered_name": "package>Mine"}, "package>Mine", {}),
        ({"class_name": "Zeros", "config": None, "registered_name": None}, "Zeros", {}),
        (3, "3", {}),
    ],
)
def test_named(value: Any, name: str, config: dict[str, Any]) -> None:
    assert named(value) == (name, config)
