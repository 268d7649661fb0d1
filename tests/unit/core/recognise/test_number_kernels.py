"""Plain numbers are computed as TensorFlow does; of rows nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.core.recognise.test_kernels import SOURCE
from unnest.core.recognise.elements import ByContents
from unnest.core.recognise.number_kernels import (
    arange,
    cast,
    cumsum,
    elementwise,
    filled,
    filled_like,
    linspace,
    logical,
    reduction,
    where,
)
from unnest.core.recognise.op_calls import UnreadableCall


@pytest.mark.parametrize(
    ("name", "operands", "value"),
    [
        ("add", [2, 3], 5),
        ("div", [-7, 2], -3),
        ("floordiv", [-7, 2], -4),
        ("div", [7.0, 2], 3.5),
        ("mod", [-7, 4], 1),
        ("neg", [np.array([1, -2]), None], [-1, 2]),
        ("less", [np.array([1, 5]), 3], [True, False]),
        ("rightshift", [np.array(13), 1], 6),
        ("leftshift", [np.array(3), 2], 12),
    ],
)
def test_arithmetic(name: str, operands: Any, value: Any) -> None:
    assert elementwise(name, operands).tolist() == value


def test_a_bare_number_takes_the_type_of_the_array_beside_it() -> None:
    """But a fraction beside whole numbers stays one."""
    assert elementwise("mul", [np.array([2], np.float32), 3]).dtype == np.float32
    assert elementwise("mul", [np.array([2]), 1.5]).tolist() == [3.0]


def test_what_is_no_number() -> None:
    with pytest.raises(UnreadableCall):
        elementwise("add", ["a", 1])
    with pytest.raises(UnreadableCall):
        elementwise("add", [np.zeros((10**4, 1)), np.zeros((1, 10**4))])


@pytest.mark.parametrize(
    ("dtype", "kind"), [("DT_INT32", "i"), ("float32", "f"), ("half", "f"), ("bool", "b"), ("bfloat16", "f")]
)
def test_types(dtype: str, kind: str) -> None:
    assert cast([1, 0], dtype).dtype.kind == kind
    with pytest.raises(UnreadableCall):
        cast([1, 0], "string")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool"])
def test_rows_of_another_type_are_others(dtype: str) -> None:
    """What type they are of is not known: any may hold less."""
    with pytest.raises(ByContents):
        cast(SOURCE, dtype)


def test_counting() -> None:
    assert (arange(3).tolist(), arange(1, 7, 2).tolist()) == ([0, 1, 2], [1, 3, 5])
    assert arange(2, dtype="float32").dtype == np.float32
    for too_long in ((0, 10**12), (0, 1, 1e-12)):
        with pytest.raises(UnreadableCall):
            arange(*too_long)


def test_equal_distances() -> None:
    assert linspace(0.0, np.array(6, np.float32), 4).tolist() == [0, 2, 4, 6]
    for start, count, endpoint in ((0.0, 4, False), ([0.0, 1.0], 4, True), (0.0, 10**9, True)):
        with pytest.raises(UnreadableCall):
            linspace(start, 6.0, count, endpoint)


def test_arrays_of_one_number() -> None:
    assert filled([2, 1], 7).tolist() == [[7], [7]]
    assert filled_like(SOURCE, 1).tolist() == np.ones((6, 4)).tolist()
    assert filled_like(SOURCE, 0, "bool").dtype == np.bool_
    with pytest.raises(UnreadableCall):
        filled([10**6, 10**6])


def test_along_axes() -> None:
    numbers = np.arange(6).reshape(2, 3)
    assert reduction(np.sum)(numbers, 0).tolist() == [3, 5, 7]
    assert reduction(np.sum)(numbers, [0, 1], keepdims=True).tolist() == [[15]]
    assert cumsum(numbers, 1, exclusive=True).tolist() == [[0, 0, 1], [0, 3, 7]]
    with pytest.raises(UnreadableCall):
        cumsum(numbers, reverse=True)


def test_choices() -> None:
    mask = np.array([True, False])
    assert where(mask, 1, 2).tolist() == [1, 2]
    assert where(mask).tolist() == [[0]]
    assert logical(np.logical_and)(mask, [True, True]).tolist() == [True, False]
    assert logical(np.logical_not)(mask).tolist() == [False, True]


@pytest.mark.parametrize(
    "compute",
    [reduction(np.sum), cumsum, where, logical(np.logical_not), lambda x: elementwise("mul", [x, 2])],
)
def test_of_rows_nothing_is_computed(compute: Any) -> None:
    with pytest.raises(ByContents):
        compute(SOURCE)
