"""Nodes that are no plain function of their inputs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.operations.calling import NUMPY, X, node, outputs
from unnest.core.keras3.context import Context
from unnest.core.keras3.op_nodes import OpNode, Part


def test_a_split_gives_its_parts() -> None:
    """Its axis comes first in TensorFlow's graph."""
    split = OpNode(NUMPY, "Split", {"indices_or_sections": 2, "axis": 1}, (X,))
    assert node("Split", X, constants={"0": 1}, num_split={"i": "2"}) == [Part(split, 0), Part(split, 1)]


@pytest.mark.parametrize(
    ("masks", "keys"),
    [
        ({}, [(0, 2, 1), (1, 3, 1)]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "2"}}, [(None, 2, 1), (1, None, 1)]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "shrink_axis_mask": {"i": "2"}}, [(None, None, 1), 1]),
        ({"begin_mask": {"i": "1"}, "end_mask": {"i": "1"}, "new_axis_mask": {"i": "2"}}, [(None, None, 1), None]),
        ({"ellipsis_mask": {"i": "1"}}, [{"class_name": "__ellipsis__"}, (1, 3, 1)]),
    ],
)
def test_a_slice_with_its_masks(masks: dict[str, Any], keys: list[Any]) -> None:
    """A bit for each axis."""
    constants = {"1": [0, 1], "2": [2, 3], "3": [1, 1]}
    (sliced,) = node("StridedSlice", X, constants=constants, **masks)
    by_function = outputs("SlicingOpLambda", {"function": "__operators__.getitem"}, [X, [
        {"start": k[0], "stop": k[1], "step": k[2]} if isinstance(k, tuple) else k for k in keys
    ]], Context())  # fmt: skip
    assert isinstance(sliced, OpNode)
    assert (sliced.class_name, [sliced]) == ("GetItem", by_function)
