"""Keras's own classes by the names of today."""

from __future__ import annotations

import pytest

from unnest.core.keras_facts.layer_classes import today


@pytest.mark.parametrize(
    ("stored", "name"),
    [
        ("BatchNormalizationV1", "BatchNormalization"),
        ("LSTMV2", "LSTM"),
        ("Model", "Functional"),
        ("MineV2", "MineV2"),  # somebody's own keeps its name
        ("Dense", "Dense"),
    ],
)
def test_today(stored: str, name: str) -> None:
    assert today(stored) == name
