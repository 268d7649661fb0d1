"""The wrapper among the operations of a serving graph: the same definition as towers.py, one level down.

A wrapper is a concatenation along the batch whose operands are one computation, made once per operand from consecutive
runs of rows of the same tensors. That is proven, not guessed: the operands are walked back in step, operation by
operation, and must agree in everything but names; the walks part only at operations that take rows, and those rows,
computed for several batch sizes, must follow each other without gap from the first row to the last. What computes the
rows, which scopes the towers lie in, what anything is called: none of it matters. A graph in which this holds computes
the same without the wrapper, so that the cut is safe by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unnest.core.arith import SLICES, Arithmetic, NotArithmetic
from unnest.core.opgraph import CALLS, Broken, Function, Op, OpGraph, Place, View

#: Batches that 1 to 16 towers and small ratios divide; two of them, so that constants do not pass for shares.
BATCHES = (720_720, 1_441_440)
#: Ranks tried where the graph does not tell a source's.
RANKS = (2, 4, 1, 3, 5)
#: Pairs of operations compared before a graph is called too large: minutes of work, never met.
MAX_PAIRS = 3_000_000
#: Attributes in which two towers may differ: notes, names of the run time's own objects, seeds of dropped noise.
IGNORED = frozenset(
    {"frame_name", "tensor_array_name", "config_proto", "config", "executor_type", "seed", "seed2", "is_constant",
     "parallel_iterations", "output_shapes", "_output_shapes", "stack_name"}
)  # fmt: skip


@dataclass
class Towers:
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


class Lockstep:
    """Walks two tensors back together. `entries` collects where they part: place in the first -> in the second."""

    def __init__(self, view: View, other: View | None = None, *, parts: bool = True) -> None:
        self.view = view
        self.other = other or view
        self.parts = parts and other is None
        self.entries: dict[Place, tuple[str, str]] = {}
        self.seen: dict[Place, Place] = {}
        self.first: set[str] = set()
        self.second: set[str] = set()
        self.pairs = 0

    def same(self, a: Place, b: Place) -> bool:
        """Whether both are the same computation. Raises Broken."""
        pending = [(a, b)]
        while pending:
            a, b = pending.pop()
            self._note(a, b)
            first, second = self.view.resolve(a), self.other.resolve(b)
            if self.other is self.view and first == second:
                continue
            if first in self.seen:
                if self.seen[first] != second:
                    return False
                continue
            self.seen[first] = second
            self.pairs += 1
            if self.pairs > MAX_PAIRS:
                raise Broken("the graph is too large to compare")
            if self.parts and self._parts(a, b, first, second):
                continue
            more = self._compare(first, second)
            if more is None:
                return False
            pending += more
        return True

    def _note(self, a: Place, b: Place) -> None:
        """Remember the operations of the root graph that lie on the way."""
        for place, view, found in ((a, self.view, self.first), (b, self.other, self.second)):
            found.update(p.tensor.partition(":")[0] for p in view.aliases(place) if not p.frame)

    def _parts(self, a: Place, b: Place, first: Place, second: Place) -> bool:
        """Whether the towers part here: both take rows of the same tensor, and not the same rows."""
        kinds = [op.kind for op in (self.view.op(first), self.view.op(second)) if op is not None]
        if not all(kind in SLICES for kind in kinds):
            return False
        for rank in RANKS:
            rows = Arithmetic(self.view, BATCHES[0], rank)
            one, two = rows.rows_of(first), rows.rows_of(second)
            if one is not None and two is not None:
                break
        else:
            return False
        if one[0] != two[0] or one[1:] == two[1:]:
            return False
        names = self.view.at_root(a, last=True), self.view.at_root(b, last=True)
        if names[0] is None or names[1] is None:
            return False
        self.entries[first] = (names[0], names[1])
        return True

    def _compare(self, first: Place, second: Place) -> list[tuple[Place, Place]] | None:
        one, two = self.view.op(first), self.other.op(second)
        if one is None or two is None:
            # Arguments of two functions correspond by position; an argument of one graph only to itself.
            if one is two and self.other is not self.view:
                at = self.view.root.args.index(first.tensor.partition(":")[0])
                return [] if at == self.other.root.args.index(second.tensor.partition(":")[0]) else None
            return None
        if not one.inputs and one.kind != "Const":
            return None  # a variable, a table: two of them are two, however alike
        if one.kind != two.kind or len(one.inputs) != len(two.inputs) or _output(first) != _output(second):
            return None
        if not self._attributes(one, two):
            return None
        return list(zip(self.view.inputs(first), self.other.inputs(second), strict=True))

    def _attributes(self, one: Op, two: Op) -> bool:
        if (one.value is None) != (two.value is None):
            return False
        if one.value is not None and two.value is not None and not _equal(one.value, two.value):
            return False
        for key in one.attrs.keys() | two.attrs.keys():
            if key.startswith("_") or key in IGNORED:
                continue
            left, right = one.attrs.get(key), two.attrs.get(key)
            if isinstance(left, Function) and isinstance(right, Function):
                if not self._functions(left.name, right.name):
                    return False
            elif left != right and not (left == one.name.encode() and right == two.name.encode()):
                return False
        return True

    def _functions(self, left: str, right: str) -> bool:
        """Whether two functions (the bodies of a loop, say) are the same computation of their arguments."""
        if left == right:
            return True
        library = self.view.library
        if left not in library or right not in library:
            return False
        one, two = library[left], library[right]
        if len(one.rets) != len(two.rets) or len(one.args) != len(two.args):
            return False
        inner = Lockstep(View(one, library), View(two, library))
        pairs = zip(one.rets, two.rets, strict=True)
        return all(inner.same(Place((), a), Place((), b)) for a, b in pairs)


def _output(place: Place) -> str:
    return place.tensor.partition(":")[2] or "0"


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def find(graphs: Sequence[OpGraph], library: Mapping[str, OpGraph], *, closed: bool = True) -> Towers | None:
    """The first wrapper of these graphs, outermost before inner ones; None where there is none. Raises Broken.

    With `closed` only one that can be cut: nothing else reads from inside of it.
    """
    for graph in graphs:
        view = View(graph, library)
        found: list[Towers] = []
        for tensor in _backwards(graph):
            towers = _merge(view, tensor)
            if towers is None:
                continue
            if not found:
                found.append(towers)
            elif _belongs(found[0], towers):
                _join(found[0], towers)
        if found and (not closed or _closed(graph, found[0])):
            return found[0]
    return None


def _backwards(graph: OpGraph) -> Iterator[str]:
    """The tensors of a graph from its results back, breadth first."""
    seen: set[str] = set()
    pending = list(graph.rets)
    for tensor in pending:
        if tensor in seen:
            continue
        seen.add(tensor)
        yield tensor
        op = graph.producer(tensor)
        if op is not None:
            pending += op.inputs


def _operands(view: View, tensor: str) -> list[str] | None:
    """What a tensor of the root graph concatenates along the batch, as tensors of the root graph."""
    op = view.root.producer(tensor)
    if op is None or not (op.kind in CALLS or op.kind in ("ConcatV2", "Concat")):
        return None
    place = view.resolve(Place((), tensor))
    merge = view.op(place)
    if merge is None or merge.kind not in ("ConcatV2", "Concat"):
        return None
    inputs = list(view.inputs(place))
    axis, operands = (inputs[-1], inputs[:-1]) if merge.kind == "ConcatV2" else (inputs[0], inputs[1:])
    try:
        where = int(Arithmetic(view, BATCHES[0], 2).value(axis))
    except (NotArithmetic, TypeError, ValueError):
        return None
    rank = len(view.shape(place) or ())
    if where and (not rank or where != -rank):
        return None
    named = [view.at_root(p, last=False) for p in operands]
    return [n for n in named if n is not None] if all(named) and len(named) > 1 else None


def _merge(view: View, tensor: str) -> Towers | None:
    operands = _operands(view, tensor)
    if operands is None:
        return None
    first = Place((), operands[0])
    if any(view.root.producer(o) is None for o in operands):
        return None
    result = Towers(view.root.name, [tensor], len(operands))
    slices: dict[Place, list[str]] = {}
    for operand in operands[1:]:
        walk = Lockstep(view)
        if not walk.same(first, Place((), operand)) or not walk.entries:
            return None
        for place, (mine, theirs) in walk.entries.items():
            slices.setdefault(place, [mine]).append(theirs)
        result.first |= walk.first
        result.others |= walk.second
    if any(len(names) != len(operands) for names in slices.values()) or not _tiles(view, slices, result):
        return None
    result.replace[tensor] = operands[0]
    result.others -= result.first
    return result


def _tiles(view: View, slices: Mapping[Place, Sequence[str]], result: Towers) -> bool:
    """Whether each source's slices are all its rows, in order, shared out alike; notes what replaces them."""
    bounds: set[tuple[tuple[int, int], ...]] = set()
    for place, names in slices.items():
        for rank in RANKS:
            taken = [[Arithmetic(view, n, rank).rows_of(view.resolve(Place((), t))) for t in names] for n in BATCHES]
            if all(t is not None for row in taken for t in row):
                break
        else:
            return False
        for n, row in zip(BATCHES, taken, strict=True):
            runs = [(t[1], t[2]) for t in row if t is not None]
            edges = [0] + [stop for _, stop in runs]
            fixed = view.shape(row[0][0])[0] if row[0] and view.shape(row[0][0]) else -1  # type: ignore[index]
            if [start for start, _ in runs] != edges[:-1] or edges[-1] != (n if fixed < 0 else fixed):
                return False
            if n == BATCHES[0]:
                bounds.add(tuple(runs))
        source = _source(view, place)
        if source is None:
            return False
        result.replace[names[0]] = source
        result.sources.append(source)
    return len(bounds) == 1


