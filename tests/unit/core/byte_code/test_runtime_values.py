"""What the machine holds beside values is told apart from them, and by identity."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.runtime_values import (
    CommonConstant,
    Entrance,
    Exit,
    Internal,
    Iteration,
    Null,
)


@pytest.mark.parametrize(
    "held", [Null.NULL, Null.UNSET, Exit.EXIT, CommonConstant.ALL, Entrance(1), Iteration(iter(()))]
)
def test_what_is_no_value_is_internal(held: object) -> None:
    assert isinstance(held, Internal)


def test_two_of_the_same_value_are_two() -> None:
    one, other = Entrance(1), Entrance(1)
    assert one != other
