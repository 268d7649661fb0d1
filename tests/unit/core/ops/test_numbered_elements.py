"""Numbered elements are moved and nothing else; plain numbers beside them are read for what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.numbered_elements import (
    ELEMENT,
    MAX_RESULT_ELEMENTS,
    arrays_in,
    axis_number,
    check_size,
    whole_number,
    whole_numbers,
)

ROWS = np.arange(3, dtype=np.int32).view(ELEMENT)


def test_numpy_refuses_to_calculate_with_elements() -> None:
    with pytest.raises(TypeError):
        np.add(ROWS, 1)


@pytest.mark.parametrize("value", [3, np.array(3), np.array([[3]], np.int64)])
def test_one_whole_number_whatever_holds_it(value: Any) -> None:
    assert (whole_number(value), axis_number(value), whole_numbers([value, 4])) == (3, 3, [3, 4])
    assert axis_number(None) == 0


def test_what_is_no_whole_number() -> None:
    for value in (0.5, np.array([1, 2]), "text"):
        with pytest.raises(Unknown):
            whole_number(value)
    with pytest.raises(DataDependent):
        whole_number(ROWS[:1])


def test_arrays_are_found_in_lists_of_lists() -> None:
    assert [len(a) for a in arrays_in([ROWS, ([ROWS[:1]], 3)])] == [3, 1]


def test_what_no_memory_holds_is_not_made() -> None:
    check_size(MAX_RESULT_ELEMENTS)
    with pytest.raises(Unknown):
        check_size(MAX_RESULT_ELEMENTS + 1)