def _source(view: View, place: Place) -> str | None:
    """The root graph's name of what the slice at a place takes rows of."""
    inputs = list(view.inputs(place))
    op = view.op(place)
    data = inputs[1] if op is not None and op.kind == "Split" else inputs[0]
    return view.at_root(data, last=False)


def _belongs(whole: Towers, other: Towers) -> bool:
    """Whether a merge is a further output of the same towers."""
    mine = {t for t in whole.replace if t not in whole.merges}
    return other.towers == whole.towers and mine == {t for t in other.replace if t not in other.merges}


def _join(whole: Towers, other: Towers) -> None:
    whole.merges += [m for m in other.merges if m not in whole.merges]
    whole.replace.update(other.replace)
    whole.first |= other.first
    whole.others |= other.others
    whole.others -= whole.first


def _closed(graph: OpGraph, towers: Towers) -> bool:
    """Whether nothing outside reads tower 0 or its slices, whose row numbers change with the cut."""
    entries = {t for t in towers.replace if t not in towers.merges}
    inside = _between(graph, {towers.replace[m] for m in towers.merges}, entries)
    alive = _alive(graph, towers)
    merging = {m.partition(":")[0] for m in towers.merges}
    sliced = {e.partition(":")[0] for e in entries}
    for name in alive:
        op = graph.ops[name]
        if name in inside or name in merging:
            continue
        if any(
            t in entries or (t.partition(":")[0] in inside and t.partition(":")[0] not in sliced) for t in op.inputs
        ):
            return False
    results = {
        t.partition(":")[0]
        for t in graph.rets
        if towers.replace.get(t, t) not in (towers.replace[m] for m in towers.merges)
    }
    return not results & (inside | sliced)


