"""Values of a layer's config, and what is refused in their place."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.layers.read_config_values import (
    function_parts,
    gives_sequences,
    integer,
    integers,
    stored_shape,
)
from unnest.core.model import Json, Unknown

LSTM = {"class_name": "LSTM", "config": {"units": 5}}


def test_reading_json() -> None:
    assert (integer(3), integers([1, 2], 2), integers(2, 3)) == (3, [1, 2], [2, 2, 2])
    assert stored_shape([None, 3]) == (None, 3)
    for wrong in (True, 1.0, "1", None):
        with pytest.raises(Unknown):
            integer(wrong)
    for length, several in ((3, [1, 2]), (None, "12"), (None, 2)):
        with pytest.raises(Unknown):
            integers(several, length)
    for shape in ([], "ab", None, [1.5]):
        with pytest.raises(Unknown):
            stored_shape(shape)


@pytest.mark.parametrize(
    ("config", "gives"),
    [
        ({"return_sequences": True}, True),
        ({"return_sequences": False}, False),
        ({}, False),
        ({"layer": {"class_name": "LSTM", "config": {"return_sequences": True}}}, True),
        ({"layer": LSTM, "return_sequences": True}, False),
    ],
)
def test_sequences(config: dict[str, Any], gives: bool) -> None:
    """A wrapper's are those of the layer that it holds."""
    assert gives_sequences(config) == gives


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (["4wEA", [1], None], ("4wEA", [1], None)),
        (["4wEA"], ("4wEA", None, None)),
        (
            {"class_name": "__lambda__", "config": {"code": "4wEA", "closure": [2]}},
            ("4wEA", None, [2]),
        ),
        ({"class_name": "__lambda__"}, (None, None, None)),
        ("c\0code", ("c\0code", None, None)),
        ("a_name", (None, None, None)),
        (None, (None, None, None)),
        (1.5, (None, None, None)),
        ([1], (None, None, None)),
    ],
)
def test_parts_of_a_function(function: Json, parts: tuple[str | None, Json, Json]) -> None:
    """What is no function has none."""
    assert function_parts(function) == parts
