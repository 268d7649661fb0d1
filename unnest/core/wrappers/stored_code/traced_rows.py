"""The rows of its inputs that traced code returns, and what else the code does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from unnest.core import json_tree
from unnest.core.byte_code import read_code_objects
from unnest.core.byte_code.candidate_decodings import every_constant
from unnest.core.byte_code.read_code_objects import CodeObject
from unnest.core.frontends.stored_code_tracer.trace_stored_code import follow
from unnest.core.interpreters.numbered_rows import row_sizes
from unnest.core.interpreters.trace import (
    FLOATX,
    INPUT_DTYPE,
    Effect,
    OtherSizes,
    Step,
    Trace,
    TracedInput,
    TracedTensor,
)
from unnest.core.layers.read_config_values import function_parts
from unnest.core.model import Json, Shape
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import ZERO, Array
from unnest.core.ops.registry import argument, operation_of

LARGE = (2520, 5040, 7560, 2772)
"""Stand-ins for the sizes of the axes after the batch: many numbers divide them, few in code are larger."""


MAX_AXIS_LENGTH = 10_000
"""The largest number in code for which an axis is made longer than it."""


class CodeRows(NamedTuple):
    """Rows that code returns, by their numbers, in order.

    `change`: what it does beside moving whole rows, as in `reverses axis 1`; then `numbers` are empty. `is_partly`:
    whether they may be parts of rows, because a size or a bound along another axis is not known, or of another type,
    because the code casts them. `first`: how many entries are left of axes that may be longer. `assumed`: the bare
    names that were taken for TensorFlow's functions.
    """

    numbers: tuple[int, ...] = ()
    change: str = ""
    is_partly: bool = False
    first: tuple[int, ...] = ()
    assumed: tuple[str, ...] = ()


def rows_of_code(
    function: Json,
    values: Mapping[str, Json],
    rows: Sequence[Array],
    shape: Shape | None,
    ranks: Sequence[int],
    *,
    assumes_imports: bool = False,
) -> tuple[CodeRows | None, ...] | None:
    """Return the rows in each result of stored code, None for one that holds none; None without an answer.

    The code is given a tensor for each entry of `rows`, the numbers of its rows (int32), with the other axes of
    `shape`; where that is not known, `ranks` are tried. `values` are the layer's arguments.
    `assumes_imports`: as in `follow`.
    """
    row = None
    if shape is not None and None not in shape[1:]:
        row = tuple(size for size in shape[1:] if size is not None)
    ranks = ranks if row is None else [len(row) + 1]

    def run(
        inputs: Callable[[int], list[TracedInput]], ranks: Sequence[int]
    ) -> tuple[CodeRows | None, ...] | None:
        return follow(function, values, inputs, ranks, _results, assumes_imports=assumes_imports)

    def trial(sizes: tuple[int, ...]) -> tuple[CodeRows | None, ...] | None:
        """Return the rows for axes of these sizes behind the batch, as many as the rank has."""
        return run(
            lambda rank: [
                TracedInput(each, sizes[: rank - 1], is_sized=row is not None) for each in rows
            ],
            ranks,
        )

    try:
        found = trial(LARGE if row is None else row)
        if found is None or not any(each.first for each in found if each):
            return found
        return _with_larger_axes(found, trial(tuple(2 * size for size in LARGE)))
    except OtherSizes as error:
        named_sizes = error.sizes
    with suppress(OtherSizes):
        if named_sizes is not None:
            named = run(lambda _: [TracedInput(each, named_sizes) for each in rows], [0])
            return named and tuple(each and _of_named_sizes(each) for each in named)
        longest = max(_whole_numbers_in_code(function, values), default=0)
        if longest <= MAX_AXIS_LENGTH:
            unknown = (None,) * (max(ranks) - 1)
            return trial(row_sizes(unknown if row is None else row, longest))
    return None


def _of_named_sizes(rows: CodeRows) -> CodeRows | None:
    """Return the rows in tensors whose sizes the code names: they may be parts; what else is done is unknown."""
    return None if rows.change else rows._replace(is_partly=True)


def _with_larger_axes(
    found: tuple[CodeRows | None, ...], larger: tuple[CodeRows | None, ...] | None
) -> tuple[CodeRows | None, ...]:
    """Return the rows in each result, where some may be the first entries of longer axes.

    As many of twice as many may be all that there are; shares of them are a part.
    """
    if larger is None or len(larger) != len(found):
        return found
    parts = [
        each and other and each.first != other.first
        for each, other in zip(found, larger, strict=True)
    ]
    return tuple(
        CodeRows(change=TAKES_A_PART, assumed=each.assumed) if each and is_part else each
        for each, is_part in zip(found, parts, strict=True)
    )


def _whole_numbers_in_code(function: Json, values: Mapping[str, Json]) -> Iterator[int]:
    """Yield the absolute values of whole numbers in code and in the values beside it."""
    text, defaults, closure = function_parts(function)
    beside = (leaf for part in (defaults, closure, values) for _, leaf in json_tree.leaves(part))
    pending: list[object] = [*read_code_objects.read(text or ""), *beside]
    while pending:
        value = pending.pop()
        if isinstance(value, CodeObject):
            pending += every_constant(value)
        elif isinstance(value, tuple):
            pending += value
        elif isinstance(value, int):
            yield abs(value)


def _results(trace: Trace) -> tuple[CodeRows | None, ...] | None:
    """The rows in each tensor that a run of code returns; None if it returns no tensor."""
    results = trace.result if isinstance(trace.result, (list, tuple)) else [trace.result]
    if not any(isinstance(value, TracedTensor) for value in results):
        return None
    found = (
        _rows_in(trace, value) if isinstance(value, TracedTensor) else None for value in results
    )
    assumed = tuple(sorted(trace.assumed or ()))
    return tuple(each and each._replace(assumed=assumed) for each in found)


def _rows_in(trace: Trace, tensor: TracedTensor) -> CodeRows | None:
    """Return the rows of the inputs in a tensor; None if nothing is known of it."""
    steps = trace.steps_needed_for(tensor.ref)
    change = next((step.words for step in steps if step.effect is Effect.COMPUTES), "")
    if change:
        return CodeRows(change=change)
    casts = {argument(step.call, "dtype") for step in steps if step.effect is Effect.CASTS}
    if not tensor.arrays or not tensor.shape or not casts <= {FLOATX, INPUT_DTYPE}:
        return None
    if not tensor.holds_elements:
        return CodeRows(change="returns numbers that its input does not hold")
    return _rows_moved(trace.inputs[0], tensor, steps) if tensor.shape[0] else CodeRows()


def _rows_moved(given: TracedInput, tensor: TracedTensor, steps: Sequence[Step]) -> CodeRows | None:
    """Return the rows in a tensor made of elements of an input; None if its sizes were guessed wrong."""
    if ZERO in _entries(tensor.arrays[0]):
        return CodeRows(change="pads the rows")
    numbers, changes = _along(tensor.arrays[0], 0), _changes(tensor, given.sizes)
    if numbers is None or changes is None:
        is_guess = not given.is_sized and any(_names_shape(step.call) for step in steps)
        return None if is_guess else CodeRows(change="reshapes its rows")
    first = () if given.is_sized else tuple(each.first for each in changes if each.first)
    words = next(
        (each.words for each in changes if each.words and (given.is_sized or not each.first)), ""
    )
    if words:
        return CodeRows(change=words)
    is_partly = any(step.effect in {Effect.CUTS, Effect.CASTS} for step in steps) or bool(first)
    return CodeRows(tuple(numbers.tolist()), is_partly=is_partly, first=first)


TAKES_A_PART = "takes a part of its rows"


class Change(NamedTuple):
    """The fate of one axis after the batch; `first`: how many entries are left, if they are the first ones."""

    words: str = ""
    first: int = 0


def _changes(tensor: TracedTensor, sizes: Sequence[int]) -> list[Change] | None:
    """Return the fate of each axis after the batch; None if axes are put together."""
    axes, changes = [*range(1, len(sizes) + 1)], list[Change]()
    if len(tensor.shape) == len(sizes):
        dropped = next(
            (axis for axis in axes if sizes[axis - 1] > 1 and _is_alike(tensor.arrays[axis])), None
        )
        changes.append(Change(f"takes one entry of axis {dropped}"))
        axes = [axis for axis in axes if axis != dropped]
    if len(tensor.shape) != len(axes) + 1:
        return None
    for place, axis in enumerate(axes, 1):
        entries = _along(tensor.arrays[axis], place)
        if entries is None:
            return None
        changes.append(_change(entries, sizes[axis - 1], axis))
    return changes


def _change(entries: Array, size: int, axis: int) -> Change:
    """Return the change to an axis of that size, given its entries."""
    order = np.arange(size)
    if np.array_equal(entries, order):
        return Change()
    if np.array_equal(entries, order[::-1]):
        return Change(f"reverses axis {axis}")
    if len(entries) >= size or len(np.unique(entries)) < len(entries):
        return Change(f"rearranges axis {axis}")
    is_first = np.array_equal(entries, order[: len(entries)])
    return Change(f"takes a part of axis {axis}", len(entries) if is_first else 0)


def _entries(array: Array) -> Array:
    """Return the element indices of an array, with size 1 along axes where all are equal by construction."""
    return np.asarray(array["element"])[
        tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides)
    ]


def _is_alike(array: Array) -> bool:
    entries = _entries(array)
    return bool(entries.size) and bool((entries == entries.flat[0]).all())


def _along(array: Array, axis: int) -> Array | None:
    """Return the indices along an axis; None if those along other axes differ."""
    entries = np.moveaxis(_entries(array), axis, 0)
    if not entries.size:
        return None
    entries = entries.reshape(len(entries), -1)
    if (entries != entries[:, :1]).any():
        return None
    return np.broadcast_to(entries[:, 0], array.shape[axis]) if len(entries) == 1 else entries[:, 0]


def _names_shape(call: OpCall) -> bool:
    operation = operation_of(call)
    return operation is not None and operation.names_shape
