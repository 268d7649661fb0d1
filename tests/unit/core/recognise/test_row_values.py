"""Values that followed code computes with: what is stored beside it, what they cost, and the first change."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.interpretation import NotFollowed
from unnest.core.model import Json
from unnest.core.recognise.row_values import (
    MAX_VALUES,
    VALUES_A_STEP,
    Once,
    Rows,
    Value,
    Vector,
    changed,
    each,
    lists_in,
    size,
    stored,
)


def test_stored_values_nest_as_deep_as_anybody_likes() -> None:
    deep: Json = 0.5
    for _ in range(5_000):
        deep = [deep]
    value = stored({"class_name": "__tuple__", "items": deep})
    assert isinstance(value, list)


def test_stored_values() -> None:
    assert stored({"class_name": "__tuple__", "items": [1, [2.5]]}) == [1, [2.5]]
    with pytest.raises(NotFollowed):
        stored({"class_name": "Tensor"})


@pytest.mark.parametrize(
    ("value", "work"),
    [
        (7, 1),
        ([1, 2], 3),
        (Vector((0,) * VALUES_A_STEP), 2),
        ([Rows((0,) * VALUES_A_STEP, 2)] * 2, 5),
    ],
)
def test_work_counts_entries_and_a_share_of_the_numbers(value: Value, work: int) -> None:
    assert size(value) == work


@pytest.mark.parametrize("value", [[0] * (MAX_VALUES + 1), 1 << 5000])
def test_long_lists_and_numbers_are_nobodys(value: Value) -> None:
    with pytest.raises(NotFollowed):
        size(value)


def test_the_first_change_stays() -> None:
    assert changed(changed(Rows((0,), 2), "calls f"), "calls g").change == "calls f"


def test_what_can_be_had_once() -> None:
    once = Once(iter([1, 2]))
    assert list(each(once)) == [1, 2]
    with pytest.raises(NotFollowed):
        each(once)


@pytest.mark.parametrize("value", [7, "text", None, Vector((1, 2)), Rows((0, 1), 2)])
def test_what_no_loop_is_over(value: Value) -> None:
    """Tensors, named tuples here, are no lists of their parts; nor are texts."""
    with pytest.raises(NotFollowed):
        each(value)


def test_lists_are_found_within_each_other_and_by_identity() -> None:
    inner: list[Value] = [1]
    outer = [inner, (inner, 2)]
    found = lists_in([3, (outer,), Rows((0,), 2)])
    assert [id(each) for each in found].count(id(inner)) == 2
    assert {id(each) for each in found} == {id(inner), id(outer)}
