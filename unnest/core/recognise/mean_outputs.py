"""Outputs of the towers that are averaged: what has no rows, a loss say, cannot be joined along the batch.

There are many ways to write a mean (a sum and a division, a stack and a mean over it, a chain of additions). They are
not told apart: the tensor is computed from numbers in the towers' places, and must be their mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from unnest.core.recognise.equivalence import BATCH
from unnest.core.recognise.op_graph import OpGraph, Place, View
from unnest.core.recognise.shape_evaluation import Arithmetic, NotArithmetic


def averages(view: View, slices: Sequence[Sequence[str]], merges: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """(mean, what it is the mean of: one tensor per tower) in the root graph, but for what lies behind a merge.

    `slices` are the towers' slices of each input. Raises Broken.
    """
    graph, every = view.root, (1 << len(slices[0])) - 1
    marks = _Marks(graph, slices)
    seen = set(merges)
    pending = [t for t in graph.rets if t not in seen]
    while pending:
        tensor = pending.pop()
        if tensor in seen or marks.of(tensor) != every:
            continue
        seen.add(tensor)
        towers = _operands(view, tensor, marks)
        if towers is not None:
            yield tensor, towers
        else:
            op = graph.producer(tensor)
            pending += op.inputs if op else ()


class _Marks:
    """Which towers each tensor depends on, as a set of bits."""

    def __init__(self, graph: OpGraph, slices: Sequence[Sequence[str]]) -> None:
        self.entries: Mapping[str, int] = {t: 1 << k for names in slices for k, t in enumerate(names)}
        self.ops: dict[str, int] = {}
        readers: dict[str, list[str]] = {}
        for op in graph.ops.values():
            for read in op.inputs:
                readers.setdefault(read if read in self.entries else read.partition(":")[0], []).append(op.name)
        pending = [(name, mark) for t, mark in self.entries.items() for name in readers.get(t, ())]
        while pending:
            name, mark = pending.pop()
            if self.ops.get(name, 0) | mark != self.ops.get(name, 0):
                self.ops[name] = mark = self.ops.get(name, 0) | mark
                pending += [(reader, mark) for reader in readers.get(name, ())]

    def of(self, tensor: str) -> int:
        """The towers of one tensor."""
        return self.entries.get(tensor, self.ops.get(tensor.partition(":")[0], 0))


def _operands(view: View, tensor: str, marks: _Marks) -> list[str] | None:
    """What a tensor averages: one tensor of every tower."""
    leaves: dict[int, str] = {}
    pending, seen = [tensor], {tensor}
    while pending:
        at = pending.pop()
        mark = marks.of(at)
        if mark and mark & (mark - 1) == 0:
            if leaves.setdefault(mark, at) != at:
                return None
            continue
        op = view.root.producer(at) if mark else None
        for read in op.inputs if op else ():
            if read not in seen:
                seen.add(read)
                pending.append(read)
    towers = [leaves[m] for m in sorted(leaves)]
    return towers if sum(leaves) == marks.of(tensor) and _is_mean(view, tensor, towers) else None


def _is_mean(view: View, tensor: str, towers: Sequence[str]) -> bool:
    """Whether a tensor is the mean of others, whatever their values."""
    numbers = np.random.default_rng(len(towers)).uniform(1.0, 2.0, (2, len(towers)))
    for values in numbers:
        given = {view.resolve(Place((), t)): np.asarray(v) for t, v in zip(towers, values, strict=True)}
        try:
            found = Arithmetic(view, BATCH, 0, given).value(Place((), tensor))
        except NotArithmetic:
            return False
        if found.shape != () or not np.isclose(float(found), values.mean(), rtol=1e-5):
            return False
    return True
