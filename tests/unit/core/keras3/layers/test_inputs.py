"""Input layers of every release, with the shape of the batch first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import made, one, refuses


@pytest.mark.parametrize(
    ("config", "shape", "dtype"),
    [
        ({"batch_input_shape": [None, 4], "dtype": None}, [None, 4], "float32"),
        ({"batch_input_shape": [2, 4], "input_dtype": "int32"}, [2, 4], "int32"),
        ({"batch_shape": [None, 4], "dtype": "float32", "sparse": False, "ragged": False}, [None, 4], "float32"),
        ({"input_shape": [4], "batch_size": 3}, [3, 4], "float32"),
    ],
)
def test_shape_and_dtype(config: dict[str, Any], shape: list[int | None], dtype: str) -> None:
    layer = one(made("InputLayer", config))
    assert layer.config == {"batch_shape": shape, "dtype": dtype, "sparse": False, "name": "l"}


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({}, "its shape is not stored"),
        ({"batch_input_shape": [None, 4], "ragged": True}, "no ragged input"),
        ({"batch_input_shape": [None, 4], "sparse": True}, "no sparse input"),
    ],
)
def test_refused(config: dict[str, Any], why: str) -> None:
    refuses("InputLayer", config, why)
