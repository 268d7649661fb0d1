"""Functions of one tensor: what today's operation of another default is given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X, called, computed
from unnest.core.keras3_op_node import UNKNOWN_DTYPE
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor, SymbolicValue, constant
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.operation_kinds import Kind

ONE, ZERO = constant(1.0), constant(0.0)


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        (called("K.exp", X), "Exp(x0)"),
        (called("K.sqrt", X), "Sqrt(Maximum(x0, 0.0))"),
        (called("tf.sqrt", X), "Sqrt(x0)"),
        (called("K.hard_sigmoid", X), "Clip(Add(Multiply(x0, 0.2), 0.5), x_min=0.0, x_max=1.0)"),
        (called("K.relu", X), "Relu(x0)"),
        (called("K.relu", X, constant(0.1)), "LeakyRelu(x0, negative_slope=0.1)"),
        (called("K.relu", X, max_value=constant(6)), "Clip(x0, x_min=0.0, x_max=6)"),
        (called("tf.nn.leaky_relu", X), "LeakyRelu(x0, negative_slope=0.2)"),
        (called("tf.nn.elu", X), "Elu(x0, alpha=1.0)"),
        (called("tf.nn.gelu", X), "Gelu(x0, approximate=False)"),
        (called("K.softmax", X), "Softmax(x0, axis=-1)"),
        (called("tf.nn.softmax", X, dim=constant(1)), "Softmax(x0, axis=1)"),
        (called("tf.nn.softmax", X, axis=constant(None)), "Softmax(x0, axis=-1)"),
        (called("K.clip", X, constant(-1), ONE), "Clip(x0, x_min=-1, x_max=1.0)"),
        (called("tf.identity", X), "x0"),
        (called("abs", X), "Absolute(x0)"),
    ],
)
def test_operations(value: SymbolicValue, operations: str) -> None:
    assert computed(value) == operations


NUMBER_BY_NUMBER = [
    "K.relu", "K.elu", "K.hard_sigmoid", "K.sqrt", "tf.sqrt", "tf.rsqrt", "tf.nn.leaky_relu", "tf.nn.gelu",
    "K.softmax", "tf.nn.log_softmax",
    *(
        name
        for name, function in known_functions().items()
        if function.operation is not None
        and function.operation.kind is Kind.MAP
        and not function.operation.takes_booleans
        and not function.operation.same_on_integers
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", NUMBER_BY_NUMBER)
def test_arithmetic_is_on_floats(name: str) -> None:
    """Integers and truth values are computed with otherwise in Keras 3."""
    assert isinstance(called(name, X), SymbolicTensor)
    with pytest.raises(Unknown, match=r"^arithmetic on int32$"):
        called(name, INTEGERS)


@pytest.mark.parametrize("name", ["K.square", "K.abs", "tf.sign", "tf.negative", "tf.nn.relu"])
def test_whole_numbers_stay_what_they_are(name: str) -> None:
    """Where Keras 3 computes the same on them; so do those of an unknown dtype, and bytes do not."""
    for dtype in ("int32", "int64", UNKNOWN_DTYPE):
        made = called(name, replace(INTEGERS, dtype=dtype))
        assert isinstance(made, SymbolicTensor)
        assert made.dtype == dtype
    with pytest.raises(Unknown, match=r"^arithmetic on uint8$"):
        called(name, replace(INTEGERS, dtype="uint8"))


def test_what_takes_floats_alone_shows_that_it_has_some() -> None:
    """TensorFlow refuses whole numbers in a sigmoid; in a reciprocal it does not."""
    made = called("tf.sigmoid", replace(X, dtype=UNKNOWN_DTYPE))
    assert isinstance(made, SymbolicTensor)
    assert made.dtype == "float32"
    with pytest.raises(Unknown, match=r"^arithmetic on an unknown dtype"):
        called("tf.reciprocal", replace(X, dtype=UNKNOWN_DTYPE))


def test_what_is_not_understood() -> None:
    with pytest.raises(Unknown, match=r"^a clip from high to low$"):
        called("K.clip", X, ONE, ZERO)
    with pytest.raises(Unknown, match=r"^whole numbers limited by others$"):
        called("K.clip", INTEGERS, ZERO, ONE)
    with pytest.raises(Unknown, match=r"^`K.relu` with both a slope and a maximum$"):
        called("K.relu", X, constant(0.1), constant(6))
