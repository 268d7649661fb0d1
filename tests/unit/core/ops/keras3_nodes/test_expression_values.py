"""The machine's values: how they are written, and how much of them there may be."""

from __future__ import annotations

import dataclasses
import re

import pytest

from unnest.core.keras3.lambdas import tensor_nodes
from unnest.core.keras3_op_node import Input, OpNode, Part
from unnest.core.model import Json, Unknown
from unnest.core.ops.keras3_nodes import expression_values
from unnest.core.ops.keras3_nodes.expression_values import (
    CallArguments,
    Const,
    ConstantArray,
    SliceOf,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

NUMPY = "keras.src.ops.numpy"
X = SymbolicTensor(Input(0), "float32", "x")
ONE, TWO = constant(1), constant(2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (constant(value=True), "True"),
        (constant("a'b"), '"a\'b"'),
        (constant(...), "..."),
        (constant(1e300), "1e+300"),
        (items("list", [ONE, TWO]), "[1, 2]"),
        (items("stored", [ONE]), "[1]"),
        (items("tuple", [ONE, TWO]), "(1, 2)"),
        (items("tuple", [ONE]), "(1,)"),
        (items("tuple", []), "()"),
        (SliceOf((None, None, None)), ":"),
        (SliceOf((1, -1, None)), "1:-1"),
        (SliceOf((None, None, -1)), "::-1"),
    ],
)
def test_a_value_is_written_as_python_writes_it(value: SymbolicValue, text: str) -> None:
    assert value.text == text


def test_arguments_are_written_in_their_order() -> None:
    assert CallArguments((X, ONE), {"axis": TWO}).text == "x, 1, axis=2"


@pytest.mark.parametrize(
    ("value", "text"),
    [(constant(2), "2"), (constant(-2), "(-2)"), (constant(-0.0), "(-0.0)"), (X, "x")],
)
def test_parentheses_stand_where_something_binds_more_tightly(
    value: SymbolicValue, text: str
) -> None:
    """A signed number is an operation of its own, though it is stored as one constant."""
    assert expression_values.in_parentheses(value, expression_values.PRECEDENCE["**"]) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (constant(3), 3),
        (constant(2.5), 2.5),
        (constant(2**63 - 1), 2**63 - 1),
        (constant(2**63), None),
        (constant(3.1e38), None),
        (constant(float("inf")), None),
        (constant(float("nan")), None),
        (constant(value=True), None),
        (constant("3"), None),
        (constant(None), None),
        (X, None),
    ],
    ids=str,
)
def test_a_number_is_one_that_a_tensor_holds(value: SymbolicValue, number: float | None) -> None:
    assert expression_values.number(value) == number


@pytest.mark.parametrize(
    ("value", "nested"),
    [
        (items("list", [ONE, constant(2.5)]), [1, 2.5]),
        (items("tuple", [items("list", [ONE]), items("list", [TWO])]), [[1], [2]]),
        (ConstantArray([[1]], "a"), [[1]]),
        (items("list", []), None),
        (items("list", [ONE, items("list", [TWO])]), None),
        (items("list", [items("list", [ONE]), items("list", [ONE, TWO])]), None),
        (items("list", [X]), None),
        (ONE, None),
    ],
    ids=[
        "vector",
        "matrix",
        "array",
        "empty",
        "ragged",
        "of two lengths",
        "of tensors",
        "a number",
    ],
)
def test_an_array_is_numbers_of_one_shape(value: SymbolicValue, nested: Json) -> None:
    assert expression_values.nested_numbers(value) == nested


def test_an_array_of_floats_in_keras_3_s_json() -> None:
    assert expression_values.as_floats([[1], [2]]) == {
        "class_name": "__numpy__",
        "config": {"value": [[1.0], [2.0]], "dtype": "float32"},
    }


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (
            lambda n: items("list", [ONE] * (expression_values.MAX_CONSTANT_ELEMENTS - 2 + n)),
            "a long list",
        ),
        (
            lambda n: tensor_nodes.node(
                "Add",
                {},
                [],
                [SymbolicTensor(None, "float32", "x", nodes=expression_values.MAX_NODES - 2 + n)],
            ),
            "the expression is too large",
        ),
        (
            lambda n: expression_values.of_readable_length(
                "x" * (expression_values.MAX_TEXT - 1 + n)
            ),
            "the expression is too long",
        ),
    ],
    ids=["list", "operations", "text"],
)
def test_nothing_grows_beyond_what_anyone_writes(make: object, reason: str) -> None:
    """At the bound it is made; one more and it is not."""
    assert callable(make)
    make(1)
    with pytest.raises(Unknown, match=re.escape(reason)):
        make(2)


def test_lists_in_lists_are_counted_with_all_that_is_in_them() -> None:
    inner = items("list", [ONE] * 5_000)
    assert items("list", [inner]).size == 5_002
    with pytest.raises(Unknown):
        items("list", [inner, inner])


def test_a_constant_is_no_number_where_it_is_a_truth_value() -> None:
    assert constant(value=True) == Const(value=True, text="True")
    assert constant(-1).precedence == expression_values.UNARY


def test_what_computes_the_same_is_equal() -> None:
    assert OpNode(NUMPY, "Add", {}, (Input(0), 2)) == OpNode(NUMPY, "Add", {}, (Input(0), 2))
    assert Part(OpNode(NUMPY, "Split"), 1) == Part(OpNode(NUMPY, "Split"), 1)


@pytest.mark.parametrize(
    "other",
    [
        OpNode(NUMPY, "Add", {}, (Input(1), 2)),
        OpNode(NUMPY, "Add", {}, (2, Input(0))),
        OpNode(NUMPY, "Multiply", {}, (Input(0), 2)),
        OpNode("keras.src.ops.math", "Add", {}, (Input(0), 2)),
        OpNode(NUMPY, "Add", {"axis": 0}, (Input(0), 2)),
        OpNode(NUMPY, "Add", {}, (Input(0),), {"y": 2}),
    ],
    ids=[
        "another input",
        "another order",
        "another class",
        "another module",
        "a setting",
        "by name",
    ],
)
def test_what_may_compute_something_else_is_not(other: OpNode) -> None:
    assert other != OpNode(NUMPY, "Add", {}, (Input(0), 2))


def test_nobody_changes_one_that_others_share() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Input(0).index = 1  # type: ignore[misc]
