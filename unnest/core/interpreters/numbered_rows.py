"""The tensors of a graph of operations, computed on numbered rows: which elements of its inputs each of them holds.

Whatever is no operation (an input, the output of a real layer) becomes an array that holds a number for each of its
elements; operations move these about. Sizes stand in for sizes: an axis is as long as it needs to be for every number
that an operation mentions to make a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, TypeAlias

import numpy as np

from unnest.budget import charge_steps
from unnest.core.interpreters.tensor_graph import STEPS_PER_CALL, TensorGraph
from unnest.core.model import CallId, DataDependent, Ref, Shape, Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import ELEMENT, Array
from unnest.core.ops.operation_kinds import SLICES
from unnest.core.ops.registry import kind_of

Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.intp]]"
"""Numbers of rows, one after the other."""

MAX_CALLS = 2000
"""Operations that one tensor may take; real ones take a few per tower."""


MAX_TRIAL_ELEMENTS = 30_000_000
"""Elements that all tensors of one trial may have: some tenths of a second."""


class Values:
    """The tensors of a graph for a batch of `rows`, no axis longer than `longest` but where it must be.

    `known`: tensors that need not be computed, with their arrays.
    """

    def __init__(
        self, graph: TensorGraph, rows: int, longest: int, known: Mapping[Ref, Array]
    ) -> None:
        self.graph, self.rows, self.longest = graph, rows, longest
        self._tensors: dict[Ref, Array] = dict(known)
        self._numbered = sum(a.size for a in known.values())
        self._work = 0

    def of(self, ref: Ref) -> Array:
        """Return the array of a tensor. Raises Unknown, DataDependent, and what NumPy raises if shapes do not fit."""
        pending = [ref]
        while pending:
            here = pending[-1]
            if here in self._tensors:
                pending.pop()
                continue
            at = here.call
            op_call = self.graph.of(at)
            if not op_call.name:
                self._tensors[here] = self._source(here)
                continue
            missing = [r for r in self.graph.reads(at) if r not in self._tensors]
            if missing:
                pending += missing
                if len(pending) > MAX_CALLS:
                    raise Unknown("a graph of too many calls")
                continue
            try:
                self._apply(at, op_call)
            except DataDependent:
                if kind_of(op_call) in SLICES:
                    raise  # contents decide which rows are taken, though not how many
                self._tensors[here] = self._changed(here)
            if here not in self._tensors:
                raise Unknown("the output of a call")
        return self._tensors[ref]

    @property
    def size(self) -> int:
        """The number of elements of all tensors that were computed or numbered."""
        return self._work + self._numbered

    def _apply(self, at: CallId, op_call: OpCall) -> None:
        with np.errstate(all="ignore"):
            results = apply(op_call, self._tensors.__getitem__)
        work = sum(array.size for array in results)
        self._work += work
        if self._work > MAX_TRIAL_ELEMENTS:
            raise Unknown("a graph of too much work")
        charge_steps(STEPS_PER_CALL + work // 1000)
        for tensor, array in enumerate(results):
            self._tensors[Ref(at.layer, at.call_index, tensor)] = array

    def _changed(self, ref: Ref) -> Array:
        """Return new elements for a value computed of rows, like a layer's output. Raises DataDependent if unsized."""
        try:
            return self._source(ref)
        except Unknown as e:
            raise DataDependent from e

    def _source(self, ref: Ref) -> Array:
        """Return numbered elements for a tensor that no operation makes, unlike those of all others."""
        array = numbered(self._sizes(self.graph.shape(ref)), self._numbered)
        self._numbered += array.size
        return array

    def _sizes(self, shape: Shape | None) -> tuple[int, ...]:
        """Return the shape of a stand-in for a tensor. Raises Unknown if it is unknown, or too large."""
        if shape is None:
            raise Unknown("the shape of a tensor")
        if not shape:
            return ()
        sizes = (self.rows if shape[0] is None else shape[0], *row_sizes(shape[1:], self.longest))
        if prod(sizes) > MAX_TRIAL_ELEMENTS // 4:
            raise Unknown("a tensor of too many elements")
        return sizes


def row_sizes(row: Shape, longest: int) -> tuple[int, ...]:
    """Return the shape of one row; sizes beyond any number that is mentioned are cut to `longest`."""
    unlike = range(max(longest, 2) + 1, max(longest, 2) + 1 + len(row))
    return tuple(u if d is None else min(d, u) for d, u in zip(row, unlike, strict=True))


def numbered(shape: tuple[int, ...], first: int = 0) -> Array:
    """Return an array whose elements are numbered from `first` on, row-major."""
    return np.arange(first, first + prod(shape), dtype=np.int32).view(ELEMENT).reshape(shape)


def rows_of(part: Array, source: Array) -> Rows | None:
    """Return the rows of the source that a tensor is made of; None if it is not made of whole rows."""
    if part.dtype != ELEMENT or source.dtype != ELEMENT or not source.ndim or not source.size:
        return None
    if part.ndim != source.ndim or part.shape[1:] != source.shape[1:]:
        return None
    if not len(part):
        return np.arange(0)
    starts = source.reshape(len(source), -1)[:, 0]["element"]
    firsts = part.reshape(len(part), -1)[:, 0]["element"]
    if (starts[1:] > starts[:-1]).all():  # as numbered, of which most parts are rows in a run
        first = int(np.searchsorted(starts, firsts[0]))
        if np.array_equal(part["element"], source["element"][first : first + len(part)]):
            return np.arange(first, first + len(part))
    order = np.argsort(starts, kind="stable")
    rows = order[np.searchsorted(starts, firsts, sorter=order).clip(max=len(order) - 1)]
    return rows if np.array_equal(part["element"], source["element"][rows]) else None


def same_rows(one: Rows | None, other: Rows | None) -> bool:
    """Return True if two tensors are the same rows in the same order, or neither is made of whole rows."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
