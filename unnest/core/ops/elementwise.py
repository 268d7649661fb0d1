"""Operations on numbers in the same places: of one tensor, or of several that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unnest.core.ops.call import UnreadableCall, Value
from unnest.core.ops.elements import ELEMENT, Array, ByContents, arrays_in, check_size
from unnest.core.ops.joining import overlaid
from unnest.core.ops.registry import Kind, define, define_all, operation

define_all(
    "relu relu6 elu selu gelu silu|swish sigmoid tanh softplus softsign celu mish hard_sigmoid "
    "hard_silu|hard_swish hard_tanh hard_shrink soft_shrink tanh_shrink threshold log_sigmoid squareplus sparse_plus "
    "sparse_sigmoid square sqrt rsqrt exp log abs|absolute sign sin cos tan sinh cosh asin|arcsin acos|arccos "
    "atan|arctan asinh|arcsinh acosh|arccosh atanh|arctanh log1p log2 log10 expm1 exp2 erf erfc erfinv lgamma digamma "
    "cbrt reciprocal is_nan is_inf is_finite nan_to_num rint trunc deg2rad rad2deg clip_by_value clip conj|conjugate "
    "real imag angle copy saturate_cast digitize dropout check_numerics",
    "*x",
    Kind.MAP,
)
define("leaky_relu", "x|features alpha", Kind.MAP, nodes={"LeakyRelu": "x @alpha"})
define_all(
    "pow|power squared_difference logical_xor atan2|arctan2 hypot logaddexp bitwise_and bitwise_or bitwise_xor fmod "
    "fmax fmin divide_no_nan|div_no_nan mul_no_nan|multiply_no_nan xlogy xdivy is_close",
    "*x",
    Kind.ELEMENTWISE,
)
define_all("accumulate_n|accumulate_n_v2 multiply_n maximum_n minimum_n", "xs", Kind.ELEMENTWISE)


def truncated_quotient(x: Array, y: Array) -> Array:
    """A division of whole numbers towards zero; of others the plain one."""
    return np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" and y.dtype.kind in "iu" else x / y


def arithmetic(function: Callable[..., Any]) -> Callable[..., Array]:
    """A NumPy function on plain numbers, in TensorFlow's types; of elements only a sum of scattered ones."""

    def compute(x: Sequence[Value]) -> Array:
        operands = [each for each in x if each is not None]
        arrays = [np.asarray(each) for each in operands]
        if any(a.dtype == ELEMENT for a in arrays):
            if function is not np.add:
                raise ByContents
            return overlaid(arrays)
        if any(a.dtype.kind not in "iufb" for a in arrays):
            raise UnreadableCall
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in arrays)), dtype=np.int64)))
        # A bare number takes the type of the array beside it, as it does in TensorFlow.
        typed = next((each.dtype for each in operands if isinstance(each, np.ndarray)), None)
        if typed is not None and (typed.kind == "f" or all(a.dtype.kind != "f" for a in arrays)):
            arrays = [a.astype(typed) for a in arrays]
        return np.asarray(function(*arrays))

    return compute


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add add_v2": np.add,
    "subtract sub": np.subtract,
    "multiply mul scalar_mul": np.multiply,
    "floordiv floor_divide": np.floor_divide,
    "truediv real_div true_divide divide": np.true_divide,
    "div truncate_div": truncated_quotient,
    "mod floor_mod remainder": np.mod,
    "truncate_mod": np.fmod,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "negative neg": np.negative,
    "equal": np.equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "right_shift bitwise_right_shift": np.right_shift,
    "left_shift bitwise_left_shift": np.left_shift,
}
for names, numpy_function in ARITHMETIC.items():
    # The node Mod divides towards zero, which the function of that name does not.
    nodes = {"Mod": "*x"} if numpy_function is np.fmod else {}
    define(names, "*x", Kind.ELEMENTWISE, arithmetic(numpy_function), function=numpy_function, nodes=nodes)


def logical(function: Callable[..., Any]) -> Callable[..., Array]:
    """A NumPy function on truth values or numbers, of one array or of two. Raises ByContents for elements."""

    def compute(x: Value, y: Value = None) -> Array:
        operands = [np.asarray(each) for each in (x, y) if each is not None]
        if any(a.dtype == ELEMENT for a in operands):
            raise ByContents
        check_size(int(np.prod(np.broadcast_shapes(*(a.shape for a in operands)), dtype=np.int64)))
        return np.asarray(function(*operands))

    return compute


define("logical_and", "x|x1 y|x2", Kind.ELEMENTWISE, logical(np.logical_and))
define("logical_or", "x|x1 y|x2", Kind.ELEMENTWISE, logical(np.logical_or))
define("logical_not", "x", Kind.MAP, logical(np.logical_not))
define("not_equal", "x|x1 y|x2", Kind.ELEMENTWISE, logical(np.not_equal))


@operation("where select select_v2", "mask|condition chosen|x|x1 other|y|x2", Kind.ELEMENTWISE)
def where(mask: Value, chosen: Value = None, other: Value = None) -> Array:
    """Numbers of `chosen` where the mask is true, else of `other`; the places where it is true, if neither is given."""
    condition = np.asarray(mask)
    if any(a.dtype == ELEMENT for a in (condition, *arrays_in(chosen), *arrays_in(other))):
        raise ByContents
    if chosen is None and other is None:
        return np.asarray(np.argwhere(condition))
    check_size(int(np.prod(np.broadcast_shapes(condition.shape, np.shape(chosen), np.shape(other)), dtype=np.int64)))
    return np.asarray(np.where(condition, chosen, other))
