"""Facts on tensors before anything is computed, and stand-ins for unknown ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.wrappers.inline import Writer, X
from unnest.core.interpreters.batch_size_values import BatchSizeValues
from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW, THEIR_NUMBER
from unnest.core.interpreters.tower_tensor_facts import TRIAL_BATCH_ROWS, RowFacts, TowerTensors
from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors

ENTRY = Ref("x", 0, 0)


def tensors(shape: tuple[int | None, ...] | None = (6, 4)) -> TowerTensors:
    """Of a tower whose one entry has that shape; what is not known is of rank 3, and 7."""
    w = Writer()
    return TowerTensors(
        LayerTensors(w.graph(w.call("math.exp", X))), {ENTRY: shape}, rank=3, size=7
    )


def test_an_entry_has_its_own_rows() -> None:
    known = tensors()
    assert known.rows == 6
    assert known.rows_of(ENTRY)["element"].tolist() == [[row] * 4 for row in range(6)]


def test_how_many_rows_is_made_up_where_it_is_not_told() -> None:
    """Of a batch of one, nothing could be told."""
    assert (tensors((None, 4)).rows, tensors((1, 4)).rows) == (TRIAL_BATCH_ROWS, TRIAL_BATCH_ROWS)


def test_sizes_that_are_not_known() -> None:
    known = tensors((None, None, 4))
    assert known.sizes(ENTRY) == (TRIAL_BATCH_ROWS, 7, 4)
    assert known.guessed == {ENTRY}
    assert not known.guesses_ranks


def test_what_else_is_known_of_a_tensor() -> None:
    """Numbers that are the same in every batch are made of no row, others of how many there are."""
    known, other = tensors(), Ref("other", 0, 0)
    known.tensors[other] = BatchSizeValues(
        np.array([6, 4]), np.array([12, 4]), np.array([True, False])
    )
    assert known.rows_of(other)["element"].tolist() == [THEIR_NUMBER, NO_ROW]
    assert known.number(other).tolist() == [6, 4]
    known.tensors[other] = RowFacts.UNKNOWN
    for ask in (known.rows_of, known.number):
        with pytest.raises(Unknown):
            ask(other)


def test_arguments() -> None:
    known = tensors()
    assert known.numbers([1, 2]) == [1, 2]
    assert (known.whole_number(None), known.whole_number(3)) == (0, 3)
    assert known.first(OpCall("add", [2, ENTRY], {})) is known.tensors[ENTRY]
    with pytest.raises(Unknown):
        known.first(OpCall("add", [2], {}))
