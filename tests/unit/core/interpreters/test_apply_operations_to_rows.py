"""Operations applied to rows, those that compute and those that move."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.interpreters.test_operation_row_rules import ENTRY, HERE, made
from tests.unit.core.wrappers.inline import Writer, X
from unnest.core.interpreters.apply_operations_to_rows import TowerOperations
from unnest.core.interpreters.batch_size_values import BatchSizeValues
from unnest.core.interpreters.row_dependence_arithmetic import THEIR_NUMBER
from unnest.core.interpreters.tower_tensor_facts import RowFacts, TowerTensors
from unnest.core.model import Ref
from unnest.core.ops.call import OpCall
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


def test_how_many_rows_there_are() -> None:
    shape = made("shape")
    assert isinstance(shape, BatchSizeValues)
    assert (shape.at_batch.tolist(), shape.at_double.tolist()) == ([6, 4], [12, 4])
    assert shape.depends.tolist() == [True, False]
    assert shape.is_linear


@pytest.mark.parametrize("name", ["merge", "while", "unheardof"])
def test_nothing_is_known(name: str) -> None:
    """Of branches, and of unknown operations."""
    assert made(name) is RowFacts.UNKNOWN


def test_what_is_computed_of_a_size_depends_on_how_many_rows_there_are() -> None:
    w = Writer()
    known = TowerTensors(
        LayerTensors(w.graph(w.call("math.exp", X))), {ENTRY: (6, 4)}, rank=2, size=7
    )
    size = Ref("size", 0, 0)
    known.tensors[size] = BatchSizeValues(np.array(6), np.array(12), np.array(1, bool))
    given = {size: known.tensors[size]}
    (numbers,) = TowerOperations(known).apply(HERE, OpCall("range", [size], {}), given)  # type: ignore[misc]  # a list
    assert isinstance(numbers, BatchSizeValues)
    assert (len(numbers.at_batch), len(numbers.at_double)) == (6, 12)
    known.tensors[HERE] = numbers
    assert known.rows_of(HERE)["element"].tolist() == [THEIR_NUMBER] * 6
