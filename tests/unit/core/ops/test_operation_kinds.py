"""Kinds that keep rows, and those that move, cut or join them."""

from __future__ import annotations

import pytest

from unnest.core.ops.call import OpCall
from unnest.core.ops.operation_kinds import JOINS, MOVES, ROW_BY_ROW, SLICES, Kind
from unnest.core.ops.registry import (
    OPERATIONS,
    kind_of,
)


def test_what_cuts_and_joins_can_be_carried_out() -> None:
    kinds = SLICES | MOVES | JOINS | {Kind.FILL, Kind.NUMBERS, Kind.SIZE, Kind.REPEAT}
    assert [
        each.name for each in OPERATIONS.values() if each.kind in kinds and each.compute is None
    ] == []


def test_no_kind_both_keeps_rows_and_moves_them() -> None:
    assert not ROW_BY_ROW & (SLICES | MOVES | JOINS)
    assert not SLICES & JOINS


@pytest.mark.parametrize(
    ("name", "kind"),
    [("relu", Kind.MAP), ("add", Kind.ELEMENTWISE), ("conv2d", Kind.WINDOW), ("rowwise", Kind.ROWWISE),
     ("average", Kind.REDUCTION), ("averagen", Kind.ELEMENTWISE), ("adjustbrightness", Kind.MAP),
     ("gather", Kind.TAKE), ("concat", Kind.CONCATENATE), ("softmax", Kind.ALONG), ("topk", Kind.FOLD)],
)  # fmt: skip
def test_kinds(name: str, kind: Kind) -> None:
    assert kind_of(OpCall(name, (), {})) is kind
