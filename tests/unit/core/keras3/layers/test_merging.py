"""Keras 1's Merge: a layer of its mode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import made, one, refuses


@pytest.mark.parametrize(
    ("config", "kind", "more"),
    [
        ({"mode": "sum"}, "Add", {}),
        ({"mode": "mul"}, "Multiply", {}),
        ({"mode": "ave"}, "Average", {}),
        ({"mode": "max"}, "Maximum", {}),
        ({"mode": "concat", "concat_axis": 1}, "Concatenate", {"axis": 1}),
        ({"mode": "dot", "dot_axes": [2, 1]}, "Dot", {"axes": [2, 1], "normalize": False}),
    ],
)
def test_a_mode(config: dict[str, Any], kind: str, more: dict[str, Any]) -> None:
    layer = one(made("Merge", config, release=(1, 2, 2)))
    assert (layer.class_name, {key: layer.config[key] for key in more}) == (kind, more)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"mode": "cos"}, "mode 'cos' is code, or has no counterpart"),
        ({"mode": "lambda", "mode_type": "lambda"}, "mode 'lambda' is code"),
        ({"mode": "sum", "layers": [{}]}, "holds its branches"),
    ],
)
def test_refused(config: dict[str, Any], why: str) -> None:
    refuses("Merge", config, why)
