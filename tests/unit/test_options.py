"""Options that contradict each other, or do not exist."""

from __future__ import annotations

from typing import Any

import pytest

import unnest
from unnest.errors import UsageError
from unnest.options import FixOptions, check_usage


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"output": ""}, "-o '': is no name; name the file or the folder to write"),
        (
            {"output": "o.h5", "in_place": True},
            "--in-place and -o contradict each other; drop one of the two",
        ),
        ({"output": "o.h5", "to": "keras"}, "o.h5: the suffix contradicts --to keras; drop one of the two"),
        (
            {"in_place": True, "to": "keras"},
            "m.h5: --in-place keeps the container, and --to keras names another; use -o",
        ),
        ({"output": "m.h5"}, "m.h5: is the input itself; choose another output with -o"),
        ({"backup": "a/b"}, "--backup 'a/b': a suffix is something like .bak, without a slash"),
        ({"keras": 3}, "keras=3: choose one of 'original', '3'"),
        ({"to": "tflite"}, "to='tflite': choose one of None, 'h5', 'keras', 'weights', 'saved_model', 'json'"),
    ],
)  # fmt: skip
def test_one_line_says_what_is_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        check_usage("m.h5", FixOptions(**options))
    assert raised.value.message == message


def test_the_library_says_it_too() -> None:
    """The number 3 is as good as the text; no other number is."""
    typed: dict[str, Any] = {"keras": 2}
    with pytest.raises(UsageError, match=r"^keras='2': choose one of"):
        unnest.fix("m.h5", **typed)
    assert unnest.fix("m.h5", keras=3).error is not None  # there is no such file


def test_none_is_wrong_with_what_is_given_by_default() -> None:
    check_usage("m.h5", FixOptions())
