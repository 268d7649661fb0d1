"""The wrappers in what a SavedModel serves: in the flat graph of TensorFlow 1, in the functions of TensorFlow 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from unnest.core.recognition_results import NearMiss, Scope
from unnest.core.wrappers.serving_graph import describe_serving_wrapper, recognise_serving_graph
from unnest.core.wrappers.serving_graph.serving_op_graph import CALLS, Broken, OpGraph
from unnest.errors import Refused
from unnest.formats.tensorflow.cut_serving_graph import rewire
from unnest.formats.tensorflow.serving_meta_graph import broken, called, graphs, signature_outputs

Message: TypeAlias = Any

#: Wrappers in wrappers; ten thousand levels are an attack.
MAX_WRAPPERS = 200


class ServedWrapper(NamedTuple):
    """A wrapper in a serving graph.

    `parameters`: those of tower 0; None if unknown. `built_for`: the number of rows of its slice, if tower 0 computes
    for no other number.
    """

    towers: recognise_serving_graph.ServingWrapper
    scope: Scope
    depth: int
    parameters: int | None
    built_for: int | None


class ServedWrappers(NamedTuple):
    """All wrappers of a MetaGraph, outermost first; without a wrapper, the near misses."""

    wrappers: Sequence[ServedWrapper]
    near_misses: tuple[NearMiss, ...] = ()


def cut_out_wrappers(meta: Message, path: str) -> ServedWrappers:
    """Find all wrappers and cut them out of the MetaGraph, one by one. Raises Unreadable, Refused."""
    wrappers: list[ServedWrapper] = []
    try:
        while True:
            served_graphs, library = graphs(meta)
            objection = partial(
                describe_serving_wrapper.objection,
                served_graphs[0],
                library,
                signature_outputs(meta),
            )
            towers, near_misses = recognise_serving_graph.find(
                served_graphs, library, objection=objection
            )
            if towers is None:
                return ServedWrappers(_distinct(wrappers), () if wrappers else near_misses)
            if len(wrappers) >= MAX_WRAPPERS:
                raise Refused(
                    "too-deep",
                    f"{path}: more than {MAX_WRAPPERS} wrappers; this is no model that was trained",
                )
            wrappers.append(_served_wrapper(meta, served_graphs[0], library, towers, wrappers))
            rewire(meta, towers, next(g for g in served_graphs if g.name == towers.graph))
    except Broken as e:
        raise broken(path, e) from e


def _served_wrapper(
    meta: Message,
    main: OpGraph,
    library: Mapping[str, OpGraph],
    towers: recognise_serving_graph.ServingWrapper,
    earlier: Sequence[ServedWrapper],
) -> ServedWrapper:
    """Return a wrapper with its depth, scope and template, by the wrappers around it."""
    outer_wrappers = [f for f in earlier if _inside(f.towers, towers, library, main)]
    depth = max((f.depth + 1 for f in outer_wrappers), default=0)
    scope = describe_serving_wrapper.scope(main, library, signature_outputs(meta), towers)
    parameters, built_for = (
        describe_serving_wrapper.parameters(main, library, towers),
        describe_serving_wrapper.built_for(main, library, towers),
    )
    return ServedWrapper(towers, scope, depth, parameters, built_for)


def _distinct(wrappers: Sequence[ServedWrapper]) -> list[ServedWrapper]:
    """Drop further traces of the same wrapper: TensorFlow 2 stores the model anew for every signature."""
    traces: dict[tuple[object, ...], dict[str, list[ServedWrapper]]] = {}
    for wrapper in wrappers:
        towers = wrapper.towers
        key = (wrapper.depth, towers.towers, len({*towers.sources}))
        traces.setdefault(key, {}).setdefault(towers.graph, []).append(wrapper)
    order: tuple[Scope, ...] = ("whole", "head", "embedded")

    def plainness(trace: list[ServedWrapper]) -> tuple[int, int]:
        return order.index(trace[0].scope), -len(trace[0].towers.merges)

    plainest = (min(by_graph.values(), key=plainness) for by_graph in traces.values())
    return sorted(
        (wrapper for chosen in plainest for wrapper in chosen),
        key=lambda wrapper: (wrapper.depth, wrappers.index(wrapper)),
    )


def _inside(
    outer: recognise_serving_graph.ServingWrapper,
    inner: recognise_serving_graph.ServingWrapper,
    library: Mapping[str, OpGraph],
    main: OpGraph,
) -> bool:
    """Return True if a wrapper is part of another one's tower 0, or of a function that it calls."""
    pending = [(outer.graph, name) for name in outer.first]
    entered: set[str] = set()
    merging = {(inner.graph, m.partition(":")[0]) for m in inner.merges}
    while pending:
        current = pending.pop()
        if current in merging:
            return True
        graph = library[current[0]] if current[0] else main
        op = graph.ops.get(current[1])
        for callee in called(op.attrs.values()) if op is not None and op.kind in CALLS else ():
            if callee in library and callee not in entered:
                entered.add(callee)
                pending += [(callee, name) for name in library[callee].ops]
    return False
