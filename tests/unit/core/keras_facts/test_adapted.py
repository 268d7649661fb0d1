"""Which layers lose what they were adapted to."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.adapted import untold


@pytest.mark.parametrize(
    ("kind", "settings", "elsewhere", "in_h5"),
    [
        ("StringLookup", {"vocabulary": None}, ["a"], ["a"]),
        ("StringLookup", {}, ["a"], ["a"]),
        ("StringLookup", {"vocabulary": ["x", "y"]}, [], []),
        ("TextVectorization", {"vocabulary": None}, ["a"], ["a"]),
        ("IntegerLookup", {"vocabulary": [1]}, [], []),
        ("Discretization", {"bin_boundaries": None}, ["a"], []),
        ("Discretization", {"bin_boundaries": [0.5]}, [], []),
        ("Dense", {}, [], []),
    ],
)
def test_what_no_config_tells(kind: str, settings: dict[str, Any], elsewhere: list[str], in_h5: list[str]) -> None:
    layer: Any = {"class_name": kind, "config": {"name": "a", **settings}}
    nested: Any = {"class_name": "Functional", "config": {"name": "m", "layers": [layer, layer]}}
    outer: Any = {"class_name": "Functional", "config": {"name": "o", "layers": [nested]}}
    for model in (nested, outer):
        assert untold(model, in_h5=False) == elsewhere
        assert untold(model, in_h5=True) == in_h5
