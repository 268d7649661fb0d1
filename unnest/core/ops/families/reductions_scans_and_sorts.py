"""Operations along axes: those that reduce them, and those that keep them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnest.core.model import DataDependent, Json, Shape, Unknown
from unnest.core.ops.call import Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array
from unnest.core.ops.keras3_nodes.function_registry import keras3
from unnest.core.ops.operation_entry import Theano
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.read_whole_numbers import axis_number, whole_numbers
from unnest.core.ops.registry import define, define_all, operation, shape_rule
from unnest.core.ops.shape_arithmetic import axis_of, shape_of, without_axes

if TYPE_CHECKING:
    from unnest.core.ops.keras3_nodes.expression_values import Items
    from unnest.core.ops.keras3_nodes.expression_values import SymbolicTensor as Tensor
    from unnest.core.ops.keras3_nodes.function_call import FunctionCall


def reduction(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return a NumPy reduction of plain numbers along axes. Raises DataDependent for elements."""

    def compute(x: Value, axis: Value = None, keepdims: Value = False) -> Array:
        array = np.asarray(x)
        if array.dtype == ELEMENT:
            raise DataDependent
        axes = None if axis is None else tuple(whole_numbers(axis))
        return np.asarray(function(array, axis=axes, keepdims=bool(keepdims)))

    return compute


REDUCED = "x axis|reduction_indices|axes|dim keepdims|keep_dims"
"""The arguments of sums, products and means."""


def _nodes(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "x axis @keep_dims:keepdims")


def reduced(
    names: str,
    keras3: str,
    node: str,
    function: Callable[..., Any] | None = None,
    *,
    same_on_integers: bool = True,
) -> None:
    """Register a reduction that one class of Keras 3 computes; its backend's function is the same on Theano."""
    compute = None if function is None else reduction(function)
    define(names, REDUCED, Kind.REDUCTION, compute, nodes=_nodes(node), number_function=function, keras3_class=keras3,
           theano=Theano.SAME, same_on_integers=same_on_integers)  # fmt: skip


reduced("reduce_sum sum K.sum tf.reduce_sum tf.math.reduce_sum", "Sum", "Sum", np.sum)
reduced("reduce_mean mean K.mean tf.reduce_mean tf.math.reduce_mean", "Mean", "Mean", np.mean,
        same_on_integers=False)  # fmt: skip
reduced("reduce_max max amax K.max tf.reduce_max tf.math.reduce_max", "Max", "Max")
reduced("reduce_min min amin K.min tf.reduce_min tf.math.reduce_min", "Min", "Min")
define("reduce_prod tf.reduce_prod tf.math.reduce_prod", REDUCED, Kind.REDUCTION, reduction(np.prod),
       nodes=_nodes("Prod"), number_function=np.prod, keras3_class="Prod", same_on_integers=True)  # fmt: skip
define(
    "prod K.prod",
    REDUCED,
    Kind.REDUCTION,
    keras3_class="Prod",
    theano=Theano.SAME,
    same_on_integers=True,
)
define(
    "reduce_std std tf.math.reduce_std K.std",
    REDUCED,
    Kind.REDUCTION,
    keras3_class="Std",
    theano=Theano.USUALLY,
)
define(
    "reduce_variance var K.var tf.math.reduce_variance", REDUCED, Kind.REDUCTION, keras3_class="Var"
)
define("reduce_logsumexp logsumexp K.logsumexp tf.reduce_logsumexp tf.math.reduce_logsumexp", REDUCED, Kind.REDUCTION,
       keras3_class="Logsumexp")  # fmt: skip
define("reduce_all all K.all tf.reduce_all tf.math.reduce_all", REDUCED, Kind.REDUCTION, nodes=_nodes("All"),
       keras3_class="All", takes_booleans=True, result_dtype="bool")  # fmt: skip
define("reduce_any any K.any tf.reduce_any tf.math.reduce_any", REDUCED, Kind.REDUCTION, nodes=_nodes("Any"),
       keras3_class="Any", takes_booleans=True, result_dtype="bool")  # fmt: skip
define_all(
    "reduce_euclidean_norm|euclidean_norm median count_nonzero ptp nanmax nanmin nanmean nansum nanprod "
    "nanstd nanvar nanmedian l2_loss zero_fraction moments",
    REDUCED,
    Kind.REDUCTION,
)
define("argmax", REDUCED, Kind.REDUCTION, keras3_class="Argmax", result_dtype="int32")
define("argmin", REDUCED, Kind.REDUCTION, keras3_class="Argmin", result_dtype="int32")
define("average", "x axis weights", Kind.REDUCTION)


@shape_rule("argmax")
@shape_rule("argmin")
def position_shape(x: Value, axis: Value = None, keepdims: Value = None) -> Shape:
    """Shape of an argmin or argmax: without the axis; its default is 0 in TensorFlow, -1 in `K`, all axes in NumPy."""
    shape = shape_of(x)
    return without_axes(shape, [axis_of(axis, len(shape))], keepdims=bool(keepdims))


