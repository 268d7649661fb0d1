"""Outputs of the towers that are averaged: what has no rows, a loss say, cannot be joined along the batch.

There are many ways to write a mean (a sum and a division, a stack and a mean over it, a chain of additions). They are
not told apart: the tensor is computed from numbers in the towers' places, and must be their mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from unnest.budget import charge_steps
from unnest.core.interpreters.numbered_rows import Values
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.ops.element_dtype_and_checks import NOT_COMPUTED, Array
from unnest.core.wrappers.search.batch_trials import DIVISIBLE
from unnest.core.wrappers.search.searched_graph import SearchedGraph


def averages(
    graph: SearchedGraph, parts: Collection[Column], merges: Iterable[Ref]
) -> Iterator[tuple[Ref, Column, frozenset[CallId]]]:
    """Yield means of one number per tower, not behind a merge: (mean, the towers' tensors, the calls between).

    `parts` are what the towers read of each of their sources.
    """
    met = {*merges}
    if met.issuperset(graph.outputs):
        return
    marks, every = _Marks(graph, parts), (1 << len(next(iter(parts)))) - 1
    pending = [*graph.outputs]
    while pending:
        tensor = pending.pop()
        if tensor in met or marks.of(tensor) != every:
            continue
        met.add(tensor)
        numbers, calls = _numbers(graph, tensor, marks)
        if numbers and all(map(graph.is_number, numbers)) and _is_mean(graph, tensor, numbers):
            yield tensor, numbers, calls
        else:
            pending += graph.reads(tensor.call)


class _Marks:
    """The towers that each tensor depends on, as a set of bits."""

    def __init__(self, graph: SearchedGraph, parts: Iterable[Column]) -> None:
        self.parts = {ref: 1 << tower for column in parts for tower, ref in enumerate(column)}
        self.calls: dict[CallId, int] = {}
        users = [(user, ref) for ref in self.parts for user in graph.readers.get(ref.call, ())]
        pending = [(user, self.parts[ref]) for user, ref in users if ref in graph.reads(user)]
        while pending:
            charge_steps()
            at, mark = pending.pop()
            before = self.calls.get(at, 0)
            if before | mark != before:
                self.calls[at] = before | mark
                pending += [(user, before | mark) for user in graph.readers.get(at, ())]

    def of(self, tensor: Ref) -> int:
        """Return the towers that one tensor depends on, as bits."""
        return self.parts.get(tensor, self.calls.get(tensor.call, 0))


def _numbers(graph: SearchedGraph, tensor: Ref, marks: _Marks) -> tuple[Column, frozenset[CallId]]:
    """Return the one tensor of every tower that a tensor is made of (() if there are more), and the calls between."""
    leaves: dict[int, Ref] = {}
    calls: set[CallId] = set()
    pending, met = [tensor], {tensor}
    while pending:
        charge_steps()
        here = pending.pop()
        mark = marks.of(here)
        if mark and mark & (mark - 1) == 0:
            if leaves.setdefault(mark, here) != here:
                return (), frozenset()
        elif mark:
            calls.add(here.call)
            pending += [read for read in graph.reads(here.call) if read not in met]
            met.update(graph.reads(here.call))
    numbers = tuple(leaves[mark] for mark in sorted(leaves))
    return (numbers if sum(leaves) == marks.of(tensor) else ()), frozenset(calls)


def _is_mean(graph: SearchedGraph, tensor: Ref, numbers: Column) -> bool:
    """Return True if `tensor` is the mean of the scalars `numbers`, for two random draws of their values."""
    drawn = np.random.default_rng(len(numbers)).uniform(1.0, 2.0, (2, len(numbers)))
    return all(_computes_mean(graph, tensor, numbers, values) for values in drawn)


def _computes_mean(graph: SearchedGraph, tensor: Ref, numbers: Column, values: Array) -> bool:
    """Return True if `tensor` is a float scalar, the mean of `values`, where `numbers` have these values."""
    known: dict[Ref, Array] = {
        ref: np.asarray(value) for ref, value in zip(numbers, values, strict=True)
    }
    try:
        result = Values(graph, rows=DIVISIBLE, longest=0, known=known).of(tensor)
    except NOT_COMPUTED:
        return False
    is_scalar = result.shape == () and result.dtype.kind == "f"
    return is_scalar and bool(np.isclose(float(result), values.mean(), rtol=1e-5))
