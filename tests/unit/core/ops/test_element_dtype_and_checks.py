"""Numbered elements are moved and nothing else; plain numbers beside them are read for what they are."""

from __future__ import annotations

import numpy as np
import pytest

from unnest.core.model import Unknown
from unnest.core.ops.element_dtype_and_checks import (
    ELEMENT,
    MAX_RESULT_ELEMENTS,
    arrays_in,
    check_size,
)

ROWS = np.arange(3, dtype=np.int32).view(ELEMENT)


def test_numpy_refuses_to_calculate_with_elements() -> None:
    with pytest.raises(TypeError):
        np.add(ROWS, 1)


def test_arrays_are_found_in_lists_of_lists() -> None:
    assert [len(a) for a in arrays_in([ROWS, ([ROWS[:1]], 3)])] == [3, 1]


def test_what_no_memory_holds_is_not_made() -> None:
    check_size(MAX_RESULT_ELEMENTS)
    with pytest.raises(Unknown):
        check_size(MAX_RESULT_ELEMENTS + 1)
