"""The shapes of what operations give, as far as they follow from those of the tensors that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.keras_facts.shape_rules import Shape
from unnest.core.model import Json
from unnest.core.recognise.elements import NOT_COMPUTED, whole_numbers
from unnest.core.recognise.number_kernels import ELEMENTWISE
from unnest.core.recognise.op_calls import OpCall, Value, axis_of
from unnest.core.recognise.op_kinds import REDUCING

KEEPING_SHAPE = frozenset({
    "relu", "relu6", "leakyrelu", "elu", "selu", "gelu", "silu", "swish", "sigmoid", "tanh", "softmax", "logsoftmax",
    "softplus", "softsign", "square", "sqrt", "rsqrt", "exp", "log", "abs", "sign", "identity", "cast", "stopgradient",
    "l2normalize", "clipbyvalue", "reverse", "reversev2", "flip", "roll",
    "absolute", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "arcsin",
    "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "log1p", "log2", "log10", "expm1", "exp2", "erf", "erfc",
    "erfinv", "lgamma", "digamma", "cbrt", "reciprocal", "celu", "mish", "hardsigmoid", "hardsilu", "hardswish",
    "hardtanh", "hardshrink", "softshrink", "tanhshrink", "threshold", "logsigmoid", "squareplus", "sparseplus",
    "sparsesigmoid", "isnan", "isinf", "isfinite", "nantonum", "logicalnot", "rint", "trunc", "deg2rad", "rad2deg",
    "clip", "conj", "conjugate", "real", "imag", "angle", "copy", "converttotensor", "saturatecast", "digitize",
    "dropout", "checknumerics", "tril", "triu", "bandpart", "matrixbandpart",
})  # fmt: skip
"""Operations whose result has the shape of the first tensor that they read."""

BROADCASTING = frozenset(ELEMENTWISE) | frozenset({
    "pow", "power", "squareddifference", "where", "selectv2", "notequal", "logicaland", "logicalor", "logicalxor",
    "atan2", "arctan2", "hypot", "logaddexp", "bitwiseand", "bitwiseor", "bitwisexor", "fmod", "fmax", "fmin",
    "dividenonan", "divnonan", "mulnonan", "multiplynonan", "xlogy", "xdivy", "isclose",
})  # fmt: skip
"""Operations on numbers that stand in the same places."""


def op_shape(what: OpCall, shapes: Mapping[Ref, Shape | None]) -> Shape | None:
    """The shape of what an operation makes of tensors of these shapes; None where that does not follow."""
    if what.name in KEEPING_SHAPE:
        return next((shapes[value] for value in what.args if isinstance(value, Ref)), None)
    if what.name in BROADCASTING:
        operands = [value for value in (*what.args, *what.kwargs.values()) if _is_operand(value)]
        return broadcast([shapes[each] if isinstance(each, Ref) else np.shape(np.asarray(each)) for each in operands])
    if what.name in REDUCING:
        return _reduced(what, shapes)
    if what.name in ("concat", "concatenate"):
        parts = what.args[0] if what.args and isinstance(what.args[0], list) else []
        told = [shapes[part] for part in parts if isinstance(part, Ref)]
        return lined_up(axis_of(what), told) if parts and len(told) == len(parts) else None
    return None


def lined_up(axis: Json, shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of tensors that are alike but for one axis, not the first, along which they are put together."""
    told = [shape for shape in shapes if shape is not None and len(shape) == len(shapes[0] or ())]
    if len(told) < len(shapes) or not isinstance(axis, int) or not axis % len(told[0]) > 0:
        return None
    at = axis % len(told[0])
    sizes = [shape[at] for shape in told]
    together = None if None in sizes else sum(size for size in sizes if size is not None)
    rest = {(*shape[:at], *shape[at + 1 :]) for shape in told}
    return (*told[0][:at], together, *told[0][at + 1 :]) if len(rest) == 1 else None


def _is_operand(value: Value) -> bool:
    return isinstance(value, (Ref, int, float, list, np.ndarray)) and not isinstance(value, bool)


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of all together: axes meet from the last one back, and an axis of one is as long as any other."""
    known = [shape for shape in shapes if shape is not None]
    if not known or len(known) < len(shapes):
        return None
    whole: list[int | None] = [1] * max(map(len, known))
    for shape in known:
        for axis, size in enumerate(shape, len(whole) - len(shape)):
            before = whole[axis]
            if before == 1 or (before is None and size not in (None, 1)):
                whole[axis] = size
            elif size not in (None, 1, before):
                return None
    return tuple(whole)


def _reduced(what: OpCall, shapes: Mapping[Ref, Shape | None]) -> Shape | None:
    """The shape without the axes that are reduced, or with one entry along each of them."""
    first = what.args[0] if what.args else None
    shape = shapes[first] if isinstance(first, Ref) else None
    given = what.kwargs.get("axis", what.kwargs.get("reduction_indices", what.args[1] if len(what.args) > 1 else None))
    if not shape:
        return None
    try:
        axes = {axis % len(shape) for axis in whole_numbers(given)} if given is not None else {*range(len(shape))}
    except NOT_COMPUTED:
        return None
    keeps = any(what.kwargs.get(key) for key in ("keepdims", "keep_dims"))
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes)
