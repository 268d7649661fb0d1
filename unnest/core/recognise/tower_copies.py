"""Towers that are one computation: the operands of a join, walked back in step until they part.

Two towers are alike where the same is computed in the same way of what is alike. What is the same is the graph's to say
(`TensorGraph.differ`): the same layer, called on each of them; operations, and Keras's layers without weights, that are
equal but for their names. Layers with weights, or variables, of their own are different computations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from unnest.budget import spend
from unnest.core.architecture.graph import CallId, Ref
from unnest.core.recognise.tensor_graph import Column, TensorGraph

#: What comparing one tensor of every tower costs.
STEPS_A_COLUMN = 10


class Unlike(Exception):
    """The operands are not one computation; the message says where they differ. `after`: tensors compared before."""

    def __init__(self, reason: str, after: int) -> None:
        super().__init__(reason)
        self.after = after


@dataclass
class Copies:
    """The towers behind some operands.

    `entries`: where they part, each with the tensor that its rows are of. `calls`: those of every tower between the
    entries and its operand. `shared`: tensors that all towers read.
    """

    entries: dict[Column, Ref] = field(default_factory=dict)
    calls: list[set[CallId]] = field(default_factory=list)
    shared: set[Ref] = field(default_factory=set)


def walk_back(graph: TensorGraph, operands: Column, source: Callable[[Column], Ref | None]) -> Copies:
    """The towers that end in these operands. Raises Unlike.

    `source` tells what the towers' tensors are rows of, where they part; None where they do not.
    """
    copies = Copies(calls=[set() for _ in operands])
    met: dict[Ref, Column] = {}
    pending = [operands]
    while pending:
        spend(STEPS_A_COLUMN)
        column = pending.pop()
        first = column[0]
        if len(set(column)) == 1:
            copies.shared.add(first)
        elif first not in met:
            met[first] = column
            if (cut := source(column)) is not None:
                copies.entries[column] = cut
                continue
            if (reason := _differ(graph, column)) is not None:
                raise Unlike(reason, len(met) - 1)
            for calls, ref in zip(copies.calls, column, strict=True):
                calls.add(ref.call)
            pending += zip(*(graph.reads(ref.call) for ref in column), strict=True)
        elif met[first] != column:
            raise Unlike(f"the towers use the outputs of {first.layer} in different ways", len(met))
    if len(set().union(*copies.calls)) < sum(map(len, copies.calls)):
        raise Unlike("a call is part of two towers", len(met))
    depends = _reaches_rows(graph, copies.shared, {*copies.entries.values()})
    if depends is not None:
        raise Unlike(f"every tower reads the whole of {depends.layer}", len(met))
    return copies


def _differ(graph: TensorGraph, column: Column) -> str | None:
    """Why one step of the towers is not the same computation in all of them; None where it is."""
    names = [*dict.fromkeys(ref.layer for ref in column)]
    reads = [len(graph.reads(ref.call)) for ref in column]
    is_constant = all(graph.of(ref.call).name == "constant" for ref in column)
    reasons = (
        (0 in reads and not is_constant, f"the towers read different tensors: {', '.join(names[:4])}"),
        (len({ref.tensor for ref in column}) > 1, f"the towers end in different outputs of {names[0]}"),
        (len({*reads}) > 1, f"{names[0]} is called on different numbers of tensors"),
        (len({ref.call for ref in column}) < len(column), f"two towers share a call of {names[0]}"),
    )
    reason = next((sentence for holds, sentence in reasons if holds), None)
    return reason or graph.differ(column)


def _reaches_rows(graph: TensorGraph, tensors: Iterable[Ref], sources: set[Ref]) -> Ref | None:
    """What some tensors are computed from that is cut, or given by the caller: rows, or their number, for all alike."""
    pending, met = [*tensors], {*tensors}
    while pending:
        spend()
        ref = pending.pop()
        if graph.is_given(ref) or ref in sources:
            return ref
        reads = graph.reads(ref.call)
        pending += [read for read in reads if read not in met]
        met.update(reads)
    return None
