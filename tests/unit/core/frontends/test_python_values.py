"""Values of code: what is stored beside it, and lists within lists."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.frontends.python_values import (
    ON_NUMBERS,
    Once,
    flat,
    lists_in,
    share_a_list,
    stored_value,
)
from unnest.core.model import Unknown
from unnest.core.ops.registry import BY_OPERATOR


def test_stored_values() -> None:
    assert stored_value({"class_name": "__tuple__", "items": [1, [2.5, None]]}) == [1, [2.5, None]]
    with pytest.raises(Unknown):
        stored_value([{"class_name": "Thing"}])


def test_an_iterator_is_read_once() -> None:
    once = Once(iter([1, 2]))
    assert list(once.begin()) == [1, 2]
    with pytest.raises(Unknown):
        once.begin()


def test_values_in_lists_and_slices() -> None:
    assert sorted(flat([1, (2, [3]), slice(4, 5, 6)])) == [1, 2, 3, 4, 5, 6]


def test_lists_are_the_same_or_only_equal() -> None:
    inner: list[Any] = [1]
    outer = [(inner,), 2]
    assert lists_in([outer]) == [outer, inner]
    assert share_a_list(lists_in([outer]), [inner])
    assert not share_a_list([inner], [[1]])


@pytest.mark.parametrize(("left", "right", "value"), [(7, 2, 3), (7.0, 2, 3.5)])
def test_division_of_python_2(left: float, right: float, value: float) -> None:
    assert ON_NUMBERS["classic /"](left, right) == value


def test_every_operator_is_an_operation_on_tensors() -> None:
    """By the symbol at the operation's entry."""
    assert sorted(ON_NUMBERS.keys() - BY_OPERATOR.keys()) == []
    assert [BY_OPERATOR[symbol].name for symbol in ("/", "classic /", "==", "!=")] == [
        "truediv",
        "div",
        "equal",
        "notequal",
    ]
