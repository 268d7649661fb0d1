"""The cost of a file: spent once, refused in one line, and not forgotten if the first exception is caught."""

from __future__ import annotations

import itertools

import pytest

from unnest.budget import (
    ANSWERS_KEPT_ACROSS_FILES,
    MEMORY,
    STEPS,
    Answers,
    Budget,
    OverBudget,
    charge_bytes,
    charge_memory,
    charge_steps,
    check,
    check_memory,
    limited,
    memoize,
    memoize_across_files,
    memoizing,
)


def test_grows_with_the_file() -> None:
    """Both parts, and by 100 where the file is trusted."""
    small, large, trusted = (
        Budget.of("a", 0),
        Budget.of("a", 1 << 30),
        Budget.of("a", 0, trust=True),
    )
    assert (small.steps, small.memory) == (STEPS, MEMORY)
    assert large.steps == STEPS + (1 << 30) // 10
    assert large.memory == MEMORY + (4 << 30)
    assert (trusted.steps, trusted.memory) == (100 * STEPS, 100 * MEMORY)


def test_nothing_is_limited_outside() -> None:
    """The core alone has no file, and no budget."""
    charge_steps(1 << 60)
    charge_memory(1 << 60)
    check_memory(1 << 60)
    check()


def test_memoized_without_limits() -> None:
    """Once in a block, however much it costs; of a budget that is open, all limits hold."""
    with memoizing():
        assert memoize(object) is memoize(object)
        charge_steps(1 << 60)
        charge_memory(1 << 60)
    assert memoize(object) is not memoize(object)
    with limited(Budget("m.h5", 3, 10)), memoizing(), pytest.raises(OverBudget):
        charge_steps(4)


def test_the_last_step() -> None:
    """As many as there are, and not one more."""
    with limited(Budget("m.h5", 3, 10)):
        charge_steps(3)
        check()
        with pytest.raises(OverBudget, match=r"^m\.h5: asks for more work .* --trust$"):
            charge_steps()
        with pytest.raises(OverBudget):
            check()


def test_memory_for_good_and_for_a_moment() -> None:
    """`check_memory` takes nothing, `charge_memory` does."""
    with limited(Budget("m.h5", 3, 10)):
        check_memory(10)
        charge_memory(6)
        check_memory(4)
        with pytest.raises(OverBudget, match="more memory"):
            check_memory(5)
        with pytest.raises(OverBudget, match="more memory"):
            charge_memory(5)


def test_bytes_are_work() -> None:
    """512 in the time of a step, and never for nothing."""
    with limited(Budget("m.h5", 5, 0)) as budget:
        charge_bytes(0)
        assert budget.steps == 4
        charge_bytes(1024)
        assert budget.steps == 1


def test_one_file_in_another() -> None:
    """The output that is read back spends from what is open; afterwards nothing is."""
    with limited(Budget("outer", 5, 5)) as outer:
        with limited(Budget("inner", 1, 1)):
            charge_steps()
        assert outer.steps == 5
    charge_steps(100)


def _sum(one: list[int], two: list[int]) -> list[int]:
    return [*one, *two]


def _product(one: list[int], two: list[int]) -> list[int]:
    return [a * b for a, b in zip(one, two, strict=True)]


def test_what_is_remembered() -> None:
    """While one file is worked on: by what is worked out, and by the very values, not by those that equal them."""
    one, equal, two = [1, 2], [1, 2], [3, 4]
    with limited(Budget("m.h5", 3, 10)):
        answer = memoize(_sum, one, two)
        assert memoize(_sum, one, two) is answer
        assert memoize(_sum, equal, two) is not answer
        assert memoize(_sum, two, one) == [3, 4, 1, 2]
        assert memoize(_product, one, two) == [3, 8]
    with limited(Budget("n.h5", 3, 10)):
        assert memoize(_sum, one, two) is not answer


def test_what_is_answered() -> None:
    """Once for all files that share their answers; each pays, and none gets what it cannot pay for."""
    answers = Answers()
    numbers = itertools.count(1)

    def work_out() -> int:
        charge_steps(2)
        return next(numbers)

    budgets = [Budget(path, 3, 10, answers=answers) for path in ("a.h5", "b.h5", "c.h5")]
    for budget in budgets[:2]:
        with limited(budget):
            assert memoize_across_files("q", work_out) == 1
        assert budget.steps == 1
    with limited(budgets[1]), pytest.raises(OverBudget):
        memoize_across_files("q", work_out)
    with limited(budgets[2]):
        assert memoize_across_files("r", work_out) == 2
    with limited(Budget("alone.h5", 3, 10)):
        assert memoize_across_files("q", work_out) == 3
    assert memoize_across_files("q", work_out) == 4


def test_an_answer_that_failed_is_none() -> None:
    with limited(Budget("a.h5", 3, 10)):
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                memoize_across_files("q", lambda: 1 // 0)
        assert memoize_across_files("q", lambda: 1) == 1


def test_the_answers_that_were_asked_for_last_are_kept() -> None:
    with limited(Budget("a.h5", 3, 10)):
        for n in range(ANSWERS_KEPT_ACROSS_FILES):
            memoize_across_files(n, lambda: "before")
        memoize_across_files(0, lambda: "never")
        memoize_across_files("one more", lambda: "before")
        assert memoize_across_files(0, lambda: "again") == "before"
        assert memoize_across_files(1, lambda: "again") == "again"
