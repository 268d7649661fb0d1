"""Merges held against their code: it gives back all rows in order, and does nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.wrappers.claims.test_check_slice_claims_by_code import (
    K,
    custom_function,
    end_to_end,
    helper,
    tf,
)
from tests.unit.core.wrappers.one_layer import code_lambda
from unnest.core.wrappers.claims.check_merge_code import objection_to_merge
from unnest.core.wrappers.stored_code.layer_code_rows import (
    is_shown,
    may_put_together,
    puts_together,
)


def reversed_order(towers: Any) -> Any:
    return tf.concat(towers[::-1], axis=0)


def doubled(towers: Any) -> Any:
    return 2 * tf.concat(towers, 0)


def first_alone(towers: Any) -> Any:
    return towers[0]


@pytest.mark.parametrize(
    ("function", "dealt_out", "reason"),
    [
        (end_to_end, False, None),
        (end_to_end, True, "the code of l joins the rows in another order"),
        (reversed_order, False, "the code of l joins the rows in another order"),
        (
            doubled,
            False,
            "the code of l does more than join rows: it computes with the values (`*`)",
        ),
        (first_alone, False, "the code of l joins the rows in another order"),
        (custom_function, False, None),
        (lambda ts: tf.cast(tf.concat(ts, 0), tf.float32), False, None),
        (lambda ts: K.concatenate([K.cast(t, "float32") for t in ts], axis=0), False, None),
        (lambda ts: K.cast(K.concatenate(ts, axis=0), K.floatx()), False, None),
        (lambda ts: K.cast_to_floatx(K.concatenate(ts, axis=0)), False, None),
        (lambda ts: tf.concat([tf.cast(t, ts[0].dtype) for t in ts], 0), False, None),
        (lambda ts: tf.cast(tf.concat(ts, 0), K.dtype(ts[0])), False, None),
        (
            lambda ts: tf.cast(tf.cast(tf.concat(ts, 0), "int32"), ts[0].dtype),
            False,
            "the code of l does more than join rows: it casts the values to int32",
        ),
        (
            lambda ts: tf.cast(tf.concat(ts[::-1], 0), tf.float32),
            False,
            "the code of l joins the rows in another order",
        ),
        (
            lambda ts: tf.cast(tf.concat(ts, 0), tf.int32),
            False,
            "the code of l uses `cast`, and cannot be followed",
        ),
        (
            lambda ts: tf.dynamic_stitch([tf.range(0, 4, 2), tf.range(1, 4, 2)], ts),
            True,
            None,
        ),
        (
            lambda ts: tf.dynamic_stitch([tf.range(1, 4, 2), tf.range(0, 4, 2)], ts),
            True,
            "the code of l joins the rows in another order",
        ),
        (
            lambda ts: tf.dynamic_stitch([tf.range(0, 4, 2), tf.range(1, 4, 2)], ts),
            False,
            "the code of l joins the rows in another order",
        ),
    ],
)
def test_merges(function: Any, dealt_out: bool, reason: str | None) -> None:
    layer, _ = code_lambda(function)
    assert objection_to_merge(layer, 2, dealt_out=dealt_out) == reason


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (lambda ts: tf.cast(tf.concat(ts, 0), ts[0].dtype), True),
        (lambda ts: tf.cast(tf.concat(ts, 0), K.floatx()), False),  # whole numbers become floats
    ],
)
def test_a_cast_to_the_own_dtype_changes_nothing(function: Any, shown: bool) -> None:
    layer, _ = code_lambda(function)
    assert is_shown(layer, 2, dealt_out=False) == shown


def restacked(towers: Any) -> Any:
    return tf.reshape(tf.stack(towers, axis=1), [-1, 4])


@pytest.mark.parametrize(
    ("shape", "reason", "shown"),
    [
        ((None, 4), None, True),
        (None, None, False),
        ((None, None), None, False),
        ((None, 8), "the code of l does more than join rows: it reshapes its rows", True),
        ((None, 2, 2), "the code of l does more than join rows: it reshapes its rows", True),
    ],
)
def test_merges_that_know_the_shape_of_a_row(shape: Any, reason: str | None, shown: bool) -> None:
    layer, _ = code_lambda(restacked)
    assert may_put_together(layer, 2)
    assert objection_to_merge(layer, 2, shape, dealt_out=True) == reason
    assert is_shown(layer, 2, shape, dealt_out=True) is shown
    assert (
        objection_to_merge(layer, 2, (None, 4), dealt_out=False)
        == "the code of l joins the rows in another order"
    )


def test_code_that_may_put_rows_together() -> None:
    """Somehow: end to end, or one of each tower in turn."""
    assert may_put_together(code_lambda(end_to_end)[0], 2)
    for other in (reversed_order, doubled, first_alone, custom_function):
        assert not may_put_together(code_lambda(other)[0], 2)


def test_code_that_puts_rows_together() -> None:
    """For all of them, in order, with nothing else done."""
    interleaved = code_lambda(
        lambda ts: tf.dynamic_stitch([tf.range(0, 4, 2), tf.range(1, 4, 2)], ts)
    )[0]
    assert puts_together(code_lambda(end_to_end)[0], 2, dealt_out=False)
    assert puts_together(
        code_lambda(lambda ts: tf.concat([ts[0], ts[1]], 0))[0], 2, dealt_out=False
    )
    assert puts_together(interleaved, 2, dealt_out=True)
    assert not puts_together(interleaved, 2, dealt_out=False)
    for other in (reversed_order, doubled, first_alone, custom_function):
        assert not puts_together(code_lambda(other)[0], 2, dealt_out=False)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (
            lambda v: tf.concat([tf.nn.relu(q) for q in v], 0),
            "does more than join rows: it calls tensorflow.nn.relu",
        ),
        (
            lambda v: tf.concat([K.softmax(q) for q in v], 0),
            "does more than join rows: it calls keras.backend.softmax",
        ),
        (lambda v: tf.concat(list(reversed(v)), 0), "joins the rows in another order"),
        (lambda v: tf.concat([v[1 - i] for i in range(2)], 0), "joins the rows in another order"),
        (
            lambda v: tf.concat([tf.reverse(q, [0]) for q in v], 0),
            "joins the rows in another order",
        ),
        (
            lambda v: tf.concat([tf.nn.relu(helper(q)) for q in v], 0),
            "uses `nn`, and cannot be followed",
        ),
        (
            lambda v: tf.concat([K.softmax(helper(q)) for q in v], 0),
            "uses `softmax`, and cannot be followed",
        ),
        (
            lambda v: tf.concat([helper(q) for q in reversed(v)], 0),
            "uses `reversed`, and cannot be followed",
        ),
        (
            lambda v: tf.custom_gradient(helper)(tf.concat(v, 0)),
            "uses `custom_gradient`, and cannot be followed",
        ),
    ],
)
def test_a_merge_may_not_compute(function: Any, why: str) -> None:
    """A merge that computes is refused, whether its code is followed or only names such functions."""
    layer, _ = code_lambda(function)
    assert objection_to_merge(layer, 2, dealt_out=False) == f"the code of l {why}"
    assert is_shown(layer, 2, dealt_out=False) is not why.endswith("cannot be followed")


def test_a_merge_that_cannot_be_followed_is_not_shown() -> None:
    """A custom function may do anything."""
    layer, _ = code_lambda(lambda v: tf.concat([helper(q) for q in v], 0))
    assert objection_to_merge(layer, 2, dealt_out=False) is None
    assert not is_shown(layer, 2, dealt_out=False)


@pytest.mark.parametrize(
    "function",
    [lambda v: tf.concat(v, 0), lambda v: tf.concat([q for q in v], 0)],  # noqa: C416 - a loop in its code
)
def test_a_merge_that_can_is(function: Any) -> None:
    layer, _ = code_lambda(function)
    assert objection_to_merge(layer, 2, dealt_out=False) is None
    assert is_shown(layer, 2, dealt_out=False)
