"""Casts, and rows of ones and zeros."""

from __future__ import annotations

from dataclasses import replace

from unnest.core.keras3.lambdas import arrays
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT, calculation
from unnest.core.keras3.lambdas.values import CORE, NN, Array, Const, NotUnderstood, SymbolicTensor, Value, constant

CASTS = Table()


@CASTS.known("K.cast tf.cast", "x|value dtype")
def _cast(call: Bound) -> Value:
    dtype, value = call.dtype("dtype"), call["x"]
    if isinstance(value, Const) and isinstance(value.value, int) and dtype == FLOAT:
        return constant(float(call.number("x")))  # one size of a shape
    if isinstance(value, Array) and dtype == FLOAT:
        return arrays.made(value.value, "tensor")
    return replace(op(CORE, "Cast", call.tensor("x"), dtype=dtype), dtype=dtype)


@CASTS.known("tf.to_float", "x")
def _to_float(call: Bound) -> Value:
    return replace(op(CORE, "Cast", call.tensor("x"), dtype=FLOAT), dtype=FLOAT)


@CASTS.known("K.one_hot", "x|indices num_classes")
def _backend_one_hot(call: Bound) -> Value:
    return _one_hot_of(call, "num_classes")


@CASTS.known("tf.one_hot", "x|indices depth on_value=null off_value=null axis=null dtype=null")
def _one_hot(call: Bound) -> Value:
    """Ones and zeros, or two other numbers."""
    if not _is_left_out(call["dtype"]) and call.dtype("dtype") != FLOAT:
        raise NotUnderstood("one-hot rows of another dtype")
    if call.axis() not in {None, -1}:
        raise NotUnderstood("one-hot rows along another axis than the last")
    on = 1.0 if _is_left_out(call["on_value"]) else call.number("on_value")
    off = 0.0 if _is_left_out(call["off_value"]) else call.number("off_value")
    made = _one_hot_of(call, "depth")
    if (on, off) == (1.0, 0.0):
        return made
    return calculation("Add", calculation("Multiply", made, constant(float(on - off))), constant(float(off)))


def _is_left_out(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _one_hot_of(call: Bound, size: str) -> SymbolicTensor:
    x = call.tensor("x")
    if x.dtype not in {"int32", "int64", "uint8"}:
        raise NotUnderstood(f"one-hot rows of {x.dtype}")
    return replace(op(NN, "OneHot", x, num_classes=call.integer(size), axis=-1, dtype=FLOAT), dtype=FLOAT)