define("norm", "x ord axis keepdims|keep_dims", Kind.REDUCTION)

LAST, FIRST, BEFORE_LAST = -1, 0, -2
"""Axes that operations work along where their calls name none."""

define_all("softmax log_softmax sort argsort", "x axis|dim", Kind.ALONG, default_axis=LAST)
CUMULATIVE = "x axis exclusive reverse"
define(
    "cumprod",
    CUMULATIVE,
    Kind.ALONG,
    default_axis=FIRST,
    nodes={"Cumprod": "x axis @exclusive @reverse"},
)
define("cumulative_logsumexp", CUMULATIVE, Kind.ALONG, default_axis=FIRST)
define_all("l2_normalize", "x axis|dim", Kind.ALONG)
define_all("normalize along_axis", "x axis", Kind.ALONG, default_axis=LAST)
# Its second result, the norm, has another shape.
define_all("normalizewhole", "x ord axis", Kind.ALONG, keeps_shape=False)
define_all("tril triu", "x k", Kind.ALONG, default_axis=BEFORE_LAST)
define_all("clip_by_norm", "x clip_norm axis|axes", Kind.ALONG)
define_all("clip_by_average_norm", "x clip_norm", Kind.ALONG)
define(
    "top_k top_k_v2", "x k sorted", Kind.FOLD, default_axis=LAST, nodes={"TopKV2": "x k @sorted"}
)
define_all("diff", "x n axis", Kind.FOLD, default_axis=LAST)
define_all("quantile percentile", "x q axis", Kind.FOLD)
define_all("clip_by_global_norm", "xs clip_norm", Kind.FOLD)
define_all("global_norm", "xs", Kind.FOLD)
define_all("fft ifft rfft irfft", "x n axis", Kind.FOLD, default_axis=LAST)


@operation(
    "cumsum",
    "x axis exclusive reverse",
    Kind.ALONG,
    default_axis=FIRST,
    nodes={"Cumsum": "x axis @exclusive @reverse"},
)
def cumsum(x: Value, axis: Value = 0, exclusive: Value = False, reverse: Value = False) -> Array:
    """Return running sums along an axis. Raises DataDependent for elements, Unknown."""
    array = np.asarray(x)
    if array.dtype == ELEMENT:
        raise DataDependent
    if reverse:
        raise Unknown("sums from the end on")
    sums = np.cumsum(array, axis_number(axis))
    return sums - array if exclusive else sums


define_all(
    "segment_sum segment_max segment_min segment_prod segment_mean unsorted_segment_sum unsorted_segment_max "
    "unsorted_segment_min unsorted_segment_prod unsorted_segment_mean bincount histogram outer kron vdot cov corrcoef "
    "unique unique_with_counts associative_scan shuffle|random_shuffle histogram_fixed_width confusion_matrix scan "
    "foldl foldr non_max_suppression non_max_suppression_v3",
    "*x",
    Kind.SEGMENT,
)


# Nodes of Keras 3

TF_L2_EPSILON = "1e-12"
"""Under the root: TensorFlow's default, and what Keras's backend leaves it at."""


def _normalized(call: FunctionCall, epsilon: float) -> Tensor:
    """Nodes of an L2 normalization: Keras 3 bounds the norm, TensorFlow the square of it. Raises Unknown."""
    if not epsilon > 0:
        raise Unknown("an epsilon that is not positive")
    return call.op(
        "Normalize", call.floats("x"), axis=call.axis(), order=2, epsilon=math.sqrt(epsilon)
    )


@keras3("K.l2_normalize", "x axis=null", theano=Theano.USUALLY)
def backend_l2_normalize_nodes(call: FunctionCall) -> Tensor:
    """Return nodes that divide by the Euclidean norm."""
    return _normalized(call, float(TF_L2_EPSILON))


@keras3(
    "tf.nn.l2_normalize tf.math.l2_normalize tf.linalg.l2_normalize",
    f"x axis|dim epsilon={TF_L2_EPSILON}",
)
def l2_normalize_nodes(call: FunctionCall) -> Tensor:
    """Return nodes that divide by the Euclidean norm."""
    return _normalized(call, call.number("epsilon"))


@keras3("tf.norm tf.linalg.norm", 'x|tensor ord="euclidean" axis=null keepdims|keep_dims=false')
def norm_nodes(call: FunctionCall) -> Tensor:
    """Nodes of the Euclidean norm of all numbers or along an axis, or of the sum of absolute values along one.

    Raises Unknown.
    """
    axis, keepdims = call.axis(), call.flag("keepdims")
    order = call.number("ord") if call.is_number("ord") else None
    if isinstance(axis, list):
        raise Unknown("a norm over several axes")
    if order == 1 and axis is not None:
        return call.op("Sum", call.op("Absolute", call.floats("x")), axis=axis, keepdims=keepdims)
    if order != 2 or axis is None:  # noqa: PLR2004 - the Euclidean norm of vectors
        call.only(ord="euclidean")
    squares = call.op("Square", call.floats("x"))
    return call.op("Sqrt", call.op("Sum", squares, axis=axis, keepdims=keepdims))


