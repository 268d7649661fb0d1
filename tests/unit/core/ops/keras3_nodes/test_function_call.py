"""The nodes that are made of a call."""

from __future__ import annotations

import pytest

from tests.unit.core.keras3.lambdas.calling import UNSHAPED, X
from unnest.core.keras3.lambdas.names_and_calls import Keras3Call
from unnest.core.keras3_op_node import OpNode
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import Libraries
from unnest.core.ops.keras3_nodes.function_call import shape_of


def test_an_operation_and_a_shape() -> None:
    made = Keras3Call({}, Libraries()).op("Flip", X, axis=1)
    assert made.operand == OpNode("keras.src.ops.numpy", "Flip", {"axis": 1}, (X.operand,))
    assert shape_of(X).dimensions == (None, 3, 4)
    with pytest.raises(Unknown, match=r"^a shape that is not known$"):
        shape_of(UNSHAPED)
