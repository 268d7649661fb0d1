"""Plain numbers among arguments are read for what they are; numbered elements are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.element_dtype_and_checks import ELEMENT
from unnest.core.ops.read_whole_numbers import axis_number, whole_number, whole_numbers

ROWS = np.arange(3, dtype=np.int32).view(ELEMENT)


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
