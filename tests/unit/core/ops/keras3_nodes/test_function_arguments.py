"""Arguments of a call, each read as what a function takes."""

from __future__ import annotations

import re

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X
from unnest.core.keras3.lambdas.names_and_calls import Keras3Call
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Libraries,
    LibraryName,
    SymbolicValue,
    constant,
    items,
)


def bound(value: SymbolicValue) -> Keras3Call:
    return Keras3Call({"a": value}, Libraries())


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        ("number", constant(2.5), 2.5),
        ("integer", constant(-3), -3),
        ("integers", items("tuple", [constant(1), constant(2)]), [1, 2]),
        ("axis", constant(None), None),
        ("axis", items("list", [constant(0), constant(-1)]), [0, -1]),
        ("flag", constant(None), False),
        ("flag", constant(value=True), True),
        ("text", constant("same"), "same"),
        ("dtype", constant("int32"), "int32"),
        ("dtype", LibraryName("tf.float32", "tf.float32"), "float32"),
    ],
)
def test_an_argument(kind: str, value: SymbolicValue, read: object) -> None:
    assert getattr(bound(value), kind)("a") == read


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("number", constant(value=True), "a truth value in a number's place"),
        ("number", constant("1"), "text in a number's place"),
        ("integer", constant(1.0), "a number in an integer's place"),
        ("integers", constant(1), "an integer that should hold integers alone"),
        ("integers", items("list", [constant(1.5)]), "a list that should hold integers alone"),
        ("flag", constant(1), "an integer in the place of a truth value"),
        ("text", constant(1), "an integer in the place of text"),
        ("dtype", constant("float64"), "dtype float64"),
        ("tensor", constant(1), "an integer in a tensor's place"),
        ("floats", INTEGERS, "arithmetic on int32"),
        ("tensors", items("list", []), "a list in the place of a list of tensors"),
        (
            "tensors",
            items("list", [X, INTEGERS]),
            "a list that holds more than tensors of one kind",
        ),
    ],
)
def test_an_argument_of_another_kind(kind: str, value: SymbolicValue, reason: str) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        getattr(bound(value), kind)("a")


def test_an_argument_that_is_understood_with_one_value_alone() -> None:
    """Truth values are no numbers."""
    bound(constant(1)).only(a=1)
    for other in (constant(2), constant(value=True), X):
        with pytest.raises(Unknown, match=r"^`a="):
            bound(other).only(a=1)
