"""Keras's own classes by the names of today."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_class,
    operation_module,
    record_of,
)
from unnest.core.layers.catalog import layer_record


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        ("BatchNormalizationV1", "BatchNormalization"),
        ("LSTMV2", "LSTM"),
        ("Model", "Functional"),
        ("MineV2", "MineV2"),  # a custom class keeps its name
        ("Dense", "Dense"),
    ],
)
def test_today(stored: str, name: str) -> None:
    assert current_class_name(stored) == name


@pytest.mark.parametrize(
    ("entry", "module"),
    [
        ({"class_name": "NotEqual", "config": {"name": "x"}}, "keras.src.ops.numpy"),
        ({"class_name": "Relu", "config": {}}, "keras.src.ops.nn"),
        ({"class_name": "Add", "config": {"name": "x"}}, "keras.src.ops.numpy"),
        ({"class_name": "Add", "config": {"name": "x", "trainable": False}}, None),
        ({"class_name": "Softmax", "config": {"axis": -1, "dtype": "float32"}}, None),
        ({"class_name": "Cast", "config": {"dtype": "float32"}}, "keras.src.ops.core"),
        ({"class_name": "InputLayer", "config": {"batch_shape": [None, 3]}}, None),
        ({"class_name": "Mine", "config": {}}, None),
        ({"class_name": "Add", "config": None}, None),
        ({"class_name": "Add", "config": {}, "module": "keras.layers"}, None),
        (
            {"class_name": "Add", "config": {}, "module": "keras.src.ops.numpy"},
            "keras.src.ops.numpy",
        ),
        ({"class_name": "Later", "config": {}, "module": "keras.ops"}, "keras.ops"),
    ],
)
def test_the_module_of_an_operation(entry: dict[str, Any], module: str | None) -> None:
    assert operation_module(entry) == module


def test_names_that_layers_bear_too() -> None:
    """Of these alone the config has to tell."""
    assert {name for name in MODULE_BY_CLASS if layer_record(name).exported} == {
        "Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Reshape", "Softmax", "Subtract",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "config", "is_own"),
    [
        ("Discretization", {"bins": [1.0]}, True),  # TensorFlow 2.3 to 2.5
        ("Discretization", {"bin_boundaries": None}, True),
        ("Discretization", {"size": 3}, False),
        ("MultiHeadAttention", {"num_heads": 2, "key_dim": 2}, True),
        ("MultiHeadAttention", {"head_num": 2}, False),
        ("RMSNormalization", {"axis": -1, "epsilon": 1e-6}, True),
        ("RMSNormalization", {"eps": 1e-6}, False),
        ("Dense", {}, True),
    ],
)
def test_a_config_without_what_keras_always_stores_is_of_a_custom_class(
    kind: str, config: dict[str, Any], is_own: bool
) -> None:
    assert (record_of(kind, config).name == kind) == is_own
    assert is_keras_class(kind, {"class_name": kind, "config": config}) == is_own
