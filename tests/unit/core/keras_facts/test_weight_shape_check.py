"""Shapes against configs: what cannot be a layer's weights, and what these rules leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.architecture.graph import Layer
from unnest.core.keras_facts.weight_shape_check import (
    WeightShape,
    name_contradiction,
    shape_contradiction,
)


def said(
    kind: str, config: dict[str, Any], *shapes: WeightShape, stored: dict[str, Any] | None = None
) -> str | None:
    entry = {"class_name": kind, "config": config, **(stored or {})}
    return shape_contradiction(Layer("l", kind, config, entry, ()), shapes)


def cell(kind: str, units: int) -> dict[str, Any]:
    """An entry of a recurrent cell, as a config holds it."""
    rules = dict.fromkeys(
        ("kernel_initializer", "recurrent_initializer", "bias_initializer"), "zeros"
    )
    return {"class_name": kind, "config": {"units": units, "use_bias": True, **rules}}


@pytest.mark.parametrize(
    ("kind", "config", "shapes"),
    [
        ("Dense", {"units": 5}, [(4, 5), (5,)]),
        ("Dense", {"units": 5, "use_bias": False}, [(4, 5)]),
        ("Conv2D", {"filters": 8, "kernel_size": [3, 1]}, [(3, 1, 2, 8), (8,)]),
        ("Conv1D", {"filters": 8, "kernel_size": 3}, [(3, 2, 8)]),
        ("Embedding", {"input_dim": 10, "output_dim": 3}, [(10, 3)]),
        ("BatchNormalization", {"axis": -1}, [(6,), (6,), (6,), (6,)]),
        ("BatchNormalization", {"axis": [1, 2]}, [(1, 3, 4, 1)] * 4),
        ("BatchNormalization", {"axis": [3], "renorm": True}, [(6,), (6,), ()]),
        ("BatchNormalization", {"axis": [4], "virtual_batch_size": 2}, [(1, 1, 1, 1, 4)] * 4),
        (
            "MultiHeadAttention",
            {"num_heads": 2, "key_dim": 3},  # key, output, query, value: the order of a `.keras`
            [(4, 2, 3), (2, 3), (2, 3, 4), (4,), (4, 2, 3), (2, 3), (4, 2, 3), (2, 3)],
        ),
        ("RNN", {"cell": cell("LSTMCell", 2)}, [(3, 8), (2, 8), (8,)]),
        ("RNN", {"cell": cell("Mine", 2)}, [(3, 7), (2, 8)]),
        (
            "StackedRNNCells",
            {"cells": [cell("LSTMCell", 2), cell("SimpleRNNCell", 4)]},
            [(3, 8), (2, 8), (8,), (2, 4), (4, 4), (4,)],
        ),
        (
            "StackedRNNCells",  # as a `.keras` has them, by the names of the cells
            {"cells": [cell("SimpleRNNCell", 4), cell("LSTMCell", 2)]},
            [(4, 8), (2, 8), (8,), (3, 4), (4, 4), (4,)],
        ),
        ("StackedRNNCells", {"cells": [cell("Mine", 2), cell("LSTMCell", 2)]}, [(3, 7)] * 5),
        ("Dense", {"units": 5, "quantization_config": {}}, [(2, 5), (5,)]),
        ("Dense", {"units": 5}, [(4, 5), (5,), (4, 2)]),
        ("Dense", {"units": 5}, []),
        ("LSTM", {"units": 5}, [(3, 20), (5, 20), (20,)]),
        ("GRU", {"units": 5, "reset_after": True}, [(3, 15), (5, 15), (2, 15)]),
        ("LSTM", {"output_dim": 5}, [(1, 1)] * 12),
        ("LSTM", {"units": 5}, [(3, 20), (5, 20), (40,)]),
        ("CuDNNLSTM", {"units": 5}, [(3, 20), (5, 20), (20,)]),
        ("CuDNNGRU", {"units": 5}, [(3, 15), (5, 15), (2, 15)]),
        (
            "Bidirectional",
            {"layer": {"class_name": "GRU", "config": {"units": 2}}},
            [(3, 6), (2, 6), (6,)] * 2,
        ),
        (
            "TimeDistributed",
            {"layer": {"class_name": "Dense", "config": {"units": 2}}},
            [(3, 2), (2,)],
        ),
        (
            "TimeDistributed",
            {"layer": {"class_name": "Sequential", "config": {"layers": []}}},
            [(3, 2), (2,)],
        ),
        ("Dense", {}, [(1,)]),
    ],
)
def test_what_does_not_contradict(
    kind: str, config: dict[str, Any], shapes: list[WeightShape]
) -> None:
    assert said(kind, config, *shapes) is None


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "sentence"),
    [
        ("Dense", {"units": 5}, [(5, 4), (5,)],
         "its weights have the shapes (5, 4), (5,), its config promises (?, 5), (5,)"),
        ("Dense", {"units": 5}, [(), (5,)], "its weights have the shapes (), (5,), its config promises (?, 5), (5,)"),
        ("Dense", {"units": 5}, [(20,)], "its weights have the shapes (20,), its config promises (?, 5)"),
        ("Dense", {"units": -5}, [(4, 5)], "its weights have the shapes (4, 5), its config promises (?, -5)"),
        ("Conv2D", {"filters": 8, "kernel_size": [3, 1]}, [(1, 3, 2, 8), (8,)],
         "its weights have the shapes (1, 3, 2, 8), (8,), its config promises (3, 1, ?, 8), (8,)"),
        ("Embedding", {"input_dim": 10, "output_dim": 3}, [(3, 10)],
         "its weights have the shapes (3, 10), its config promises (10, 3)"),
        ("LSTM", {"units": 5}, [(3, 15), (5, 15), (15,)],
         "its weights have the shapes (3, 15), (5, 15), (15,), its config promises (?, 20), (5, 20), (20,)"),
        ("Bidirectional", {"layer": {"class_name": "LSTM", "config": {"units": 2}}}, [(3, 6), (2, 6), (6,)] * 2,
         "its weights have the shapes (3, 6), (2, 6), (6,), its config promises (?, 8), (2, 8), (8,)"),
        ("RNN", {"cell": cell("LSTMCell", 3)}, [(3, 8), (2, 8), (8,)],
         "its weights have the shapes (3, 8), (2, 8), (8,), its config promises (?, 12), (3, 12), (12,)"),
        ("StackedRNNCells", {"cells": [cell("LSTMCell", 2), cell("SimpleRNNCell", 3)]},
         [(3, 8), (2, 8), (8,), (2, 4), (4, 4), (4,)],
         ("its weights have the shapes (3, 8), (2, 8), (8,), (2, 4), (4, 4), (4,), its config promises (?, 8), (2, 8), "
          "(8,), (?, 3), (3, 3), (3,)")),
        ("MultiHeadAttention", {"num_heads": 3, "key_dim": 2, "use_bias": False}, [(4, 2, 3)] * 3 + [(2, 3, 4)],
         ("its weights have the shapes (4, 2, 3), (4, 2, 3), (4, 2, 3), (2, 3, 4), its config promises (?, 3, 2), "
          "(?, 3, 2), (?, 3, 2), (3, 2, ?)")),
        ("TimeDistributed", {"layer": {"class_name": "Dense", "config": {"units": 5}}}, [(3, 2), (2,)],
         "its weights have the shapes (3, 2), (2,), its config promises (?, 5), (5,)"),
        ("BatchNormalization", {"axis": [3]}, [(6,), (6,), (6,), ()],
         "its weights have the shapes (6,), (6,), (6,), (), which are not vectors of one length"),
    ],
)  # fmt: skip
def test_what_contradicts(
    kind: str, config: dict[str, Any], shapes: list[WeightShape], sentence: str
) -> None:
    assert said(kind, config, *shapes) == sentence


@pytest.mark.parametrize(
    ("kind", "config", "shapes"),
    [
        ("LSTM", {"units": 5}, [(3, 20), (5, 20), (40,)]),
        ("CuDNNLSTM", {"units": 5}, [(3, 20), (5, 20), (20,)]),
        (
            "Bidirectional",
            {"layer": {"class_name": "LSTM", "config": {"units": 2}}},
            [(3, 8), (2, 8), (16,)] * 2,
        ),
    ],
)
def test_weights_of_cudnn_where_nothing_converts_them(
    kind: str, config: dict[str, Any], shapes: list[WeightShape]
) -> None:
    layer = Layer("l", kind, config, {"class_name": kind, "config": config}, ())
    assert shape_contradiction(layer, shapes) is None
    assert shape_contradiction(layer, shapes, takes_cudnn=False) is not None


def test_a_gru_without_reset_after_is_not_cudnns() -> None:
    assert said("GRU", {"units": 5, "reset_after": False}, (3, 15), (5, 15), (30,)) is not None
    assert said("CuDNNGRU", {"units": 5}, (3, 15), (5, 15), (15,)) is not None


@pytest.mark.parametrize(
    ("kind", "config", "name", "other"),
    [
        ("Dense", {"units": 5}, "emb/embeddings:0", "embeddings"),
        ("Conv2D", {"filters": 5}, "c/depthwise_kernel:0", "depthwise_kernel"),
        ("BatchNormalization", {}, "n/kernel_3:0", "kernel"),
        ("Dense", {"units": 5}, "d/kernel_1:0", None),
        ("Dense", {"units": 5}, "d_W", None),
        ("Dense", {"units": 5}, "d/w:0", None),
        ("BatchNormalization", {}, "n_running_mean", None),
        ("BatchNormalization", {}, "n/running_mean:0", None),
        ("Mine", {"units": 5}, "emb/embeddings:0", None),
        ("Lambda", {}, "emb/embeddings:0", None),
        ("SpectralNormalization", {"layer": {}, "power_iterations": 1}, "l/kernel:0", None),
        (
            "TimeDistributed",
            {"layer": {"class_name": "Dense", "config": {"units": 5}}},
            "t/embeddings:0",
            "embeddings",
        ),
    ],
)
def test_names_of_weights(kind: str, config: dict[str, Any], name: str, other: str | None) -> None:
    layer = Layer("l", kind, config, {"class_name": kind, "config": config}, ())
    found = name_contradiction(layer, [name])
    assert (found is None) if other is None else f"its weight {other!r}" in str(found)


def test_a_class_of_custom_function_promises_nothing() -> None:
    assert (
        said(
            "Dense", {"units": 5}, (1,), stored={"registered_name": "mine>Dense", "module": "mine"}
        )
        is None
    )
