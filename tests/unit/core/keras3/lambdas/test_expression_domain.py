"""The domain by which the machine computes expressions: values with their text, and sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unnest.core.byte_code.machine import Machine
from unnest.core.byte_code.opcode_tables import PYTHONS
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.keras3.lambdas.expression_domain import Expressions
from unnest.core.keras3_op_node import Input
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Libraries,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

X = SymbolicTensor(Input(0), "float32", "x", shape=(None, 4))
CODE = CodeObject(
    layout="3.8", arguments=1, keyword_only=0, stack=4, flags=0, code=b"", constants=(None, 2, (1, 2)),
    names=("K", "exp"), locals=("x", "y"), free=(), cells=(), slots=(),
)  # fmt: skip
EXPRESSIONS = Expressions(Libraries("tensorflow"))

FAST, CONST, RETURN, GLOBAL, CALL, ATTR = 124, 100, 83, 116, 131, 106
ADD, TUPLE, LIST, SUBSCRIPT, COMPARE, SLICE, EXTEND, JUMP = 23, 102, 103, 25, 107, 133, 162, 113


def run(*code: int) -> SymbolicValue:
    python_39 = PYTHONS["3.8"][1]
    return Machine(python_39, replace(CODE, code=bytes(code)), EXPRESSIONS, {"x": X}, ()).run()


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ((FAST, 0, CONST, 1, ADD, 0, RETURN, 0), "x + 2"),
        ((FAST, 0, CONST, 0, CONST, 1, SLICE, 2, SUBSCRIPT, 0, RETURN, 0), "x[:2]"),
        ((FAST, 0, CONST, 1, COMPARE, 4, RETURN, 0), "x > 2"),
        ((GLOBAL, 0, ATTR, 1, FAST, 0, CALL, 1, RETURN, 0), "K.exp(x)"),
        ((FAST, 0, LIST, 1, RETURN, 0), "[x]"),
        ((FAST, 0, TUPLE, 1, RETURN, 0), "(x,)"),
        ((LIST, 0, CONST, 2, EXTEND, 1, RETURN, 0), "[1, 2]"),
    ],
)
def test_values_have_their_text(code: tuple[int, ...], text: str) -> None:
    assert run(*code).text == text


def test_branches_are_not_followed() -> None:
    with pytest.raises(
        Unknown, match=r"^a jump, a loop, or another instruction beyond plain expressions$"
    ):
        run(JUMP, 2, FAST, 0, RETURN, 0)


def test_a_list_grows_by_a_tuple_alone() -> None:
    with pytest.raises(Unknown, match=r"^a list that grows$"):
        run(LIST, 0, FAST, 0, EXTEND, 1, RETURN, 0)


def test_plain_values() -> None:
    """Constants and tuples of them: what keyword arguments are called by."""
    names = items("tuple", [constant("axis"), constant("keepdims")])
    assert EXPRESSIONS.plain(names) == ("axis", "keepdims")
    assert (EXPRESSIONS.plain(constant(2)), EXPRESSIONS.plain(X)) == (2, X)


def test_sizes() -> None:
    """All entries of lists, and the text that everything else brings along."""
    long = replace(X, text="x" * 200)
    assert [
        EXPRESSIONS.size(value) for value in (X, long, items("list", [X, items("list", [X])]))
    ] == [1, 5, 4]
