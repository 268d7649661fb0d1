"""A frame counts the values on its stack and its work at every instruction."""

from __future__ import annotations

import pytest

from tests.unit.core.byte_code.instructions.test_jumps_and_loops import (
    FOR_ITER,
    GET_ITER,
    JUMP_ABSOLUTE,
)
from tests.unit.core.byte_code.test_machine import run
from unnest.budget import Budget, OverBudget, limited
from unnest.core.byte_code.machine_errors_and_run_cost import MAX_INSTRUCTIONS, Impossible
from unnest.core.model import Unknown


def test_every_pass_of_a_loop_finds_as_much_on_the_stack() -> None:
    """Here each leaves a value below the iteration."""
    more = (124, 0, GET_ITER, 0, FOR_ITER, 8, 1, 0, 100, 1, 2, 0, JUMP_ABSOLUTE, 4, 102, 2, 83, 0)
    with pytest.raises(Impossible):
        run(*more, x=[1, 2])


def test_what_a_loop_repeats_is_work() -> None:
    """Counted in instructions, whatever it gives; and spent from the file's budget."""
    repeated = (124, 0, GET_ITER, 0, FOR_ITER, 4, 125, 1, JUMP_ABSOLUTE, 4, 124, 0, 83, 0)
    assert run(*repeated, x=[0] * (MAX_INSTRUCTIONS // 3 - 2))
    with pytest.raises(Unknown):
        run(*repeated, x=[0] * (MAX_INSTRUCTIONS // 3 + 2))
    with limited(Budget("a file", 100, 0)), pytest.raises(OverBudget):
        run(*repeated, x=[0] * 100)
