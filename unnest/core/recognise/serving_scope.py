"""Where a wrapper sits in what is served, and how much its template holds: what a report says of bare operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from unnest.budget import spend
from unnest.core.model import Scope
from unnest.core.recognise.op_graph import CALLS, Broken, Function, GraphView, Op, OpGraph, Place
from unnest.core.recognise.serving import ServingWrapper

#: Operations that bring the caller's data in, or only change how it is spelled.
FEEDS = ("Placeholder", "ParseExample", "ParseSingleExample")
SPELLINGS = frozenset({"Cast"})
#: Operations that are told a shape.
SHAPED = frozenset({"Reshape", "Fill", "BroadcastTo", "TensorListReserve", "TensorListFromTensor"})
#: Operations that stand for a variable.
VARIABLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
#: Places looked at in one graph; real ones have some thousands.
MAX_PLACES = 3_000_000


def scope(
    main: OpGraph, library: Mapping[str, OpGraph], results: Sequence[Sequence[str]], towers: ServingWrapper
) -> Scope:
    """As a Keras graph's: `results` are the tensors that each signature serves. Raises Broken."""
    view = GraphView(main, library)
    frame = _frame(view, towers.graph)
    merged = {view.resolve(Place(frame, m)) for m in towers.merges}
    if not all(_is_fed(view, Place(frame, s)) for s in towers.sources):
        return "embedded"
    answers: set[Scope] = set()
    for served in results:
        ends = {view.resolve(Place((), r)) for r in served}
        if ends <= merged:
            return "whole"
        if any(place in merged for place in _behind(view, ends)):
            answers.add("head" if any(p in merged for e in ends - merged for p in _behind(view, {e})) else "embedded")
    return "head" if "head" in answers else "embedded"


def parameters(main: OpGraph, library: Mapping[str, OpGraph], towers: ServingWrapper) -> int | None:
    """Number of elements of the variables that tower 0 reads; None where that is not told. Raises Broken.

    A graph whose weights were frozen into constants has no variables, and constants may be anything.
    """
    view = GraphView(main, library)
    shapes = [op.attrs.get("shape") for op in variables(view, *tower_0(view, towers)).values()]
    sizes = [prod(s) for s in shapes if isinstance(s, tuple) and all(d >= 0 for d in s)]
    return sum(sizes) if shapes and len(sizes) == len(shapes) else None


def is_built_for(main: OpGraph, library: Mapping[str, OpGraph], towers: ServingWrapper) -> bool:
    """Whether tower 0 holds the size of its share of a fixed batch as a number, and takes no other. Raises Broken."""
    if towers.share is None:
        return False
    view = GraphView(main, library)
    ends, entries = tower_0(view, towers)
    for place in _behind(view, ends, entries):
        op = view.op(place)
        for read in view.inputs(place) if op is not None and op.kind in SHAPED and place not in entries else ():
            made = view.op(view.resolve(read))
            value = None if made is None else made.value
            is_shape = value is not None and value.ndim == 1 and value.size > 1 and value.dtype.kind == "i"
            if value is not None and is_shape and value[0] == towers.share:
                return True
    return False


def tower_0(view: GraphView, towers: ServingWrapper) -> tuple[set[Place], set[Place]]:
    """Where tower 0 ends, and where it begins; the view is of the main graph. Raises Broken."""
    frame = _frame(view, towers.graph)
    ends = {view.resolve(Place(frame, towers.replace[m])) for m in towers.merges}
    return ends, {view.resolve(Place(frame, t)) for t in towers.replace if t not in towers.merges}


def variables(view: GraphView, ends: set[Place], stops: set[Place] | None = None) -> dict[Place, Op]:
    """The variables that some tensors are computed from, no further than `stops`. Raises Broken."""
    behind = ((place, view.op(place)) for place in _behind(view, ends, stops))
    return {place: op for place, op in behind if op is not None and op.kind in VARIABLES}


def _frame(view: GraphView, name: str) -> tuple[str, ...]:
    """The first chain of calls that leads from the main graph to a function."""
    pending: list[tuple[str, ...]] = [()]
    seen = {""}
    for frame in pending:
        graph = view.graph(frame)
        if graph.name == name:
            return frame
        for op in graph.ops.values():
            called = op.attrs.get("f") if op.kind in CALLS else None
            if isinstance(called, Function) and called.name not in seen:
                seen.add(called.name)
                pending.append((*frame, op.name))
    raise Broken(f"nothing calls {name}")


def _is_fed(view: GraphView, place: Place) -> bool:
    """Whether a tensor is what the caller gave."""
    op = view.op(place := view.resolve(place))
    while op is not None and op.kind in SPELLINGS:
        op = view.op(place := view.resolve(view.inputs(place)[0]))
    return op is None or op.kind.startswith(FEEDS)


def _behind(view: GraphView, ends: set[Place], stops: set[Place] | None = None) -> Iterator[Place]:
    """The resolved places that some depend on, these included, no further than `stops`."""
    seen = set(ends)
    pending = list(ends)
    while pending:
        place = pending.pop()
        spend(3)
        yield place
        if stops and place in stops:
            continue
        for read in view.inputs(place):
            at = view.resolve(read)
            if at not in seen:
                seen.add(at)
                pending.append(at)
        if len(seen) > MAX_PLACES:
            raise Broken("the graph is too large to follow")
