"""Rules by kind (`ROW_RULES`): the rows that the results of an operation depend on, given those of its inputs.

Each number that an operation computes depends on the rows of all that it is made of (`row_dependence_arithmetic`);
operations that move numbers need no rule (`apply_operations_to_rows`). Rules raise RowsMixed where a number depends on
several rows, and NOT_COMPUTED where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.core.interpreters import row_dependence_arithmetic
from unnest.core.interpreters.row_dependence_arithmetic import (
    NO_ROW,
    RowsMixed,
    along,
    combined,
    each_its_own,
)
from unnest.core.interpreters.tower_tensor_facts import RowFacts, TensorRows, TowerTensors
from unnest.core.model import Ref, Unknown
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.element_dtype_and_checks import Array
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.operation_kinds import Kind
from unnest.core.ops.product_axes import MATRIX
from unnest.core.ops.registry import argument


class RowStep(NamedTuple):
    """One operation on tensors with known rows: its place in the graph, its call, and the facts on its inputs."""

    here: Ref
    call: OpCall
    operation: Operation
    given: Mapping[Ref, TensorRows]


RowRule: TypeAlias = "Callable[[TowerTensors, RowStep], TensorRows]"


def in_place(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine the numbers in the same places of several tensors, which are broadcast. Raises RowsMixed."""
    if step.operation.chooses_by_mask and argument(step.call, "chosen") is None:
        raise RowsMixed  # the places where a mask is true
    known = [ref for ref, tensor in step.given.items() if tensor is not RowFacts.UNKNOWN]
    made = combined([tensors.rows_of(ref, 0) for ref in known])
    return made if len(known) == len(step.given) else RowFacts.UNKNOWN


