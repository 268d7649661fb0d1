"""Kernels on numbered rows: a tensor is its rows, whatever its rank, and axes beside that of the rows are not moved."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_kernels import by_kernel
from unnest.core.recognise.row_values import Named, Rows, Unexplained, Value, Vector

X = Rows((0, 1, 2, 3), 3)
CHANGED = Rows((4,), 3, "calls tensorflow.sqrt")
BY_PLACE = CHANGED._replace(numbers=(0, 1, 2, 3, 4), may_have_moved=True)


@pytest.mark.parametrize(
    ("name", "positional", "keywords", "expected"),
    [
        ("split", [X, 1], {}, [X]),
        ("split", [X, 2], {"axis": -3}, [X._replace(numbers=(0, 1)), X._replace(numbers=(2, 3))]),
        ("concat", [[X, CHANGED]], {"concat_dim": 0}, BY_PLACE),
        ("pack", [[2, Vector((5,)).values[0]]], {}, Vector((2, 5))),
        ("constant", [[1, 2]], {"dtype": Named("tensorflow.float32")}, Vector((1.0, 2.0))),
        ("range", [3], {}, Vector((0, 1, 2))),
        ("floordiv", [Vector((7, 8)), 2], {}, Vector((3, 4))),
        ("floor", [2.5], {}, 2.0),
        ("gather", [X, Vector((0,))], {"axis": 1}, X._replace(change="gathers along axis 1")),
        ("gather", [X, [1]], {"axis": -3}, X._replace(numbers=(1,))),
        ("stop_gradient", [X], {}, X),
        ("fill", [[2, 3], 1.0], {}, Unexplained("fill")),
        ("concatenate", [[X, X]], {}, X._replace(change="joins along axis -1")),
        ("split", [X, 2], {"axis": -1}, [X._replace(change="splits axis -1")] * 2),
        ("split", [X, [3, 4, 2]], {"axis": 1}, [X._replace(change="splits axis 1")] * 3),
        ("boolean_mask", [X, Unexplained("mask")], {"axis": 1}, X._replace(change="masks along axis 1")),
    ],
)
def test_what_kernels_give(name: str, positional: list[Value], keywords: dict[str, Value], expected: Value) -> None:
    assert by_kernel(name, positional, keywords) == expected


@pytest.mark.parametrize(
    ("name", "positional", "keywords"),
    [
        ("concatenate", [[X, CHANGED]], {}),  # other rows along the last axis, where none is named
        ("split", [X, None], {"axis": 1}),
        ("gather", [Vector((1, 2)), X], {}),  # by the contents of the batch
        ("floordiv", [Vector((1,)), Vector((0,))], {}),
        ("add", [Vector((1, 2)), Vector((1, 2, 3))], {}),
        ("split", [X, 2], {"somebodys": 1}),
        ("boolean_mask", [X, slice(0, 2)], {}),
    ],
)
def test_what_nobody_can_follow(name: str, positional: list[Value], keywords: dict[str, Value]) -> None:
    with pytest.raises(NotFollowed):
        by_kernel(name, positional, keywords)
