"""The rows that numbers depend on which an operation computes, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.interpreters.test_tower_operations import made, rows
from unnest.core.interpreters.row_dependence import RowsMixed
from unnest.core.interpreters.row_rules import RULES
from unnest.core.interpreters.tower_tensors import Known
from unnest.core.model import Unknown
from unnest.core.ops.registry import COMPUTING, Kind

IN_ORDER = [0, 1, 2, 3, 4, 5]


def test_every_kind_that_computes_has_a_rule() -> None:
    assert RULES.keys() == COMPUTING | {Kind.MASK, Kind.TAKE, Kind.OPAQUE}


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("relu", {}),
        ("multiply", {"y": 2.0}),
        ("reducesum", {"axis": [1], "keepdims": True}),
        ("softmax", {"axis": -1}),
    ],
)
def test_each_row_by_itself(name: str, kwargs: dict[str, Any]) -> None:
    assert rows(made(name, **kwargs)) == IN_ORDER


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("reducesum", {}),
        ("softmax", {"axis": 0}),
        ("cumsum", {}),
        ("segmentsum", {}),
        ("inv", {}),
        ("tensordot", {"y": [[1.0]] * 6, "axes": [[0], [0]]}),
        ("mixes", {}),
        ("timemajor", {}),
        ("where", {}),
    ],
)
def test_several_rows(name: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(RowsMixed):
        made(name, **kwargs)


def test_what_is_not_known() -> None:
    assert made("identityn") is Known.LOST
    with pytest.raises(Unknown):
        made("einsum", subscripts=None)