def of_each_entry(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine each entry along the first axis by itself; for windows, along the last axis as well."""
    arrays = [tensor for tensor in step.given.values() if isinstance(tensor, np.ndarray)]
    sizes = tensors.sizes(step.here)[1:]
    try:
        of_rows = combined([along(tensor, range(1, tensor.ndim)).reshape(-1) for tensor in arrays])
    except RowsMixed:
        if step.operation.kind is Kind.WINDOW:
            raise
        whole = combined([along(tensor, [-1]) for tensor in arrays])
        return np.broadcast_to(whole, (*whole.shape[:-1], *sizes[-1:]))
    if any(tensor is RowFacts.UNKNOWN for tensor in step.given.values()):
        return RowFacts.UNKNOWN
    return np.broadcast_to(of_rows.reshape(-1, *[1] * len(sizes)), (len(of_rows), *sizes))


def reduced(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine all numbers along some axes, which are dropped."""
    tensor = tensors.first(step.call)
    return along(
        tensor, _axes(tensors, step, tensor), keepdims=bool(argument(step.call, "keepdims"))
    )


def worked_along(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine all numbers along some axes, which stay."""
    tensor = tensors.first(step.call)
    made = along(tensor, _axes(tensors, step, tensor))
    return (
        np.broadcast_to(made, tensor.shape)
        if step.operation.keeps_shape
        else tensors.sized(step.here, made)
    )


def of_segments(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine entries along the first axis, unless the call names another."""
    along(tensors.first(step.call), [tensors.whole_number(step.call.kwargs.get("axis"))])
    return RowFacts.UNKNOWN


def of_matrix(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine the numbers of a matrix; for stacks of matrices TensorFlow takes other axes than NumPy."""
    tensor = tensors.first(step.call)
    return RowFacts.UNKNOWN if tensor.ndim > MATRIX else along(tensor, range(MATRIX))


def multiplied(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine by a sum of products, along the axes that the operation sums over. Raises Unknown."""
    call, operation = step.call, step.operation
    if operation.axes_rule is None:
        raise Unknown("the axes of a product")
    is_pair = operation.position("y") is not None
    operands = (
        [argument(call, name) for name in "xy"]
        if is_pair
        else [*refs_in([*call.args, *call.kwargs.values()])]
    )
    beside = {
        name: _numbers(tensors, value)
        for name in operation.parameters
        if name not in ("x", "y", "*xs") and (value := argument(call, name)) is not None
    }
    letters, output = operation.axes_rule([tensors.axes_of(value) for value in operands], **beside)
    arrays = [
        tensors.rows_of(value, len(each)) for value, each in zip(operands, letters, strict=True)
    ]
    return tensors.sized(
        step.here, row_dependence_arithmetic.product([*zip(letters, arrays, strict=True)], output)
    )


def _numbers(tensors: TowerTensors, value: Value) -> Value:
    """Return an argument with numbers in place of tensors whose numbers are known."""
    if isinstance(value, (list, tuple)):
        return [_numbers(tensors, part) for part in value]
    return tensors.number(value) if isinstance(value, Ref) else value


def by_mask(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Return a dependence on unknown rows."""
    return elsewhere(tensors, tensors.first(step.call).shape)


def by_index(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Combine entries that are chosen by the content of other tensors. Raises Unknown."""
    first, second = (
        tensors.rows_of(value)
        for value in (argument(step.call, "x"), argument(step.call, "indices"))
    )
    axis, within = (
        tensors.whole_number(argument(step.call, name)) for name in ("axis", "batch_dims")
    )
    chosen = along(first, [axis])
    if within:
        if first.ndim != second.ndim or axis % first.ndim != within:
            raise Unknown("rows taken by index within rows")
        return combined([chosen, second])
    axis %= first.ndim
    around = chosen.reshape((*first.shape[:axis], *[1] * second.ndim, *first.shape[axis + 1 :]))
    return combined([around, second.reshape((*second.shape, *[1] * (first.ndim - axis - 1)))])


def in_another_order(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Move rows as layers or code do that mix them; layers whose first axis is time take that for the rows.

    Raises RowsMixed.
    """
    if not step.operation.reorders_rows:
        return RowFacts.UNKNOWN
    tensor = tensors.first(step.call)
    combined([tensor, each_its_own(tensor.shape)])
    if step.operation.mixes_rows:
        raise RowsMixed
    tensors.of_unknown_count.add(step.here)
    return elsewhere(tensors, (tensors.rows, *tensors.sizes(step.here)[1:]))


def elsewhere(tensors: TowerTensors, shape: Sequence[int]) -> Array:
    """Row dependence of moved or selected rows: element i depends on row i + 1, which stands for any other row."""
    return each_its_own(shape, np.roll(np.arange(tensors.rows), 1))


def _axes(tensors: TowerTensors, step: RowStep, tensor: Array) -> Collection[int]:
    """Return the axes that an operation works along: all where neither the call nor the operation names one.

    Raises:
        NOT_COMPUTED: The axes are computed from rows.
        ValueError: The tensor has no such axis.
        Unknown: The tensor has no rows, and one of the axes is as long as the batch that is tried.

    """
    named = argument(step.call, "axis")
    axis = step.operation.default_axis if named is None else named
    axes = range(tensor.ndim) if axis is None else tensors.numbers(axis)
    if any(not -tensor.ndim <= each < tensor.ndim for each in axes):
        raise ValueError("an axis that a tensor does not have")
    is_as_long = any(tensor.shape[each] == tensors.rows for each in axes)
    if is_as_long and np.all(tensor["element"] == NO_ROW):
        raise Unknown("whether an axis of the batch's length is the batch")
    return axes


ROW_RULES: Mapping[Kind, RowRule] = {
    Kind.MAP: in_place,
    Kind.ELEMENTWISE: in_place,
    Kind.ROWWISE: of_each_entry,
    Kind.WINDOW: of_each_entry,
    Kind.REDUCTION: reduced,
    Kind.ALONG: worked_along,
    Kind.FOLD: worked_along,
    Kind.SEGMENT: of_segments,
    Kind.MATRIX: of_matrix,
    Kind.PRODUCT: multiplied,
    Kind.MASK: by_mask,
    Kind.TAKE: by_index,
    Kind.OPAQUE: in_another_order,
}
"""Kind of operations that compute with rows, or choose by what they hold -> the rows that their numbers depend on."""


def computed_rows(tensors: TowerTensors, step: RowStep) -> TensorRows:
    """Return the row dependence of an operation by the rule of its kind; `RowFacts.UNKNOWN` without one.

    Raises:
        RowsMixed: If a number depends on several rows.
        NOT_COMPUTED: If nothing is known.

    """
    rule = ROW_RULES.get(step.operation.kind)
    return RowFacts.UNKNOWN if rule is None else rule(tensors, step)
