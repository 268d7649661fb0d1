"""What sorts of operations there are: every one of them is in the table, and none joins that only cuts."""

from __future__ import annotations

import pytest

from unnest.core.recognise.carried_out import is_known
from unnest.core.recognise.op_calls import OpCall
from unnest.core.recognise.op_kinds import ADDS, LINES_UP, MOVES, SLICES, ZEROS, may_join_rows


def test_every_kind_can_be_carried_out() -> None:
    unknown = {name for name in SLICES | MOVES | LINES_UP | ADDS | ZEROS if not is_known(OpCall(name, (), {}))}
    assert unknown == set()


def test_what_cuts_does_not_join() -> None:
    assert not SLICES & LINES_UP


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("ConcatV2", True), ("Pack", True), ("Reshape", True), ("DynamicStitch", True), ("AddV2", True), ("Relu", False),
     ("Split", False), ("MatMul", False)],
)  # fmt: skip
def test_kinds_of_a_tensorflow_graph(kind: str, answer: bool) -> None:
    assert may_join_rows(kind) is answer
