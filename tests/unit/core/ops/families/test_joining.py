"""Rows that are joined."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE, X, done, rows
from unnest.core.model import Unknown
from unnest.core.ops.element_dtype_and_checks import ZERO
from unnest.core.ops.families.joining import concat, hstack, stack


def test_what_is_put_behind_without_an_axis_is_flat() -> None:
    assert done("append", X, X)[0].shape == (48,)


def test_rows_beside_each_other() -> None:
    """Of matrices along the second axis; of vectors there is one axis."""
    (beside,) = done("hstack", [X, X])
    assert beside["element"][:, [0, 4]].tolist() == [[4 * row] * 2 for row in range(6)]
    assert hstack([np.zeros(2), np.ones(3)]).tolist() == [0, 0, 1, 1, 1]


def test_tensors_are_joined() -> None:
    """All of rows, with zeros among them or without, or all of numbers."""
    assert rows(concat([SOURCE[3:], SOURCE[:1]])) == [3, 4, 5, 0]
    assert stack([SOURCE, SOURCE], 1).shape == (6, 2, 4)
    assert concat([SOURCE[5:], np.zeros((2, 4))])["element"][:, 0].tolist() == [20, ZERO, ZERO]
    with pytest.raises(Unknown):
        stack([SOURCE, np.ones((6, 4))])
