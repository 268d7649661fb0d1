"""Row rules of operations, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.core.wrappers.inline import Writer, X
from unnest.core.interpreters.apply_operations_to_rows import TowerOperations
from unnest.core.interpreters.operation_row_rules import ROW_RULES
from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW, RowsMixed
from unnest.core.interpreters.tower_tensor_facts import RowFacts, TowerTensors
from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED
from unnest.core.ops.operation_kinds import COMPUTING, Kind
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors

ENTRY, HERE = Ref("x", 0, 0), Ref("here", 0, 0)


def made(name: str, args: Sequence[Any] = (ENTRY,), **kwargs: Any) -> Any:
    """Return an operation's result on six rows of four numbers."""
    w = Writer()
    known = TowerTensors(
        LayerTensors(w.graph(w.call("math.exp", X))), {ENTRY: (6, 4)}, rank=2, size=7
    )
    result = TowerOperations(known).apply(
        HERE, OpCall(name, list(args), kwargs), {ENTRY: known.tensors[ENTRY]}
    )
    return result[0] if isinstance(result, list) else result


def rows(tensor: Any) -> list[int]:
    """The row that each entry of the first column is made of."""
    assert isinstance(tensor, np.ndarray)
    return [int(row) for row in tensor["element"][:, 0]]


@pytest.mark.parametrize(
    ("name", "kwargs", "found"),
    [
        ("reverse", {"axis": [0]}, [5, 4, 3, 2, 1, 0]),
        ("mul", {"y": 2}, [0, 1, 2, 3, 4, 5]),
        ("zeroslike", {}, [NO_ROW] * 6),
        ("reducemean", {"axis": 1, "keepdims": True}, [0, 1, 2, 3, 4, 5]),
        ("booleanmask", {"mask": ENTRY}, [5, 0, 1, 2, 3, 4]),
    ],
)
def test_rows_of_what_is_made(name: str, kwargs: dict[str, Any], found: list[int]) -> None:
    """Those that a mask chooses may be any: they stand for others."""
    assert rows(made(name, **kwargs)) == found


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [("reducemean", {"axis": 0}), ("where", {}), ("matmul", {"b": ENTRY, "transpose_b": True})],
)
def test_what_works_along_the_rows(name: str, kwargs: dict[str, Any]) -> None:
    with pytest.raises(RowsMixed):
        made(name, **kwargs)


def test_an_argument_that_is_not_there() -> None:
    with pytest.raises(NOT_COMPUTED):
        made("reducemean", axis=5)


IN_ORDER = [0, 1, 2, 3, 4, 5]


def test_every_kind_that_computes_has_a_rule() -> None:
    assert ROW_RULES.keys() == COMPUTING | {Kind.MASK, Kind.TAKE, Kind.OPAQUE}


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
    assert made("identityn") is RowFacts.UNKNOWN
    with pytest.raises(Unknown):
        made("einsum", subscripts=None)
