"""Slices of one wrapper have arguments of the same names; strings and booleans that differ are no numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import called, code_lambda, lane
from unnest.core.wrappers.claims.check_slice_claims_by_code import checked
from unnest.core.wrappers.claims.slice_claims import ClaimStatus, claim
from unnest.core.wrappers.claims.slice_non_number_arguments import (
    differing_text,
    objection_to_names,
)
from unnest.core.wrappers.claims.stored_slice_numbers import Slice

tf: Any = None  # what the code of these functions names; they are read, not called
helper: Any = None


def by_name(*arguments: dict[str, Any]) -> list[Slice]:
    return lane(
        *(
            called("Lambda", name=f"s{k}", function="f", arguments=each)
            for k, each in enumerate(arguments)
        )
    )


def of_a_class(*configs: dict[str, Any]) -> list[Slice]:
    return lane(
        *(called("Rows", name=f"s{k}", trainable=True, **each) for k, each in enumerate(configs))
    )


def with_code(source: Any, *arguments: dict[str, Any]) -> list[Slice]:
    return lane(*(code_lambda(source, **each) for each in arguments))


def halves(x: Any, i: int, parts: int) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n : (i + 1) * n]


def to_the_end(x: Any, i: int, parts: int, rest: bool) -> Any:
    n = tf.shape(x)[0] // parts
    return x[i * n :] if rest else x[i * n : (i + 1) * n]


def with_any(x: Any, i: int, parts: int, **options: Any) -> Any:
    return helper(x, i, parts, **options)


def open_ends(x: Any, lo: Any = None, hi: Any = None) -> Any:
    return x[lo:hi]


PARTS = ({"i": 0, "parts": 2}, {"i": 1, "parts": 2})


@pytest.mark.parametrize("slices", [by_name, of_a_class])
@pytest.mark.parametrize(
    ("first", "second", "odd"),
    [
        ({"i": 1, "parts": 2}, {"i": 1, "parts_": 2}, "parts"),
        ({"a": 2}, {"b": 2}, "a"),
        ({"i": 0, "parts": 2}, {"i": 1, "parts": 2, "more": 2}, "more"),
    ],
)
def test_other_names_are_no_claim(
    slices: Any, first: dict[str, int], second: dict[str, int], odd: str
) -> None:
    found = claim(slices(first, second))
    assert (found.status, found.sentence) == (
        ClaimStatus.OTHERWISE,
        f"only some of the slices are told {odd}",
    )


def test_code_cannot_have_run_with_an_argument_that_it_does_not_take() -> None:
    found = claim(
        with_code(halves, {"i": 0, "parts": 2, "reverse": 0}, {"i": 1, "parts": 2, "reverse": 0})
    )
    assert (found.status, found.sentence) == (
        ClaimStatus.OTHERWISE,
        "the code of l takes no argument reverse",
    )
    assert (
        objection_to_names(with_code(with_any, *({**each, "reverse": 0} for each in PARTS))) is None
    )
    assert claim(with_code(halves, *PARTS)).status is ClaimStatus.ROWS


def test_code_may_have_defaults_for_what_some_slices_are_not_told() -> None:
    assert claim(with_code(open_ends, {"hi": 4}, {"lo": 4})).status is ClaimStatus.ROWS


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"reverse": False}, {"reverse": True}, "reverse is False, True in the slices"),
        ({"mode": "a"}, {"mode": "b"}, "mode is a, b in the slices"),
        ({"steps": ["flip"]}, {"steps": ["crop"]}, "steps is flip, crop in the slices"),
        ({"mode": None}, {"mode": "b"}, "mode is none, b in the slices"),
        ({"at": "/gpu:0"}, {"at": "mirror"}, "at is /gpu:0, mirror in the slices"),
        ({"at": "view_1"}, {"at": "view_3"}, "at is view_1, view_3 in the slices"),
    ],
)
@pytest.mark.parametrize("slices", [by_name, of_a_class])
def test_texts_and_truth_values_that_differ(
    slices: Any, first: Any, second: Any, said: str
) -> None:
    both = slices({**PARTS[0], **first}, {**PARTS[1], **second})
    found = checked(claim(both), both)
    assert (found.status, found.sentence) == (
        ClaimStatus.OTHERWISE,
        f"{said}, which does not number parts in order",
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/gpu:0", "/gpu:1"), ("GPU:1", "GPU:3"), ("/device:GPU:0", "/device:GPU:1"), ("cpu:0", "/gpu:0"),
        ("/job:worker/replica:0/task:0/device:GPU:0", "/job:worker/replica:0/task:1/device:GPU:0"),
        ("tower_0", "tower_1"), ("tower_1/", "tower_2/"), ("same", "same"),
    ],
)  # fmt: skip
def test_devices_and_texts_that_count_the_towers(first: str, second: str) -> None:
    both = by_name({**PARTS[0], "at": first}, {**PARTS[1], "at": second})
    assert differing_text(both) is None
    assert claim(both).status is ClaimStatus.ROWS


def test_code_that_can_be_followed_explains_them() -> None:
    both = with_code(to_the_end, {**PARTS[0], "rest": False}, {**PARTS[1], "rest": True})
    assert claim(both).status is ClaimStatus.UNEXPLAINED
    assert checked(claim(both), both).status is ClaimStatus.ROWS
    both = with_code(to_the_end, {**PARTS[0], "rest": True}, {**PARTS[1], "rest": True})
    assert checked(claim(both), both).status is ClaimStatus.OTHERWISE


def test_code_that_cannot_be_followed_explains_nothing() -> None:
    both = with_code(with_any, {**PARTS[0], "mode": "a"}, {**PARTS[1], "mode": "b"})
    assert checked(claim(both), both).status is ClaimStatus.OTHERWISE
