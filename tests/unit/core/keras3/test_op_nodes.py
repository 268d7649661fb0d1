"""Operations before they have a name: values, compared by what they compute."""

from __future__ import annotations

import dataclasses

import pytest

from unnest.core.keras3.op_nodes import Input, OpNode, Part

NUMPY = "keras.src.ops.numpy"


def test_what_computes_the_same_is_equal() -> None:
    assert OpNode(NUMPY, "Add", {}, (Input(0), 2)) == OpNode(NUMPY, "Add", {}, (Input(0), 2))
    assert Part(OpNode(NUMPY, "Split"), 1) == Part(OpNode(NUMPY, "Split"), 1)


@pytest.mark.parametrize(
    "other",
    [
        OpNode(NUMPY, "Add", {}, (Input(1), 2)),
        OpNode(NUMPY, "Add", {}, (2, Input(0))),
        OpNode(NUMPY, "Multiply", {}, (Input(0), 2)),
        OpNode("keras.src.ops.math", "Add", {}, (Input(0), 2)),
        OpNode(NUMPY, "Add", {"axis": 0}, (Input(0), 2)),
        OpNode(NUMPY, "Add", {}, (Input(0),), {"y": 2}),
    ],
    ids=["another input", "another order", "another class", "another module", "a setting", "by name"],
)
def test_what_may_compute_something_else_is_not(other: OpNode) -> None:
    assert other != OpNode(NUMPY, "Add", {}, (Input(0), 2))


def test_nobody_changes_one_that_others_share() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Input(0).index = 1  # type: ignore[misc]
