"""Stored numbers that count as arguments of a slice, and their paths."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import called, code_lambda, lane
from unnest.core.wrappers.claims import stored_slice_numbers
from unnest.core.wrappers.claims.stored_slice_numbers import last, numbers_of, slice_facts


def part(x: Any, i: int, parts: int = 2) -> Any:
    return x[(i - 1) * 7 : parts]


def test_an_argument_takes_the_place_of_a_default() -> None:
    assert numbers_of(*code_lambda(part, i=1)) == {("function", 1, 0): 2, ("arguments", "i"): 1}
    assert numbers_of(*code_lambda(part, i=1, parts=3)) == {
        ("arguments", "i"): 1,
        ("arguments", "parts"): 3,
    }


def test_cells_have_places_of_their_own() -> None:
    assert numbers_of(*called("Lambda", function=["not code", None, [4, 8]])) == {
        ("function", 2, 0): 4,
        ("function", 2, 1): 8,
    }


@pytest.mark.parametrize(
    "key", ["output_shape", "trainable", "batch_input_shape", "shared_object_id"]
)
def test_what_every_layer_may_hold_is_told_to_none(key: str) -> None:
    settings: dict[str, Any] = {key: [None, 3], "i": 1}
    assert numbers_of(*called("Rows", **settings)) == {("i",): 1}


def test_an_argument_of_the_call_counts_as_config() -> None:
    assert numbers_of(*called("Rows", [["x", 0, 0, {"i": 1}]])) == {("call", 0, 0, "i"): 1}


def test_what_is_known_beside_the_numbers() -> None:
    known = slice_facts(lane(code_lambda(part, i=1), code_lambda(part, i=2)), rows=8)
    assert (known.slice_count, known.rows, known.bounds_are_rows, known.lowered_by_one) == (
        2,
        8,
        True,
        frozenset({"i"}),
    )
    assert 7 in known.constants
    without_code = slice_facts(lane(called("Rows", i=1)), rows=None)
    assert (without_code.bounds_are_rows, without_code.lowered_by_one) == (False, None)


def test_a_number_is_called_as_the_code_calls_it() -> None:
    """A default, or a list in one, by its parameter, as long as all slices agree; the last key has the rest."""
    slices = lane(*(code_lambda(part, i=i) for i in (1, 2)))
    known = slice_facts(slices, rows=None)
    assert [stored_slice_numbers.called(place, known) for place in numbers_of(*slices[0][:2])] == [
        "parts",
        "i",
    ]
    other = slice_facts(lane(code_lambda(part), code_lambda(lambda x, i, n=2: x[i:n])), rows=None)
    assert stored_slice_numbers.called(("function", 1, 0), other) == "function"
    assert stored_slice_numbers.called(("function", 1, 0, 3), known) == "parts"
    assert stored_slice_numbers.called(("arguments", "share", 0), known) == "share"
    assert stored_slice_numbers.called(("function", 1, 7), known) == "function"


def test_a_place_is_called_by_its_last_key() -> None:
    assert last(("arguments", "i")) == "i"
    assert last(("function", 2, 1)) == "function"
