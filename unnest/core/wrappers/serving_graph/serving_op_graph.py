"""A serving graph as recognition sees it: operations, functions, and tensors followed through both.

TensorFlow 1 stores one flat graph, TensorFlow 2 functions that call each other (a Keras model that was loaded and saved
again has one per layer). A `GraphView` makes these the same: it follows a tensor through calls, in and out, and through
operations that only pass it on. A `Place` is a tensor seen in one chain of calls below the graph that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from unnest.budget import charge_steps

#: None where nothing is known; -1 for one unknown dimension.
StoredShape: TypeAlias = "tuple[int, ...] | None"
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
#: Calls in calls; real graphs have three or four.
MAX_CALL_DEPTH = 200
#: These hand their input on as it is.
PASSES = frozenset(
    {"Identity", "StopGradient", "Snapshot", "PreventGradient", "CheckNumerics", "EnsureShape"}
)


@dataclass(frozen=True, slots=True)
class GraphFunction:
    """An attribute that names a function."""

    name: str


@dataclass(frozen=True)
class Op:
    """One operation. `inputs` are tensors as the graph spells them; `value` is a Const's."""

    name: str
    kind: str
    inputs: tuple[str, ...]
    controls: tuple[str, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    value: np.ndarray | None = None
    shapes: tuple[StoredShape, ...] = ()


@dataclass(frozen=True)
class OpGraph:
    """One graph or function body: its operations, its arguments (none in a main graph) and what it returns.

    TensorFlow 2 hands constants made outside of a function in as arguments (`2` of `rows // 2`).
    """

    name: str
    ops: Mapping[str, Op]
    args: tuple[str, ...]
    rets: tuple[str, ...]
    arg_shapes: tuple[StoredShape, ...] = ()
    #: Arguments that every caller gives the same constant.
    known: Mapping[str, np.ndarray] = field(default_factory=dict)

    def producer(self, tensor_name: str) -> Op | None:
        """Return the operation that makes a tensor; None for an argument."""
        return self.ops.get(tensor_name.partition(":")[0])


class Place(NamedTuple):
    """A tensor in the graph that the chain of calls `frame` leads to."""

    frame: tuple[str, ...]
    tensor: str


class Broken(Exception):
    """The graph refers to what it does not hold."""


def number(tensor_name: str) -> int:
    """Return the output index of a tensor at its operation (or in its one list of outputs)."""
    last = tensor_name.rpartition(":")[2]
    return int(last) if ":" in tensor_name and last.isdigit() else 0


class GraphView:
    """The tensors of one graph, followed through the functions it calls."""

    def __init__(self, root: OpGraph, library: Mapping[str, OpGraph]) -> None:
        self.root = root
        self.library = library
        self._graphs: dict[tuple[str, ...], OpGraph] = {(): root}

    def graph(self, frame: tuple[str, ...]) -> OpGraph:
        """Return the graph at the end of a chain of function calls."""
        if frame not in self._graphs:
            call = self.graph(frame[:-1]).ops[frame[-1]]
            self._graphs[frame] = self._callee(call)
        return self._graphs[frame]

    def _callee(self, call: Op) -> OpGraph:
        function = call.attrs.get("f")
        if not isinstance(function, GraphFunction) or function.name not in self.library:
            raise Broken(f"the function that {call.name} calls is missing")
        return self.library[function.name]

    def op(self, place: Place) -> Op | None:
        """Return the operation that makes the tensor at a place; None for an argument of the root graph."""
        return self.graph(place.frame).producer(place.tensor)

    def aliases(self, place: Place) -> Iterator[Place]:
        """Yield a tensor and the tensors that it equals, step by step nearer to the operation that makes it.

        Raises Broken.
        """
        for _ in range(10_000):
            charge_steps(2)
            yield place
            graph, op = self.graph(place.frame), self.op(place)
            if op is None:
                if not place.frame:
                    return
                place = self._outward(place, graph)
            elif op.kind in PASSES and op.inputs:
                place = Place(place.frame, op.inputs[0])
            elif op.kind in CALLS:
                callee, at = self._callee(op), number(place.tensor)
                if at >= len(callee.rets) or len(place.frame) > MAX_CALL_DEPTH:
                    raise Broken(f"{op.name} has no output {at}")
                place = Place((*place.frame, op.name), callee.rets[at])
            else:
                return
        raise Broken("calls without end")

    def _outward(self, place: Place, graph: OpGraph) -> Place:
        call = self.graph(place.frame[:-1]).ops[place.frame[-1]]
        try:
            at = graph.args.index(place.tensor.partition(":")[0])
            return Place(place.frame[:-1], call.inputs[at])
        except (ValueError, IndexError) as e:
            raise Broken(f"{place.tensor} is made by nothing") from e

    def resolve(self, place: Place) -> Place:
        """Return the place where the value is made."""
        *_, last = self.aliases(place)
        return last

    def at_root(self, place: Place) -> str | None:
        """Return a tensor's first name in the root graph, from where it is read to its maker; None without one."""
        return next((p.tensor for p in self.aliases(place) if not p.frame), None)

    def shape(self, place: Place) -> StoredShape:
        """Return the static shape of a tensor, from any alias that states one."""
        for p in self.aliases(place):
            op = self.op(p)
            graph = self.graph(p.frame)
            if op is None:
                name = p.tensor.partition(":")[0]
                known = (
                    graph.arg_shapes[graph.args.index(name)]
                    if name in graph.args and graph.arg_shapes
                    else None
                )
            else:
                known = op.shapes[number(p.tensor)] if number(p.tensor) < len(op.shapes) else None
            if known is not None:
                return known
        return None

    def inputs(self, place: Place) -> Sequence[Place]:
        """Return the inputs of the operation at a resolved place."""
        op = self.op(place)
        return [Place(place.frame, t) for t in op.inputs] if op else []
