"""The shape of what a call gives, as far as it follows from the shapes of the tensors that it reads."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.model import Ref, Shape, Unknown
from unnest.core.ops.call import OpCall, Value
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.registry import argument, operation_of
from unnest.core.ops.shape_arithmetic import (
    Sized,
    axes_of,
    broadcast,
    shape_of,
    shapes_of,
    without_axes,
)


def result_shape(call: OpCall) -> Shape | None:
    """Return the shape of a call's result; None where it does not follow, or where there are several results.

    Each tensor among the arguments is a `Sized`.
    """
    operation = operation_of(call)
    if operation is None:
        return None
    try:
        if operation.shape_rule is not None:
            return operation.shape_rule(**operation.bind(call.args, call.kwargs))
        return _shape_by_kind(operation, call)
    except NOT_COMPUTED:
        return None


def call_shape(call: OpCall, shapes: Mapping[Ref, Shape | None]) -> Shape | None:
    """Return the shape of a call's result, of tensors of these shapes; None as `result_shape`."""

    def sized(value: Value) -> Value:
        if isinstance(value, Ref):
            return Sized(shapes[value])
        return [sized(part) for part in value] if isinstance(value, list) else value

    return result_shape(
        OpCall(call.name, [*map(sized, call.args)], {k: sized(v) for k, v in call.kwargs.items()})
    )


def _shape_by_kind(operation: Operation, call: OpCall) -> Shape:
    """Return the shape of a call's result, by the kind of its operation. Raises Unknown."""
    if operation.keeps_shape:
        tensors = [value for value in call.args if isinstance(value, Sized)]
        return shape_of(tensors[0] if tensors else None)
    if operation.kind is Kind.ELEMENTWISE:
        several = argument(call, "xs")
        if isinstance(several, list):
            return broadcast(shapes_of(several))
        return broadcast(
            [shape_of(value) for value in (*call.args, *call.kwargs.values()) if _is_operand(value)]
        )
    if operation.kind is Kind.REDUCTION:
        shape = shape_of(call.args[0] if call.args else None)
        axes = axes_of(argument(call, "axis"), len(shape))
        return without_axes(shape, axes, keepdims=bool(argument(call, "keepdims")))
    raise Unknown(f"the output shape of {call.name}")


def _is_operand(value: Value) -> bool:
    """True for what is combined number by number: all but names, truth values and None."""
    return value is not None and not isinstance(value, str | bool)
