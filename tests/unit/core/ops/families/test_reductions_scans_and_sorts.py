"""Reductions of plain numbers; of elements nothing is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.families.reductions_scans_and_sorts import cumsum, reduction


def test_along_axes() -> None:
    numbers = np.arange(6).reshape(2, 3)
    assert reduction(np.sum)(numbers, 0).tolist() == [3, 5, 7]
    assert reduction(np.sum)(numbers, [0, 1], keepdims=True).tolist() == [[15]]
    assert cumsum(numbers, 1, exclusive=True).tolist() == [[0, 0, 1], [0, 3, 7]]
    with pytest.raises(Unknown):
        cumsum(numbers, reverse=True)


@pytest.mark.parametrize("compute", [reduction(np.sum), cumsum])
def test_of_rows_nothing_is_computed(compute: Any) -> None:
    with pytest.raises(DataDependent):
        compute(SOURCE)
