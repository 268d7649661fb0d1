"""Operators, comparisons and the texts of f-strings give what Python gives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.byte_code.test_machine import COMPARE, CONST, FAST, NEGATIVE, RETURN, run
from unnest.core.byte_code.machine_errors_and_run_cost import Impossible

FORMAT, BUILD_STRING = 155, 157


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ((FAST, 0, NEGATIVE, 0), -10),
        ((FAST, 0, CONST, 1, COMPARE, 4), True),
        ((FAST, 0, FORMAT, 0), "10"),
        ((FAST, 0, FORMAT, 0, CONST, 1, FORMAT, 0, BUILD_STRING, 2), "102"),
    ],
)
def test_of_values_on_the_stack(code: tuple[int, ...], result: Any) -> None:
    assert run(*code, RETURN, 0) == result


def test_a_format_has_two_bits_for_its_conversion_and_one_for_its_spec() -> None:
    with pytest.raises(Impossible):
        run(FAST, 0, FORMAT, 8, RETURN, 0)
