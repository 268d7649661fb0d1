"""Arguments of an operation's call: those whose content it moves, and the axis that it names."""

from __future__ import annotations

from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall, Value
from unnest.core.ops.operation_entry import CONTENTS
from unnest.core.ops.read_whole_numbers import axis_number
from unnest.core.ops.registry import OPERATIONS


def contents(call: OpCall) -> list[Value]:
    """Return the arguments whose content a call moves or computes with; [] if its arguments cannot be read."""
    operation = OPERATIONS.get(call.name)
    if operation is None or operation.compute is None:
        return []
    try:
        bound = operation.bind(call.args, call.kwargs)
    except Unknown:
        return []
    if operation.takes_all:
        return list(bound["x"])
    return [bound[parameter] for parameter in CONTENTS if parameter in bound]


def literal_axis(call: OpCall) -> int | None:
    """Return the axis that a call names as a number, 0 by default; None if the axis is computed."""
    operation = OPERATIONS.get(call.name)
    try:
        if operation is None or operation.compute is None:
            return None
        axis = operation.bind(call.args, call.kwargs).get("axis")
        return None if isinstance(axis, Ref) else axis_number(axis)
    except Unknown:
        return None
