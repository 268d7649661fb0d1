"""Signatures: which names an argument has, what it is where it is not given, and what it may be."""

from __future__ import annotations

import re

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, UNSHAPED, X
from unnest.core.keras3.lambdas import functions
from unnest.core.keras3.lambdas.calls import ALIKE
from unnest.core.keras3.lambdas.functions import FUNCTIONS
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op, shape_of
from unnest.core.keras3.lambdas.values import Dialect, Name, NotUnderstood, Value, constant, items
from unnest.core.keras3.op_nodes import OpNode


def bound(value: Value) -> Bound:
    return Bound({"a": value}, Dialect())


def test_a_signature_is_read() -> None:
    """Several names of an argument, JSON defaults, and what counts by name alone behind the star."""
    table = Table()

    @table.known("K.f tf.f", 'x|tensor axis=-1 mode="same" * depth=null')
    def compute(call: Bound) -> Value:
        return call["x"]

    assert set(table) == {"K.f", "tf.f"}
    assert table["K.f"].parameters == (("x", "tensor"), ("axis",), ("mode",), ("depth",))
    assert table["K.f"].positional == 3
    assert {name: default.value for name, default in table["K.f"].defaults.items()} == {
        "axis": -1, "mode": "same", "depth": None,
    }  # fmt: skip
    assert table["tf.f"].compute is compute


def test_every_entry_can_be_called_by_its_signature() -> None:
    """Defaults belong to parameters, and positional ones come first."""
    for name, function in FUNCTIONS.items():
        firsts = [names[0] for names in function.parameters]
        assert len({*firsts}) == len(firsts), name
        assert function.defaults.keys() <= {*firsts}, name
        assert function.positional <= len(firsts), name
    assert all(name in FUNCTIONS for name in ALIKE - {"K.floatx"})


def test_no_function_is_in_two_tables() -> None:
    tables = [value for value in vars(functions).values() if isinstance(value, Table)]
    assert len(tables) == 9
    assert sum(map(len, tables)) == len(FUNCTIONS)


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
        ("dtype", Name("tf.float32", "tf.float32"), "float32"),
    ],
)
def test_an_argument(kind: str, value: Value, read: object) -> None:
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
        ("tensors", items("list", [X, INTEGERS]), "a list that holds more than tensors of one kind"),
    ],
)
def test_an_argument_of_another_kind(kind: str, value: Value, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=f"^{re.escape(reason)}$"):
        getattr(bound(value), kind)("a")


def test_an_argument_that_is_understood_with_one_value_alone() -> None:
    """Truth values are no numbers."""
    bound(constant(1)).only(a=1)
    for other in (constant(2), constant(value=True), X):
        with pytest.raises(NotUnderstood, match=r"^`a="):
            bound(other).only(a=1)


def test_an_operation_and_a_shape() -> None:
    made = op("keras.src.ops.numpy", "Flip", X, axis=1)
    assert made.operand == OpNode("keras.src.ops.numpy", "Flip", {"axis": 1}, (X.operand,))
    assert shape_of(X).dimensions == (None, 3, 4)
    with pytest.raises(NotUnderstood, match=r"^a shape that is not known$"):
        shape_of(UNSHAPED)
