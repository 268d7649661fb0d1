"""What a tensor of a serving graph puts together, and into which order of rows that comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tests.property.opgraphs import Case, Writer, joined
from unnest.core.recognise.merges import end_to_end, join
from unnest.core.recognise.op_graph import View
from unnest.core.recognise.shape_evaluation import Arithmetic, NotArithmetic, Rows

N = 8


def ends(w: Writer, count: int = 2) -> list[str]:
    x = w.op("Placeholder", shape=(-1, 3))
    return [w.op("Relu", x, shape=(-1, 3)) for _ in range(count)]


def order(make: Callable[[Writer, list[str]], str], rows: Sequence[Rows]) -> list[int] | None:
    """The order of the rows of what is made; None where nothing is put together, or not rows."""
    w = Writer()
    operands = ends(w, len(rows))
    tensor = make(w, operands)
    view = View(w.graph([tensor]), {})
    found = join(view, tensor)
    if found is None:
        return None
    assert found.operands == tuple(operands)
    try:
        return [int(row) for row in found.order(Arithmetic(view, N, 2), rows)]
    except NotArithmetic:
        return None


def concat(axis: int) -> Callable[[Writer, list[str]], str]:
    return lambda w, xs: w.op("ConcatV2", *xs, w.op("Const", value=axis), shape=(-1, 3))


def stacked(axis: int, *shape: int) -> Callable[[Writer, list[str]], str]:
    return lambda w, xs: w.op("Reshape", w.op("Pack", *xs, axis=axis), w.op("Const", value=list(shape)))


def dealt(w: Writer, xs: list[str]) -> str:
    return joined(w, Case((), 1, len(xs), "dealt", None), xs, 0)


@pytest.mark.parametrize(
    ("make", "rows", "result"),
    [
        (concat(0), [range(4), range(4, 8)], [*range(8)]),
        (concat(0), [range(4, 8), range(4)], [4, 5, 6, 7, 0, 1, 2, 3]),
        (concat(-2), [range(4), range(4, 8)], [*range(8)]),
        (concat(1), [range(4), range(4, 8)], None),
        (concat(-1), [range(4), range(4, 8)], None),
        (stacked(1, -1, 3), [range(0, 8, 2), range(1, 8, 2)], [*range(8)]),
        (stacked(1, -1, 3), [range(1, 8, 2), range(0, 8, 2)], [1, 0, 3, 2, 5, 4, 7, 6]),
        (dealt, [range(0, 8, 2), range(1, 8, 2)], [*range(8)]),
        (lambda w, xs: w.op("AddN", *xs), [range(4), range(4, 8)], None),
        (lambda w, xs: w.op("Mul", *xs), [range(4), range(4, 8)], None),
    ],
    ids=["end to end", "the wrong way round", "from behind", "along the features", "the last axis", "interleaved",
         "interleaved wrongly", "dealt back", "a sum", "a product"],
)  # fmt: skip
def test_the_order_of_the_rows(
    make: Callable[[Writer, list[str]], str], rows: Sequence[Rows], result: list[int] | None
) -> None:
    assert order(make, rows) == result


@pytest.mark.parametrize("rows", [[range(2), range(2, 8)], [range(4), range(4, 7)]])
def test_towers_of_unlike_size_are_not_interleaved(rows: Sequence[Rows]) -> None:
    assert order(stacked(1, -1, 3), rows) is None


def test_one_operand_is_no_join() -> None:
    assert order(concat(0), [range(8)]) is None


def test_runs_are_joined_without_being_listed() -> None:
    at = Arithmetic(View(Writer().graph([]), {}), N, 2)
    assert end_to_end(at, [range(10**14), range(10**14, 10**15)]) == range(10**15)
    assert list(end_to_end(at, [range(2), np.array([5, 4])])) == [0, 1, 5, 4]
    with pytest.raises(NotArithmetic):
        end_to_end(at, [range(10**14), range(10**14)])
