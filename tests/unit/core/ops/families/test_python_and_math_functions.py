"""Numbers and arrays of Python, NumPy and TensorFlow: computed here, and not of a tensor."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from tests.unit.core.keras3.lambdas.calling import X, called
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Const,
    ConstantArray,
    SymbolicValue,
    constant,
    items,
)

NUMBERS = items("list", [constant(1), constant(2)])


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (called("len", items("list", [X, X])), 2),
        (called("max", constant(1), constant(2.5)), 2.5),
        (called("min", constant(1), constant(2.5)), 1),
        (called("sum", NUMBERS), 3),
        (called("math.sqrt", constant(2)), math.sqrt(2)),
        (called("np.log", constant(2.0)), math.log(2)),
        (called("float", constant(3)), 3.0),
        (called("int", constant(-2.5)), -2),
        (called("K.epsilon"), 1e-7),
        (called("K.floatx"), "float32"),
        (called("tf.constant", constant(2.0)), 2.0),
        (called("K.constant", constant(2)), 2.0),
    ],
)
def test_a_number(value: SymbolicValue, result: object) -> None:
    assert isinstance(value, Const)
    assert (value.value, type(value.value)) == (result, type(result))


@pytest.mark.parametrize("name", ["K.constant", "np.array", "np.asarray"])
def test_an_array(name: str) -> None:
    value = called(name, NUMBERS)
    assert isinstance(value, ConstantArray)
    assert value.value == [1, 2]


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (called("tf.ones", NUMBERS), [[1.0, 1.0]]),
        (called("np.zeros", constant(3)), [0.0, 0.0, 0.0]),
        (called("K.arange", constant(3)), [0, 1, 2]),
        (called("tf.range", constant(5), constant(1), delta=constant(-2)), [5, 3]),
        (called("tf.range", constant(2.0), constant(0.0), constant(-0.5)), [2.0, 1.5, 1.0, 0.5]),
        (
            called("K.cast", called("np.arange", constant(1), constant(3)), constant("float32")),
            [1, 2],
        ),
    ],
)
def test_an_array_of_its_size(value: SymbolicValue, numbers: object) -> None:
    assert isinstance(value, ConstantArray)
    assert value.value == numbers


@pytest.mark.parametrize(
    ("name", "argument", "keywords", "reason"),
    [
        ("math.sqrt", constant(-1), {}, "an impossible calculation"),
        ("np.exp", constant(1000), {}, "an impossible calculation"),
        ("np.exp", constant(500), {}, "a number beyond 32 bits"),
        ("np.sqrt", X, {}, "a tensor in a number's place"),
        ("tf.constant", NUMBERS, {}, "a tensor of integers"),
        (
            "tf.constant",
            constant(1),
            {"dtype": constant("int32")},
            "a tensor of another dtype than float32",
        ),
        (
            "np.array",
            NUMBERS,
            {"dtype": constant("int32")},
            "an array of another dtype than floats",
        ),
        (
            "np.array",
            items("list", [NUMBERS, constant(1)]),
            {},
            "an array that does not hold numbers alone",
        ),
        ("tf.ones", items("list", [constant(200), constant(200)]), {}, "the shape of an array"),
        ("tf.zeros", constant(0), {}, "the shape of an array"),
        ("K.arange", constant(0.5), {}, "a number in an integer's place"),
        ("tf.range", constant(3), {"delta": constant(0)}, "the length of a range"),
        ("tf.range", constant(1.0), {"delta": constant(0.1)}, "a range that 32 bits round"),
        ("tf.range", constant(1.0), {"delta": constant(-1)}, "the length of a range"),
        ("tf.range", X, {}, "a tensor in a number's place"),
        ("np.arange", constant(3), {"dtype": constant("uint8")}, "a range of another dtype"),
        ("len", X, {}, "the length of a tensor"),
        ("sum", items("list", []), {}, "the sum of a list"),
    ],
)
def test_what_is_not_understood(
    name: str, argument: SymbolicValue, keywords: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Unknown, match=f"^{re.escape(reason)}$"):
        called(name, argument, **keywords)
