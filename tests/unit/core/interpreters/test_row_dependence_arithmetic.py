"""Rows that numbers depend on: combined, reduced, multiplied."""

from __future__ import annotations

import numpy as np
import pytest

from unnest.core.interpreters.row_dependence_arithmetic import (
    NO_ROW,
    THEIR_NUMBER,
    RowsMixed,
    along,
    combined,
    each_its_own,
    every,
    product,
)
from unnest.core.model import Unknown
from unnest.core.ops.element_dtype_and_checks import Array

ROWS = each_its_own((3, 2))
TURNED = ROWS.transpose()


def numbers(tensor: Array) -> object:
    return tensor["element"].tolist()


def test_rows_and_what_is_made_of_none() -> None:
    assert numbers(ROWS) == [[0, 0], [1, 1], [2, 2]]
    assert numbers(each_its_own((3, 1), np.array([2, 0, 1]))) == [[2], [0], [1]]
    assert numbers(every(NO_ROW, (2,))) == [NO_ROW, NO_ROW]
    assert ROWS.strides[1] == 0


def test_numbers_in_the_same_place_are_of_the_same_row() -> None:
    weights = every(NO_ROW, (4, 1, 2))
    made = combined([ROWS, weights])
    assert made.shape == (4, 3, 2)
    assert numbers(made[3]) == numbers(ROWS)
    assert made.strides[::2] == (0, 0)


@pytest.mark.parametrize("other", [ROWS[::-1], ROWS[:1], every(THEIR_NUMBER, ())])
def test_numbers_of_two_rows_or_of_their_number_are_mixed(other: Array) -> None:
    with pytest.raises(RowsMixed):
        combined([ROWS, other])


def test_what_lies_along_an_axis_becomes_one() -> None:
    assert numbers(along(ROWS, [1])) == [[0], [1], [2]]
    assert numbers(along(ROWS, [-1], keepdims=False)) == [0, 1, 2]
    padded = np.concatenate([ROWS, every(NO_ROW, (3, 1))], axis=1)
    assert numbers(along(padded, [1], keepdims=False)) == [0, 1, 2]
    assert numbers(along(every(NO_ROW, ()), [])) == NO_ROW
    with pytest.raises(RowsMixed):
        along(ROWS, [0])


def test_products_are_summed_over_the_letters_that_are_left_out() -> None:
    weights = every(NO_ROW, (2, 5))
    assert numbers(product([("ik", ROWS), ("kj", weights)], "ij")) == [
        [row] * 5 for row in range(3)
    ]
    assert numbers(product([("ij", ROWS), ("ij", ROWS)], "i")) == [0, 1, 2]
    square = np.concatenate([ROWS, ROWS[:, :1]], axis=1)
    assert numbers(product([("ii", square)], "i")) == [0, 1, 2]
    for operands, output in (
        ([("ik", ROWS), ("jk", ROWS)], "ij"),
        ([("ki", ROWS), ("kj", ROWS)], "ij"),
        ([("ki", TURNED), ("kj", TURNED)], "ij"),
        ([("ij", ROWS)], "j"),
    ):
        with pytest.raises(RowsMixed):
            product(operands, output)
    with pytest.raises(ValueError, match="a letter for every axis"):
        product([("ijk", ROWS)], "i")


def test_what_no_memory_holds_is_not_computed() -> None:
    wide = each_its_own((3000, 1)).copy()
    with pytest.raises(Unknown):
        combined([wide, wide.transpose()])
