"""The values of a function's arguments as its code begins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unnest.core.byte_code.argument_binding import arguments_of
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.model import Unknown

CODE = CodeObject(
    layout="3.8", arguments=2, keyword_only=1, stack=4, flags=0, code=b"", constants=(None,), names=(),
    locals=("x", "i", "parts", "n"), free=(), cells=(), slots=(),
)  # fmt: skip


def test_each_argument_is_given_stored_or_has_a_default() -> None:
    assert arguments_of(CODE, 0, [7], {"parts": 2}) == {"x": 0, "i": 7, "parts": 2}
    assert arguments_of(CODE, 0, [7], {"parts": 2, "i": 1}) == {"x": 0, "i": 1, "parts": 2}


@pytest.mark.parametrize(
    ("made", "defaults", "stored", "reason"),
    [
        (CODE, [], {"parts": 2}, "an argument whose value is not stored"),
        (
            CODE,
            [1],
            {"parts": 2, "other": 3},
            "an argument of the layer that the function does not take",
        ),
        (
            CODE,
            [1],
            {"parts": 2, "x": 3},
            "an argument of the layer that the function does not take",
        ),
        (CODE, [1, 2, 3], {"parts": 2}, "a function without arguments"),
        (replace(CODE, arguments=0, keyword_only=0), [], {}, "a function without arguments"),
        (
            replace(CODE, flags=0x08),
            [1],
            {"parts": 2},
            "a function of any arguments, as a decorator makes of another that is not in the file",
        ),
        (replace(CODE, flags=0x20), [1], {"parts": 2}, "a generator"),
    ],
)
def test_what_is_not_known(
    made: CodeObject, defaults: list[int], stored: dict[str, int], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{reason}$"):
        arguments_of(made, 0, defaults, stored)
