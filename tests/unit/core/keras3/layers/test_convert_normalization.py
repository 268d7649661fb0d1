"""BatchNormalization: one axis, four weights, and no batch at hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import made, one, refuses

SHAPES = ((3,),) * 4


@pytest.mark.parametrize("config", [{"axis": [3]}, {"axis": 3, "mode": 0}])
def test_one_axis(config: dict[str, Any]) -> None:
    layer = one(made("BatchNormalization", config, *SHAPES))
    assert layer.config["axis"] == 3
    assert [w.trained for w in layer.weights] == [True, True, False, False]


@pytest.mark.parametrize(
    ("config", "shapes", "why"),
    [
        ({"mode": 1}, SHAPES, "mode 1 of Keras 1 normalizes each row by itself"),
        ({"mode": 2}, SHAPES, "mode 2 of Keras 1 normalizes by the batch at hand"),
        ({"axis": [1, 2]}, SHAPES, "normalizes along one axis"),
        ({"axis": -1}, SHAPES[:3], "has 3 weights in place of 4"),
    ],
)
def test_refused(config: dict[str, Any], shapes: tuple[tuple[int, ...], ...], why: str) -> None:
    refuses("BatchNormalization", config, why, *shapes)


@pytest.mark.parametrize(
    ("axis", "is_refused"), [(-1, False), ([1, 2], False), ([0, 1], True), (0, True)]
)
def test_rows_by_themselves(axis: int | list[int], is_refused: bool) -> None:
    """Keras 3 builds no Normalization whose kept axes are not all of a known size."""
    config = {"axis": axis, "mean": None, "variance": None}
    if is_refused:
        refuses("Normalization", config, "normalizes each row of the batch by itself")
    else:
        assert one(made("Normalization", config)).config["axis"] == axis
