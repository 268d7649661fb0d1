"""Arithmetic of two tensors: numbers among them, kinds of results, and products along axes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, UNSHAPED, X, Y, called, computed
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    Libraries,
    SymbolicTensor,
    SymbolicValue,
    constant,
    items,
)

ROWS = replace(X, shape=(None, 4))
PAIR = items("list", [constant(1), constant(2)])


@pytest.mark.parametrize(
    ("value", "operations", "dtype"),
    [
        (called("K.maximum", X, Y), "Maximum(x0, x1)", "float32"),
        (called("tf.subtract", constant(1), X), "Subtract(1, x0)", "float32"),
        (called("K.greater", X, constant(0)), "Greater(x0, 0)", "bool"),
        (called("tf.logical_not", called("K.less", X, Y)), "LogicalNot(Less(x0, x1))", "bool"),
        (called("tf.squared_difference", X, Y), "Square(Subtract(x0, x1))", "float32"),
        (called("tf.add_n", items("list", [X, Y, X])), "Add(Add(x0, x1), x0)", "float32"),
        (called("tf.add_n", items("list", [X])), "Multiply(x0, 1.0)", "float32"),
        (called("tf.matmul", X, Y, transpose_b=constant(value=True)), "Matmul(x0, Swapaxes(x1, axis1=-1, axis2=-2))",
         "float32"),
        (called("K.batch_dot", X, Y, constant(2)), "Matmul(x0, Swapaxes(x1, axis1=-1, axis2=-2))", "float32"),
        (called("K.batch_dot", X, Y, constant(1)), "Matmul(Swapaxes(x0, axis1=-1, axis2=-2), x1)", "float32"),
        (called("K.batch_dot", ROWS, ROWS, constant(1)), "Sum(Multiply(x0, x0), axis=1, keepdims=True)", "float32"),
        (called("tf.einsum", constant("bij,bij->b"), X, Y), "Einsum(x0, x1, subscripts=bij,bij->b)", "float32"),
        (called("tf.einsum", constant("bij->bji"), X), "Einsum(x0, subscripts=bij->bji)", "float32"),
        (called("K.dot", X, replace(Y, shape=(4, 2))), "Matmul(x0, x1)", "float32"),
        (called("K.dot", X, items("list", [PAIR, PAIR])), "Matmul(x0, [[1.0, 2.0], [1.0, 2.0]])", "float32"),
        (called("K.dot", X, replace(Y, shape=(None, 4, 5))), "Tensordot(x0, x1, axes=[[-1], [1]])", "float32"),
        (called("tf.nn.sigmoid_cross_entropy_with_logits", labels=X, logits=Y),
         "Add(Subtract(Relu(x1), Multiply(x0, x1)), Softplus(Negative(Absolute(x1))))", "float32"),
        (called("tf.scalar_mul", constant(2), X), "Multiply(x0, 2)", "float32"),
        (called("tf.where", called("K.less", X, Y), X, Y), "Where(Less(x0, x1), x0, x1)", "float32"),
    ],
)  # fmt: skip
def test_operations(value: SymbolicValue, operations: str, dtype: str) -> None:
    assert computed(value) == operations
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == dtype


def test_what_versions_do_otherwise() -> None:
    """A batch_dot of other ranks; a choice between what TensorFlow 1 does not broadcast."""
    for x, y, axes in (
        (X, ROWS, constant(1)),
        (UNSHAPED, X, constant(1)),
        (X, Y, constant(0)),
        (ROWS, ROWS, PAIR),
    ):
        with pytest.raises(Unknown, match=r"^`K.batch_dot`"):
            called("K.batch_dot", x, y, axes)
    sides: list[tuple[SymbolicValue, SymbolicValue]] = [
        (UNSHAPED, X),
        (X, UNSHAPED),
        (X, PAIR),
        (replace(X, shape=(None,)), ROWS),
    ]
    for side, other in sides:
        with pytest.raises(Unknown, match=r"^`K.dot` of unknown ranks, or of vectors$"):
            called("K.dot", side, other)
    for dialect in (Libraries("tensorflow", "1"), Libraries("tensorflow")):
        with pytest.raises(Unknown, match=r"^`tf.where` of what may not have one shape$"):
            called("tf.where", called("K.less", X, Y), X, UNSHAPED, dialect=dialect)
        assert isinstance(
            called("tf.where", called("K.less", X, Y), X, Y, dialect=dialect), SymbolicTensor
        )
    with pytest.raises(Unknown, match=r"^arithmetic on int32$"):
        called("tf.divide", INTEGERS, constant(2))
    with pytest.raises(Unknown, match=r"^arithmetic on int32$"):
        called("tf.add", INTEGERS, Y)


FOUR = items("list", [constant(n) for n in (4, 3, 2, 1)])
BELOW = called("tf.less", INTEGERS, constant(3))


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("tf.math.floordiv", INTEGERS, constant(-2)), "FloorDivide(x0, -2)"),
        (called("tf.math.floormod", constant(7), INTEGERS), "Mod(7, x0)"),
        (called("tf.pow", INTEGERS, constant(3)), "Power(x0, 3)"),
        (called("tf.add", INTEGERS, FOUR), "Add(x0, [4, 3, 2, 1])"),
        (called("tf.multiply", INTEGERS, called("tf.range", constant(4))), "Multiply(x0, [0, 1, 2, 3])"),
        (called("tf.where", BELOW, INTEGERS, constant(-1)), "Where(Less(x0, 3), x0, -1)"),
        (called("tf.where", BELOW, constant(7), constant(8)), "Cast(Where(Less(x0, 3), 7, 8), dtype=int32)"),
        (called("tf.cumsum", INTEGERS, constant(1)), "Cumsum(x0, axis=1)"),
        (called("tf.sort", INTEGERS), "Sort(x0, axis=-1)"),
        (called("tf.argsort", INTEGERS, direction=constant("DESCENDING")),
         "Cast(Argsort(Subtract(-1, x0), axis=-1), dtype=int32)"),
        (called("tf.clip_by_value", INTEGERS, constant(-2), constant(2)), "Clip(x0, x_min=-2, x_max=2)"),
        (called("abs", INTEGERS), "Absolute(x0)"),
    ],
)  # fmt: skip
def test_whole_numbers_stay_whole(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == "int32"


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("tf.multiply", constant(2**31)),
        ("tf.add", items("list", [constant(1), constant(2.5)])),
        ("tf.add", called("np.array", FOUR, dtype=constant("float64"))),
        ("tf.add", INTEGERS),
        ("tf.truediv", constant(2)),
    ],
)
def test_what_would_not_stay_whole(name: str, side: SymbolicValue) -> None:
    """Keras 3 makes floats of a large number, TensorFlow cuts the fractions of an array."""
    with pytest.raises(Unknown, match=r"^arithmetic on int64$"):
        called(name, replace(INTEGERS, dtype="int64"), side)
    with pytest.raises(Unknown, match=r"^`tf.where` of whole numbers and others$"):
        called("tf.where", BELOW, INTEGERS, constant(0.5))


def test_a_constant_matrix_before_a_tensor() -> None:
    matrix = called("tf.constant", items("list", [items("list", [constant(1.0), constant(2.0)])]))
    assert computed(called("tf.matmul", matrix, X)) == "Matmul([[1.0, 2.0]], x0)"
    with pytest.raises(Unknown, match=r"^an array in a tensor's place$"):
        called("tf.matmul", matrix, X, transpose_a=constant(value=True))
