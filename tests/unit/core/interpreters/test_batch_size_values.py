"""Numbers that are made of how many rows there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unnest.core.interpreters.batch_size_values import BatchSizeValues, apply_to_batch_size_values
from unnest.core.interpreters.row_dependence_arithmetic import NO_ROW, THEIR_NUMBER
from unnest.core.model import Ref
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED

SHAPE, ROWS, TABLE = Ref("shape", 0, 0), Ref("rows", 0, 0), Ref("table", 0, 0)
KNOWN: dict[Ref, Any] = {
    SHAPE: BatchSizeValues(np.array([6, 4]), np.array([12, 4]), np.array([True, False])),
    ROWS: BatchSizeValues(np.array(6), np.array(12), np.array(1, bool)),
    TABLE: np.array([7, 8, 9]),
}


def made(name: str, *args: Any, **kwargs: Any) -> BatchSizeValues:
    """Return an operation's result on the shape of six rows of four numbers, on the number of rows, or constants."""
    return apply_to_batch_size_values(OpCall(name, args, kwargs), KNOWN.__getitem__, 6)[0]


@pytest.mark.parametrize(
    ("name", "args", "one", "of_rows", "is_linear"),
    [
        ("getitem", (SHAPE, 0), 6, True, True),
        ("getitem", (SHAPE, 1), 4, False, True),
        ("stack", ([ROWS, 3, -1],), [6, 3, -1], [True, False, False], True),
        ("mul", (SHAPE, [2, 3]), [12, 12], [True, False], True),
        ("mul", (ROWS, ROWS), 36, True, False),
        ("reduceprod", (SHAPE,), 24, True, True),
        ("floordiv", (ROWS, 2), 3, True, False),
        ("sub", (ROWS, 1), 5, True, True),
        ("sub", (ROWS, 6), 0, True, False),
        ("greater", (ROWS, 5), True, True, False),
        ("greater", (SHAPE, 5), [True, False], [True, False], False),
        ("minimum", (ROWS, 1000), 6, True, False),
        ("gather", (TABLE, [1]), [8], [False], True),
        ("cast", (ROWS, "float32"), 6.0, True, True),
    ],
)
def test_which_of_them_depend_on_it_and_how(
    name: str, args: tuple[Any, ...], one: Any, of_rows: Any, is_linear: bool
) -> None:
    counts = made(name, *args)
    assert (counts.at_batch.tolist(), counts.depends.tolist(), counts.is_linear) == (
        one,
        of_rows,
        is_linear,
    )


def test_an_entry_that_their_number_chooses_depends_on_it() -> None:
    """Though both batches show the same one."""
    (chosen,) = apply_to_batch_size_values(
        OpCall("gather", (TABLE, ROWS), {}), {**KNOWN, **INDEX}.__getitem__, 6
    )
    assert (chosen.at_batch.tolist(), chosen.depends.tolist()) == (8, True)


INDEX = {ROWS: BatchSizeValues(np.array(1), np.array(1), np.array(1, bool), is_linear=False)}


@pytest.mark.parametrize(
    ("counts", "rows"),
    [
        (KNOWN[SHAPE], [THEIR_NUMBER, NO_ROW]),
        (made("range", ROWS), [THEIR_NUMBER] * 6),
        (made("fill", [ROWS], 2.0), [NO_ROW] * 6),
        (made("fill", [3], ROWS), [THEIR_NUMBER] * 3),
        (made("tile", TABLE, [ROWS]), [THEIR_NUMBER] * 18),
    ],
    ids=["a shape", "places", "one number", "of their number", "repeated"],
)
def test_the_rows_that_they_are_made_of(counts: BatchSizeValues, rows: list[int]) -> None:
    assert counts.row_dependence["element"].tolist() == rows


def test_what_cannot_be_carried_out() -> None:
    with pytest.raises(NOT_COMPUTED):
        made("unheardof", ROWS)
