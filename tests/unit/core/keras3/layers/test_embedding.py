"""Embedding: the dtype that it stored before Keras 2.0.5."""

from __future__ import annotations

import pytest

from unnest.core.keras3.context import Context
from unnest.core.keras3.layers.embedding import embedding
from unnest.core.keras3.pieces import NewLayer


@pytest.mark.parametrize(
    ("version", "dtype", "written"),
    [
        ("2.0.4", "int32", "float32"),
        ("2.0.4", "float64", "float64"),
        ("2.0.5", "int32", "int32"),
        (None, "int32", "int32"),
    ],
)
def test_dtype(version: str | None, dtype: str, written: str) -> None:
    """Of the ids in the oldest files alone; later the same text means the weights."""
    context = Context.of(version, "tensorflow")
    made = embedding("Embedding", {"input_dim": 4, "output_dim": 2, "dtype": dtype}, "e", (), context)
    assert isinstance(made, NewLayer)
    assert made.config["dtype"] == written
