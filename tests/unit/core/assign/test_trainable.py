"""Which of a layer's weights are trained, by its config."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, NORM, functional, layer, source
from unnest.core.architecture import read
from unnest.core.assign.trainable import trained_count

RULES: dict[str, Any] = {"W_regularizer": None, "b_regularizer": None}


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
    ids=["dense", "norm", "frozen", "without gamma", "one is missing", "somebody's own", "somebody's own, frozen",
         "both ways", "dense of Keras 1", "norm of Keras 1", "gates of Keras 1"],
)  # fmt: skip
def test_the_first_so_many(kind: str, config: dict[str, Any], count: int, trained: int | None) -> None:
    asked = read(functional(source(), layer("y", ["x"], kind=kind, **config))).layers["y"]
    assert trained_count(asked, count) == trained
