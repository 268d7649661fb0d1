"""Scope of a wrapper in a serving graph, and the size of its template, for reports on bare operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from unnest.budget import charge_steps
from unnest.core.recognition_results import Scope
from unnest.core.wrappers.serving_graph.recognise_serving_graph import ServingWrapper
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    CALLS,
    Broken,
    GraphFunction,
    GraphView,
    Op,
    OpGraph,
    Place,
)

#: Operations that bring the caller's data in, or only change how it is spelled.
FEEDS = ("Placeholder", "ParseExample", "ParseSingleExample")
SPELLINGS = frozenset({"Cast"})
#: Operations that stand for a variable.
VARIABLE_OPS = frozenset({"VarHandleOp", "VariableV2", "Variable"})
#: Operations with a shape among their arguments.
SHAPED = frozenset({
    "Reshape", "Fill", "BroadcastTo", "TensorListReserve", "TensorListFromTensor", "Conv2DBackpropInput",
    "Conv3DBackpropInputV2",
})  # fmt: skip
#: Places looked at in one graph; real ones have some thousands.
MAX_PLACES = 3_000_000


def scope(
    main: OpGraph,
    library: Mapping[str, OpGraph],
    results: Sequence[Sequence[str]],
    towers: ServingWrapper,
) -> Scope:
    """Scope of a serving graph's wrapper. `results`: the tensors that each signature serves. Raises Broken."""
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
            answers.add(
                "head"
                if any(p in merged for e in ends - merged for p in _behind(view, {e}))
                else "embedded"
            )
    return "head" if "head" in answers else "embedded"


def parameters(main: OpGraph, library: Mapping[str, OpGraph], towers: ServingWrapper) -> int | None:
    """Return the number of elements of the variables that tower 0 reads; None if unknown. Raises Broken.

    A graph whose weights were frozen into constants has no variables, and constants may be anything.
    """
    view = GraphView(main, library)
    shapes = [op.attrs.get("shape") for op in variables(view, *tower_0(view, towers)).values()]
    sizes = [prod(s) for s in shapes if isinstance(s, tuple) and all(d >= 0 for d in s)]
    return sum(sizes) if shapes and len(sizes) == len(shapes) else None


def objection(
    main: OpGraph,
    library: Mapping[str, OpGraph],
    results: Sequence[Sequence[str]],
    towers: ServingWrapper,
) -> str | None:
    """Return why towers are not a wrapper's: all their weights are vectors, as of scaling layers. Raises Broken.

    Within a larger model, statistics of parts of a batch are a purpose of their own (ghost batch normalization).
    """
    view = GraphView(main, library)
    shapes = [op.attrs.get("shape") for op in variables(view, *tower_0(view, towers)).values()]
    scales = shapes and all(isinstance(shape, tuple) and len(shape) == 1 for shape in shapes)
    if scales and scope(main, library, results, towers) != "whole":
        return "the towers hold no weights, except those of normalizations"
    return None


def built_for(main: OpGraph, library: Mapping[str, OpGraph], towers: ServingWrapper) -> int | None:
    """Return the number of rows that tower 0 was traced for, if it takes no other; else None. Raises Broken.

    None where the graph does not tell that number, or where nothing in the tower is made for it.
    """
    view = GraphView(main, library)
    ends, entries = tower_0(view, towers)
    of_entries = {shape[0] for place in entries if (shape := view.shape(place))}
    rows = towers.share if towers.share is not None else next(iter(of_entries), None)
    if rows is None or rows <= 0 or len(of_entries) > 1:
        return None
    inside = (place for place in _behind(view, ends, entries) if place not in entries)
    return rows if any(_holds(view, place, rows) for place in inside) else None


def _holds(view: GraphView, place: Place, rows: int) -> bool:
    """Return True if an operation is given this number as that of rows, or begins with a state of so many."""
    op = view.op(place)
    if op is None:
        return False
    reads = [view.resolve(read) for read in view.inputs(place)]
    if op.kind in SHAPED:
        return any(_first_size(view, read) == rows for read in reads)
    # The size of the batch, out of a shape that TensorFlow wrote down as numbers.
    if op.kind == "StridedSlice":
        begins = _integers(view.op(reads[1])) if len(reads) > 1 else ()
        return begins[:1] == (0,) and _first_size(view, reads[0]) == rows
    if op.kind == "Const":  # zeros like the rows of a slice, a recurrent layer's first state
        zeros = op.value
        is_state = (
            zeros is not None and zeros.ndim > 1 and len(zeros) == rows and zeros.dtype.kind == "f"
        )
        return is_state and zeros is not None and not zeros.any()
    return any(_rows_of_variable(view, state) == rows for state in _states(view, op, reads))


