"""The wrapper among the operations of a serving graph: the same definition as towers.py, one level down.

A wrapper puts together along the batch what is one computation, made once per tower from rows of the same tensors.
That is proven, not guessed: the operands are walked back in step, operation by operation, and must agree in everything
but names; the walks part only at operations that take rows, and those rows, computed for several batch sizes, must come
together as all rows in their order. What computes the rows, how they are joined (`joins.py`), which scopes the towers
lie in, what anything is called: none of it matters. A graph in which this holds computes the same without the wrapper,
so that the cut is safe by construction. Outputs without rows are averaged (`averages.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm

from unnest.budget import spend
from unnest.core.recognise.equivalence import RANKS, Lockstep
from unnest.core.recognise.mean_outputs import averages
from unnest.core.recognise.merges import Join, end_to_end, joins
from unnest.core.recognise.op_graph import Broken, Op, OpGraph, Place, View
from unnest.core.recognise.shape_evaluation import Arithmetic, NotArithmetic, Rows, same_rows

#: A batch that 1 to 10 towers, and shares in tenths, divide without rest.
DIVISIBLE = 5040


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
    #: what each input is cut into: the towers' slices, in their order
    slices: list[list[str]] = field(default_factory=list)
    #: the order in which the towers' rows come together
    order: Callable[[Arithmetic, Sequence[Rows]], Rows] = end_to_end
    #: the rows of each tower, for each batch that was tried
    bounds: dict[int, set[tuple[range | bytes, ...]]] = field(default_factory=dict)
    #: the rows of tower 0 where the batch has a fixed size
    share: int | None = None
    #: the rows that bounds written into the graph reach, where the batch may be larger
    reach: int | None = None


def find(graphs: Sequence[OpGraph], library: Mapping[str, OpGraph], *, closed: bool = True) -> Towers | None:
    """The first wrapper of these graphs, outermost before inner ones; None where there is none. Raises Broken.

    With `closed` only one that can be cut: nothing else reads from inside of it.
    """
    for graph in graphs:
        view = View(graph, library)
        for towers in _wrappers(view):
            for tensor, operands in averages(view, towers.slices, towers.merges):
                mean = _towers(view, tensor, Join(tuple(operands), towers.order))
                if mean is not None and _belongs(towers, mean):
                    _join(towers, mean)
            if not closed or _closed(graph, towers):
                return towers
    return None


def _wrappers(view: View) -> list[Towers]:
    """What is joined along the batch in a graph, all outputs of the same towers together."""
    found: list[Towers] = []
    for tensor in _backwards(view.root):
        towers = next(
            (t for j in joins(view, tensor) for far in NEAR_AND_FAR if (t := _towers(view, tensor, j, far=far))), None
        )
        if towers is not None:
            _add(found, towers)
    return found


def _add(found: list[Towers], towers: Towers) -> None:
    """A further output of one of the wrappers found; or else a new one."""
    whole = next((f for f in found if _belongs(f, towers)), None)
    if whole is None:
        found.append(towers)
    else:
        _join(whole, towers)


def _backwards(graph: OpGraph) -> Iterator[str]:
    """The tensors of a graph from its results back, breadth first."""
    seen: set[str] = set()
    pending = list(graph.rets)
    for tensor in pending:
        if tensor in seen:
            continue
        seen.add(tensor)
        spend()
        yield tensor
        op = graph.producer(tensor)
        if op is not None:
            pending += op.inputs


#: A slice is one of what it reads; or, where that does not do, of what the first of all slices before it reads.
NEAR_AND_FAR = (False, True)


def _towers(view: View, tensor: str, joined: Join, *, far: bool = False) -> Towers | None:
    """The wrapper that a tensor merges, where its operands are one computation on the rows of one batch."""
    operands = joined.operands
    first = Place((), operands[0])
    if any(view.root.producer(o) is None for o in operands):
        return None
    result = Towers(view.root.name, [tensor], len(operands), order=joined.order)
    slices: dict[Place, list[str]] = {}
    for operand in operands[1:]:
        walk = Lockstep(view, far=far)
        if not walk.same(first, Place((), operand)) or not walk.entries:
            return None
        if any(_takes_a_part(view, place, walk.entries, far=far) for place in walk.alike()):
            return None  # both towers read the same rows of something
        for place, (mine, theirs) in walk.entries.items():
            slices.setdefault(place, [mine]).append(theirs)
        result.first |= walk.first
        result.others |= walk.second
    if any(len(names) != len(operands) for names in slices.values()) or not _tiles(
        view, slices, joined, result, far=far
    ):
        return None
    result.replace[tensor] = operands[0]
    result.others -= result.first
    return result


def _takes_a_part(view: View, place: Place, entries: Iterable[Place], *, far: bool) -> bool:
    """Whether a tensor that several towers read is made of some rows of the batch alone."""
    at = Arithmetic(view, DIVISIBLE, 2, far=far)
    sliced = [taken[0] for entry in entries if (taken := at.rows_of(entry)) is not None]
    batches = {at.dims(source)[0] for source in sliced}
    for here in _behind(view, place, entries):
        taken = at.rows_of(here)
        full = at.dims(taken[0])[:1] if taken is not None else ()
        if taken is not None and full and full[0] in batches and len(taken[1]) < full[0] and not at.is_known(here):
            return any(_is_fed(view.op(p)) for p in _behind(view, here, entries))
    return False


def _is_fed(op: Op | None) -> bool:
    return op is None or op.kind.startswith("Placeholder")


def _behind(view: View, place: Place, entries: Iterable[Place]) -> Iterator[Place]:
    """The places that one depends on, itself included, no further than the slices, nor than MAX_SHARED."""
    pending, seen = [place], {place, *entries}
    while pending and len(seen) < MAX_SHARED:
        here = pending.pop()
        yield here
        for read in view.inputs(here):
            resolved = view.resolve(read)
            if resolved not in seen:
                seen.add(resolved)
                pending.append(resolved)


#: Places behind a tensor that all towers read that are looked at; what is beyond is not rows of a batch.
MAX_SHARED = 20_000


def _batches(towers: int) -> tuple[int, int]:
    """Sizes that the towers and small ratios divide; two of them, so that constants do not pass for shares."""
    least = lcm(DIVISIBLE, towers)
    return least, 2 * least


def _tiles(view: View, slices: Mapping[Place, Sequence[str]], joined: Join, result: Towers, *, far: bool) -> bool:
    """Whether all rows of each source come together in their order, cut alike; notes what replaces the slices."""
    bounds = result.bounds = {n: set() for n in _batches(result.towers)}
    for place, names in slices.items():
        taken, op = _taken(view, names, far=far), view.op(place)
        source = _source(view, taken[0][0], place) if taken else None
        if taken is None or source is None or op is None:
            return False
        for at, rows in taken:
            reach = _reach(view, Place((), source), joined, at, rows)
            if not reach or (reach < at.rows and op.kind.startswith("Split")):
                return False
            bounds[at.rows].add(tuple(r if isinstance(r, range) else r.tobytes() for r in rows))
            result.reach = reach if reach < at.rows else result.reach
            result.share = len(rows[0]) if _fixed(view, Place((), source)) is not None else result.share
        result.replace[names[0]] = source
        result.sources.append(source)
        result.slices.append(list(names))
    alike = all(len(found) == 1 for found in bounds.values())
    # Bounds that are numbers are those of one batch size; any others must cover every batch.
    small, large = bounds.values()
    return alike and (result.reach is None or small == large)


def _taken(view: View, names: Sequence[str], *, far: bool) -> list[tuple[Arithmetic, list[Rows]]] | None:
    """The rows that the slices take of two batches."""
    for rank in RANKS:
        tried = [Arithmetic(view, n, rank, far=far) for n in _batches(len(names))]
        taken = [[at.rows_of(view.resolve(Place((), t))) for t in names] for at in tried]
        if all(t is not None for row in taken for t in row):
            return [(at, [t[1] for t in row if t is not None]) for at, row in zip(tried, taken, strict=True)]
    return None


def _reach(view: View, source: Place, joined: Join, at: Arithmetic, rows: Sequence[Rows]) -> int | None:
    """How many rows come together, in their order from the first; a batch of fixed size has to be complete."""
    try:
        order = joined.order(at, rows)
    except (NotArithmetic, IndexError, ValueError, OverflowError):
        return None
    fixed = _fixed(view, source)
    if not same_rows(order, range(len(order))) or len(order) > at.rows:
        return None
    return None if fixed not in (None, len(order)) else at.rows if fixed is not None else len(order)


def _fixed(view: View, source: Place) -> int | None:
    """The batch size where it is fixed."""
    shape = view.shape(source)
    return shape[0] if shape and shape[0] >= 0 else None


def _source(view: View, at: Arithmetic, place: Place) -> str | None:
    """The root graph's name of what a place takes rows of."""
    taken = at.rows_of(place)
    return None if taken is None else view.at_root(taken[0], last=False)


