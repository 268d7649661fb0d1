"""The loss of sequences without an alignment, which models of handwriting and speech compute in a Lambda."""

from __future__ import annotations

from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT, calculation
from unnest.core.keras3.lambdas.values import CORE, NN, NUMPY, NotUnderstood, SymbolicTensor, Value, constant

SEQUENCES = Table()

#: Axes of probabilities: rows, steps, classes.
PROBABILITIES = 3


@SEQUENCES.known("K.ctc_batch_cost", "y_true y_pred input_length label_length")
def _ctc_batch_cost(call: Bound) -> Value:
    """CTC loss, shape (rows, 1), of probabilities, shape (rows, steps, classes); the last class is the blank.

    (Source: keras/backend/tensorflow_backend.py: ctc_batch_cost, of Keras 2.0.9, 2.1.6 and 2.2.4; TensorFlow 2.15,
    keras/src/backend.py. Between 2.0.9 and 2.1.6 the number that keeps the logarithm finite became K.epsilon().)
    """
    probabilities = call.floats("y_pred")
    shape = probabilities.shape
    if shape is None or len(shape) != PROBABILITIES or shape[-1] is None:
        raise NotUnderstood("probabilities of an unknown number of classes")
    if (2, 1) <= call.dialect.release < (2, 1, 6) or not call.dialect.release:
        raise NotUnderstood("which epsilon its logarithm had does not follow from the version")
    least = 1e-7 if call.dialect.release >= (2, 1, 6) else 1e-8
    logits = op(NUMPY, "Log", calculation("Add", probabilities, constant(least)))
    lengths = [_integers(op(NUMPY, "Squeeze", _column(call, name), axis=[-1])) for name in LENGTHS]
    labels = _integers(call.tensor("y_true"))
    loss = op(NN, "CTCLoss", labels, logits, *lengths, mask_index=shape[-1] - 1)
    return op(NUMPY, "ExpandDims", replace(loss, dtype=FLOAT, shape=shape[:1]), axis=1)


LENGTHS = ("label_length", "input_length")


def _column(call: Bound, name: str) -> SymbolicTensor:
    """Lengths, shape (rows, 1)."""
    lengths = call.tensor(name)
    if lengths.shape is None or lengths.shape[1:] != (1,):
        raise NotUnderstood("lengths of another shape than one a row")
    return lengths


def _integers(tensor: SymbolicTensor) -> SymbolicTensor:
    return replace(op(CORE, "Cast", tensor, dtype="int32"), dtype="int32")
