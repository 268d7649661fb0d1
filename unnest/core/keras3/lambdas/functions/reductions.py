"""Sums, means, norms, extremes and running sums along axes."""

from __future__ import annotations

import math
from dataclasses import replace

from unnest.core.keras3.lambdas.functions.padding import padded
from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT, slice_of, subscript
from unnest.core.keras3.lambdas.values import (
    CORE,
    MATH,
    NN,
    NUMPY,
    NotUnderstood,
    SymbolicTensor,
    Value,
    constant,
    items,
    number,
    part,
)
from unnest.core.model import Json

REDUCTIONS = Table()


def _reduction(names: str, module: str, class_name: str, dtype: str = FLOAT, **config: Json) -> None:
    @REDUCTIONS.known(names, "x|input_tensor axis|reduction_indices=null keepdims|keep_dims=false")
    def compute(call: Bound) -> Value:
        x = call.tensor("x")
        if x.dtype != dtype:
            raise NotUnderstood(f"a reduction of {x.dtype}")
        return op(module, class_name, x, axis=call.axis(), keepdims=call.flag("keepdims"), **config)


_reduction("K.sum tf.reduce_sum tf.math.reduce_sum", NUMPY, "Sum")
_reduction("K.mean tf.reduce_mean tf.math.reduce_mean", NUMPY, "Mean")
_reduction("K.max tf.reduce_max tf.math.reduce_max", NUMPY, "Max")
_reduction("K.min tf.reduce_min tf.math.reduce_min", NUMPY, "Min")
_reduction("K.prod tf.reduce_prod tf.math.reduce_prod", NUMPY, "Prod")
_reduction("K.std tf.math.reduce_std", NUMPY, "Std")
_reduction("K.var tf.math.reduce_variance", NUMPY, "Var")
_reduction("K.logsumexp tf.reduce_logsumexp tf.math.reduce_logsumexp", MATH, "Logsumexp")
_reduction("K.all tf.reduce_all tf.math.reduce_all", NUMPY, "All", "bool")
_reduction("K.any tf.reduce_any tf.math.reduce_any", NUMPY, "Any", "bool")

TF_L2_EPSILON = "1e-12"
"""Under the root: TensorFlow's default, and what Keras's backend leaves it at."""


def _normalized(call: Bound, epsilon: float) -> Value:
    """Keras 3 bounds the norm where TensorFlow bounds its square."""
    if not epsilon > 0:
        raise NotUnderstood("an epsilon that is not positive")
    return op(NN, "Normalize", call.floats("x"), axis=call.axis(), order=2, epsilon=math.sqrt(epsilon))


@REDUCTIONS.known("K.l2_normalize", "x axis=null")
def _backend_l2_normalize(call: Bound) -> Value:
    return _normalized(call, float(TF_L2_EPSILON))


@REDUCTIONS.known(
    "tf.nn.l2_normalize tf.math.l2_normalize tf.linalg.l2_normalize", f"x axis|dim epsilon={TF_L2_EPSILON}"
)
def _l2_normalize(call: Bound) -> Value:
    return _normalized(call, call.number("epsilon"))


@REDUCTIONS.known("tf.norm tf.linalg.norm", 'x|tensor ord="euclidean" axis=null keepdims|keep_dims=false')
def _norm(call: Bound) -> Value:
    order, axis = call["ord"], call.axis()
    if isinstance(axis, list):
        raise NotUnderstood("a norm over several axes")
    if number(order) == 1 and axis is not None:
        sizes = op(NUMPY, "Absolute", call.floats("x"))
        return op(NUMPY, "Sum", sizes, axis=axis, keepdims=call.flag("keepdims"))
    if number(order) != 2 or axis is None:  # noqa: PLR2004 - the Euclidean norm of vectors
        call.only(ord="euclidean")
    squares = op(NUMPY, "Square", call.floats("x"))
    return op(NUMPY, "Sqrt", op(NUMPY, "Sum", squares, axis=axis, keepdims=call.flag("keepdims")))


def _position(names: str, class_name: str, axis: str) -> None:
    @REDUCTIONS.known(names, f"x|input axis|dimension={axis}")
    def compute(call: Bound) -> Value:
        return replace(op(NUMPY, class_name, call.floats("x"), axis=call.integer("axis")), dtype="int64")


_position("K.argmax", "Argmax", "-1")
_position("K.argmin", "Argmin", "-1")
_position("tf.argmax tf.math.argmax", "Argmax", "0")
_position("tf.argmin tf.math.argmin", "Argmin", "0")


def _running(names: str, class_name: str, start: float) -> None:
    @REDUCTIONS.known(names, "x axis=0 exclusive=false reverse=false")
    def compute(call: Bound) -> Value:
        x, axis = call.floats("x"), call.integer("axis")
        turns = call.flag("reverse")
        made = op(NUMPY, "Flip", x, axis=axis) if turns else x
        if call.flag("exclusive"):
            made = _shifted(made, axis, x.shape, start)
        made = op(NUMPY, class_name, made, axis=axis)
        made = op(NUMPY, "Flip", made, axis=axis) if turns else made
        return replace(made, shape=x.shape, rows=x.rows if axis else None)


def _shifted(x: SymbolicTensor, axis: int, shape: tuple[int | None, ...] | None, start: float) -> SymbolicTensor:
    """Each element in the place of the one behind it along an axis; the first is where such a calculation starts."""
    if shape is None or not -len(shape) <= axis < len(shape):
        raise NotUnderstood("a running sum of a shape that is not known")
    places = range(len(shape))
    widths: Json = [[int(k == axis % len(shape)), 0] for k in places]
    keys = [slice_of([constant(None), constant(-1 if k == axis % len(shape) else None)]) for k in places]
    shifted = subscript(padded(x, widths, start), items("tuple", keys))
    assert isinstance(shifted, SymbolicTensor)
    return shifted


_running("K.cumsum tf.cumsum tf.math.cumsum", "Cumsum", 0.0)
_running("K.cumprod tf.cumprod tf.math.cumprod", "Cumprod", 1.0)


@REDUCTIONS.known("tf.sort", 'x|values axis=-1 direction="ASCENDING"')
def _sort(call: Bound) -> Value:
    rising = op(NUMPY, "Sort", call.floats("x"), axis=call.integer("axis"))
    return rising if _rises(call) else op(NUMPY, "Flip", rising, axis=call.integer("axis"))


@REDUCTIONS.known("tf.argsort", 'x|values axis=-1 direction="ASCENDING" stable=false')
def _argsort(call: Bound) -> Value:
    """Of equal ones, the first comes first."""
    x = call.floats("x") if _rises(call) else op(NUMPY, "Negative", call.floats("x"))
    places = op(NUMPY, "Argsort", x, axis=call.integer("axis"))
    return replace(op(CORE, "Cast", places, dtype="int32"), dtype="int32")


def _rises(call: Bound) -> bool:
    direction = call.text("direction")
    if direction not in {"ASCENDING", "DESCENDING"}:
        raise NotUnderstood("the direction")
    return direction == "ASCENDING"


@REDUCTIONS.known("tf.math.top_k tf.nn.top_k", "x|input k=1 sorted=true")
def _top_k(call: Bound) -> Value:
    """The largest along the last axis, and where they are."""
    call.only(sorted=True)
    best = op(MATH, "TopK", call.floats("x"), k=call.integer("k"), sorted=True)
    places = op(CORE, "Cast", part(best, 1), dtype="int32")
    return items("list", [part(best, 0), replace(places, dtype="int32")])
