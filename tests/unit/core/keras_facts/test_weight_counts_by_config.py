"""How many weights a config promises, whatever its class is called."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, source
from unnest.core.architecture import read
from unnest.core.keras_facts.weight_counts_by_config import (
    WeightCounts,
    cell_weight_counts,
    expected_weight_counts,
    fits_unit_sizes,
    has_initializers,
    initialized_weight_counts,
    must_have_weights,
    trained_count,
    unit_sizes,
)

RULES: dict[str, Any] = {"W_regularizer": None, "b_regularizer": None}
SEPARABLE: dict[str, Any] = {
    **{f"{part}_initializer": {} for part in ("depthwise", "pointwise", "kernel", "bias")},
    **{f"{part}_regularizer": None for part in ("depthwise", "pointwise", "kernel", "bias")},
}
LSTM = {
    f"{stem}_{key}": None
    for stem in ("kernel", "recurrent", "bias")
    for key in ("initializer", "regularizer")
}


@pytest.mark.parametrize(
    ("config", "promise"),
    [
        (DENSE, WeightCounts(2, 0)),
        ({**DENSE, "use_bias": False}, WeightCounts(1, 0)),
        (NORM, WeightCounts(2, 2)),
        ({**NORM, "renorm": False}, WeightCounts(2, 2)),
        ({**NORM, "renorm": True}, None),  # how many statistics it has is the release's
        ({**NORM, "scale": False}, WeightCounts(1, 2)),
        ({**NORM, "scale": False, "center": False}, WeightCounts(0, 2)),
        (SEPARABLE, WeightCounts(3, 0)),
        (LSTM, WeightCounts(3, 0)),
        ({"name": "rnn", "cell": {"class_name": "LSTMCell", "config": LSTM}}, WeightCounts(3, 0)),
        ({"layer": {"class_name": "Dense", "config": DENSE}}, WeightCounts(2, 0)),
        ({"alpha_initializer": {}}, WeightCounts(1, 0)),  # no rules at all: what it has is trained
        ({**DENSE, "equation": "ab,bc->ac", "bias_axes": None}, WeightCounts(1, 0)),
        ({**DENSE, "equation": "ab,bc->ac", "bias_axes": "c"}, WeightCounts(2, 0)),
        ({"rate": 0.5}, None),
        ("a Lambda's", None),
    ],
)
def test_expected(config: Any, promise: WeightCounts | None) -> None:
    assert initialized_weight_counts(config) == promise


def test_an_initializers_own_config_promises_nothing() -> None:
    inner: dict[str, Any] = {"class_name": "Mine", "config": {"scale_initializer": {}}}
    assert initialized_weight_counts({**DENSE, "kernel_initializer": inner}) == WeightCounts(2, 0)


@pytest.mark.parametrize(
    ("config", "speaks", "needs"),
    [
        (DENSE, True, True),
        ({"init": "glorot_uniform"}, True, True),  # Keras 1
        ({"gamma_init": "one"}, True, True),
        ({**NORM, "center": False}, True, True),
        ({**NORM, "renorm": True}, True, True),
        ({"initial": 3}, False, False),
    ],
)
def test_what_speaks_of_initial_weights(config: dict[str, Any], speaks: bool, needs: bool) -> None:
    assert has_initializers(config) is speaks
    assert must_have_weights(config) is needs


def test_sizes_that_must_show_in_shapes() -> None:
    assert list(unit_sizes({"units": 3, "filters": True, "nb_filter": 0, "output_dim": "5"})) == [3]
    assert fits_unit_sizes({"units": 3}, [(4, 3), (12,)])
    assert not fits_unit_sizes({"units": 3}, [(4, 4)])
    assert fits_unit_sizes({"units": 3}, [])


GRU: dict[str, Any] = {f"{stem}_initializer": {} for stem in ("kernel", "recurrent", "bias")}


@pytest.mark.parametrize(
    ("kind", "config", "promise"),
    [
        ("Normalization", {"axis": -1}, WeightCounts(0, 3)),
        ("Normalization", {"axis": -1, "mean": None, "variance": None}, WeightCounts(0, 3)),
        ("Normalization", {"axis": -1, "mean": 0.5, "variance": 2.0}, None),
        ("Mine>Normalization", {"axis": -1}, None),
        (
            "Discretization",
            {"trainable": True, "bin_boundaries": None, "num_bins": 3},
            WeightCounts(0, 1),
        ),
        (
            "Discretization",
            {"trainable": True, "bin_boundaries": [0.0, 1.0], "num_bins": None},
            None,
        ),
        ("Discretization", {"bin_boundaries": None, "num_bins": 3}, None),  # Keras 3
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 3, "use_bias": False},
            WeightCounts(4, 0),
        ),
        ("MultiHeadAttention", {"num_heads": 2, "d_model": 3}, None),  # a custom class
        ("AdditiveAttention", {"use_scale": True}, WeightCounts(1, 0)),
        ("AdditiveAttention", {}, None),  # a custom class: Keras's stores `use_scale`
        (
            "ReversibleEmbedding",
            {"embeddings_initializer": None, "tie_weights": False},
            WeightCounts(2, 0),
        ),
        ("BatchNormalization", NORM, WeightCounts(2, 2)),
        ("BatchNormalization", {**NORM, "renorm": True}, None),
        (
            "BatchNormalization",
            {"gamma_regularizer": None, "beta_regularizer": None},
            WeightCounts(2, 2),
        ),  # Keras 1
        (
            "TimeDistributed",
            {"layer": {"class_name": "Normalization", "config": {"axis": -1}}},
            WeightCounts(0, 3),
        ),
        ("TimeDistributed", {"layer": {"class_name": "Mine", "config": {"axis": -1}}}, None),
        ("Bidirectional", {"layer": {"class_name": "GRU", "config": GRU}}, WeightCounts(6, 0)),
    ],
)
def test_promised(kind: str, config: dict[str, Any], promise: WeightCounts | None) -> None:
    assert expected_weight_counts(kind, config) == promise


@pytest.mark.parametrize(
    ("kind", "config", "count", "trained"),
    [
        ("Dense", DENSE, 2, 2),
        ("BatchNormalization", NORM, 4, 2),
        ("BatchNormalization", {**NORM, "trainable": False}, 4, 0),
        ("BatchNormalization", {**NORM, "scale": False}, 3, 1),
        ("BatchNormalization", NORM, 3, None),
        ("Mine", {"strength": 2}, 3, None),
        ("Mine", {"strength": 2, "trainable": False}, 3, 0),
        ("Bidirectional", {"layer": {"class_name": "GRU", "config": DENSE}}, 4, 4),
        ("Dense", RULES, 2, 2),
        ("BatchNormalization", {"gamma_regularizer": None, "beta_regularizer": None}, 4, 2),
        ("LSTM", RULES, 12, None),
    ],
    ids=["dense", "norm", "frozen", "without gamma", "one is missing", "custom", "custom, frozen",
         "both ways", "dense of Keras 1", "norm of Keras 1", "gates of Keras 1"],
)  # fmt: skip
def test_the_first_so_many(
    kind: str, config: dict[str, Any], count: int, trained: int | None
) -> None:
    asked = read(functional(source(), layer("y", ["x"], kind=kind, **config))).layers["y"]
    assert trained_count(asked, count) == trained


CELL: dict[str, Any] = {"class_name": "LSTMCell", "config": {"units": 3, **LSTM}}
CUSTOM: dict[str, Any] = {"class_name": "Mine", "config": {"units": 3}}


@pytest.mark.parametrize(
    ("cells", "total", "counts"),
    [
        ([CELL, CELL], 6, [3, 3]),
        ([CELL, CUSTOM, CELL], 8, [3, 2, 3]),
        ([CUSTOM, CELL], 3, [0, 3]),
        ([CUSTOM, CUSTOM], 0, [0, 0]),
        ([CUSTOM, CUSTOM], 4, None),
        ([CELL, CELL], 7, None),
        ([CUSTOM, CELL], 2, None),
    ],
)
def test_cells_of_a_stack(
    cells: list[dict[str, Any]], total: int, counts: list[int] | None
) -> None:
    assert cell_weight_counts(cells, total) == counts
