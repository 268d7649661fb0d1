"""The three patterns of numbers, and of each the nearest numbers that do not."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.json_tree import Path
from unnest.core.wrappers.claims.slice_argument_patterns import (
    bounds,
    numbered_parts,
    shares_of_total,
)
from unnest.core.wrappers.claims.stored_slice_numbers import SliceFacts
from unnest.core.wrappers.stored_code.code_names_and_numbers import Number


def told(
    *slices: dict[str, Number],
) -> tuple[list[dict[Path, Number]], dict[Path, Number], SliceFacts]:
    """The arguments of each slice, those that are the same for all, and the sizes that are known."""
    numbers: list[dict[Path, Number]] = [
        {("arguments", k): v for k, v in each.items()} for each in slices
    ]
    constant = {p: v for p, v in numbers[0].items() if all(n.get(p) == v for n in numbers)}
    return (
        numbers,
        constant,
        SliceFacts(len(slices), None, frozenset(), bounds_are_rows=False, lowered_by_one=None),
    )


@pytest.mark.parametrize(
    ("slices", "complete"),
    [
        ([{"i": 0, "parts": 2}, {"i": 1, "parts": 2}], [True]),
        ([{"i": 1, "parts": 2}, {"i": 2, "parts": 2}], [True]),
        ([{"i": 0}, {"i": 1}], [False]),
        ([{"i": 0, "parts": 3}, {"i": 1, "parts": 3}], [False]),
        ([{"i": 1, "parts": 2}, {"i": 0, "parts": 2}], []),
        ([{"i": 2, "parts": 2}, {"i": 3, "parts": 2}], []),
    ],
    ids=["from 0", "from 1", "alone", "of more parts", "backwards", "from 2"],
)
def test_an_index_with_the_number_of_parts(
    slices: list[dict[str, Number]], complete: list[bool]
) -> None:
    patterns = [*numbered_parts(*told(*slices))]
    assert [pattern.covers_batch for pattern in patterns] == complete
    assert all(pattern.part_starts == (0.0, 0.5) for pattern in patterns if pattern.covers_batch)


@pytest.mark.parametrize(("taken_off", "number"), [("i", 1), ("parts", 0), (None, 0)])
def test_an_index_counts_from_1_where_the_code_takes_1_off(
    taken_off: str | None, number: int
) -> None:
    numbers, constant, known = told({"i": 1, "parts": 2}, {"i": 2, "parts": 2})
    patterns = [
        *numbered_parts(numbers, constant, known._replace(lowered_by_one=frozenset({taken_off})))
    ]
    assert len(patterns) == number


@pytest.mark.parametrize(
    ("slices", "edges"),
    [
        ([{"start": 0, "share": 3, "of": 5}, {"start": 3, "share": 2, "of": 5}], (0.0, 0.6)),
        ([{"start": 0, "share": 3, "of": 5}, {"start": 2, "share": 3, "of": 5}], None),
        ([{"start": 1, "share": 2, "of": 5}, {"start": 3, "share": 2, "of": 5}], None),
    ],
    ids=["all of five", "overlapping", "without the first"],
)
def test_shares_with_their_total(slices: list[dict[str, Number]], edges: Any) -> None:
    complete = [
        pattern.part_starts for pattern in shares_of_total(*told(*slices)) if pattern.covers_batch
    ]
    assert complete == ([] if edges is None else [edges])


@pytest.mark.parametrize(
    ("slices", "complete"),
    [
        ([{"lo": 0.0, "hi": 0.5}, {"lo": 0.5, "hi": 1.0}], True),
        ([{"lo": 0, "hi": 50}, {"lo": 50, "hi": 100}], True),
        ([{"lo": 0, "hi": 50}, {"lo": 50}], True),
        ([{"lo": 0, "hi": 50}, {"lo": 50, "hi": 101}], False),
    ],
    ids=["fractions", "percent", "an open end", "no whole"],
)
def test_bounds_whose_last_stop_is_the_whole(
    slices: list[dict[str, Number]], complete: bool
) -> None:
    numbers, _, known = told(*slices)
    assert [pattern.covers_batch for pattern in bounds(numbers, known)] == [complete]


def test_bounds_with_a_gap_are_none() -> None:
    numbers, _, known = told({"lo": 0.0, "hi": 0.4}, {"lo": 0.5, "hi": 1.0})
    assert [*bounds(numbers, known)] == []
