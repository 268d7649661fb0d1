"""Python's own functions in code that is followed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.frontends.code_of import result


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("int(2.7)", 2),
        ("float(2)", 2.0),
        ("len((1, 2))", 2),
        ("min([3, 1])", 1),
        ("max(3, 1, 4)", 4),
        ("range(1, 6, 2)", (1, 3, 5)),
        ("xrange(2)", (0, 1)),
        ("[1, 2, 3][slice(1, None)]", [2, 3]),
        ("list((1, 2))", [1, 2]),
        ("tuple([1])", (1,)),
        ("list()", []),
        ("list(enumerate([5], start=2))", [(2, 5)]),
        ("list(zip([1, 2], (3, 4, 5)))", [(1, 3), (2, 4)]),
        ("list(reversed((1, 2)))", [2, 1]),
        ("sorted([3, 1, 2], reverse=True)", [3, 2, 1]),
        ("sum([1, 2.5])", 3.5),
        ("sum([[1], [2]], [])", [1, 2]),
        ("min(tf.shape(x)[0], 9)", 6),
        ("list(range(tf.shape(x)[1]))", [0, 1, 2, 3]),
    ],
)
def test_builtins(expression: str, value: Any) -> None:
    assert result(f"return {expression}") == value


@pytest.mark.parametrize(
    "expression",
    [
        "enumerate(x)", "list(enumerate([1], 0.5))", "zip([x], x)", "reversed(x)", "sorted([x, x])", "sum([[1], [2]])",
        "min([])", "max()", "list(tf.range(2))", "reversed(zip())", "len(zip())", "int('3')", "range(0.5)", "len(x)",
    ],
)  # fmt: skip
def test_arguments_that_they_do_not_take(expression: str) -> None:
    assert result(f"return {expression}") == "nothing"


def test_a_list_is_read_as_it_is_by_then() -> None:
    assert result("y = [1]", "later = enumerate(y)", "y.append(2)", "return list(later)") == [
        (0, 1),
        (1, 2),
    ]
