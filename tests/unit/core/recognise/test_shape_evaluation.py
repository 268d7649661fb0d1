"""What shape arithmetic comes to, and that a small graph cannot ask for a large value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.property.opgraphs import Writer
from unnest.core.recognise.op_graph import Place, View
from unnest.core.recognise.serving import find
from unnest.core.recognise.shape_evaluation import MAX_ELEMENTS, Arithmetic, NotArithmetic, same_rows


def value(build: Callable[[Writer], str]) -> np.ndarray:
    """The value of what is built, for batches of 10 rows."""
    w = Writer()
    last = build(w)
    return Arithmetic(View(w.graph([last]), {}), 10, 2).value(Place((), last))


def number(w: Writer, *values: int) -> str:
    """A constant."""
    return w.op("Const", value=list(values) if len(values) > 1 else values[0])


def doubled(w: Writer) -> str:
    """A vector of 2 ** 40."""
    x = number(w, 1, 2)
    for _ in range(39):
        x = w.op("ConcatV2", x, x, number(w, 0))
    return x


def crossed(w: Writer) -> str:
    """A row against a column of three million each."""
    x = w.op("Range", number(w, 0), number(w, 3_000_000), number(w, 1))
    return w.op("Add", w.op("ExpandDims", x, number(w, 0)), w.op("ExpandDims", x, number(w, 1)))


HOSTILE: list[Callable[[Writer], str]] = [
    lambda w: w.op("Range", number(w, 0), number(w, 2**31 - 1), number(w, 1)),
    lambda w: w.op("Fill", number(w, 70_000, 70_000), number(w, 1)),
    lambda w: w.op("Fill", w.op("Fill", number(w, 40), number(w, 1)), number(w, 1)),
    doubled,
    crossed,
]


@pytest.mark.parametrize("build", HOSTILE, ids=["range", "fill", "rank", "doubled", "crossed"])
def test_no_value_grows_out_of_bounds(build: Callable[[Writer], str]) -> None:
    """Refused before it is made."""
    with pytest.raises(NotArithmetic):
        value(build)


@pytest.mark.parametrize(
    ("build", "result"),
    [
        (lambda w: w.op("Range", number(w, 1), number(w, 9), number(w, 3)), [1, 4, 7]),
        (lambda w: w.op("Fill", w.op("Pack", number(w, 2)), number(w, 5)), [5, 5]),
        (lambda w: w.op("Sum", number(w, 3, 4), number(w, 0), keep_dims=False), 7),
        (lambda w: w.op("Mean", w.op("Pack", number(w, 3, 5), number(w, 5, 9), axis=0), number(w, 0)), [4, 7]),
        (lambda w: w.op("Shape", w.op("Placeholder", shape=(-1, 3))), [10, 3]),
    ],
)
def test_values(build: Callable[[Writer], str], result: object) -> None:
    """As TensorFlow computes them."""
    assert value(build).tolist() == result


def test_rows_are_compared_without_being_listed() -> None:
    """Ranges of any length, and numbers one by one only where there are as many."""
    assert same_rows(range(10**15), range(10**15))
    assert not same_rows(range(10**15), np.arange(3))
    assert same_rows(range(3), np.arange(3))


def test_slices_of_an_absurd_batch() -> None:
    """Halves of a batch that is said to have a million million rows, joined the wrong way round."""
    w = Writer()
    x = w.op("Placeholder", shape=(10**12, 3))
    parts = w.op("Split", number(w, 0), x, num_split=2).partition(":")[0]
    ends = [w.op("Relu", w.op("MatMul", f"{parts}:{k}", w.variable(0))) for k in (1, 0)]
    assert find([w.graph([w.op("ConcatV2", *ends, number(w, 0))])], {}) is None
    assert MAX_ELEMENTS < 10**12
