"""Stored code that is followed: Python's values and lists, tensors, and what ends it without an answer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.frontends.code_of import inputs, result, stored
from unnest.budget import Budget, OverBudget, limited
from unnest.core.frontends.python_values import UNKNOWN
from unnest.core.frontends.stored_code_tracer.trace_stored_code import follow
from unnest.core.interpreters.trace import TracedInput
from unnest.core.model import Json


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["return [1, 2][1:] + [3]"], [2, 3]),
        (["a, b = 1, 2", "return (b, a)"], (2, 1)),
        (
            ["y = [1]", "y += (2,)", "y.append(3)", "y.insert(0, 0)", "y.reverse()", "return y"],
            [3, 2, 1, 0],
        ),
        (["return [k * k for k in range(3) if k != 1]"], [0, 4]),
        (["return len(K.int_shape(x))"], 2),
        (["return x.shape.as_list()[1:]"], [4]),
        (["return x.get_shape().as_list()[-1]"], 4),
        (["return x.shape.ndims"], 2),
        (["return int(tf.shape(x)[0] // 2)"], 3),
        (["return max(len([x]), 3)"], 3),
        (["with tf.device('/gpu:%d' % 0):", " return 5"], 5),
        (["return math.ceil(2.5)"], 3.0),
        (["return list(zip([1], [2]))"], [(1, 2)]),
    ],
)
def test_plain_values(lines: list[str], value: Any) -> None:
    assert result(*lines) == value


@pytest.mark.parametrize(
    "lines",
    [
        ["return 1 / 0"],
        ["return [1][5]"],
        ["return [1] + (2,)"],
        ["return None + 1"],
        ["y = 1", "return ~y"],
        ["return [0] * 1000000"],
        ["return [x for x in x]"],
        ["return 3 if helper(x) else 4"],
        ["return 3 if x[0, 0] else 4"],
        ["with helper(x):", " return 5"],
        ["return x.device"],
        ["return tf.reshape(x, [5, 5])"],
        ["return tf.gather(x, [9])"],
        ["return x[slice(0, 4, 0)]"],
        ["return tf()"],
        ["y = 5", "return y()"],
        ["y = 5", "return y[0]"],
        ["return x[slice('a', 'b')]"],
        ["a, b = [1, 2, 3]", "return a"],
        ["y = [1]", "return y.sort()"],
        ["y = [1]", "y.append(1, 2)", "return y"],
        ["y = [1]", "y *= 2", "return y"],
        ["y = [1]", "y.extend(k for k in range(10000))", "return y"],
        ["return x << 1"],
        ["g = (k for k in [1])", "return list(g) + list(g)"],
        ["y = [1]", "helper(y)", "return y"],
        ["y = [1]", "np.random.shuffle(y)", "return y"],
        ["y = [1]", "y.append(y)", "return y"],
        ["y = 10", "return y ** 3"],
        ["return range(10 ** 9)"],
    ],
)
def test_what_ends_without_an_answer(lines: list[str]) -> None:
    assert result(*lines) == "nothing"


@pytest.mark.parametrize("values", [{"y": 1}, {}, {"k": {"class_name": "Thing"}}])
def test_arguments_that_do_not_fit(values: dict[str, Json]) -> None:
    function = stored("return x", parameters="x, k")
    assert follow(function, values, lambda _: inputs(), [2], lambda _: True) is None
    assert follow(function, {"k": 1}, lambda _: inputs(), [2], lambda _: True) is True


def test_the_first_rank_with_an_answer_counts() -> None:
    ranks: list[int] = []

    def given(rank: int) -> list[TracedInput]:
        ranks.append(rank)
        return inputs()

    answer = follow(
        stored("return x"), {}, given, [2, 3, 4], lambda _: ranks[-1] if ranks[-1] > 2 else None
    )
    assert answer == 3
    assert {*ranks} == {2, 3}


@pytest.mark.parametrize(
    "lines",
    [
        ["y = 0", "for a in range(9000):", " for b in range(9000):", "  y = y + 1", "return y"],
        ["def g(n):", " return g(n - 1) + g(n - 1) if n else 0", "return g(18)"],
        ["y = x", "for _ in range(60):", " y = tf.concat([y, y], 0)", "return y"],
        ["y = tf.range(9)", "for _ in range(60):", " y = tf.concat([y, y], 0)", "return y"],
        ["return tf.tile(x, [10 ** 6, 1])"],
        ["return tf.repeat(x, 10 ** 7, 0)"],
        ["return tf.range(10 ** 12)"],
        ["return tf.fill([10 ** 6, 10 ** 6], 0)"],
        ["y = [x]", "for _ in range(2000):", " y = [y]", "return y"],
        ["y = [x]", "for _ in range(60):", " y = [y, y]", "return y"],
        ["y = 3", "for _ in range(60):", " y = y * y", "return y"],
        ["y = 'a'", "for _ in range(60):", " y = y + y", "return y"],
    ],
)
def test_work_is_bounded(lines: list[str]) -> None:
    """Nested loops, deep recursion, repeats: none takes more than a file's budget."""
    with limited(Budget.of("m.h5", 0)) as budget:
        before = budget.steps
        assert result(*lines) in ("nothing", UNKNOWN)
        assert before - budget.steps < before // 10


def test_what_operations_cost_is_spent() -> None:
    many = stored("y = x", "for _ in range(600):", " y = tf.identity(y)", "return y")
    with limited(Budget("m.h5", 600 * 20, 1 << 20)), pytest.raises(OverBudget):
        follow(many, {}, lambda _: inputs(), [2], lambda trace: trace)
