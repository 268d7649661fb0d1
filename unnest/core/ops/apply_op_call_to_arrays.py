"""Apply a call of an operation to arrays: its arguments by parameter, its tensors looked up."""

from __future__ import annotations

from collections.abc import Callable

from unnest.core.model import DataDependent, Ref, Unknown
from unnest.core.ops.call import OpCall, Value
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array, arrays_in
from unnest.core.ops.operation_entry import CONTENTS
from unnest.core.ops.read_whole_numbers import whole_number
from unnest.core.ops.registry import OPERATIONS


def apply(call: OpCall, lookup: Callable[[Ref], Array]) -> tuple[Array, ...]:
    """Return the results of a call.

    Raises:
        Unknown: For an operation, or arguments, that are not known.
        DataDependent: Where an element of a tensor would decide what is put where, or would be changed.

    NumPy raises what it does where shapes do not fit.

    """
    result = result_of(call, lookup)
    return tuple(result) if isinstance(result, list) else (result,)


def result_of(call: OpCall, lookup: Callable[[Ref], Array]) -> Array | list[Array]:
    """Return the result of a call, a list where the operation gives several. Raises as `apply`."""
    return bind(call)(lookup)


def bind(call: OpCall) -> Callable[[Callable[[Ref], Array]], Array | list[Array]]:
    """Return a call whose tensors are still to be looked up, for calls that are carried out on several arrays each.

    Raises:
        Unknown: For an operation, or arguments, that are not known.
        DataDependent: the arguments depend on the content of a tensor.

    """
    operation = OPERATIONS.get(call.name)
    if operation is None or operation.compute is None:
        raise Unknown(f"no operation {call.name} on arrays is known")
    compute, bound = operation.compute, operation.bind(call.args, call.kwargs)

    def result(lookup: Callable[[Ref], Array]) -> Array | list[Array]:
        values = {parameter: _argument_values(value, lookup) for parameter, value in bound.items()}
        for parameter, value in values.items():
            if parameter not in CONTENTS and any(a.dtype == ELEMENT for a in arrays_in(value)):
                raise DataDependent
        return compute(**values)

    return result


def _argument_values(value: Value, lookup: Callable[[Ref], Array]) -> Value:
    """Return an argument with arrays for tensors, and whole numbers in slices."""
    if isinstance(value, Ref):
        return lookup(value)
    if isinstance(value, list):
        return [_argument_values(part, lookup) for part in value]
    if isinstance(value, slice):
        bounds = (
            _argument_values(bound, lookup) for bound in (value.start, value.stop, value.step)
        )
        return slice(*(None if bound is None else whole_number(bound) for bound in bounds))
    return value
