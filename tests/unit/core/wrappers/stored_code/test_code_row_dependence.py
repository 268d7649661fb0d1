"""Row dependence of stored code: each row by itself, or rows that depend on each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.one_layer import function as stored
from unnest.core.interpreters.row_dependence_arithmetic import RowsMade
from unnest.core.model import Shape
from unnest.core.wrappers.stored_code.code_row_dependence import rows_made

tf: Any = None  # what the code of these functions names; they are read, not called
K: Any = None
helper: Any = None


def made_by(function: Any, *shapes: Shape | None) -> RowsMade:
    return rows_made(stored(function), {}, shapes, (2, 4, 3, 5))


@pytest.mark.parametrize(
    ("function", "made"),
    [
        (lambda x: x - K.mean(x, axis=0), RowsMade.MIXED),
        (lambda x: x - x[:1], RowsMade.MIXED),
        (lambda x: K.maximum(x, x[-1:]), RowsMade.MIXED),
        (lambda x: x - K.concatenate([x[:1], x[:-1]], axis=0), RowsMade.MIXED),
        (lambda x: K.sum(x, axis=1) + K.sum(x, axis=1, keepdims=True), RowsMade.MIXED),
        (lambda x: K.concatenate([x, x - x[:1]], axis=1), RowsMade.MIXED),
        (lambda x: K.concatenate([x, 2 * x], axis=1), RowsMade.KEPT),
        (lambda x: x + K.zeros_like(x[:1]), RowsMade.KEPT),
        (lambda x: K.ones_like(x) * x[:1], RowsMade.OTHERS),
        (lambda x: x * K.sum(K.ones_like(x), axis=0), RowsMade.UNKNOWN),  # by their number
        (
            lambda x: x + K.concatenate([K.zeros_like(x[:1]), x[1:]], axis=0),
            RowsMade.UNKNOWN,
        ),  # by their places
        (lambda x: K.concatenate([2 * x[:1], x[1:]], axis=0), RowsMade.UNKNOWN),
        (lambda x: K.concatenate([2 * x[:1], 2 * x[1:]], axis=0), RowsMade.KEPT),
        (lambda x: tf.einsum("ij,ik->jk", x, x)[0] + x, RowsMade.MIXED),
        (lambda x: K.reshape(K.mean(x), [1, 1]), RowsMade.ONE),
        (lambda x: K.expand_dims(K.sqrt(K.mean(K.square(x))), 0), RowsMade.ONE),
        (lambda x: tf.stack([[tf.reduce_sum(x)]]), RowsMade.ONE),
        (lambda x: K.mean(x, axis=0, keepdims=True), RowsMade.ONE),
        (lambda x: K.max(x)[None, None], RowsMade.ONE),
        (lambda x: x * K.reshape(K.mean(x), [1, 1]), RowsMade.MIXED),
        (lambda x: tf.nn.softmax(x, axis=0) * x, RowsMade.MIXED),
        (lambda x: tf.matmul(tf.nn.softmax(tf.matmul(x, tf.transpose(x))), x), RowsMade.MIXED),
        (lambda x: tf.gather(x, tf.nn.top_k(x[:, 0], 1)[1]), RowsMade.MIXED),
        (lambda x: tf.concat([x, -x], 0), RowsMade.OTHERS),
        (lambda x: x[::2], RowsMade.OTHERS),
        (lambda x: tf.stack([x, x], 0), RowsMade.OTHERS),
        (lambda x: x - K.mean(x, axis=1, keepdims=True), RowsMade.KEPT),
        (lambda x: tf.nn.softmax(x, axis=1), RowsMade.KEPT),
        (lambda x: x * 2.0 + 1, RowsMade.KEPT),
        (lambda x: x / tf.cast(tf.shape(x)[1], "float32"), RowsMade.KEPT),
        (lambda x: x / tf.cast(tf.shape(x)[0], "float32"), RowsMade.MIXED),  # by their number
        (lambda x: tf.multiply(x, tf.shape(x)[0]), RowsMade.MIXED),
        (lambda x: x * K.cast(K.shape(x)[0] > 5, "float32"), RowsMade.MIXED),
        (lambda x: tf.reshape(tf.transpose(x), tf.shape(x)), RowsMade.OTHERS),
        (lambda x: K.softmax(K.transpose(x)) * 2.0, RowsMade.MIXED),
        (lambda x: 2 * K.mean(x), RowsMade.UNKNOWN),  # a number
        (lambda x: helper(x, 2), RowsMade.UNKNOWN),
    ],
)
def test_what_code_makes_of_rows(function: Any, made: RowsMade) -> None:
    assert made_by(function, (None, 6)) is made


def test_ranks_that_nobody_knows_must_agree() -> None:
    """Axis -2 is that of the rows in a matrix alone."""
    assert made_by(lambda x: tf.nn.softmax(x, axis=-2), (None, 6)) is RowsMade.MIXED
    assert made_by(lambda x: tf.nn.softmax(x, axis=-2), None) is RowsMade.UNKNOWN


def test_several_tensors() -> None:
    assert made_by(lambda v: K.dot(v[0], v[1]), (None, 3, 4), (None, 4, 3)) is RowsMade.MIXED
    assert made_by(lambda v: tf.matmul(v[0], v[1]), (None, 3, 4), (None, 4, 3)) is RowsMade.KEPT
    assert made_by(lambda v: v[0] + v[1], None, None) is RowsMade.KEPT
    assert made_by(lambda v: v[0] + v[1][::-1], (None, 3), (None, 3)) is RowsMade.MIXED
    assert made_by(lambda x: [x, K.mean(x)], (None, 3)) is RowsMade.UNKNOWN
    assert made_by(lambda x: [x, x - K.mean(x)], (None, 3)) is RowsMade.MIXED


def test_a_batch_of_fixed_size() -> None:
    # Of a larger batch they would not be all.
    assert made_by(lambda x: x[:8], (8, 3)) is RowsMade.UNKNOWN
    assert made_by(lambda x: x[:4], (8, 3)) is RowsMade.OTHERS
    assert made_by(lambda x: x * 2.0, (8, 3)) is RowsMade.KEPT


def test_what_depends_on_a_number_that_left_the_trace() -> None:
    assert made_by(lambda x: x * int(tf.shape(x)[0]), (None, 3)) is RowsMade.UNKNOWN
    assert made_by(lambda x: x * 2.0 if tf.shape(x)[0] > 5 else x, (None, 3)) is RowsMade.UNKNOWN
