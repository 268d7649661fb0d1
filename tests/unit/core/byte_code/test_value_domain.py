"""Questions that a domain need not answer, and texts of f-strings: Python's own where every Python has the same."""

from __future__ import annotations

import pytest

from tests.unit.core.byte_code.python_itself import Branching, Straight
from unnest.core.byte_code.value_domain import (
    MAX_TEXT_LENGTH,
    TextConversion,
    format_text,
    join_texts,
)
from unnest.core.model import Unknown


def test_straight_code_has_no_conditions() -> None:
    straight = Straight({})
    assert not straight.branches
    with pytest.raises(Unknown, match="beyond plain expressions"):
        straight.truth(value=True)


def test_who_follows_branches_answers() -> None:
    branching = Branching({"tensorflow": "tf"})
    assert (branching.truth(3), branching.module("tensorflow")) == (True, "tf")


@pytest.mark.parametrize(
    ("value", "conversion", "spec", "text"),
    [
        (3, "", None, "3"),
        (True, "", "", "True"),
        (True, "", "d", "1"),
        (None, "r", None, "None"),
        (2.5, "s", None, "2.5"),
        ("a", "r", None, "'a'"),
        ("\xe9", "s", None, "\xe9"),
        (7, "", "03d", "007"),
        (7, "", "*>+5", "***+7"),
        (1234567, "", ",", "1,234,567"),
        (0.5, "", ".1%", "50.0%"),
    ],
)
def test_known_texts(value: object, conversion: TextConversion, spec: object, text: str) -> None:
    assert format_text(value, conversion, spec) == text


@pytest.mark.parametrize(
    ("value", "conversion", "spec"),
    [
        ([1], "", None),
        (object(), "s", None),
        ("\xe9", "r", None),
        ("a", "", "05"),
        (1, "r", "05"),
        (1, "", "n"),
        (1.0, "", "z.1f"),
        (1, "", "1000000000"),
        (1, "", ".2d"),
        (10**400, "", "f"),
        (1, "", object()),
    ],
    ids=["a list", "an object", "no ASCII", "a text with a spec", "a number's text with a spec", "a locale",
         "a later spec", "a long text", "a wrong spec", "beyond a float", "an unknown spec"],
)  # fmt: skip
def test_unknown_texts(value: object, conversion: TextConversion, spec: object) -> None:
    assert format_text(value, conversion, spec) is None


def test_texts_are_joined_while_they_are_known_and_short() -> None:
    assert join_texts(["a", "", "b"]) == "ab"
    assert join_texts(["a", object()]) is None
    assert join_texts(["a" * MAX_TEXT_LENGTH, "b"]) is None
