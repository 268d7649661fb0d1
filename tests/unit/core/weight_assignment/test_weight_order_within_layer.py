"""The order in which Keras's own layers make their weights, for files that store names alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, source
from unnest.core.architecture import read
from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.weight_counts_by_config import weight_stems
from unnest.core.weight_assignment.weight_order_within_layer import (
    NamedWeight,
    Variable,
    in_creation_order,
    weight_stem,
)

GRU: dict[str, Any] = {f"{stem}_initializer": {} for stem in ("kernel", "recurrent", "bias")}


def one(kind: str, **config: Any) -> Layer:
    return read(functional(source(), layer("y", ["x"], kind=kind, **config))).layers["y"]


def named(*weights: str, inner: tuple[str, ...] = ()) -> list[NamedWeight]:
    return [NamedWeight(Variable(f"y/{w}", None), inner, w, 0) for w in weights]


@pytest.mark.parametrize(
    ("made_by", "weights", "order"),
    [
        (one("Dense", **DENSE), ["bias", "kernel"], ["kernel", "bias"]),
        (
            one("BatchNormalization", **NORM),
            ["moving_variance", "beta", "moving_mean", "gamma"],
            ["gamma", "beta", "moving_mean", "moving_variance"],
        ),
        (
            one("GRU", **GRU),
            ["bias", "recurrent_kernel", "kernel"],
            ["kernel", "recurrent_kernel", "bias"],
        ),
        (
            one(
                "LSTM", W_regularizer=None, U_regularizer=None, b_regularizer=None
            ),  # Keras 1: a weight per gate
            ["W_o", "b_i", "U_i", "W_i"],
            ["W_i", "U_i", "b_i", "W_o"],
        ),
    ],
)
def test_keras_own_layers(made_by: Layer, weights: list[str], order: list[str]) -> None:
    ordered = in_creation_order(made_by, named(*weights))
    assert ordered is not None
    assert [named.weight for named in ordered] == order


def test_a_class_of_custom_function_or_a_weight_that_no_config_speaks_of_is_not_ordered() -> None:
    assert in_creation_order(one("Mine", **DENSE), named("kernel", "bias")) is None
    assert in_creation_order(one("Dense", **DENSE), named("kernel", "mystery")) is None
    assert in_creation_order(one("Dense", **DENSE), named("kernel", "kernel")) is None


def test_stems() -> None:
    assert weight_stems({**DENSE, "use_bias": False}) == ["kernel"]
    assert weight_stems({"W_regularizer": None, "b_regularizer": None, "bias": False}) == ["W"]
    assert weight_stem("recurrent_kernel", ["kernel", "recurrent"]) == "recurrent"
    assert weight_stem("gamma", ["kernel"]) is None
