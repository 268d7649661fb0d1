"""The shapes of what operations give, as far as they follow from those of the tensors that they read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.model import Json, Shape
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.elements import NOT_COMPUTED, whole_numbers
from unnest.core.ops.registry import Kind, argument, operation_of


def call_shape(what: OpCall, shapes: Mapping[Ref, Shape | None]) -> Shape | None:
    """The shape of what an operation makes of tensors of these shapes; None where that does not follow."""
    operation = operation_of(what)
    if operation is None:
        return None
    if operation.keeps_shape:
        return next((shapes[value] for value in what.args if isinstance(value, Ref)), None)
    if operation.kind is Kind.ELEMENTWISE:
        operands = [value for value in _operands(what) if _is_operand(value)]
        return broadcast([shapes[each] if isinstance(each, Ref) else np.shape(np.asarray(each)) for each in operands])
    if operation.kind is Kind.REDUCTION:
        return _reduced(what, shapes)
    if operation.kind is Kind.CONCATENATE:
        parts = argument(what, "xs")
        told = [shapes[part] for part in refs_in(parts)] if isinstance(parts, list) else []
        return lined_up(argument(what, "axis"), told) if told and len(told) == len(parts) else None
    return None


def _operands(what: OpCall) -> list[Value]:
    """The tensors and numbers that are combined: all arguments, or the list that is given."""
    several = argument(what, "xs")
    return several if isinstance(several, list) else [*what.args, *what.kwargs.values()]


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
    axis = argument(what, "axis")
    if not shape:
        return None
    try:
        axes = {number % len(shape) for number in whole_numbers(axis)} if axis is not None else {*range(len(shape))}
    except NOT_COMPUTED:
        return None
    keeps = argument(what, "keepdims")
    return tuple(1 if at in axes else size for at, size in enumerate(shape) if keeps or at not in axes)
