"""Find the wrapper among the operations of a serving graph, and the tensors to read in its place.

It is found as in a graph of layers (`tower_search`). A graph in which the definition holds computes the same
without the wrapper, so that the cut is safe by construction. What is cut is named in one graph, flat or a function's:
towers that lie in functions are found where these are called, and wrappers that lie whole in a function, in that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from unnest.core.model import Ref
from unnest.core.ops.registry import literal_axis
from unnest.core.recognition_results import NearMiss
from unnest.core.wrappers.search.batch_trials import Joined
from unnest.core.wrappers.search.operation_slice_towers import find_towers, join_operands
from unnest.core.wrappers.search.tower_search import TowerSet
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    CALLS,
    Broken,
    GraphView,
    OpGraph,
    Place,
)
from unnest.core.wrappers.serving_graph.serving_tensor_graph import ServingTensors

#: Ranks tried where the graph does not tell a source's.
RANKS = (2, 4, 1, 3, 5)


@dataclass
class ServingWrapper:
    """A wrapper in one graph: what to read in place of what."""

    graph: str
    merges: list[str]
    towers: int
    #: the merged tensor -> tower 0's; tower 0's slice -> what was sliced
    replace: dict[str, str] = field(default_factory=dict)
    #: operations of tower 0 in this graph, and of all other towers
    first: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    sources: list[str] = field(default_factory=list)
    #: the rows of tower 0 where the batch has a fixed size
    share: int | None = None
    #: the rows that bounds written into the graph reach, where the batch may be larger
    reach: int | None = None
    #: whether all in a tower is known to keep every row where it is
    keeps_rows: bool = False


class FirstWrapper(NamedTuple):
    """The first wrapper, if any, and near misses."""

    wrapper: ServingWrapper | None
    near_misses: tuple[NearMiss, ...]


def find(
    graphs: Sequence[OpGraph],
    library: Mapping[str, OpGraph],
    *,
    closed: bool = True,
    objection: Callable[[ServingWrapper], str | None] = lambda _: None,
) -> FirstWrapper:
    """The first wrapper of these graphs, outermost before inner ones. Raises Broken.

    With `closed` only one that can be cut: nothing else reads from inside of it. `objection`: why towers are not a
    wrapper all the same; None where nothing speaks against them.
    """
    near: dict[str, NearMiss] = {}
    for graph in graphs:
        for rank in RANKS:
            tensors = ServingTensors(GraphView(graph, library), rank)
            wrappers, misses = find_towers(tensors)
            for wrapper in wrappers:
                towers = (
                    _Named(tensors).towers(wrapper)
                    if wrapper.reader is None or not closed
                    else None
                )
                if towers is None:
                    continue
                if (reason := objection(towers)) is None:
                    return FirstWrapper(towers, tuple(near.values()))
                misses.append(NearMiss(wrapper.joins[0].root.layer, reason))
            for miss in misses:
                near.setdefault(miss.layer, miss)
            if not tensors.is_guessed:
                break
    return FirstWrapper(None, tuple(near.values()))


def concatenated_places(view: GraphView, names: Iterable[str]) -> list[list[Place]]:
    """Return the places of the operands of concatenations in the root graph. Raises Broken.

    A concatenation along another axis than the batch is not one.
    """
    tensors = ServingTensors(view, RANKS[0])
    refs = [tensors.ref(Place((), name)) for name in names]
    joined = [
        [] if literal_axis(tensors.of(ref.call)) == 1 else join_operands(tensors, ref)
        for ref in refs
    ]
    return [[tensors.place(ref) for ref in operands] for operands in joined]


class _Named:
    """The names that one graph has for the parts of a wrapper."""

    def __init__(self, tensors: ServingTensors) -> None:
        self.tensors, self.view = tensors, tensors.view
        self.names: dict[Ref, list[str]] = {}
        for name in _backwards(self.view.root):
            self.names.setdefault(tensors.ref(Place((), name)), []).append(name)

    def towers(self, wrapper: TowerSet) -> ServingWrapper | None:
        """Return the wrapper by names; None if a part of it lies in a function that the graph calls."""
        joins = [(self._merged(joined), self._operands(joined)) for joined in wrapper.joins]
        entries = [
            (self._maker(column[0]), self._source(source))
            for column, source in wrapper.cut_points.items()
        ]
        merges, operands = [merged for merged, _ in joins], [operands[0] for _, operands in joins]
        if None in merges or None in operands or any(None in entry for entry in entries):
            return None
        replaced = [*zip(merges, operands, strict=True), *entries]
        on_the_way = [
            self._on_the_way(wrapper, tower) for tower in range(len(wrapper.copies.calls))
        ]
        return ServingWrapper(
            self.view.root.name,
            [str(merged) for merged in merges],
            len(wrapper.copies.calls),
            {str(read): str(instead) for read, instead in replaced},
            on_the_way[0],
            set().union(*on_the_way[1:]) - on_the_way[0],
            [str(source) for _, source in entries],
            wrapper.share,
            wrapper.reach,
            wrapper.keeps_rows,
        )

    def _maker(self, ref: Ref) -> str | None:
        """Return the name nearest to the operation that makes a tensor: its own, or that of the call it lies in."""
        names = self.names.get(ref, [])
        return next((name for name in names if self._makes(name, ref)), None)

    def _makes(self, name: str, ref: Ref) -> bool:
        op = self.view.root.producer(name)
        return self.tensors.place(ref) == Place((), name) or (op is not None and op.kind in CALLS)

    def _source(self, ref: Ref) -> str | None:
        place = self.tensors.place(ref)
        return None if place.frame else place.tensor

    def _merged(self, joined: Joined) -> str | None:
        """Return the name of the tensor to be replaced; of a mean the first that is met, which may only pass it on."""
        if join_operands(self.tensors, joined.root):
            return self._maker(joined.root)
        return next(iter(self.names.get(joined.root, ())), None)

    def _operands(self, joined: Joined) -> list[str | None]:
        """Return the joined tensors, by the names that are read."""
        reads = {
            self.tensors.ref(place): place
            for at in joined.calls
            for place in self.tensors.inputs(at)
        }
        return [self.view.at_root(reads[ref]) if ref in reads else None for ref in joined.operands]

    def _on_the_way(self, wrapper: TowerSet, tower: int) -> set[str]:
        """Return the operations of the graph that a tower's tensors pass, its slices among them."""
        ends = [joined.operands[tower] for joined in wrapper.joins]
        reads = {
            place
            for joined in wrapper.joins
            for at in joined.calls
            for place in self.tensors.inputs(at)
        }
        places = {place for place in reads if self.tensors.ref(place) in ends}
        places.update(
            place for at in wrapper.copies.calls[tower] for place in self.tensors.inputs(at)
        )
        aliases = (alias for place in places for alias in self.view.aliases(place))
        return {alias.tensor.partition(":")[0] for alias in aliases if not alias.frame}


def _backwards(graph: OpGraph) -> Iterator[str]:
    """Yield the tensors of a graph from its results back, breadth first."""
    met = {*graph.rets}
    for tensor in (pending := [*dict.fromkeys(graph.rets)]):
        yield tensor
        op = graph.producer(tensor)
        for read in op.inputs if op is not None else ():
            if read not in met:
                met.add(read)
                pending.append(read)


def follow(tensor_name: str, replace: Mapping[str, str]) -> str:
    """Return the tensor that is read in place of another. Raises Broken."""
    for _ in range(len(replace) + 1):
        if tensor_name not in replace:
            return tensor_name
        tensor_name = replace[tensor_name]
    raise Broken("replacements in a circle")
