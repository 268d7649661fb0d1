"""Initializers, regularizers, constraints and dtypes of older Kerases, as Keras 3 writes them."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.convert_config_values import (
    class_and_config,
    constraint,
    dtype,
    initializer,
    plain_json,
    regularizer,
)


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        (
            {"class_name": "__tuple__", "items": [1, {"class_name": "TensorShape", "items": [2]}]},
            [1, [2]],
        ),
        ({"type": "ndarray", "value": [1.0, 2.0]}, [1.0, 2.0]),
        (
            {"type": "ndarray", "value": [1.0], "more": 1},
            {"type": "ndarray", "value": [1.0], "more": 1},
        ),
        (
            {"class_name": "Zeros", "config": {}, "shared_object_id": 7},
            {"class_name": "Zeros", "config": {}},
        ),
        ([1, [2, 3]], [1, [2, 3]]),
        ("text", "text"),
    ],
)
def test_plain(value: Any, bare: Any) -> None:
    assert plain_json(value) == bare


def test_an_array_of_keras_3_keeps_its_clothes() -> None:
    array: dict[str, Any] = {"class_name": "__numpy__", "config": {"value": [1], "dtype": "int64"}}
    assert plain_json(array) is array


@pytest.mark.parametrize(
    ("value", "name", "config"),
    [
        ("glorot_uniform", "glorot_uniform", {}),
        ({"class_name": "Zeros", "config": {"dtype": "float32"}}, "Zeros", {"dtype": "float32"}),
        ({"name": "WeightRegularizer", "l1": 0.1}, "WeightRegularizer", {"l1": 0.1}),
        ({"class_name": "function", "config": "mine", "registered_name": "function"}, "mine", {}),
        (
            {"class_name": "Mine", "config": {}, "registered_name": "package>Mine"},
            "package>Mine",
            {},
        ),
        ({"class_name": "Zeros", "config": None, "registered_name": None}, "Zeros", {}),
        (3, "3", {}),
    ],
)
def test_named(value: Any, name: str, config: dict[str, Any]) -> None:
    assert class_and_config(value) == (name, config)


def built_in(module: str, kind: str, **config: Any) -> dict[str, Any]:
    """An object of Keras 3's own."""
    return {"module": module, "class_name": kind, "config": config, "registered_name": None}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        ("glorot_uniform", built_in("keras.initializers", "GlorotUniform")),
        ("zero", built_in("keras.initializers", "Zeros")),
        (
            {"class_name": "GlorotUniformV2", "config": {"seed": 3, "dtype": "float32"}},
            built_in("keras.initializers", "GlorotUniform", seed=3),
        ),
        (
            {"class_name": "RandomUniform", "config": {"minval": 0, "maxval": None, "seed": None}},
            built_in("keras.initializers", "RandomUniform", minval=0, maxval=1, seed=None),
        ),
    ],
)
def test_initializer(value: Any, written: Any) -> None:
    context = Context()
    assert initializer(value, "l", context) == written
    assert context.notes.applied == {}


def test_an_initializer_of_custom_function_becomes_zeros_and_is_told() -> None:
    context = Context()
    assert initializer({"class_name": "Mine", "config": {"a": 1}}, "l", context) == built_in(
        "keras.initializers", "Zeros"
    )
    assert context.notes.applied == {("initializer", "Mine"): ["l"]}


def test_rules_on_weights() -> None:
    context = Context()
    assert regularizer(
        {"name": "WeightRegularizer", "l1": 0.0, "l2": 0.5}, "l", context
    ) == built_in("keras.regularizers", "L1L2", l1=0.0, l2=0.5)
    assert constraint({"name": "MaxNorm", "m": 2}, "l", context) == built_in(
        "keras.constraints", "MaxNorm", max_value=2
    )
    assert constraint(
        {"name": "MinMaxNorm", "low": 0.5, "high": 2, "rate": 1.0, "axis": 0}, "l", context
    ) == built_in("keras.constraints", "MinMaxNorm", min_value=0.5, max_value=2, rate=1.0, axis=0)
    assert context.notes.custom == {}
    own = regularizer({"class_name": "package>Mine", "config": {"a": 1}}, "l", context)
    assert own == {
        "module": None,
        "class_name": "Mine",
        "config": {"a": 1},
        "registered_name": "package>Mine",
    }
    assert context.notes.custom == {"Mine": "regularizer of 'l'"}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (
            {"class_name": "RadialConstraint", "config": {}},
            "Keras 3 has no such constraint or regularizer",
        ),
        ({"class_name": "MaxNorm", "config": {"depth": 1}}, "its argument 'depth' is not known"),
        (
            {"c": 0.4},
            r"'l' \(constraint\): the file holds its arguments \(c\) and does not name its class",
        ),  # Keras 1
    ],
)
def test_rules_that_keras_3_has_not(value: Any, why: str) -> None:
    with pytest.raises(CannotConvert, match=why):
        constraint(value, "l", Context())


@pytest.mark.parametrize(
    ("value", "name", "noted"),
    [
        ("float16", "float16", False),
        (None, None, False),
        ({"class_name": "Policy", "config": {"name": "mixed_float16"}}, "mixed_float16", True),
        ({"class_name": "Policy", "config": {"name": "_infer"}}, None, True),
    ],
)
def test_dtype(value: Any, name: str | None, noted: bool) -> None:
    context = Context()
    assert dtype(value, "l", context) == name
    assert bool(context.notes.applied) == noted


@pytest.mark.parametrize("value", [{"class_name": "LossScalePolicy", "config": {}}, 16])
def test_what_is_no_dtype(value: Any) -> None:
    with pytest.raises(CannotConvert):
        dtype(value, "l", Context())
