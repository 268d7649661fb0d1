"""Products by the names of any dialect, and what Keras 3 computes them by."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.lambdas.calling import INTEGERS, X, Y, called, computed
from unnest.core.interpreters.op_shapes import result_shape
from unnest.core.model import Unknown
from unnest.core.ops.call import OpCall
from unnest.core.ops.keras3_nodes.expression_values import constant
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import argument, kind_of
from unnest.core.ops.shape_arithmetic import Sized


@pytest.mark.parametrize("name", ["matmul", "matvec", "tensordot", "einsum"])
def test_products(name: str) -> None:
    assert kind_of(OpCall(name, (), {})) is Kind.PRODUCT


@pytest.mark.parametrize("turned", ["transpose_a", "adj_x"])
def test_a_matrix_that_is_transposed(turned: str) -> None:
    call = OpCall("matmul", ["x"], {"b": "y", turned: True})
    assert (argument(call, "y"), argument(call, "transpose_a")) == ("y", True)


def test_cross_products() -> None:
    assert computed(called("tf.linalg.cross", X, b=Y)) == "Cross(x0, x1)"
    points = Sized((None, 5, 3))
    assert result_shape(OpCall("cross", [points, points], {})) == (None, 5, 3)
    in_a_plane = Sized((None, 5, 2))
    assert result_shape(OpCall("cross", [in_a_plane, in_a_plane], {})) is None
    for integers in ((INTEGERS, X), (X, INTEGERS)):
        with pytest.raises(Unknown, match=r"^arithmetic on int32$"):
            called("tf.linalg.cross", *integers)


def test_a_matrix_times_a_vector() -> None:
    """A column that is a vector again."""
    assert (
        computed(called("tf.linalg.matvec", X, Y))
        == "Squeeze(Matmul(x0, ExpandDims(x1, axis=-1)), axis=-1)"
    )
    assert "Swapaxes" in computed(
        called("tf.linalg.matvec", X, Y, transpose_a=constant(value=True))
    )
    matrices, vectors = Sized((None, 3, 4)), Sized((None, 4))
    assert result_shape(OpCall("matvec", [matrices, vectors], {})) == (None, 3)
    assert result_shape(OpCall("matvec", [matrices, vectors], {"transpose_a": True})) == (None, 4)
    assert result_shape(OpCall("matvec", [vectors, Sized(())], {})) is None
