"""Numbers and arrays of Python, NumPy and TensorFlow: computed here, and not of a tensor."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from tests.unit.core.keras3.lambdas.calling import X, called
from unnest.core.keras3.lambdas.values import Array, Const, NotUnderstood, Value, constant, items

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
def test_a_number(value: Value, result: object) -> None:
    assert isinstance(value, Const)
    assert (value.value, type(value.value)) == (result, type(result))


@pytest.mark.parametrize("name", ["K.constant", "np.array", "np.asarray"])
def test_an_array(name: str) -> None:
    value = called(name, NUMBERS)
    assert isinstance(value, Array)
    assert value.value == [1, 2]


@pytest.mark.parametrize(
    ("name", "argument", "keywords", "reason"),
    [
        ("math.sqrt", constant(-1), {}, "an impossible calculation"),
        ("np.exp", constant(1000), {}, "an impossible calculation"),
        ("np.exp", constant(500), {}, "a number beyond 32 bits"),
        ("np.sqrt", X, {}, "a tensor in a number's place"),
        ("tf.constant", NUMBERS, {}, "a tensor of integers"),
        ("tf.constant", constant(1), {"dtype": constant("int32")}, "a tensor of another dtype than float32"),
        ("np.array", NUMBERS, {"dtype": constant("int32")}, "an array of another dtype than floats"),
        ("np.array", items("list", [NUMBERS, constant(1)]), {}, "an array that does not hold numbers alone"),
        ("len", X, {}, "the length of a tensor"),
        ("sum", items("list", []), {}, "the sum of a list"),
    ],
)
def test_what_is_not_understood(name: str, argument: Value, keywords: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotUnderstood, match=f"^{re.escape(reason)}$"):
        called(name, argument, **keywords)
