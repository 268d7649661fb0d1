"""Functions in configs: as a list up to Keras 2, as an object in Keras 3, as a text in Keras 1.0, or a name."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.stored_functions import parts_of
from unnest.core.model import Json


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
def test_parts(function: Json, parts: tuple[str | None, Json, Json]) -> None:
    """What is no function has none."""
    assert parts_of(function) == parts
