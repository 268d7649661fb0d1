"""A serving graph as a graph of tensors and operations, for the search: each tensor is followed to its operation.

A `Ref` names an operation, the number of the chain of calls that it is seen in (0 for the root graph), and the number
of its output. What only passes a tensor on, or calls a function, is looked through, so that a template called k times
and one written k times are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unnest.budget import charge_steps
from unnest.core.frontends.node_defs_as_op_calls import may_join_rows, node_call, node_operation
from unnest.core.interpreters.tensor_graph import NO_CALL, Column
from unnest.core.model import CallId, Ref, Shape
from unnest.core.ops.call import OpCall
from unnest.core.wrappers.search.searched_graph import SearchedGraph
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    CALLS,
    PASSES,
    Broken,
    GraphFunction,
    GraphView,
    Op,
    Place,
)

STEPS_A_PAIR = 15
"""What comparing two operations costs."""

MAX_PAIRS = 3_000_000
"""Operations of two functions that are compared before a graph is called too large: minutes of work, never met."""

MAX_FOLDED = 4096
"""Elements of a constant that is read as a number."""

IGNORED_ATTRIBUTES = frozenset({
    "frame_name", "tensor_array_name", "config_proto", "config", "executor_type", "seed", "seed2", "is_constant",
    "parallel_iterations", "output_shapes", "_output_shapes", "stack_name",
})  # fmt: skip
"""Attributes in which two towers may differ: notes, names of the run time's own objects, seeds of dropped noise."""

CAST = ("SrcT", "DstT", "Truncate")
"""The attributes of a Cast."""

DTYPE_BY_ENUM_NUMBER = {
    1: "float",
    2: "double",
    3: "int32",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    19: "half",
}
"""TensorFlow's numbers of the types that arithmetic casts to (source: types.proto)."""


