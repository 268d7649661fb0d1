"""How shapes combine, and where the shape of all does not follow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from unnest.core.model import Shape, Unknown
from unnest.core.ops.shape_arithmetic import (
    Sized,
    axes_of,
    axis_of,
    broadcast,
    concatenated_shape,
    shape_of,
    stacked,
    truncated_quotient,
    whole,
    whole_quotient,
    wholes,
    without_axes,
)


@pytest.mark.parametrize(
    ("shapes", "together"),
    [
        ([(None, 1), (None, 4)], (None, 4)),
        ([(None, 4), ()], (None, 4)),
        ([(None,), (8,)], (8,)),
        ([(1,), (None,)], (None,)),
        ([(1, 1), (1,)], (1, 1)),
    ],
)
def test_numbers_that_stand_in_the_same_places(shapes: list[Shape], together: Shape) -> None:
    assert broadcast(shapes) == together


def test_tensors_beside_each_other() -> None:
    assert concatenated_shape([(None, 2), (None, 3)], 1) == (None, 5)
    assert concatenated_shape([(None, 4, 2), (None, 4, None)], 2) == (None, 4, None)
    assert concatenated_shape([(2, None), (3, 4)], 0) == (5, 4)
    assert stacked([(None, 4), (3, None)]) == (3, 4)
    assert without_axes((2, 3, 4), [1]) == (2, 4)
    assert without_axes((2, 3, 4), [0, 2], keepdims=True) == (1, 3, 1)


def test_the_shape_of_an_operand() -> None:
    assert shape_of(Sized((None, 3))) == (None, 3)
    assert shape_of([[1.0, 2.0, 3.0]]) == (1, 3)
    assert shape_of(np.zeros((2, 5))) == (2, 5)
    assert shape_of(0.5) == ()


def test_axes_are_counted_from_the_front() -> None:
    assert axes_of(None, 3) == [0, 1, 2]
    assert axes_of([0, -1], 3) == [0, 2]
    assert axis_of(np.int64(-2), 3) == 1


@pytest.mark.parametrize(
    "compute",
    [
        lambda: broadcast([(None, 3), (None, 4)]),
        lambda: concatenated_shape([(None, 4, 2), (None, 3, 3)], 1),
        lambda: concatenated_shape([(2, 3), (2,)], 0),
        lambda: stacked([(2, 3), (2, 4)]),
        lambda: shape_of(Sized(None)),
        lambda: shape_of("text"),
        lambda: shape_of([Sized(None)]),
        lambda: axis_of(3, 3),
        lambda: axes_of(True, 2),  # noqa: FBT003 - what a file may hold
        lambda: whole(1.0),
        lambda: wholes("12"),
    ],
)
def test_what_does_not_follow(compute: Callable[[], object]) -> None:
    with pytest.raises(Unknown):
        compute()


def test_quotients_are_rounded_towards_zero() -> None:
    assert truncated_quotient(np.array([7, -7]), np.array(2)).tolist() == [3, -3]
    assert truncated_quotient(np.array([7.0, -7.0]), np.array(2.0)).tolist() == [3.5, -3.5]
    assert whole_quotient(np.array([7.0, -7.0]), np.array(2.0)).tolist() == [3.0, -3.0]
