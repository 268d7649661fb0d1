"""Constant arrays: what NumPy and TensorFlow make of them, in their own bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.unit.core.keras3.lambdas.calling import UNSHAPED, X, called, computed
from unnest.core.keras3.lambdas import names_and_calls
from unnest.core.keras3.lambdas.operators import binary, subscript, unary
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes import constant_array_arithmetic
from unnest.core.ops.keras3_nodes.expression_values import (
    ArrayKind,
    CallArguments,
    ConstantArray,
    Libraries,
    SliceOf,
    SymbolicValue,
    constant,
    items,
)

ALL = SliceOf((None, None, None))
NONE = constant(None)


def numbers(*values: float) -> SymbolicValue:
    """A list of numbers, as the code has it."""
    return items("list", [constant(value) for value in values])


def tensor(*values: float) -> ConstantArray:
    """`tf.constant([...])`."""
    return constant_array_arithmetic.rounded_array(list(values), "tensor")


def numpy(*values: float) -> ConstantArray:
    """`np.array([...])`."""
    return constant_array_arithmetic.of_value(numbers(*values), None)


def stored(*values: float) -> ConstantArray:
    """An array in a closure, whose dtype is not stored."""
    return ConstantArray(list(values), "array(...)")


def method(value: ConstantArray, name: str, *arguments: SymbolicValue) -> SymbolicValue:
    """`value.name(arguments)`."""
    return names_and_calls.call(
        names_and_calls.attribute(value, name),
        CallArguments(arguments, {}),
        Libraries("tensorflow", "2"),
    )


F32 = float(np.float32(0.1))


@pytest.mark.parametrize(
    ("value", "kind", "result"),
    [
        (numpy(1.0, 2.0), "float64", [1.0, 2.0]),
        (numpy(1, 2), "int64", [1, 2]),
        (called("np.array", numbers(0.1), dtype=constant("float32")), "float32", [F32]),
        (called("np.array", stored(1, 2)), None, [1, 2]),
        (called("np.array", items("stored", [constant(1)])), None, [1]),
        (called("np.asarray", tensor(0.1)), "float32", [F32]),
        (called("tf.constant", numbers(0.1)), "tensor", [F32]),
        (called("tf.constant", numbers(1, 2), constant("float32")), "tensor", [1.0, 2.0]),
        (called("tf.constant", constant(2.0), shape=numbers(2)), "tensor", [2.0, 2.0]),
        (called("tf.convert_to_tensor", numbers(0.5)), "tensor", [0.5]),
        (called("K.constant", numpy(1, 2)), "tensor", [1.0, 2.0]),
        (called("K.constant", numbers(1, 2), shape=items("tuple", [constant(1), constant(2)])), "tensor", [[1.0, 2.0]]),
        (called("K.cast_to_floatx", numpy(1, 2)), "float32", [1.0, 2.0]),
        (called("K.cast", numpy(1, 2), constant("float32")), "tensor", [1.0, 2.0]),
        (called("np.ones", constant(2)), "float64", [1.0, 1.0]),
        (called("tf.zeros", numbers(2)), "tensor", [0.0, 0.0]),
        (called("tf.reshape", tensor(1, 2), numbers(2, 1)), "tensor", [[1.0], [2.0]]),
        (called("K.reshape", tensor(1, 2), numbers(1, -1)), "tensor", [[1.0, 2.0]]),
        (called("tf.expand_dims", tensor(1, 2), constant(0)), "tensor", [[1.0, 2.0]]),
        (called("K.expand_dims", tensor(1, 2)), "tensor", [[1.0], [2.0]]),
        (method(numpy(1, 2), "reshape", constant(1), constant(2)), "int64", [[1, 2]]),
        (method(numpy(1, 2), "reshape", items("tuple", [constant(2), constant(1)])), "int64", [[1], [2]]),
        (method(numpy(1, 2), "astype", constant("float32")), "float32", [1.0, 2.0]),
        (binary("*", numpy(1.5, 2.0), constant(2)), "float64", [3.0, 4.0]),
        (binary("-", constant(1), numpy(1.5, 2.0)), "float64", [-0.5, -1.0]),
        (binary("/", numpy(1, 3), constant(2)), "float64", [0.5, 1.5]),
        (binary("classic /", numpy(1, 3), constant(2.0)), "float64", [0.5, 1.5]),
        (binary("+", numpy(1, 3), constant(2)), "int64", [3, 5]),
        (binary("+", numpy(0.1), constant(0.2)), "float64", [0.1 + 0.2]),
        (binary("+", tensor(0.1), constant(0.2)), "tensor", [float(np.float32(0.1) + np.float32(0.2))]),
        (binary("+", tensor(1e8), constant(1)), "tensor", [1e8]),
        (binary("/", numpy(1.0, 2.0), numpy(4, 8)), "float64", [0.25, 0.25]),
        (unary("-", numpy(1.0, 2.0)), "float64", [-1.0, -2.0]),
        (subscript(numpy(1.0, 2.0), items("tuple", [NONE, ALL])), "float64", [[1.0, 2.0]]),
        (subscript(tensor(1.0, 2.0), items("tuple", [constant(...), NONE])), "tensor", [[1.0], [2.0]]),
        (subscript(numpy(1.0, 2.0), SliceOf((None, None, -1))), "float64", [2.0, 1.0]),
    ],
)  # fmt: skip
def test_an_array(value: SymbolicValue, kind: ArrayKind | None, result: Any) -> None:
    assert isinstance(value, ConstantArray)
    assert (value.numbers, value.value) == (kind, result)


@pytest.mark.parametrize(
    ("symbol", "left", "right", "reason"),
    [
        ("classic /", numpy(1, 2), constant(2), "`/` on an array and an integer"),
        ("+", tensor(1.0), numpy(1.0), "`+` on an array and an array"),
        ("*", stored(1, 2), constant(2), "`*` on an array and an integer"),
        ("*", numpy(1.0), stored(1.0), "`*` on an array and an array"),
        ("*", numpy(1.0, 2.0), numbers(1.0, 2.0), "`*` on an array and a list"),
        ("*", numpy(1.0, 2.0), numpy(1.0, 2.0, 3.0), "`*` on an array and an array"),
        ("**", numpy(2.0), constant(2), "`**` on an array and an integer"),
        ("//", numpy(2.0), constant(2), "`//` on an array and an integer"),
        ("/", numpy(1.0), constant(0), "an impossible calculation"),
        ("*", tensor(3e38), constant(2.0), "an impossible calculation"),
        ("*", numpy(2**52), constant(2**10), "an impossible calculation"),
    ],
)
def test_arithmetic_that_is_not_understood(
    symbol: str, left: SymbolicValue, right: SymbolicValue, reason: str
) -> None:
    """Python 2 divided integers otherwise, and a dtype that is not stored may be any."""
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        binary(symbol, left, right)


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("tf.constant", [numpy(1.0)], "a tensor of 64 bits"),
        ("tf.constant", [stored(1.0)], "a tensor of 64 bits"),
        ("tf.constant", [numbers(1.0, 2.0), NONE, numbers(3)], "the shape of an array"),
        ("tf.constant", [numbers(1.0, 2.0), NONE, numbers(-1)], "the shape of an array"),
        ("K.constant", [numbers(1.0), constant("float64")], "dtype float64"),
        ("K.cast_to_floatx", [tensor(1.0)], "what may not be an array of NumPy's"),
        ("K.cast_to_floatx", [stored(1.0)], "what may not be an array of NumPy's"),
        ("tf.reshape", [numpy(1.0), numbers(1, 1)], "an array in a tensor's place"),
        ("tf.expand_dims", [tensor(1.0), constant(3)], "the axis of an array"),
        ("K.bias_add", [X, numpy(1.0)], "the data format"),
        (
            "tf.matmul",
            [X, constant_array_arithmetic.rounded_array([[[1.0]]], "tensor")],
            "an array in a tensor's place",
        ),
        ("np.ones", [numbers(200, 200)], "the shape of an array"),
    ],
)
def test_calls_that_are_not_understood(
    name: str, arguments: list[SymbolicValue], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        called(name, *arguments)


@pytest.mark.parametrize(
    ("value", "name", "arguments", "reason"),
    [
        (tensor(1.0), "reshape", [constant(1)], "`.reshape` of an array"),
        (stored(1.0), "astype", [constant("float32")], "`.astype` of an array"),
        (numpy(1.0), "sum", [], "`.sum` of an array"),
        (numpy(1.0), "astype", [constant("int32")], "arguments of `.astype`"),
        (numpy(1.0, 2.0), "reshape", [constant(3)], "the shape of an array"),
        (numpy(1.0), "reshape", [constant("F")], "arguments of `.reshape`"),
    ],
)
def test_methods_that_are_not_understood(
    value: ConstantArray, name: str, arguments: list[SymbolicValue], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        method(value, name, *arguments)


@pytest.mark.parametrize(
    ("value", "key"),
    [(numpy(1.0, 2.0), constant(0)), (stored(1.0, 2.0), NONE), (numpy(1.0), items("tuple", [ALL, ALL])),
     (numpy(1.0, 2.0), SliceOf((None, None, 0)))],
)  # fmt: skip
def test_parts_that_are_not_understood(value: ConstantArray, key: SymbolicValue) -> None:
    """One number of an array is NumPy's, and no Python number."""
    with pytest.raises(Unknown, match=r"^a part of an array$"):
        subscript(value, key)


