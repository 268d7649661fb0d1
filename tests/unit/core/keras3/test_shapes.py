"""The shape that a Sequential without an input was built on."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.shapes import build_shape


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ({"config": {"build_input_shape": [None, 4]}}, [None, 4]),
        ({"config": {}, "build_config": {"input_shape": [None, 7]}}, [None, 7]),
        ({"config": {"build_input_shape": {"class_name": "__tuple__", "items": [None, 4, 4]}}}, [None, 4, 4]),
        ({"config": {"build_input_shape": [None, 4]}, "build_config": {"input_shape": [None, 7]}}, [None, 4]),
        ({"config": {"build_input_shape": "none"}}, None),
        ({"config": {"build_input_shape": [None, "4"]}}, None),
        ({"config": {"build_input_shape": [[None, 4], [None, 5]]}}, None),
        ({"config": [{"class_name": "Dense"}]}, None),
        ({"config": {}}, None),
    ],
)
def test_build_shape(model: dict[str, Any], shape: list[int | None] | None) -> None:
    assert build_shape(model) == shape
