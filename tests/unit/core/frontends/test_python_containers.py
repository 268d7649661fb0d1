"""Lists, tuples and dictionaries of code that is followed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.frontends.code_of import result
from unnest.core.frontends import python_containers
from unnest.core.frontends.python_values import UNKNOWN
from unnest.core.model import Unknown


@pytest.mark.parametrize(
    ("of", "value", "expected"),
    [([1, 2], 2, True), ((1, "a"), "b", False), ({"a": 1}, "a", True), ([None], None, True)],
)
def test_membership(of: Any, value: Any, expected: bool) -> None:
    assert python_containers.contains(of, value) is expected


@pytest.mark.parametrize(("of", "value"), [([UNKNOWN], 1), ([1], UNKNOWN), ("ab", "a"), (3, 3)])
def test_membership_that_is_not_known(of: Any, value: Any) -> None:
    with pytest.raises(Unknown):
        python_containers.contains(of, value)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["y = [1, 2, 3]", "return [y.pop(0), y.pop(), y]"], [1, 3, [2]]),
        (["y = [3]", "y.append(1)", "y.insert(0, 7)", "y.extend((5, 5))", "y.reverse()", "return y"], [5, 5, 1, 3, 7]),
        (["return (4, 5, 5).index(5) + [5, 5].count(5)"], 3),
        (["y = [0, 0]", "y[1] = 4", "y[-2] = 3", "return y"], [3, 4]),
        (["y = {'a': 1}", "y['b'] = 2", "y['a'] = 0", "return list(y.items())"], [("a", 0), ("b", 2)]),
        (["y = {'a': 1}", "return [y.get('b', 4), list(y), y.keys(), y.values()]"], [4, ["a"], ["a"], [1]]),
        (["return [1] * 2 + [3]"], [1, 1, 3]),
        (["return [1, 2, 3][:2][-1]"], 2),
    ],
)  # fmt: skip
def test_as_python_does(lines: list[str], expected: Any) -> None:
    assert result(*lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ["y = {}", "y[helper()] = 1", "return y"],
        ["y = (1, 2)", "y[0] = 1", "return y"],
        ["y = [1]", "y[x] = 2", "return y"],
        ["return [1].pop(3)"],
        ["return [1].index(2)"],
        ["return [1] - [2]"],
    ],
)
def test_what_python_refuses_or_nobody_knows(lines: list[str]) -> None:
    assert result(*lines) == "nothing"
