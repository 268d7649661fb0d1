"""Layers that lose what they were adapted to."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras_facts.layers_without_adapted_state import is_misread, layers_without_state


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
def test_what_no_config_tells(
    kind: str, settings: dict[str, Any], elsewhere: list[str], in_h5: list[str]
) -> None:
    layer: Any = {"class_name": kind, "config": {"name": "a", **settings}}
    nested: Any = {"class_name": "Functional", "config": {"name": "m", "layers": [layer, layer]}}
    outer: Any = {"class_name": "Functional", "config": {"name": "o", "layers": [nested]}}
    for model in (nested, outer):
        assert layers_without_state(model, in_h5=False) == elsewhere
        assert layers_without_state(model, in_h5=True) == in_h5


@pytest.mark.parametrize(
    ("kind", "settings", "releases"),
    [
        ("Normalization", {"mean": None, "variance": None}, [(2, 7, 0)]),
        ("Normalization", {"axis": -1}, [(2, 7, 0)]),
        ("Normalization", {"mean": 1.0, "variance": 2.0}, []),
        ("Discretization", {"bin_boundaries": None, "num_bins": 4}, [(2, 7, 0)]),
        ("Discretization", {"bin_boundaries": [0.5]}, []),
        ("TextVectorization", {"output_mode": "int"}, [(2, 7, 0)]),
        ("TextVectorization", {"output_mode": "multi_hot"}, []),
        ("StringLookup", {"vocabulary": ["a"]}, []),
    ],
)
def test_what_its_own_release_reads_otherwise(
    kind: str, settings: dict[str, Any], releases: list[Any]
) -> None:
    layer: Any = {"class_name": kind, "config": {"name": "a", **settings}}
    model: Any = {"class_name": "Sequential", "config": {"name": "m", "layers": [layer]}}
    tried = [(), (2, 3, 0), (2, 7, 0), (2, 10, 0), (3, 5, 0)]
    assert [release for release in tried if is_misread(model, release)] == releases
