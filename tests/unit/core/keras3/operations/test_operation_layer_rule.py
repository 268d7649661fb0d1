"""A layer that is an operation: what stands for it in the new graph, and what is said of it."""

from __future__ import annotations

from tests.unit.core.keras3.operations.calling import NUMPY, X, outputs
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3_op_node import OpNode


def test_a_tensor_that_is_given_back_is_an_operation_all_the_same() -> None:
    """A layer of Keras 3 needs something to stand for it."""
    assert outputs("TFOpLambda", {"function": "identity"}, [X], Context()) == [
        OpNode(NUMPY, "Multiply", {}, (X, 1))
    ]
