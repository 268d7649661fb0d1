"""Products by the names of any dialect."""

from __future__ import annotations

import pytest

from unnest.core.ops.call import OpCall
from unnest.core.ops.registry import Kind, argument, kind_of


@pytest.mark.parametrize("name", ["matmul", "tensordot", "einsum"])
def test_products(name: str) -> None:
    assert kind_of(OpCall(name, (), {})) is Kind.PRODUCT


@pytest.mark.parametrize("turned", ["transpose_a", "adj_x"])
def test_a_matrix_that_is_transposed(turned: str) -> None:
    call = OpCall("matmul", ["x"], {"b": "y", turned: True})
    assert (argument(call, "y"), argument(call, "transpose_a")) == ("y", True)
