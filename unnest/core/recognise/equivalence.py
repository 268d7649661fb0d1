"""Walks two tensors of a serving graph back together, operation by operation, to tell whether they are one computation.

They may differ in names, and part where both take rows of one tensor.
"""

from __future__ import annotations

import numpy as np

from unnest.budget import spend
from unnest.core.recognise.op_graph import Broken, Function, Op, Place, View
from unnest.core.recognise.shape_evaluation import SLICES, Arithmetic, same_rows

#: A batch that 1 to 16 towers and small ratios divide.
BATCH = 720_720
#: Ranks tried where the graph does not tell a source's.
RANKS = (2, 4, 1, 3, 5)
#: Pairs of operations compared before a graph is called too large: minutes of work, never met.
MAX_PAIRS = 3_000_000
#: Steps that comparing a pair takes.
STEPS_A_PAIR = 15
#: Attributes in which two towers may differ: notes, names of the run time's own objects, seeds of dropped noise.
IGNORED = frozenset(
    {"frame_name", "tensor_array_name", "config_proto", "config", "executor_type", "seed", "seed2", "is_constant",
     "parallel_iterations", "output_shapes", "_output_shapes", "stack_name"}
)  # fmt: skip


class Lockstep:
    """Walks two tensors back together. `entries` collects where they part: place in the first -> in the second."""

    def __init__(self, view: View, other: View | None = None, *, parts: bool = True, far: bool = False) -> None:
        self.view = view
        self.far = far
        self.other = other or view
        self.parts = parts and other is None
        self.entries: dict[Place, tuple[str, str]] = {}
        self.seen: dict[Place, Place] = {}
        self.first: set[str] = set()
        self.second: set[str] = set()
        self.shared: set[Place] = set()
        self.pairs = 0

    def same(self, a: Place, b: Place) -> bool:
        """Whether both are the same computation. Raises Broken."""
        pending = [(a, b)]
        while pending:
            spend(STEPS_A_PAIR)
            a, b = pending.pop()
            self._note(a, b)
            first, second = self.view.resolve(a), self.other.resolve(b)
            if self.other is self.view and first == second:
                self.shared.add(first)
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

    def alike(self) -> list[Place]:
        """What is the same in both, and not because they part behind it: shared, or slices of the same rows."""
        cuts = (place for place in self.seen if place not in self.entries)
        sliced = [place for place in cuts if (op := self.view.op(place)) is not None and op.kind in SLICES]
        return [*self.shared, *sliced]

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
            rows = Arithmetic(self.view, BATCH, rank, far=self.far)
            one, two = rows.rows_of(first), rows.rows_of(second)
            if one is not None and two is not None:
                break
        else:
            return False
        if one[0] != two[0] or same_rows(one[1], two[1]):
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