MATRIX = constant_array_arithmetic.rounded_array([[1.0], [2.0], [3.0], [4.0]], "tensor")
LAST = Libraries("tensorflow", "2", data_format="channels_last")


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (
            binary("-", X, binary("*", numpy(1.0, 2.0, 3.0, 4.0), constant(2))),
            "Subtract(x0, [2.0, 4.0, 6.0, 8.0])",
        ),
        (binary("@", X, MATRIX), "Matmul(x0, [[1.0], [2.0], [3.0], [4.0]])"),
        (called("tf.matmul", X, MATRIX), "Matmul(x0, [[1.0], [2.0], [3.0], [4.0]])"),
        (
            called("tf.tensordot", X, MATRIX, constant(1)),
            "Tensordot(x0, [[1.0], [2.0], [3.0], [4.0]], axes=1)",
        ),
        (called("K.bias_add", X, numpy(1.0, 2.0), dialect=LAST), "Add(x0, [1.0, 2.0])"),
        (called("K.bias_add", UNSHAPED, tensor(1.0), constant("channels_last")), "Add(x0, [1.0])"),
    ],
)
def test_beside_a_tensor(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations


def test_a_bias_along_another_axis() -> None:
    for bias, order in (
        (numpy(1.0), "channels_first"),
        (MATRIX, "channels_last"),
        (X, "channels_last"),
    ):
        with pytest.raises(Unknown, match="a bias along another axis than the last"):
            called("K.bias_add", X, bias, constant(order))