def _between(graph: OpGraph, ends: set[str], entries: set[str]) -> set[str]:
    """The operations on the way from the slices to the ends: graphs have loops, so both ways are walked."""
    above: set[str] = set()
    readers: dict[str, list[str]] = {}
    pending = list(ends)
    reached: list[str] = []
    while pending:
        tensor = pending.pop()
        op = graph.producer(tensor)
        if op is None or tensor in entries or op.name in above:
            continue
        above.add(op.name)
        for read in op.inputs:
            pending.append(read)
            readers.setdefault(read.partition(":")[0], []).append(op.name)
            if read in entries:
                reached.append(op.name)
    inside: set[str] = set()
    while reached:
        name = reached.pop()
        if name not in inside:
            inside.add(name)
            reached += readers.get(name, ())
    return inside


def _alive(graph: OpGraph, towers: Towers) -> set[str]:
    """What the results still need once the wrapper is cut."""
    alive: set[str] = set()
    pending = list(graph.rets)
    while pending:
        tensor = pending.pop()
        tensor = follow(tensor, towers.replace)
        name = tensor.partition(":")[0]
        if name not in alive and name in graph.ops:
            alive.add(name)
            pending += graph.ops[name].inputs
    return alive


def follow(tensor: str, replace: Mapping[str, str]) -> str:
    """What is read in place of a tensor."""
    for _ in range(len(replace) + 1):
        if tensor not in replace:
            return tensor
        tensor = replace[tensor]
    raise Broken("replacements in a circle")
