"""The input shape of a Sequential that says nothing of it: the one on which every layer fits its weights, or none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.test_rule_catalog import CONV, DENSE, LINE, RNN
from unnest.core.architecture import read
from unnest.core.keras3.sequential_input_shape_from_weights import shape_of_input
from unnest.core.model import Tensor

FLATTEN: tuple[str, dict[str, Any], None] = ("Flatten", {}, None)


@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        ([("Dense", DENSE, (4, 3))], (None, 4)),
        ([("Dropout", {"rate": 0.1}, None), ("Dense", DENSE, (4, 3))], (None, 4)),
        ([("Dense", DENSE, (4, 3)), ("LSTM", RNN, (3, 8))], (None, None, 4)),
        ([("Masking", {}, None), ("LSTM", RNN, (5, 8))], (None, None, 5)),
        ([("Conv1D", LINE, (3, 5, 2)), FLATTEN, ("Dense", DENSE, (8, 3))], (None, 6, 5)),
        # A number of steps that several would do for, or that none does for.
        (
            [("Conv1D", {**LINE, "strides": [2]}, (3, 5, 2)), FLATTEN, ("Dense", DENSE, (8, 3))],
            None,
        ),
        ([("Conv1D", LINE, (3, 5, 2)), FLATTEN, ("Dense", DENSE, (7, 3))], None),
        ([("Conv2D", CONV, (3, 3, 5, 2)), ("GlobalMaxPooling2D", {}, None)], (None, None, None, 5)),
        ([("Conv2D", CONV, (3, 3, 5, 2)), FLATTEN, ("Dense", DENSE, (8, 3))], None),
        ([("Conv2D", {**CONV, "data_format": "channels_first"}, (3, 3, 5, 2))], None),
        ([("Dense", DENSE, (4, 3)), ("Dense", DENSE, (5, 3))], None),
        ([("Own", {}, (4, 3)), ("Dense", DENSE, (4, 3))], None),
        ([("Dense", DENSE, (4, 3)), ("Own", {}, None)], None),
        ([("Dropout", {"rate": 0.1}, None)], None),
        ([("Dense", DENSE, None)], None),
    ],
)
def test_shape(
    layers: list[tuple[str, dict[str, Any], tuple[int, ...] | None]], shape: Any
) -> None:
    """Of layers with the shapes of their kernels."""
    entries: list[Any] = [
        {"class_name": kind, "config": {**config, "name": f"l{k}"}}
        for k, (kind, config, _) in enumerate(layers)
    ]
    graph = read({"class_name": "Sequential", "config": {"name": "s", "layers": entries}})
    shares = {
        f"l{k}": (Tensor("w", size, "<f4", f"/{k}"),)
        for k, (_, _, size) in enumerate(layers)
        if size
    }
    assert shape_of_input([*graph.layers.values()], shares) == shape
