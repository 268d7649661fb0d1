"""Sizes, constants, ranges: numbers as TensorFlow computes them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE
from unnest.core.model import Unknown
from unnest.core.ops.families.tensor_creation import arange, fill, linspace, ones_like, zeros_like


def test_counting() -> None:
    assert (arange(3).tolist(), arange(1, 7, 2).tolist()) == ([0, 1, 2], [1, 3, 5])
    assert arange(2, dtype="float32").dtype == np.float32
    for too_long in ((0, 10**12), (0, 1, 1e-12)):
        with pytest.raises(Unknown):
            arange(*too_long)


def test_equal_distances() -> None:
    assert linspace(0.0, np.array(6, np.float32), 4).tolist() == [0, 2, 4, 6]
    for start, count, endpoint in ((0.0, 4, False), ([0.0, 1.0], 4, True), (0.0, 10**9, True)):
        with pytest.raises(Unknown):
            linspace(start, 6.0, count, endpoint)


def test_arrays_of_one_number() -> None:
    assert fill([2, 1], 7).tolist() == [[7], [7]]
    assert ones_like(SOURCE).tolist() == np.ones((6, 4)).tolist()
    assert zeros_like(SOURCE, "bool").dtype == np.bool_
    with pytest.raises(Unknown):
        fill([10**6, 10**6])
