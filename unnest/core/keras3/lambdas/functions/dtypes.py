"""Casts, and rows of ones and zeros."""

from __future__ import annotations

from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT
from unnest.core.keras3.lambdas.values import CORE, NN, NotUnderstood, Value

CASTS = Table()


@CASTS.known("K.cast tf.cast", "x|value dtype")
def _cast(call: Bound) -> Value:
    dtype = call.dtype("dtype")
    return replace(op(CORE, "Cast", call.tensor("x"), dtype=dtype), dtype=dtype)


@CASTS.known("tf.to_float", "x")
def _to_float(call: Bound) -> Value:
    return replace(op(CORE, "Cast", call.tensor("x"), dtype=FLOAT), dtype=FLOAT)


@CASTS.known("K.one_hot", "x|indices num_classes")
def _backend_one_hot(call: Bound) -> Value:
    return _one_hot_of(call, "num_classes")


@CASTS.known("tf.one_hot", "x|indices depth")
def _one_hot(call: Bound) -> Value:
    return _one_hot_of(call, "depth")


def _one_hot_of(call: Bound, size: str) -> Value:
    x = call.tensor("x")
    if x.dtype not in {"int32", "int64", "uint8"}:
        raise NotUnderstood(f"one-hot rows of {x.dtype}")
    return replace(op(NN, "OneHot", x, num_classes=call.integer(size), axis=-1, dtype=FLOAT), dtype=FLOAT)