def _position(functions: str, class_name: str, axis: int) -> None:
    """Register functions that give the place of an extreme along an axis."""

    @keras3(functions, f'x|input axis|dimension={axis} * output_type="int64"')
    def nodes(call: FunctionCall) -> Tensor:
        dtype = call.dtype("output_type")
        if dtype not in {"int32", "int64"}:
            raise Unknown("places of another dtype")
        places = call.op(class_name, call.numbers("x"), axis=call.integer("axis"))
        return replace(places, dtype=dtype)


_position("K.argmax", "Argmax", LAST)
_position("K.argmin", "Argmin", LAST)
_position("tf.argmax tf.math.argmax", "Argmax", FIRST)
_position("tf.argmin tf.math.argmin", "Argmin", FIRST)


def _running(functions: str, class_name: str, start: int) -> None:
    """Register functions that calculate from one number of an axis to the next; the first meets `start`."""

    @keras3(functions, "x axis=0 exclusive=false reverse=false")
    def nodes(call: FunctionCall) -> Tensor:
        x, axis = call.numbers("x"), call.integer("axis")
        turns = call.flag("reverse")
        made = call.op("Flip", x, axis=axis) if turns else x
        if call.flag("exclusive"):
            first = start if call.holds_whole_numbers("x") else float(start)
            made = _shifted(call, made, axis, x.shape, first)
        made = call.op(class_name, made, axis=axis)
        made = call.op("Flip", made, axis=axis) if turns else made
        return replace(made, shape=x.shape, rows=x.rows if axis else None)


def _shifted(
    call: FunctionCall, x: Tensor, axis: int, shape: tuple[int | None, ...] | None, start: float
) -> Tensor:
    """Move each element one place on along an axis; the first is `start`, where a running sum or product begins.

    Raises Unknown.
    """
    if shape is None or not -len(shape) <= axis < len(shape):
        raise Unknown("a running sum of a shape that is not known")
    places = range(len(shape))
    widths: Json = [[int(k == axis % len(shape)), 0] for k in places]
    keys = [slice(None, -1 if k == axis % len(shape) else None) for k in places]
    return call.subscript(call.padded(x, widths, start), *keys)


_running("K.cumsum tf.cumsum tf.math.cumsum", "Cumsum", 0)
_running("K.cumprod tf.cumprod tf.math.cumprod", "Cumprod", 1)


@keras3(
    "K.softmax tf.nn.softmax keras.activations.softmax",
    "x|logits axis|dim=-1",
    theano=Theano.USUALLY_OF_ONE,
)
def softmax_nodes(call: FunctionCall) -> Tensor:
    """Return the node of a softmax along one axis."""
    return call.each_number(
        "Softmax", axis=LAST if call.is_omitted("axis") else call.integer("axis")
    )


@keras3("tf.nn.log_softmax tf.math.log_softmax", "x|logits axis|dim=-1")
def log_softmax_nodes(call: FunctionCall) -> Tensor:
    """Return the node of the logarithm of a softmax along one axis."""
    return call.op("LogSoftmax", call.floats("x"), axis=call.integer("axis"))


@keras3("tf.sort", 'x|values axis=-1 direction="ASCENDING"')
def sort_nodes(call: FunctionCall) -> Tensor:
    """Nodes of a sort along one axis, in either direction."""
    rising = call.op("Sort", call.numbers("x"), axis=call.integer("axis"))
    return rising if _rises(call) else call.op("Flip", rising, axis=call.integer("axis"))


@keras3("tf.argsort", 'x|values axis=-1 direction="ASCENDING" stable=false')
def argsort_nodes(call: FunctionCall) -> Tensor:
    """Nodes of an argsort as int32; of equal elements the first comes first."""
    x = call.numbers("x")
    if not _rises(call):
        # The least whole number has no negative: -1 - x reverses the order of all.
        is_whole = call.holds_whole_numbers("x")
        x = call.calculate("Subtract", -1, x) if is_whole else call.op("Negative", x)
    places = call.op("Argsort", x, axis=call.integer("axis"))
    return replace(call.op("Cast", places, dtype="int32"), dtype="int32")


def _rises(call: FunctionCall) -> bool:
    direction = call.text("direction")
    if direction not in {"ASCENDING", "DESCENDING"}:
        raise Unknown("the direction")
    return direction == "ASCENDING"


@keras3("tf.math.top_k tf.nn.top_k", "x|input k=1 sorted=true")
def top_k_nodes(call: FunctionCall) -> Items:
    """Nodes of the k largest along the last axis, and their indices: `values` and `indices`."""
    call.only(sorted=True)
    best = call.op("TopK", call.numbers("x"), k=call.integer("k"), sorted=True)
    places = call.op("Cast", call.output(best, 1), dtype="int32")
    found = call.list_of([call.output(best, 0), replace(places, dtype="int32")])
    return replace(found, fields=("values", "indices"))
