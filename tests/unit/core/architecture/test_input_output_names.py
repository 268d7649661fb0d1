"""Names by which a model is fed and read."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.architecture.input_output_names import exchanged_end


def model(inputs: Any, names: tuple[str, ...] = ("a", "b", "c")) -> dict[str, Any]:
    layers = [
        {"class_name": "InputLayer", "name": n, "config": {"name": n}, "inbound_nodes": []}
        for n in names
    ]
    output = {
        "class_name": "Add",
        "name": "y",
        "config": {"name": "y"},
        "inbound_nodes": [[[n, 0, 0] for n in names]],
    }
    config = {
        "name": "m",
        "layers": [*layers, output],
        "input_layers": inputs,
        "output_layers": [["y", 0, 0]],
    }
    return {"class_name": "Functional", "config": config}


A, B, C = (["a", 0, 0], ["b", 0, 0], ["c", 0, 0])


@pytest.mark.parametrize(
    ("before", "after", "exchanged"),
    [
        (model([A, B, C]), model([A, B, C]), None),
        (model([A, B, C]), model([B, A, C]), "a"),
        (model([A, B, C]), model([["d", 0, 0], ["e", 0, 0], ["f", 0, 0]], ("d", "e", "f")), None),
        (model({"x": A, "y": B, "z": C}), model({"z": C, "y": A, "x": B}), None),
        (model([A, B, C]), None, None),
    ],
    ids=["alike", "exchanged", "other names", "by key", "no model"],
)
def test_exchanged_end(before: Any, after: Any, exchanged: str | None) -> None:
    assert exchanged_end(before, after) == exchanged
