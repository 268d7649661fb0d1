"""Metrics that Keras 2 made objects of names, as these names."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.metric_objects_to_names import metric_by_name


def wrapped(name: str, function: str) -> dict[str, Any]:
    """A MeanMetricWrapper as Keras 2 stores it."""
    return {"class_name": "MeanMetricWrapper", "config": {"name": name, "fn": function}}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("mae", "mae"),
        (wrapped("mae", "mean_absolute_error"), "mae"),
        (wrapped("boxes_mae", "mean_absolute_error"), "mae"),
        (wrapped("boxesmae", "mean_absolute_error"), ...),
        (wrapped("mae", "mean_squared_error"), ...),
        (wrapped("accuracy", "binary_accuracy"), "accuracy"),
        (wrapped("acc", "mine"), ...),
        (wrapped("mine", "mine"), "mine"),
        ([wrapped("mse", "mean_squared_error"), "mae"], ["mse", "mae"]),
        ([wrapped("mse", "mine"), "mae"], ...),
        ({"a": wrapped("mse", "mean_squared_error")}, {"a": "mse"}),
        ({"a": wrapped("mse", "mine")}, ...),
        (
            {"module": "keras.metrics", "class_name": "AUC"},
            {"module": "keras.metrics", "class_name": "AUC"},
        ),
    ],
)
def test_the_name(value: object, name: object) -> None:
    """By function and name together; an output's name may stand before it."""
    assert metric_by_name(value) == name
