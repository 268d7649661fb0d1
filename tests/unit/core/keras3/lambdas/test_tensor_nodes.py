"""Nodes on tensors: the rows and the dtype of a result, sizes as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import computed
from unnest.core.keras3.lambdas.tensor_nodes import calculation, node, number_of, zeros_along
from unnest.core.keras3_op_node import Input, OpNode, Part
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import Size, SymbolicTensor, constant, part

X = SymbolicTensor(Input(0), "float32", "x", shape=(None, 4))


def test_an_operation_has_the_dtype_of_the_first_and_counts_all_behind_it() -> None:
    once = node("Add", {}, [X.operand, X.operand], [X, X], module="m")
    assert (once.operand, once.dtype, once.nodes) == (
        OpNode("m", "Add", {}, (Input(0), Input(0))),
        "float32",
        3,
    )
    assert part(once, 1).operand == Part(OpNode("m", "Add", {}, (Input(0), Input(0))), 1)


def test_rows_of_an_input_are_kept_by_arithmetic_on_it() -> None:
    """Beside another input's they belong to no input."""
    first = replace(X, shape=(None, 4), rows=0)
    other = replace(first, operand=Input(1), rows=1)
    assert calculation("Add", first, constant(1)).rows == 0
    assert calculation("Add", first, first).rows == 0
    assert calculation("Add", first, other).rows is None


@pytest.mark.parametrize(
    ("tensor", "zeros"),
    [
        (replace(X, shape=(None,)), "ZerosLike(x0)"),
        (replace(X, shape=(None, 1)), "Sum(ZerosLike(x0), axis=[1], keepdims=False)"),
        (
            replace(X, shape=(None,), dtype="int32"),
            "Cast(ZerosLike(x0), dtype=float32)",
        ),
    ],
)
def test_zeros_as_long_as_an_axis(tensor: SymbolicTensor, zeros: str) -> None:
    assert computed(zeros_along(tensor, 0)) == zeros


UNSHOWN = Size("s[0]")


@pytest.mark.parametrize(
    "compute",
    [
        lambda: number_of(UNSHOWN),
        lambda: calculation("FloorDivide", UNSHOWN, constant(2)),
        lambda: zeros_along(replace(X, shape=None), 0),
    ],
)
def test_a_size_that_no_tensor_shows_is_no_number(compute: Callable[[], object]) -> None:
    with pytest.raises(Unknown, match=r"^a size that no tensor of known shape shows$"):
        compute()
