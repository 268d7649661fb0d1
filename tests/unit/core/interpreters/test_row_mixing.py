"""Row numbers on their way through a tower's operations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.wrappers.inline import Tensor, Writer, X
from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW
from unnest.core.interpreters.row_mixing import RowsKept, TowerRows
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors

ROWS = 6


def carried(w: Writer, end: Tensor) -> tuple[TowerRows, RowsKept]:
    """A model's tensors, carried out on six rows, and what becomes of these up to one of them."""
    rows = TowerRows(LayerTensors(w.graph(end)), {Ref("x", 0, 0): (ROWS, 4)}, rank=2, size=7)
    return rows, rows.rows_up_to(Ref(end[0], 0, 0))


def test_each_number_has_the_row_that_it_is_made_of() -> None:
    w = Writer()
    end = w.call("reverse", w.call("math.multiply", X, y=2.0, name=None), axis=[0])
    rows, kept = carried(w, end)
    tensor = rows.facts.tensors[Ref(end[0], 0, 0)]
    assert isinstance(tensor, np.ndarray)
    assert tensor["element"].tolist() == [[row] * 4 for row in reversed(range(ROWS))]
    assert kept == RowsKept(CallId(end[0], 0), are_kept=False)


def test_rows_that_stay_where_they_are() -> None:
    w = Writer()
    twice = w.call("reverse", w.call("reverse", X, axis=[0]), axis=[0])
    rows, kept = carried(w, twice)
    assert kept == RowsKept(None, are_kept=True)
    assert rows.facts.shapes[Ref(twice[0], 0, 0)] is not None


@pytest.mark.parametrize("is_reversed", [False, True])
def test_rows_that_are_taken_apart_and_stacked_anew(is_reversed: bool) -> None:
    """Each is an output of one operation."""
    w = Writer()
    name, rank, _ = w.call("unstack", X, num=ROWS, axis=0)
    order = range(ROWS)
    end = w.call(
        "stack", [[name, rank, k] for k in (reversed(order) if is_reversed else order)], axis=0
    )
    _, kept = carried(w, end)
    assert kept == (
        RowsKept(CallId(end[0], 0), are_kept=False)
        if is_reversed
        else RowsKept(None, are_kept=True)
    )


def test_the_first_call_that_works_along_the_rows_is_named() -> None:
    w = Writer()
    mean = w.call("math.reduce_mean", X, axis=0, keepdims=True)
    less = w.call("math.subtract", X, y=mean, name=None)
    _, kept = carried(w, less)
    assert kept == RowsKept(CallId(mean[0], 0), are_kept=False)


@pytest.mark.parametrize(
    ("product", "mixes", "are_kept"),
    [("linalg.matmul", False, True), ("dot", True, False), ("linalg.matvec", False, False)],
)
def test_products_of_stacks_of_matrices(product: str, mixes: bool, are_kept: bool) -> None:
    """`dot` multiplies every matrix of the one with every matrix of the other; of `matvec` nothing is known."""
    w = Writer()
    matrices = w.call("reshape", X, shape=[-1, 2, 2])
    end = w.call(product, matrices, b=matrices)
    _, kept = carried(w, end)
    assert kept == RowsKept(CallId(end[0], 0) if mixes else None, are_kept=are_kept)


@pytest.mark.parametrize(("function", "row"), [("zeros_like", NO_ROW), ("math.exp", 3)])
def test_what_is_the_same_in_every_batch_is_of_no_row(function: str, row: int) -> None:
    w = Writer()
    end = w.call(function, X)
    rows, _ = carried(w, end)
    tensor = rows.facts.rows_of(Ref(end[0], 0, 0))
    assert tensor["element"][3].tolist() == [row] * 4
