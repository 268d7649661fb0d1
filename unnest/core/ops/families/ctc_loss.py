"""The loss of sequences without an alignment, which models of handwriting and speech compute in a Lambda."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.function_registry import keras3

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall

PROBABILITIES = 3
"""Axes of probabilities: rows, steps, classes."""


@keras3("K.ctc_batch_cost", "y_true y_pred input_length label_length")
def ctc_batch_cost_nodes(call: FunctionCall) -> SymbolicTensor:
    """CTC loss, shape (rows, 1), of probabilities, shape (rows, steps, classes); the last class is the blank.

    (Source: keras/backend/tensorflow_backend.py: ctc_batch_cost, of Keras 2.0.9, 2.1.6 and 2.2.4; TensorFlow 2.15,
    keras/src/backend.py. Between 2.0.9 and 2.1.6 the number that keeps the logarithm finite became K.epsilon().)

    Raises Unknown.
    """
    probabilities = call.floats("y_pred")
    shape, release = probabilities.shape, call.dialect.release
    if shape is None or len(shape) != PROBABILITIES or shape[-1] is None:
        raise Unknown("probabilities of an unknown number of classes")
    if (2, 1) <= release < (2, 1, 6) or not release:
        raise Unknown("which epsilon its logarithm had does not follow from the version")
    least = 1e-7 if release >= (2, 1, 6) else 1e-8
    logits = call.op("Log", call.calculate("Add", probabilities, least))
    lengths = [
        _integers(call, call.op("Squeeze", _column(call, name), axis=[-1]))
        for name in LENGTH_ARGUMENTS
    ]
    labels = _integers(call, call.tensor("y_true"))
    loss = call.op("CTCLoss", labels, logits, *lengths, mask_index=shape[-1] - 1)
    return call.op("ExpandDims", replace(loss, dtype="float32", shape=shape[:1]), axis=1)


LENGTH_ARGUMENTS = ("label_length", "input_length")


def _column(call: FunctionCall, name: str) -> SymbolicTensor:
    """Return lengths as a tensor of shape (rows, 1). Raises Unknown."""
    lengths = call.tensor(name)
    if lengths.shape is None or lengths.shape[1:] != (1,):
        raise Unknown("lengths of another shape than one a row")
    return lengths


def _integers(call: FunctionCall, tensor: SymbolicTensor) -> SymbolicTensor:
    return replace(call.op("Cast", tensor, dtype="int32"), dtype="int32")
