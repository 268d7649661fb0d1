"""The tensors of a graph, computed on numbered rows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.wrappers.inline import UNITS, Tensor, Writer, X
from unnest.budget import Budget, limited
from unnest.core.interpreters.numbered_rows import Values, numbered, row_sizes, rows_of
from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors


def _values(writer: Writer, tensor: Tensor, rows: int = 6) -> Values:
    return Values(LayerTensors(writer.graph(tensor)), rows, 4, {})


def _rows(part: Array, source: Array) -> list[int]:
    rows = rows_of(part, source)
    assert rows is not None
    return [int(row) for row in rows]


def test_rows_are_moved() -> None:
    """A slice holds the rows that it takes."""
    writer = Writer()
    part = writer.rows(writer.bound(1, 2))
    values = _values(writer, part)
    assert _rows(values.of(Ref(*part)), values.of(Ref(*X))) == [3, 4, 5]


def test_what_a_layer_computes_is_rows_of_its_own() -> None:
    """Real layers are not carried out: their outputs have numbers unlike their inputs'."""
    writer = Writer()
    (features,) = writer.dense(X)
    values = _values(writer, features)
    whole, made = values.of(Ref(*X)), values.of(Ref(*features))
    assert made.shape == (6, UNITS)
    assert not {*whole["element"].flat} & {*made["element"].flat}
    assert rows_of(made, whole) is None


def test_contents_decide_nothing() -> None:
    """Rows chosen by what is in them."""
    writer = Writer()
    feature = writer.call("__operators__.getitem", X, slice_spec=0)
    chosen = writer.call("compat.v1.gather", X, indices=feature, axis=None, batch_dims=0)
    values = _values(writer, chosen)
    with pytest.raises(DataDependent):
        values.of(Ref(*chosen))


def test_a_tensor_of_unknown_shape() -> None:
    """Cannot be numbered."""
    writer = Writer()
    made = writer.call("nn.something", X, name=None)
    values = _values(writer, made)
    with pytest.raises(Unknown):
        values.of(Ref(*made))


def test_every_call_costs_what_it_makes() -> None:
    """And not what was made before it."""

    def steps(calls: int) -> int:
        writer = Writer()
        part = X
        for _ in range(calls):
            part = writer.call("roll", part, shift=1, axis=0)
        values = _values(writer, part, rows=5_000)
        with limited(Budget.of("", 0)) as budget:
            before = budget.steps
            values.of(Ref(*part))
        return before - budget.steps

    once = steps(1)
    assert once > 5_000 * 4 // 1000
    assert 10 * once < steps(20) <= 20 * once


def test_rows_of() -> None:
    """Whole rows, in any order; columns are not rows."""
    whole = numbered((4, 3), 10)
    assert _rows(whole[[2, 0, 2]], whole) == [2, 0, 2]
    assert _rows(whole[:0], whole) == []
    assert _rows(whole[1:3], whole) == [1, 2]
    assert _rows(whole[3:], whole[::-1]) == [0]
    assert rows_of(np.roll(whole, 1), whole) is None
    assert rows_of(whole[:, ::-1], whole) is None
    assert rows_of(np.zeros((4, 3)), whole) is None


def test_row_sizes() -> None:
    """Sizes longer than any number that is mentioned are as good shorter; unknown ones are unlike each other."""
    assert row_sizes((224, None, 3, None), 5) == (6, 7, 3, 9)
