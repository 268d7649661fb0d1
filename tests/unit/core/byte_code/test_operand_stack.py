"""The machine's stack: as many values as a function declares, and lists that grow only while they have one owner."""

from __future__ import annotations

import pytest

from unnest.core.byte_code.machine_errors_and_run_cost import MAX_STACK_WORK, Impossible, RunCost
from unnest.core.byte_code.operand_stack import OperandStack, only_values
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.byte_code.runtime_values import InnerCode, Iteration, Null
from unnest.core.model import Unknown

CODE = CodeObject(
    layout="3.8", arguments=0, keyword_only=0, stack=1, flags=0, code=b"", constants=(), names=(), locals=(), free=(),
    cells=(), slots=(),
)  # fmt: skip


def holding(*values: object, limit: int = 4, size: int = 1) -> OperandStack[object]:
    stack: OperandStack[object] = OperandStack(limit, lambda _: size, RunCost())
    stack.push(*values)
    return stack


def test_values_come_back_in_their_order() -> None:
    stack = holding(1, 2, 3)
    assert (stack.pop_many(2), stack.pop(), len(stack)) == ([2, 3], 1, 0)


def test_a_null_is_taken_and_is_no_value() -> None:
    stack = holding(1, Null.NULL)
    assert stack.values == [1]
    assert stack.take(2) == [1, Null.NULL]
    with pytest.raises(Impossible):
        holding(1, Null.NULL).pop_many(2)


def test_values_change_places() -> None:
    stack = holding(1, 2, 3)
    stack.rotate(3)
    assert stack.values == [3, 1, 2]
    stack.swap(3)
    stack.copy(2)
    assert stack.values == [2, 1, 3, 1]


def test_more_than_the_function_says_or_less_than_nothing_is_impossible() -> None:
    with pytest.raises(Impossible):
        holding(1, 2, 3, limit=2)
    with pytest.raises(Impossible):
        holding(1).take(2)
    for depth in (0, 3):
        with pytest.raises(Impossible):
            holding(1, 2).copy(depth)


def test_what_is_taken_is_work() -> None:
    holding(1, size=MAX_STACK_WORK).pop()
    with pytest.raises(Unknown, match=r"^more work than anyone's function$"):
        holding(1, size=MAX_STACK_WORK + 1).pop()


def test_a_list_grows_until_something_else_may_hold_it() -> None:
    stack = holding()
    stack.push_new_list((1,))
    stack.push((2,))
    stack.extend_new_list(1, lambda parts, more: (parts, more))
    assert stack.values == [((1,), (2,))]
    stack.copy(1)
    with pytest.raises(Unknown, match=r"^a list that grows$"):
        stack.extend_new_list(1, lambda parts, more: (parts, more))


def test_a_list_that_changes_places_is_still_held_by_nothing_else() -> None:
    """As 3.12 does with the list of a comprehension."""
    stack = holding("iterable")
    stack.push_new_list((1,))
    stack.swap(2)
    stack.push((2,))
    stack.extend_new_list(2, lambda parts, more: (parts, more))
    assert stack.values == [((1,), (2,)), "iterable"]


def test_only_values_are_values() -> None:
    assert only_values([1, 2]) == [1, 2]
    for held in ([1, Null.NULL], [Iteration(iter([1]))], [InnerCode(CODE), Null.UNSET]):
        with pytest.raises(Impossible):
            only_values(held)
    with pytest.raises(Unknown, match=r"^an inner function$"):
        only_values([1, InnerCode(CODE)])


def test_what_is_iterated_over_is_on_top() -> None:
    iteration = Iteration(iter([1]))
    assert holding(1, iteration).iteration is iteration
    assert holding(iteration, 1).iteration is None
    assert holding().iteration is None
