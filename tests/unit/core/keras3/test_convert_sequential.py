"""Conversion of a Sequential: to one of today's, or to a functional model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, names, sequential
from tests.unit.core.keras3.layers.making import of_keras_2_2
from tests.unit.core.keras3.test_rule_catalog import CODE
from unnest.core.architecture import read
from unnest.core.keras3 import convert_sequential as sequentials
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.keras3.convert_sequential import build_shape
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.model import Tensor

KERNEL, BIAS = Tensor("k", (4, 3), "<f4", "/k"), Tensor("b", (3,), "<f4", "/b")


def made(
    model: dict[str, Any], context: Context | None = None, **shares: tuple[Tensor, ...]
) -> NewLayer:
    """The model for Keras 3."""
    return sequentials.convert_sequential(read(model), shares, context or of_keras_2_2())


def entries(model: NewLayer) -> list[Any]:
    """The entries of its layers."""
    listed: Any = model.config["layers"]
    return list(listed)


def test_a_sequential_stays_one() -> None:
    """With an input layer for the shape that its first layer kept."""
    context = of_keras_2_2()
    chain = sequential(
        layer("a", **DENSE, trainable=True, batch_input_shape=[None, 4]), layer("b", kind="Flatten")
    )
    model = made(chain, context, a=(KERNEL, BIAS))
    assert (model.name, model.class_name, model.module) == ("seq", "Sequential", "keras")
    assert names(entries(model)) == ["a_input", "a", "b"]
    assert entries(model)[0]["config"] == {
        "batch_shape": [None, 4], "dtype": "float32", "sparse": False, "name": "a_input",
    }  # fmt: skip
    assert [(w.ref, w.owner) for w in model.weights] == [("/k", ("a",)), ("/b", ("a",))]
    assert [(c.rule, c.layers) for c in context.conversions() if c.rule == "input-layer"] == [
        ("input-layer", ("a",))
    ]
    assert context.graph.output_names == {"b": "b"}


@pytest.mark.parametrize(
    ("first", "shape", "listed", "built"),
    [
        ({"batch_input_shape": [None, 4]}, None, ["a_input", "a"], None),
        ({}, [None, 4], ["a"], [None, 4]),
        ({}, None, ["a"], None),
    ],
)
def test_the_shape_of_a_sequential(
    first: dict[str, Any],
    shape: list[int | None] | None,
    listed: list[str],
    built: list[int | None] | None,
) -> None:
    """Kept where it is stored; where none is, none is made up."""
    chain = sequential(layer("a", **DENSE, trainable=True, **first))
    if shape is not None:
        chain["config"]["build_input_shape"] = shape
    model = made(chain)
    assert names(entries(model)) == listed
    assert model.config.get("build_input_shape") == built


@pytest.mark.parametrize(
    ("kind", "config", "dtype"),
    [
        ("Dense", {**DENSE, "dtype": "float16"}, "float16"),
        (
            "Dense",
            {**DENSE, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}},
            "float16",
        ),
        ("Flatten", {"dtype": "int32"}, "int32"),
        ("Embedding", {"input_dim": 9, "output_dim": 3, "dtype": "int32"}, "float32"),
    ],
)
def test_the_dtype_of_a_sequential_s_input(kind: str, config: dict[str, Any], dtype: str) -> None:
    """That of its first layer; an Embedding casts the ids that it is given."""
    model = made(
        sequential(layer("a", kind=kind, **config, trainable=True, batch_input_shape=[None, 4]))
    )
    assert entries(model)[0]["config"]["dtype"] == dtype


def test_a_sequential_that_holds_operations_is_functional() -> None:
    context = of_keras_2_2(masks=True)  # without them the Lambda is a Rescaling
    half = layer("half", kind="Lambda", **CODE, trainable=True, batch_input_shape=[None, 4])
    model = made(sequential(half, layer("b", **DENSE)), context, b=(KERNEL, BIAS))
    assert (model.name, model.class_name) == ("seq", "Functional")
    assert [e["class_name"] for e in entries(model)] == ["InputLayer", "Divide", "Dense"]
    assert ("sequential-graph", ("seq",)) in [(c.rule, c.layers) for c in context.conversions()]
    assert context.graph.output_names == {"b": "b"}


def test_operations_need_a_shape() -> None:
    """A Sequential that stores none cannot become functional."""
    with pytest.raises(CannotConvert, match=r"'seq' \(Sequential\): its input shape is not stored"):
        made(sequential(layer("half", kind="Lambda", **CODE)))


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ({"config": {"build_input_shape": [None, 4]}}, [None, 4]),
        ({"config": {}, "build_config": {"input_shape": [None, 7]}}, [None, 7]),
        (
            {"config": {"build_input_shape": {"class_name": "__tuple__", "items": [None, 4, 4]}}},
            [None, 4, 4],
        ),
        (
            {
                "config": {"build_input_shape": [None, 4]},
                "build_config": {"input_shape": [None, 7]},
            },
            [None, 4],
        ),
        ({"config": {"build_input_shape": "none"}}, None),
        ({"config": {"build_input_shape": [None, "4"]}}, None),
        ({"config": {"build_input_shape": [[None, 4], [None, 5]]}}, None),
        ({"config": [{"class_name": "Dense"}]}, None),
        ({"config": {}}, None),
    ],
)
def test_build_shape(model: dict[str, Any], shape: list[int | None] | None) -> None:
    assert build_shape(model) == shape


def test_a_layer_that_needs_an_argument_of_its_call_is_refused() -> None:
    """A Sequential gives none."""
    settings = {"use_scale": False, "dropout": 0.0, "batch_input_shape": [None, 4, 3]}
    then = replace(of_keras_2_2(), release=(2, 7), is_tf=True)
    assert made(sequential(layer("a", kind="Attention", causal=False, **settings)), then)
    with pytest.raises(CannotConvert, match=r"a Sequential calls it without use_causal_mask"):
        made(sequential(layer("a", kind="Attention", causal=True, **settings)), then)
