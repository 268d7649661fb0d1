"""A stored function as it begins: the values of its arguments, and the Pythons that its bytes may be of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas import compiled
from unnest.core.byte_code.code_objects import CodeObject
from unnest.core.byte_code.stored_function import arguments_of, readings
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
        (replace(CODE, flags=0x08), [1], {"parts": 2}, "a generator, or arguments without number"),
        (replace(CODE, flags=0x20), [1], {"parts": 2}, "a generator, or arguments without number"),
    ],
)
def test_what_is_not_known(
    made: CodeObject, defaults: list[int], stored: dict[str, int], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{reason}$"):
        arguments_of(made, 0, defaults, stored)


@pytest.mark.parametrize("python", compiled.PYTHONS)
def test_the_python_that_wrote_a_function_is_among_its_readings(python: str) -> None:
    for text, *_ in compiled.functions()[python].values():
        assert python in [version.version for _, version in readings(text)]
