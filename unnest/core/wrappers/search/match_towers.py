"""Towers that are one computation: the operands of a join, walked back in step until they part.

Two towers are alike where the same is computed in the same way of what is alike. What is the same is the graph's to say
(`SearchedGraph.differ`): the same layer, called on each of them; operations, and Keras's layers without weights, that
are equal but for their names. Layers with weights, or variables, of their own are different computations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from unnest.budget import charge_steps
from unnest.core.interpreters.tensor_graph import Column
from unnest.core.model import CallId, Ref
from unnest.core.wrappers.layer_graph.wrapper_records import NotAWrapper
from unnest.core.wrappers.search.searched_graph import SearchedGraph

#: What comparing one tensor of every tower costs.
STEPS_A_COLUMN = 10


class Unlike(NotAWrapper):
    """The operands are not one computation; the message says where they differ. `after`: tensors compared before."""

    def __init__(self, reason: str, after: int) -> None:
        super().__init__(reason)
        self.after = after


@dataclass(eq=False, repr=False)
class Copies:
    """The towers behind some operands.

    `cut_points`: where they part, each with the tensor that its rows are of. `calls`: those of every tower between the
    cut points and its operand. `shared`: tensors that all towers read.
    """

    cut_points: dict[Column, Ref] = field(default_factory=dict)
    calls: list[set[CallId]] = field(default_factory=list)
    shared: set[Ref] = field(default_factory=set)


def expand_join(
    reads: Iterable[Ref], parts: Callable[[Ref], Sequence[Ref]], depth: float = inf
) -> tuple[list[Ref], list[CallId]]:
    """Return the operands of a join that reads tensors, and the calls of joins among them, which are expanded in turn.

    `parts` returns the operands of a join that may be looked through, none of another tensor; `depth`: how many joins
    of joins are. A join that is read again is replaced by the first of its operands: that shows a repeated operand,
    and expanding it each time would double the operands with every such join in a row.
    """
    operands: list[Ref] = []
    first_operand: dict[CallId, int] = {}
    pending = [(ref, 0) for ref in reversed([*reads])]
    while pending:
        ref, level = pending.pop()
        if first_operand.get(ref.call, len(operands)) < len(operands):
            operands.append(operands[first_operand[ref.call]])
        elif level < depth and (within := parts(ref)):
            first_operand[ref.call] = len(operands)
            pending += [(part, level + 1) for part in reversed(within)]
        else:
            operands.append(ref)
    return operands, [*first_operand]


def walk_back(
    graph: SearchedGraph,
    operands: Column,
    source: Callable[[Column], Ref | None],
    *,
    may_share: bool = False,
) -> Copies:
    """Return the towers that end in these operands, one or several. Raises Unlike.

    `source` returns the tensor that the towers' tensors are rows of, where they part; None where they do not.
    `may_share`: all towers may read the whole of a tensor, even of one that is given.
    """
    copies = Copies(calls=[set() for _ in operands])
    met: dict[Ref, Column] = {}
    pending = [operands]
    while pending:
        charge_steps(STEPS_A_COLUMN)
        column = pending.pop()
        first = column[0]
        if len(set(column)) == 1 < len(operands):
            copies.shared.add(first)
        elif first not in met:
            met[first] = column
            if (cut := source(column)) is not None:
                copies.cut_points[column] = cut
                continue
            made_by = [ref.call for ref in column]
            reads = [graph.reads(at) for at in made_by]
            if (reason := _differ(graph, column, made_by, reads)) is not None:
                raise Unlike(reason, len(met) - 1)
            for calls, at in zip(copies.calls, made_by, strict=True):
                calls.add(at)
            pending += zip(*reads, strict=True)
        elif met[first] != column:
            raise Unlike(f"the towers use the outputs of {first.layer} in different ways", len(met))
    if len(set().union(*copies.calls)) < sum(map(len, copies.calls)):
        raise Unlike("a call is part of two towers", len(met))
    if may_share:
        return copies
    depends = _reaches_rows(graph, sorted(copies.shared), {*copies.cut_points.values()})
    if depends is not None:
        raise Unlike(f"every tower reads the whole of {depends.layer}", len(met))
    return copies


def _differ(
    graph: SearchedGraph, column: Column, made_by: Sequence[CallId], reads: Sequence[Sequence[Ref]]
) -> str | None:
    """Return why one step of the towers is not the same computation in all of them; None if it is."""
    names = [*dict.fromkeys(ref.layer for ref in column)]
    if not all(reads) and not all(graph.of(at).name == "constant" for at in made_by):
        return graph.unread(column)
    if len({ref.tensor for ref in column}) > 1:
        return f"the towers end in different outputs of {names[0]}"
    if len({len(each) for each in reads}) > 1:
        return f"{names[0]} is called with different numbers of tensors"
    if len({*made_by}) < len(column):
        return f"two towers share a call of {names[0]}"
    return graph.differ(column)


def _reaches_rows(graph: SearchedGraph, tensors: Iterable[Ref], sources: set[Ref]) -> Ref | None:
    """Return a source, or an input of the model, that the tensors are computed from; None if they read neither."""
    pending, met = [*tensors], {*tensors}
    while pending:
        charge_steps()
        ref = pending.pop()
        if graph.is_given(ref) or ref in sources:
            return ref
        reads = graph.reads(ref.call)
        pending += [read for read in reads if read not in met]
        met.update(reads)
    return None
