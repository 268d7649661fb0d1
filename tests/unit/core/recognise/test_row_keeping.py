"""Operations that leave rows where they are are none of those that take, move, reduce or join them."""

from __future__ import annotations

import pytest

from unnest.core.recognise.op_kinds import ALONG, CONCATENATES, MOVES, OF_ALL_ROWS, OF_MATRICES, REDUCING, SCATTERS
from unnest.core.recognise.row_keeping import KEEPING, OVER_STEPS, TAKING


@pytest.mark.parametrize(
    "others", [ALONG.keys(), CONCATENATES, MOVES - {"identity"}, OF_ALL_ROWS, OF_MATRICES, REDUCING, SCATTERS, TAKING]
)
def test_no_operation_is_of_two_sorts(others: frozenset[str]) -> None:
    assert KEEPING.isdisjoint(others)


@pytest.mark.parametrize("name", ["relu", "add", "log1p", "biasadd", "clip", "logicaland", "conv2d", "rowwise"])
def test_operations_that_keep_rows(name: str) -> None:
    assert name in KEEPING


def test_what_puts_steps_together_keeps_the_first_axis() -> None:
    assert OVER_STEPS < KEEPING
