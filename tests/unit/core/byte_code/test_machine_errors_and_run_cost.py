"""The cost of a run, counted over all functions that take part in it."""

from __future__ import annotations

import pytest

from unnest.budget import Budget, OverBudget, limited
from unnest.core.byte_code.machine_errors_and_run_cost import (
    MAX_INSTRUCTIONS,
    MAX_NESTED,
    MAX_STACK_WORK,
    Impossible,
    RunCost,
    TooMuch,
    entry,
    spend_on,
)


def test_instructions_have_an_end() -> None:
    work = RunCost(instructions=MAX_INSTRUCTIONS - 1)
    work.step()
    with pytest.raises(TooMuch):
        work.step()


def test_values_have_an_end() -> None:
    work = RunCost()
    work.handle(MAX_STACK_WORK)
    with pytest.raises(TooMuch):
        work.handle(1)


def test_functions_that_have_returned_do_not_count() -> None:
    work = RunCost()
    for _ in range(2 * MAX_NESTED):
        work.enter()
        work.leave()
    for _ in range(MAX_NESTED):
        work.enter()
    with pytest.raises(TooMuch):
        work.enter()


def test_code_that_is_carried_out_once_more_is_the_files_work() -> None:
    """An instruction has two bytes."""
    with limited(Budget("a file", 10, 0)) as budget:
        spend_on(20)
        assert budget.steps == 0
        with pytest.raises(OverBudget):
            spend_on(2)


def test_an_entry_that_is_not_there_is_written_by_no_compiler() -> None:
    assert entry("ab", 1) == "b"
    with pytest.raises(Impossible):
        entry("ab", 2)
