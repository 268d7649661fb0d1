"""Towers are calls of one kind: what they are given beside their slices is the same."""

from __future__ import annotations

import pytest

from unnest.core.architecture.tensor_refs import without_tensors
from unnest.core.model import Json

KERAS_3 = {"class_name": "__keras_tensor__", "config": {"shape": [None, 3], "keras_history": ["a", 0, 0]}}


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ([["a", 0, 0]], [[None]]),
        ([["a", 0, 0, {}]], [[None]]),
        ([["a", 1, 0, {"training": True}], ["b", 0, 0, {}]], [[None, {"training": True}], [None]]),
        ([["a", 0, 0, {"mask": ["b", 0, 1]}]], [[None, {"mask": [None]}]]),
        ({"args": [KERAS_3], "kwargs": {"training": True}}, {"args": [None], "kwargs": {"training": True}}),
        (
            {"args": [[KERAS_3, KERAS_3]], "kwargs": {"mask": KERAS_3}},
            {"args": [[None, None]], "kwargs": {"mask": None}},
        ),
    ],
)
def test_what_is_given_beside_tensors(node: Json, value: Json) -> None:
    """In all dialects; an empty mapping of arguments is none."""
    assert without_tensors(node, {"a", "b"}) == value
