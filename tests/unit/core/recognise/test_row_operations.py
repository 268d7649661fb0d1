"""Operators on numbered rows: what they give, what they note as a change, and what nobody can tell."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.recognise.row_operations import (
    attribute,
    binary,
    extend,
    in_place,
    negative,
    part_of,
    subscript,
    truth,
)
from unnest.core.recognise.row_values import MAX_VALUES, SIZES, Once, Rows, Unexplained, Value, Vector

X = Rows((0, 1, 2, 3), 3)
ALL = slice(None)
SOMEBODYS = Unexplained("somebodys")


@pytest.mark.parametrize(
    ("key", "numbers", "change"),
    [
        (slice(1, 3), (1, 2), ""),
        (slice(None, None, 2), (0, 2), ""),
        ((slice(0, 2), ALL), (0, 1), ""),
        ((slice(0, 2), slice(0, SIZES[0]), ...), (0, 1), ""),
        (..., (0, 1, 2, 3), ""),
        ((slice(0, 2), slice(None, None, -1)), (0, 1), "reverses axis 1"),
        ((slice(0, 2), slice(None, None, 2)), (0, 1), "steps by 2 along axis 1"),
        ((slice(0, 2), ALL, slice(3, None)), (0, 1), "takes a part of axis 2"),
    ],
)
def test_subscripts(key: Value, numbers: tuple[int, ...], change: str) -> None:
    assert subscript(X, key) == Rows(numbers, 3, change)


@pytest.mark.parametrize(
    "key", [0, None, SOMEBODYS, slice(0, SOMEBODYS), (slice(0, 2), None), (..., slice(0, 2)), (ALL, ALL, ALL, ALL)]
)
def test_subscripts_that_nobody_can_follow(key: Value) -> None:
    with pytest.raises(NotFollowed):
        subscript(X, key)


@pytest.mark.parametrize("key", [(ALL, slice(0, 7)), (ALL, SOMEBODYS), (ALL, slice(SOMEBODYS, None), ALL)])
def test_the_rows_are_known_where_the_rest_is_not(key: Value) -> None:
    assert subscript(X, key) == X._replace(is_partly=True)


def test_one_entry_of_an_axis_is_a_part() -> None:
    assert subscript(X, (slice(0, 2), 0)) == Rows((0, 1), 2, "takes one entry of axis 1", SIZES[1:])


def test_what_nothing_explains_stays_so() -> None:
    for value in (subscript(SOMEBODYS, 0), attribute(SOMEBODYS, "n"), binary("+", 1, SOMEBODYS), negative(SOMEBODYS)):
        assert value == SOMEBODYS
    assert binary("*", X, SOMEBODYS) == X._replace(change="computes with the values (`*`)", may_have_moved=True)


def test_rows_that_are_computed_with_others() -> None:
    """A row with each of several, or rows with another axis; not where each has the one beside it."""
    with_others = "computes with the values (`-`) of other rows"
    for other in (part_of(X, slice(None, 1)), part_of(X, slice(1, 4)), X._replace(rank=X.rank - 1)):
        crossed = binary("-", X, other)
        assert isinstance(crossed, Rows)
        assert crossed.along == with_others
    in_line = binary("-", X, X)
    assert isinstance(in_line, Rows)
    assert in_line.along == ""
    with pytest.raises(NotFollowed):
        binary("-", X._replace(may_have_moved=True), part_of(X, slice(None, 1)))


def test_what_is_made_of_all_rows_gets_an_axis() -> None:
    """Then it is a batch of one row; without a `None` among its keys it has none."""
    of_all = X._replace(numbers=(), rank=0, along="calls tensorflow.reduce_mean along the rows")
    for key in (None, (None, None), (..., None)):
        one = subscript(of_all, key)
        assert isinstance(one, Rows)
        assert (one.numbers, one.rank, one.along) == ((0,), 2, of_all.along)
    with pytest.raises(NotFollowed):
        attribute(of_all, "shape")


def test_the_first_change_stays() -> None:
    assert binary("*", binary("/", X, 255.0), 2).change == "computes with the values (`/`)"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("symbol", "left", "right", "expected"),
    [
        ("//", 7, 2, 3),
        ("classic /", 7, 2, 3),
        ("classic /", 7.0, 2, 3.5),
        ("*", Vector((1, 2)), 3, Vector((3, 6))),
        ("-", Vector((5,)), Vector((1, 2)), Vector((4, 3))),
        ("+", [1], [2], [1, 2]),
        ("+", (1,), (2,), (1, 2)),
        ("*", [0], 2, [0, 0]),
        ("*", 2, (1, 3), (1, 3, 1, 3)),
        ("==", "first", "first", True),
        ("!=", "first", None, True),
    ],
)
def test_operators(symbol: str, left: Value, right: Value, expected: Value) -> None:
    assert binary(symbol, left, right) == expected


@pytest.mark.parametrize(
    ("symbol", "left", "right"),
    [("/", 1, 0), ("*", [0], 10**9), ("+", None, 1), ("+", [1], (2,)), ("+", Vector((1, 2)), Vector((1, 2, 3)))],
)
def test_operators_that_nobody_can_follow(symbol: str, left: Value, right: Value) -> None:
    with pytest.raises(NotFollowed):
        binary(symbol, left, right)


def test_the_static_shape_does_not_know_the_batch() -> None:
    assert attribute(X, "shape") == (None, *SIZES[:2])


def test_no_branch_on_a_tensor() -> None:
    with pytest.raises(NotFollowed):
        truth(X)


def test_a_list_grows_in_place_and_all_else_is_another_value() -> None:
    grown: list[Value] = [1]
    assert in_place("+", grown, (2, 3)) is grown
    assert (grown, in_place("+", (1,), (2,)), in_place("-", 5, 2)) == ([1, 2, 3], (1, 2), 3)
    assert in_place("*", X, 2.0) == binary("*", X, 2.0)
    with pytest.raises(NotFollowed):
        in_place("*", grown, 2)


def test_a_list_grows_by_itself_but_not_beyond_what_anyone_computes_with() -> None:
    grown: list[Value] = [1, 2]
    extend(grown, grown)
    assert grown == [1, 2, 1, 2]
    with pytest.raises(NotFollowed):
        extend(grown, [0] * (MAX_VALUES - 3))
    assert grown == [1, 2, 1, 2]


def test_what_grows_while_it_is_extended_is_nobodys() -> None:
    grown: list[Value] = [1]
    with pytest.raises(NotFollowed):
        extend(grown, Once(map(grown.append, (1, 2))))