def _integers(op: Op | None) -> tuple[int, ...]:
    """Return a constant list of whole numbers; () for anything else."""
    value = None if op is None else op.value
    return (
        tuple(value.tolist())
        if value is not None and value.ndim == 1 and value.dtype.kind == "i"
        else ()
    )


def _first_size(view: GraphView, place: Place) -> int | None:
    """Return the first of several sizes if it is constant; None if it is computed, or the only one."""
    op = view.op(place)
    if op is not None and op.kind == "Pack" and len(op.inputs) > 1:
        first = view.op(view.resolve(view.inputs(place)[0]))
        value = None if first is None else first.value
        return (
            int(value)
            if value is not None and value.ndim == 0 and value.dtype.kind == "i"
            else None
        )
    sizes = _integers(op)
    return sizes[0] if len(sizes) > 1 else None


def _states(view: GraphView, op: Op, reads: Sequence[Place]) -> Iterator[Place]:
    """Return the initial values of a loop's variables, but for those that it leaves as they are."""
    if op.kind == "Merge":
        entering = [
            place
            for place in reads
            if (made := view.op(place)) is not None and made.kind == "Enter"
        ]
        yield from (view.resolve(read) for place in entering for read in view.inputs(place))
    body = op.attrs.get("body")
    if isinstance(body, GraphFunction) and body.name in view.library:
        inner = GraphView(view.library[body.name], view.library)
        for read, argument, result in zip(reads, inner.root.args, inner.root.rets, strict=False):
            if inner.resolve(Place((), result)).tensor.partition(":")[0] != argument:
                yield read


def _rows_of_variable(view: GraphView, place: Place) -> int | None:
    """Return the first size of a variable of several axes, or of what is read of it; None for others."""
    op = view.op(place)
    if op is not None and op.kind == "ReadVariableOp":
        op = view.op(view.resolve(view.inputs(place)[0]))
    shape = op.attrs.get("shape") if op is not None and op.kind in VARIABLE_OPS else None
    return shape[0] if isinstance(shape, tuple) and len(shape) > 1 else None


def tower_0(view: GraphView, towers: ServingWrapper) -> tuple[set[Place], set[Place]]:
    """Return where tower 0 ends, and where it begins; the view is of the main graph. Raises Broken."""
    frame = _frame(view, towers.graph)
    ends = {view.resolve(Place(frame, towers.replace[m])) for m in towers.merges}
    return ends, {view.resolve(Place(frame, t)) for t in towers.replace if t not in towers.merges}


def variables(
    view: GraphView, ends: set[Place], stops: set[Place] | None = None
) -> dict[Place, Op]:
    """Return the variables that tensors are computed from, no further than `stops`. Raises Broken."""
    behind = ((place, view.op(place)) for place in _behind(view, ends, stops))
    return {place: op for place, op in behind if op is not None and op.kind in VARIABLE_OPS}


def _frame(view: GraphView, name: str) -> tuple[str, ...]:
    """Return the first chain of calls that leads from the main graph to a function. Raises Broken."""
    pending: list[tuple[str, ...]] = [()]
    seen = {""}
    for frame in pending:
        graph = view.graph(frame)
        if graph.name == name:
            return frame
        for op in graph.ops.values():
            called = op.attrs.get("f") if op.kind in CALLS else None
            if isinstance(called, GraphFunction) and called.name not in seen:
                seen.add(called.name)
                pending.append((*frame, op.name))
    raise Broken(f"nothing calls {name}")


def _is_fed(view: GraphView, place: Place) -> bool:
    """Return True if a tensor is what the caller gave."""
    op = view.op(place := view.resolve(place))
    while op is not None and op.kind in SPELLINGS:
        op = view.op(place := view.resolve(view.inputs(place)[0]))
    return op is None or op.kind.startswith(FEEDS)


def _behind(view: GraphView, ends: set[Place], stops: set[Place] | None = None) -> Iterator[Place]:
    """Yield the resolved places that `ends` depend on, these included, no further than `stops`. Raises Broken."""
    seen = set(ends)
    pending = list(ends)
    while pending:
        place = pending.pop()
        charge_steps(3)
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