def _belongs(whole: Towers, other: Towers) -> bool:
    """Whether a merge is a further output of the same towers: of the same slices, or of others of the same batch."""
    mine, theirs = ({t: s for t, s in w.replace.items() if t not in w.merges} for w in (whole, other))
    shared = mine.keys() & theirs.keys()
    of_one_batch = bool(shared) or not {*whole.sources}.isdisjoint(other.sources)
    return of_one_batch and all(mine[t] == theirs[t] for t in shared) and whole.bounds == other.bounds


def _join(whole: Towers, other: Towers) -> None:
    whole.merges += [m for m in other.merges if m not in whole.merges]
    for names, source in zip(other.slices, other.sources, strict=True):
        if names[0] not in whole.replace:
            whole.slices.append(names)
            whole.sources.append(source)
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
    results = {t.partition(":")[0] for t in graph.rets if t not in towers.merges}
    return not results & (inside | sliced)


def _between(graph: OpGraph, ends: set[str], entries: set[str]) -> set[str]:
    """The operations on the way from the slices to the ends: graphs have loops, so both ways are walked."""
    above: set[str] = set()
    readers: dict[str, list[str]] = {}
    pending = list(ends)
    reached: list[str] = []
    while pending:
        tensor = pending.pop()
        spend()
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
        spend()
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
