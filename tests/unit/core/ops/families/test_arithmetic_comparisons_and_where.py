"""Plain numbers are computed as TensorFlow does; of elements nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.families.arithmetic_comparisons_and_where import logical, where
from unnest.core.ops.registry import OPERATIONS


def computed(name: str, operands: Any) -> Array:
    """Return the result of arithmetic."""
    compute = OPERATIONS[name].compute
    assert compute is not None
    return np.asarray(compute(operands))


@pytest.mark.parametrize(
    ("name", "operands", "value"),
    [
        ("add", [2, 3], 5),
        ("div", [-7, 2], -3),
        ("floordiv", [-7, 2], -4),
        ("div", [7.0, 2], 3.5),
        ("truncatediv", [-7, 2], -3),
        ("truncatediv", [-7.0, 2], -3.0),
        ("mod", [-7, 4], 1),
        ("neg", [np.array([1, -2]), None], [-1, 2]),
        ("less", [np.array([1, 5]), 3], [True, False]),
        ("rightshift", [np.array(13), 1], 6),
        ("leftshift", [np.array(3), 2], 12),
    ],
)
def test_arithmetic(name: str, operands: Any, value: Any) -> None:
    assert computed(name, operands).tolist() == value


def test_a_bare_number_takes_the_type_of_the_array_beside_it() -> None:
    """But a fraction beside whole numbers stays one."""
    assert computed("mul", [np.array([2], np.float32), 3]).dtype == np.float32
    assert computed("mul", [np.array([2]), 1.5]).tolist() == [3.0]


def test_what_is_no_number() -> None:
    with pytest.raises(Unknown):
        computed("add", ["a", 1])
    with pytest.raises(Unknown):
        computed("add", [np.zeros((10**4, 1)), np.zeros((1, 10**4))])


def test_choices() -> None:
    mask = np.array([True, False])
    assert where(mask, 1, 2).tolist() == [1, 2]
    assert where(mask).tolist() == [[0]]
    assert logical(np.logical_and)(mask, [True, True]).tolist() == [True, False]
    assert logical(np.logical_not)(mask).tolist() == [False, True]


@pytest.mark.parametrize(
    "compute", [where, logical(np.logical_not), lambda x: computed("mul", [x, 2])]
)
def test_of_rows_nothing_is_computed(compute: Any) -> None:
    with pytest.raises(DataDependent):
        compute(SOURCE)
