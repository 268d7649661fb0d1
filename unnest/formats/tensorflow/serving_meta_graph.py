"""The MetaGraph that serves: its signatures, and the graphs that they reach, as the core reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from unnest.core.architecture.graph import reached
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    CALLS,
    Broken,
    GraphFunction,
    GraphView,
    Op,
    OpGraph,
    Place,
)
from unnest.errors import Unreadable
from unnest.formats.tensorflow import graphdef_to_op_graph

Message: TypeAlias = Any


def choose(model: Message, path: str) -> Message:
    """Return the MetaGraph that serves. Raises Unreadable if no MetaGraph serves."""
    candidates = [m for m in model.meta_graphs if "serve" in m.info.tags] or list(model.meta_graphs)
    usable = [m for m in candidates if outputs(m)]
    if not usable:
        raise Unreadable(
            "no-signature",
            f"{path}: no signature says what this SavedModel serves; export it with one",
        )
    return usable[0]


def outputs(meta: Message) -> list[str]:
    """Return the tensors that the signatures serve."""
    return [
        i.name
        for k in served(meta)
        for _, i in sorted(meta.signatures[k].outputs.items())
        if i.name
    ]


def served(meta: Message) -> list[str]:
    """Return the keys of the signatures that serve."""
    return sorted(k for k in meta.signatures if not k.startswith("__saved_model"))


def signature_outputs(meta: Message) -> list[list[str]]:
    """Return the tensors that each signature serves."""
    signatures = (meta.signatures[k] for k in served(meta))
    return [
        [graphdef_to_op_graph.tensor(i.name) for i in s.outputs.values() if i.name]
        for s in signatures
    ]


def graphs(meta: Message) -> tuple[list[OpGraph], dict[str, OpGraph]]:
    """Return the graphs that the signatures reach, the flat graph first, and all functions by name."""
    library = graphdef_to_op_graph.library(meta.graph)
    main = graphdef_to_op_graph.main_graph(meta.graph, outputs(meta))
    order = _callers_first(main, library)
    calls_by_function: dict[str, list[tuple[str, Op]]] = {}
    for graph in (main, *(library[n] for n in order)):
        for op in (graph.ops[n] for n in (_live_ops(graph) if graph is main else graph.ops)):
            for callee in called(op.attrs.values()) if op.kind in CALLS else ():
                calls_by_function.setdefault(callee, []).append((graph.name, op))
    for name in order:
        calls = [
            _constants(GraphView(library[n] if n else main, library), op, library[name])
            for n, op in calls_by_function.get(name, ())
        ]
        constants_of_all_calls = {
            k: v
            for k, v in (calls[0] if calls else {}).items()
            if all(_same(c.get(k), v) for c in calls)
        }
        if constants_of_all_calls:
            library[name] = replace(library[name], known=constants_of_all_calls)
    return [main, *(library[n] for n in order)], library


def _callers_first(main: OpGraph, library: Mapping[str, OpGraph]) -> list[str]:
    """Return the functions that a graph reaches, each after all that call it."""
    done: list[str] = []
    state: dict[str, bool] = {}
    stack: list[tuple[str, bool]] = [("", False)]
    while stack:
        name, leaving = stack.pop()
        if leaving:
            done.append(name)
        if leaving or name in state:
            continue
        state[name] = True
        graph = library[name] if name else main
        stack.append((name, True))
        for op in _live_ops(graph) if graph is main else graph.ops:
            stack += [(c, False) for c in called(graph.ops[op].attrs.values()) if c in library]
    return done[-2::-1]


def _same(left: np.ndarray | None, right: np.ndarray) -> bool:
    return left is not None and left.dtype == right.dtype and np.array_equal(left, right)


def _constants(view: GraphView, call: Op, callee: OpGraph) -> dict[str, np.ndarray]:
    """Return the constant arguments of a call, by the called function's parameter."""
    constants = {}
    for name, tensor in zip(callee.args, call.inputs, strict=False):
        place = view.resolve(Place((), tensor))
        op = view.op(place)
        if op is None and place.tensor in view.root.known:
            constants[name] = view.root.known[place.tensor]
        elif op is not None and op.value is not None:
            constants[name] = op.value
    return constants


def called(attributes: Iterable[object]) -> list[str]:
    """Return the functions that these attributes name."""
    functions: list[str] = []
    for value in attributes:
        if isinstance(value, GraphFunction):
            functions.append(value.name)
        elif isinstance(value, tuple):
            functions += [v.name for v in value if isinstance(v, GraphFunction)]
    return functions


def _live_ops(graph: OpGraph) -> set[str]:
    """Return the names of the operations that a graph's results depend on."""

    def reads(name: str) -> list[str]:
        op = graph.ops[name]
        names = (*(tensor.partition(":")[0] for tensor in op.inputs), *op.controls)
        return [n for n in names if n in graph.ops]

    return reached(
        (n for n in (tensor.partition(":")[0] for tensor in graph.rets) if n in graph.ops), reads
    )


def broken(path: str, error: Broken) -> Unreadable:
    """Return the error for a graph that refers to something missing, in one line."""
    return Unreadable(
        "damaged-graph", f"{path}: the graph does not add up ({error}); copy it again"
    )
