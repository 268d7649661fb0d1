"""Casts between the kinds of numbers that all backends have, and one-hot rows."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X, called, computed
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    LibraryName,
    SymbolicTensor,
    SymbolicValue,
    constant,
)


@pytest.mark.parametrize(
    ("value", "operations", "dtype"),
    [
        (called("K.cast", X, constant("int32")), "Cast(x0, dtype=int32)", "int32"),
        (called("tf.cast", INTEGERS, LibraryName("tf.float32", "tf.float32")), "Cast(x0, dtype=float32)", "float32"),
        (called("tf.to_float", INTEGERS), "Cast(x0, dtype=float32)", "float32"),
        (called("K.one_hot", INTEGERS, constant(5)), "OneHot(x0, num_classes=5, axis=-1, dtype=float32)", "float32"),
        (called("tf.one_hot", INTEGERS, constant(2), constant(3.0), constant(1.0)),
         "Add(Multiply(OneHot(x0, num_classes=2, axis=-1, dtype=float32), 2.0), 1.0)", "float32"),
        (called("tf.one_hot", INTEGERS, depth=constant(5)), "OneHot(x0, num_classes=5, axis=-1, dtype=float32)",
         "float32"),
    ],
)  # fmt: skip
def test_operations(value: SymbolicValue, operations: str, dtype: str) -> None:
    assert computed(value) == operations
    assert isinstance(value, SymbolicTensor)
    assert value.dtype == dtype


def test_what_is_not_understood() -> None:
    with pytest.raises(Unknown, match=r"^one-hot rows of another dtype$"):
        called("tf.one_hot", INTEGERS, depth=constant(5), dtype=constant("int32"))
    with pytest.raises(Unknown, match=r"^one-hot rows along another axis than the last$"):
        called("tf.one_hot", INTEGERS, depth=constant(5), axis=constant(0))
    with pytest.raises(Unknown, match=r"^a shape of another dtype$"):
        called("tf.shape", X, out_type=constant("float32"))
    with pytest.raises(Unknown, match=r"^dtype float16$"):
        called("tf.cast", X, constant("float16"))
    with pytest.raises(Unknown, match=r"^one-hot rows of float32$"):
        called("tf.one_hot", X, constant(5))
