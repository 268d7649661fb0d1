"""Rows that the results of an operation depend on: a rule for each kind of operations.

A rule is given the tensors so far, the call and its place. Rules raise RowsMixed where a number depends on several
rows, and NOT_COMPUTED where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.core.architecture.graph import Ref
from unnest.core.interpreters import row_dependence
from unnest.core.interpreters.row_dependence import NO_ROW, RowsMixed, along, combined, each_its_own
from unnest.core.interpreters.tower_tensors import Known, Tensor, TowerTensors
from unnest.core.model import Unknown
from unnest.core.ops.call import OpCall, Value, refs_in
from unnest.core.ops.elements import Array
from unnest.core.ops.product_axes import MATRIX
from unnest.core.ops.registry import Kind, Operation, argument


class RowStep(NamedTuple):
    """One operation on tensors with known rows: its place in the graph, its call, and the facts on its inputs."""

    here: Ref
    call: OpCall
    operation: Operation
    given: Mapping[Ref, Tensor]


RowRule: TypeAlias = "Callable[[TowerTensors, RowStep], Tensor]"


def in_place(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Numbers made of those in the same places of several tensors."""
    if step.operation.chooses_by_mask and len(step.given) == 1:
        raise RowsMixed  # the places where a mask is true
    known = [ref for ref, tensor in step.given.items() if tensor is not Known.LOST]
    made = combined([tensors.rows_of(ref, 0) for ref in known])
    return made if len(known) == len(step.given) else Known.LOST


def of_each_entry(tensors: TowerTensors, step: RowStep) -> Tensor:
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
    if any(tensor is Known.LOST for tensor in step.given.values()):
        return Known.LOST
    return np.broadcast_to(of_rows.reshape(-1, *[1] * len(sizes)), (len(of_rows), *sizes))


def reduced(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Combine all numbers along some axes, which are dropped."""
    tensor = tensors.first(step.call)
    return along(tensor, _axes(tensors, step, tensor), keepdims=bool(argument(step.call, "keepdims")))


def worked_along(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Combine all numbers along some axes, which stay."""
    tensor = tensors.first(step.call)
    made = along(tensor, _axes(tensors, step, tensor))
    return np.broadcast_to(made, tensor.shape) if step.operation.keeps_shape else tensors.sized(step.here, made)


def of_segments(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Combine entries along the first axis, unless the call names another."""
    along(tensors.first(step.call), [tensors.whole_number(step.call.kwargs.get("axis"))])
    return Known.LOST


def of_matrix(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Combine the numbers of a matrix; for stacks of matrices TensorFlow takes other axes than NumPy."""
    tensor = tensors.first(step.call)
    return Known.LOST if tensor.ndim > MATRIX else along(tensor, range(MATRIX))


def multiplied(tensors: TowerTensors, step: RowStep) -> Tensor:
    """A sum of products, by the axes that the operation sums over."""
    call, operation = step.call, step.operation
    if operation.axes is None:
        raise Unknown
    is_pair = operation.position("y") is not None
    operands = [argument(call, name) for name in "xy"] if is_pair else [*refs_in([*call.args, *call.kwargs.values()])]
    beside = {
        name: _numbers(tensors, value)
        for name in operation.parameters
        if name not in ("x", "y", "*xs") and (value := argument(call, name)) is not None
    }
    letters, output = operation.axes([tensors.axes_of(value) for value in operands], **beside)
    arrays = [tensors.rows_of(value, len(each)) for value, each in zip(operands, letters, strict=True)]
    return tensors.sized(step.here, row_dependence.product([*zip(letters, arrays, strict=True)], output))


def _numbers(tensors: TowerTensors, value: Value) -> Value:
    """An argument with numbers for tensors that hold them."""
    if isinstance(value, (list, tuple)):
        return [_numbers(tensors, part) for part in value]
    return tensors.number(value) if isinstance(value, Ref) else value


def by_mask(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Return a dependence on unknown rows."""
    return elsewhere(tensors, tensors.first(step.call).shape)


def by_index(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Entries that are chosen by what is in other tensors."""
    first, second = (tensors.rows_of(value) for value in (argument(step.call, "x"), argument(step.call, "indices")))
    axis, within = (tensors.whole_number(argument(step.call, name)) for name in ("axis", "batch_dims"))
    chosen = along(first, [axis])
    if within:
        if first.ndim != second.ndim or axis % first.ndim != within:
            raise Unknown
        return combined([chosen, second])
    axis %= first.ndim
    around = chosen.reshape((*first.shape[:axis], *[1] * second.ndim, *first.shape[axis + 1 :]))
    return combined([around, second.reshape((*second.shape, *[1] * (first.ndim - axis - 1)))])


def in_another_order(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Rows that layers or code mixed, or put elsewhere; layers whose first axis is time take the rows for it."""
    if not step.operation.reorders:
        return Known.LOST
    tensor = tensors.first(step.call)
    combined([tensor, each_its_own(tensor.shape)])
    if step.operation.mixes:
        raise RowsMixed
    tensors.taken.add(step.here)
    return elsewhere(tensors, (tensors.rows, *tensors.sizes(step.here)[1:]))


def elsewhere(tensors: TowerTensors, shape: Sequence[int]) -> Array:
    """Some of the rows, or in another order: what stands for them is that every one stands a place further."""
    return each_its_own(shape, np.roll(np.arange(tensors.rows), 1))


def _axes(tensors: TowerTensors, step: RowStep, tensor: Array) -> Collection[int]:
    """The axes that an operation works along. Raises NOT_COMPUTED where they are computed of rows."""
    axis = step.operation.axis if (named := argument(step.call, "axis")) is None else named
    axes = range(tensor.ndim) if axis is None else tensors.numbers(axis)
    if any(not -tensor.ndim <= number < tensor.ndim for number in axes):
        raise ValueError("an axis that a tensor does not have")
    if any(tensor.shape[axis] == tensors.rows for axis in axes) and np.all(tensor["element"] == NO_ROW):
        raise Unknown  # of as many as there are rows
    return axes


RULES: Mapping[Kind, RowRule] = {
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


def computed(tensors: TowerTensors, step: RowStep) -> Tensor:
    """Return the row dependence of an operation by the rule of its kind; LOST without one.

    Raises:
        RowsMixed: If a number depends on several rows.
        NOT_COMPUTED: If nothing is known.

    """
    rule = RULES.get(step.operation.kind)
    return Known.LOST if rule is None else rule(tensors, step)
