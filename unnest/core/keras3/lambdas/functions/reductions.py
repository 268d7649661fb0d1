"""Sums, means, norms, extremes and running sums along axes."""

from __future__ import annotations

import math
from dataclasses import replace

from unnest.core.keras3.lambdas.functions.signatures import Bound, Table, op
from unnest.core.keras3.lambdas.operators import FLOAT
from unnest.core.keras3.lambdas.values import MATH, NN, NUMPY, NotUnderstood, Value
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
_reduction("tf.reduce_all tf.math.reduce_all", NUMPY, "All", "bool")
_reduction("tf.reduce_any tf.math.reduce_any", NUMPY, "Any", "bool")

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
    call.only(ord="euclidean")
    axis = call.axis()
    if isinstance(axis, list):
        raise NotUnderstood("a norm over several axes")
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


@REDUCTIONS.known("K.cumsum tf.cumsum tf.math.cumsum", "x axis=0")
def _cumsum(call: Bound) -> Value:
    return op(NUMPY, "Cumsum", call.floats("x"), axis=call.integer("axis"))


@REDUCTIONS.known("K.cumprod tf.cumprod tf.math.cumprod", "x axis=0")
def _cumprod(call: Bound) -> Value:
    return op(NUMPY, "Cumprod", call.floats("x"), axis=call.integer("axis"))
