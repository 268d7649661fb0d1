"""The loss of sequences without an alignment; `fixtures/keras3_checks` holds its numbers of seven stacks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.core.keras3.lambdas.calling import UNSHAPED, X, Y, called, computed
from unnest.core.keras3_op_node import Input
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import Libraries, SymbolicTensor

ROW = (None, 1)
GIVEN, LONG = (SymbolicTensor(Input(k), "int64", "n", shape=ROW) for k in (2, 3))
LABELS = replace(Y, shape=(None, 3))


@pytest.mark.parametrize(
    ("release", "least"), [((2, 0, 9), "1e-08"), ((2, 1, 6), "1e-07"), ((2, 15, 0), "1e-07")]
)
def test_cost(release: tuple[int, ...], least: str) -> None:
    """The last of 4 classes is the blank."""
    dialect = Libraries("tensorflow", release=release)
    cost = called("K.ctc_batch_cost", LABELS, X, GIVEN, LONG, dialect=dialect)
    lengths = ", ".join(f"Cast(Squeeze(x{k}, axis=[-1]), dtype=int32)" for k in (3, 2))
    labels, logits = "Cast(x1, dtype=int32)", f"Log(Add(x0, {least}))"
    assert (
        computed(cost)
        == f"ExpandDims(CTCLoss({labels}, {logits}, {lengths}, mask_index=3), axis=1)"
    )
    assert isinstance(cost, SymbolicTensor)
    assert (cost.dtype, cost.shape) == ("float32", (None, 1))


@pytest.mark.parametrize(
    ("probabilities", "length", "release", "reason"),
    [
        (UNSHAPED, LONG, (2, 2, 4), "an unknown number of classes"),
        (X, LONG, (2, 1, 3), "which epsilon"),
        (X, LONG, (), "which epsilon"),
        (X, X, (2, 2, 4), "another shape than one a row"),
    ],
)
def test_what_is_not_understood(
    probabilities: SymbolicTensor, length: SymbolicTensor, release: tuple[int, ...], reason: str
) -> None:
    """Another version, or other shapes."""
    with pytest.raises(Unknown, match=reason):
        called(
            "K.ctc_batch_cost",
            LABELS,
            probabilities,
            GIVEN,
            length,
            dialect=Libraries("tensorflow", release=release),
        )
