"""Reductions: axes under both of their names, and the epsilon of a norm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X, called, computed
from unnest.core.keras3.lambdas import names_and_calls, operators
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

BOTH = items("list", [constant(1), constant(-1)])


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("K.mean", X), "Mean(x0, axis=None, keepdims=False)"),
        (called("tf.reduce_mean", X, reduction_indices=constant(1)), "Mean(x0, axis=1, keepdims=False)"),
        (called("tf.reduce_sum", X, BOTH, keep_dims=constant(value=True)), "Sum(x0, axis=[1, -1], keepdims=True)"),
        (called("tf.reduce_logsumexp", X, constant(1)), "Logsumexp(x0, axis=1, keepdims=False)"),
        (called("tf.reduce_any", called("K.less", X, constant(0)), constant(1)),
         "Any(Less(x0, 0), axis=1, keepdims=False)"),
        (called("K.l2_normalize", X, constant(1)), "Normalize(x0, axis=1, order=2, epsilon=1e-06)"),
        (called("tf.nn.l2_normalize", X, dim=constant(1), epsilon=constant(0.25)),
         "Normalize(x0, axis=1, order=2, epsilon=0.5)"),
        (called("tf.norm", X, axis=constant(-1)), "Sqrt(Sum(Square(x0), axis=-1, keepdims=False))"),
        (called("K.cumsum", X, axis=constant(1)), "Cumsum(x0, axis=1)"),
        (called("tf.cumprod", INTEGERS, constant(1)), "Cumprod(x0, axis=1)"),
        (called("tf.cumprod", X), "Cumprod(x0, axis=0)"),
        (called("tf.norm", X, constant(1), constant(-1)), "Sum(Absolute(x0), axis=-1, keepdims=False)"),
    ],
)  # fmt: skip
def test_operations(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations


@pytest.mark.parametrize(
    ("name", "axis"), [("K.argmax", -1), ("K.argmin", -1), ("tf.argmax", 0), ("tf.argmin", 0)]
)
def test_a_position_is_an_integer(name: str, axis: int) -> None:
    value = called(name, X)
    assert isinstance(value, SymbolicTensor)
    assert (computed(value).partition(", ")[2], value.dtype) == (f"axis={axis})", "int64")


def test_a_position_of_a_dtype_that_is_named() -> None:
    value = called("tf.argmax", X, constant(1), output_type=constant("int32"))
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == "int32"
    with pytest.raises(Unknown, match=r"^places of another dtype$"):
        called("tf.argmax", X, output_type=constant("uint8"))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", ["K.sum", "tf.reduce_max", "tf.reduce_min", "tf.reduce_prod"])
def test_whole_numbers_stay_whole(name: str, dtype: str) -> None:
    value = called(name, replace(INTEGERS, dtype=dtype), axis=constant(1))
    assert isinstance(value, SymbolicTensor)
    assert (value.dtype, value.shape) == (dtype, (None, 4))


def test_what_is_not_understood() -> None:
    with pytest.raises(Unknown, match=r"^the direction$"):
        called("tf.argsort", X, direction=constant("UP"))
    with pytest.raises(Unknown, match=r"^a reduction of int32$"):
        called("K.mean", INTEGERS)
    with pytest.raises(Unknown, match=r"^a reduction of uint8$"):
        called("tf.reduce_sum", replace(INTEGERS, dtype="uint8"))
    with pytest.raises(Unknown, match=r"^a reduction of float32$"):
        called("tf.reduce_all", X)
    with pytest.raises(Unknown, match=r"^an epsilon that is not positive$"):
        called("tf.nn.l2_normalize", X, constant(1), constant(0.0))
    with pytest.raises(Unknown, match=r"^a norm over several axes$"):
        called("tf.norm", X, axis=BOTH)
    with pytest.raises(Unknown, match=r"^`ord=1`$"):
        called("tf.norm", X, constant(1))


def test_the_fields_of_a_result() -> None:
    best = called("tf.nn.top_k", X, k=constant(2))
    assert names_and_calls.attribute(best, "values") == operators.subscript(best, constant(0))
    assert names_and_calls.attribute(best, "indices") == operators.subscript(best, constant(1))
    for value, field in ((best, "count"), (items("list", [X]), "values")):
        with pytest.raises(Unknown, match=rf"^`.{field}` of a list$"):
            names_and_calls.attribute(value, field)


def test_ones_of_another_dtype() -> None:
    made = called("tf.ones_like", INTEGERS, dtype=constant("float32"))
    assert computed(made) == "Cast(OnesLike(x0), dtype=float32)"
    assert computed(called("tf.zeros_like", X, dtype=constant("float32"))) == "ZerosLike(x0)"
    assert computed(called("tf.zeros_like", INTEGERS)) == "ZerosLike(x0)"
    with pytest.raises(Unknown, match=r"^a tensor like one of bool$"):
        called("tf.ones_like", replace(INTEGERS, dtype="bool"))


def test_a_roll_along_several_axes() -> None:
    shifts, axes = (items("list", [constant(n) for n in pair]) for pair in ((-1, 2), (1, 2)))
    made = called("tf.roll", X, shifts, axes)
    assert computed(made) == "Roll(Roll(x0, shift=-1, axis=1), shift=2, axis=2)"
    assert computed(called("tf.roll", X, constant(1), constant(2))) == "Roll(x0, shift=1, axis=2)"
    for shift, axis in ((shifts, constant(1)), (constant(None), constant(1))):
        with pytest.raises(Unknown, match=r"^other than a shift for each axis$"):
            called("tf.roll", X, shift, axis)