class ServingTensors(SearchedGraph):
    """The tensors that the root graph of a view gives, and all that they are made of. Its answers may raise Broken.

    `rank` is taken for the rank of a tensor where the graph does not tell its shape; `is_guessed` says whether one was.
    """

    reaches = (False, True)
    takes_numbers = True
    is_cut_apart = True

    def __init__(self, view: GraphView, rank: int) -> None:
        super().__init__()
        self.view, self.rank, self.is_guessed = view, rank, False
        self._frames: list[tuple[str, ...]] = []
        self._frame_numbers: dict[tuple[str, ...], int] = {}
        #: By the number of the chain of calls, and the tensor as its graph spells it.
        self._refs: dict[tuple[int, str], Ref] = {}
        self._places: dict[Ref, Place] = {}
        #: By what is cast, and to what.
        self._casts: dict[tuple[object, ...], Ref] = {}
        self._reads: dict[CallId, tuple[Ref, ...]] = {}
        #: What the outputs of a kind of operation are called, where it has several lists of them.
        self._output_names: dict[str, list[str]] = {}
        self._number_of(())
        self.outputs = [self.ref(Place((), tensor)) for tensor in view.root.rets]

    def ref(self, place: Place) -> Ref:
        """Return the tensor at a place, by the operation that makes it."""
        return self._ref(self._number_of(place.frame), place.tensor)

    def _ref(self, frame: int, tensor_name: str) -> Ref:
        """Return the tensor that a name in one frame stands for; kept, as each name is asked for often."""
        ref = self._refs.get((frame, tensor_name))
        if ref is None:
            place = Place(self._frames[frame], tensor_name)
            op = self.view.op(place)
            is_made_here = op is not None and op.kind not in PASSES and op.kind not in CALLS
            made = place if is_made_here else self.view.resolve(place)
            name, _, output = made.tensor.partition(":")
            ref = self._first_like(
                Ref(name, self._number_of(made.frame), self._output(made, output)), made
            )
            self._refs[frame, tensor_name] = ref
            self._places.setdefault(ref, made)
        return ref

    def _first_like(self, ref: Ref, place: Place) -> Ref:
        """Return the first cast of this tensor to this dtype: layers of mixed precision each cast their input anew.

        A cast of a cast is itself: a chain of them may be as long as the file.
        """
        op = self.view.op(place)
        if op is None or op.kind != "Cast" or len(op.inputs) != 1:
            return ref
        read = Place(place.frame, op.inputs[0])
        before = self.view.op(self.view.resolve(read))
        if before is not None and before.kind == "Cast":
            return ref
        return self._casts.setdefault(
            (self.ref(read), *(repr(op.attrs.get(name)) for name in CAST)), ref
        )

    def _number_of(self, frame: tuple[str, ...]) -> int:
        """Return the number of a chain of calls; a new one gets the next."""
        if frame not in self._frame_numbers:
            self._frame_numbers[frame] = len(self._frames)
            self._frames.append(frame)
        return self._frame_numbers[frame]

    def _output(self, place: Place, output: str) -> int:
        """Return the number of an output; `1` in graphs, `name:1` in functions, where each name counts by itself."""
        name, _, last = output.rpartition(":")
        if not name or not last.isdigit():
            return int(last) if last.isdigit() else 0
        op = self.view.op(place)
        names = self._output_names.setdefault(op.kind if op is not None else "", [])
        if name not in names:
            names.append(name)
        return int(last) + MAX_FOLDED * names.index(name)

    def op(self, at: CallId) -> Op | None:
        """Return the operation of a call; None for an argument of the root graph."""
        return self.view.graph(self._frames[at.call_index]).ops.get(at.layer)

    def place(self, ref: Ref) -> Place:
        """Return the place where a tensor is made."""
        return self._places[ref]

    def inputs(self, at: CallId) -> list[Place]:
        """Return the inputs of a call, as its graph spells them."""
        op = self.op(at)
        return (
            []
            if op is None
            else [Place(self._frames[at.call_index], tensor) for tensor in op.inputs]
        )

    def reads(self, at: CallId) -> Sequence[Ref]:
        """Return the tensors that a call reads."""
        reads = self._reads.get(at)
        if reads is None:
            op = self.op(at)
            reads = (
                ()
                if op is None
                else tuple([self._ref(at.call_index, tensor) for tensor in op.inputs])
            )
            self._reads[at] = reads
        return reads

    def is_given(self, ref: Ref) -> bool:
        """Return True if a tensor is an argument, or is fed, with a number of rows that is open."""
        op = self.op(ref.call)
        shape = (
            self.view.shape(self._places[ref])
            if op is None or op.kind.startswith("Placeholder")
            else None
        )
        return bool(shape) and shape is not None and shape[0] < 0

    def may_join(self, ref: Ref) -> bool:
        """Return True if the operation is one that joins can be made of."""
        op = self.op(ref.call)
        return op is not None and may_join_rows(op.kind)

    def backwards(self) -> Iterator[Ref]:
        """Yield the tensors of the root graph that a joining operation, or a function, makes."""
        met: set[str] = set()
        pending = list(self.view.root.rets)
        for tensor in pending:
            if tensor in met:
                continue
            met.add(tensor)
            charge_steps()
            op = self.view.root.producer(tensor)
            if op is not None and (op.kind in CALLS or may_join_rows(op.kind)):
                yield self.ref(Place((), tensor))
            pending += op.inputs if op is not None else ()

    def parsed(self, at: CallId) -> OpCall:
        """Return an operation's call, with the values of small constants in their places."""
        op = self.op(at)
        if op is None:
            known = self.view.root.known.get(at.layer)
            return NO_CALL if known is None else OpCall("constant", [known], {})
        if op.value is not None:
            return OpCall("constant", [op.value], {})
        operation = node_operation(op.kind)
        if operation is None or operation.compute is None:
            return NO_CALL
        return self._read(at, op)

    def computed(self, at: CallId, known_shapes: dict[Ref, Shape | None] | None = None) -> OpCall:
        """Return any operation's call; a mean within a batch normalization that trains has a name of its own."""
        del known_shapes
        op = self.op(at)
        if op is not None and op.kind == "Mean" and self._is_moment(at):
            return OpCall("batchmoments", [*self.reads(at)], {})
        return self._read(at, op) if op is not None and op.value is None else self.parsed(at)

    def _is_moment(self, at: CallId) -> bool:
        """Return True if a mean, or the variance about it, is computed as `tf.nn.moments` does."""
        of = self.reads(at)[0]
        makes = self.op(of.call)
        squares = [
            op
            for op in (self.op(user) for user in self.readers.get(at, ()) if of in self.reads(user))
            if op
        ]
        return any(op.kind == "SquaredDifference" for op in (makes, *squares) if op is not None)

    def rank_of(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> int | None:
        """Return the number of axes of a tensor; None if it is neither stored nor inferred."""
        stored = self.view.shape(self._places[ref])
        shape = (known_shapes or {}).get(ref) if stored is None else stored
        return None if shape is None else len(shape)

    def _read(self, at: CallId, op: Op) -> OpCall:
        attributes: dict[str, Any] = dict(op.attrs)
        if "DstT" in attributes:
            attributes["DstT"] = DTYPE_BY_ENUM_NUMBER.get(attributes["DstT"], "int64")
        return node_call(op.kind, [self._argument(ref) for ref in self.reads(at)], attributes)

    def _argument(self, ref: Ref) -> Ref | np.ndarray:
        op = self.op(ref.call)
        value = op.value if op is not None else self.view.root.known.get(ref.layer)
        return ref if value is None or value.size > MAX_FOLDED else value

    def shape(self, ref: Ref, known_shapes: dict[Ref, Shape | None] | None = None) -> Shape | None:
        """Return the shape of a tensor; None if it is neither stored nor inferred."""
        shape = self.view.shape(self._places[ref])
        if (
            shape is None
            and known_shapes is not None
            and (told := known_shapes.get(ref)) is not None
        ):
            return told
        if shape is None:
            self.is_guessed = True
            return (None,) * self.rank
        return tuple(None if size < 0 else size for size in shape)

    def is_number(self, ref: Ref) -> bool:
        """Return True if nothing stored shows that a tensor has axes."""
        return not self.view.shape(self._places[ref])

    def differ(self, column: Column) -> str | None:
        """Return why operations are not the same computation: other kinds, other constants, other attributes."""
        first = self.op(column[0].call)
        for ref in column[1:]:
            charge_steps(STEPS_A_PAIR)
            if not _same(self.view, first, self.op(ref.call)) and not self._are_one_constant(
                column[0], ref
            ):
                return f"{column[0].layer} and {ref.layer} are different computations"
        return None

    def _are_one_constant(self, one: Ref, other: Ref) -> bool:
        """True if two arguments of the root graph are given the same constant: each tower may capture its own."""
        known = self.view.root.known
        is_argument = self.op(one.call) is None and self.op(other.call) is None
        return (
            is_argument and one.layer in known and _equal(known[one.layer], known.get(other.layer))
        )


def _same(view: GraphView, one: Op | None, other: Op | None) -> bool:
    """True if two operations do the same to what they read; variables, tables: two of them are two, however alike."""
    if one is None or other is None or (not one.inputs and one.kind != "Const"):
        return False
    if one is other:
        return True
    if (
        one.kind != other.kind
        or len(one.inputs) != len(other.inputs)
        or not _equal(one.value, other.value)
    ):
        return False
    for key in one.attrs.keys() | other.attrs.keys():
        if key.startswith("_") or key in IGNORED_ATTRIBUTES:
            continue
        left, right = one.attrs.get(key), other.attrs.get(key)
        if isinstance(left, GraphFunction) and isinstance(right, GraphFunction):
            if not _same_functions(view, left.name, right.name):
                return False
        elif left != right and not (left == one.name.encode() and right == other.name.encode()):
            return False
    return True


def _equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


def _same_functions(view: GraphView, left: str, right: str) -> bool:
    """Return True if two functions (the bodies of a loop, say) are the same computation of their arguments.

    Raises Broken.
    """
    if left == right or not {left, right} <= view.library.keys():
        return left == right
    one, two = (GraphView(view.library[name], view.library) for name in (left, right))
    if len(one.root.rets) != len(two.root.rets) or len(one.root.args) != len(two.root.args):
        return False
    met: dict[Place, Place] = {}
    pending = [
        (Place((), a), Place((), b)) for a, b in zip(one.root.rets, two.root.rets, strict=True)
    ]
    while pending:
        charge_steps(STEPS_A_PAIR)
        a, b = (
            graph.resolve(place) for graph, place in zip((one, two), pending.pop(), strict=True)
        )
        if a in met:
            if met[a] != b:
                return False
            continue
        met[a] = b
        if len(met) > MAX_PAIRS:
            raise Broken("the graph is too large to compare")
        made = one.op(a), two.op(b)
        if made == (None, None):
            names = [place.tensor.partition(":")[0] for place in (a, b)]
            if one.root.args.index(names[0]) != two.root.args.index(names[1]):
                return False
        elif a.tensor.partition(":")[2] != b.tensor.partition(":")[2] or not _same(view, *made):
            return False
        pending += zip(one.inputs(a), two.inputs(b), strict=True)
    return True
