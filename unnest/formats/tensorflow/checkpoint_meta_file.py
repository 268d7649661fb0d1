"""`prefix.meta`: the graph of the program that wrote a checkpoint, and its facts on the variables.

It lists the variables in the order in which they were made, the name under which each was saved (a `Saver` may be given
others), which are parts of one saved tensor, and what the towers read. (Source: files written by TensorFlow 1.0 to
2.15.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from unnest.core.wrappers.serving_graph import describe_serving_wrapper, recognise_serving_graph
from unnest.core.wrappers.serving_graph.serving_op_graph import (
    Broken,
    GraphView,
    Op,
    OpGraph,
    Place,
)
from unnest.files.file_reading import read_plain_file
from unnest.formats.tensorflow import graphdef_to_op_graph, protobuf_messages, serving_meta_graph

MAX_META = 1 << 31
CONCATENATIONS = ("Concat", "ConcatV2")
#: Concatenations looked at where no wrapper was found.
MAX_JOINS = 100
#: What stands between a variable and the operation that saves it.
READS = frozenset({"Identity", "ReadVariableOp"})
#: A part of a tensor in a Saver's words: the whole shape, then start and length of every axis, `-` for all.
SLICE_SPEC = re.compile(
    r"(?P<shape>(?:\d{1,18} )*)(?P<extents>(?:-|\d{1,18},\d{1,18})(?::(?:-|\d{1,18},\d{1,18}))*)"
)


class Saved(NamedTuple):
    """A variable as it was saved: the tensor's name, and which part of it, (start, length) per axis; None for all."""

    variable: str
    extents: tuple[tuple[int, int], ...] | None = None


@dataclass
class MetaFile:
    """Graph and collections of one `.meta` file."""

    path: str

    @cached_property
    def message(self) -> protobuf_messages.Message:
        """The parsed MetaGraph.

        Raises:
            Unreadable: the file is damaged.

        """
        return protobuf_messages.parse("MetaGraph", read_plain_file(self.path, MAX_META), self.path)

    @cached_property
    def graph(self) -> OpGraph:
        """The flat graph; its results are the tensors that no operation reads."""
        ops_by_name = graphdef_to_op_graph.main_graph(self.message.graph, ()).ops
        read_by = {t for op in ops_by_name.values() for t in op.inputs}
        return OpGraph(
            "", ops_by_name, (), tuple(f"{n}:0" for n in ops_by_name if f"{n}:0" not in read_by)
        )

    @cached_property
    def creation_ranks(self) -> dict[str, int]:
        """The variables, each with its position in the order in which they were made."""
        listed = self._collected("variables") or [
            n
            for n, op in self.graph.ops.items()
            if op.kind in describe_serving_wrapper.VARIABLE_OPS
        ]
        return {name: k for k, name in enumerate(dict.fromkeys(listed))}

    @cached_property
    def trained(self) -> frozenset[str]:
        """The variables that the program called trainable: Keras 1 and 2.0 to 2.3 call all so."""
        return frozenset(self._collected("trainable_variables"))

    def _collected(self, key: str) -> list[str]:
        values = (
            self.message.collections[key].bytes.value if key in self.message.collections else ()
        )
        return [
            protobuf_messages.parse("Variable", v, self.path).name.rpartition(":")[0]
            for v in values
        ]

    @cached_property
    def saved(self) -> dict[str, list[Saved]]:
        """The variables saved under each name, by the saving operations; those of the main Saver take precedence."""
        scope = self.message.saver.save.rpartition("/")[0]
        nodes = [n for n in self.message.graph.node if n.op == "SaveV2"]
        saved_under: dict[str, list[Saved]] = {}
        for node in sorted(nodes, key=lambda n: not n.name.startswith(scope + "/")):
            inputs = [i for i in node.input if not i.startswith("^")]
            keys, parts, tensors = (*(*inputs[1:3], "", "")[:2], inputs[3:])
            of_node: dict[str, list[Saved]] = {}
            for key, part, tensor in zip(
                self._texts(keys), self._texts(parts), tensors, strict=False
            ):
                name = self._variable(graphdef_to_op_graph.tensor(tensor))
                if name is not None:
                    of_node.setdefault(key, []).append(Saved(name, _extents(part)))
            for key, saved in of_node.items():
                saved_under.setdefault(key, saved)
        return saved_under

    @cached_property
    def _constants(self) -> dict[str, protobuf_messages.Message]:
        return {
            n.name: n.attr["value"].tensor
            for n in self.message.graph.node
            if n.op == "Const" and "value" in n.attr
        }

    def _texts(self, tensor_name: str) -> list[str]:
        """Return the texts in a constant."""
        constant = self._constants.get(tensor_name.partition(":")[0])
        return [
            t.decode("utf-8", "surrogateescape")
            for t in (constant.string_val if constant is not None else ())
        ]

    def _variable(self, tensor_name: str) -> str | None:
        """The variable that a tensor is read from."""
        op = self.graph.producer(tensor_name)
        for _ in range(len(self.graph.ops)):
            if op is None or op.kind not in READS or not op.inputs:
                break
            op = self.graph.producer(op.inputs[0])
        return (
            op.name if op is not None and op.kind in describe_serving_wrapper.VARIABLE_OPS else None
        )

    @cached_property
    def wrapper(self) -> recognise_serving_graph.ServingWrapper | None:
        """The wrapper in the graph. Raises Unreadable."""
        try:
            return recognise_serving_graph.find(
                [self.graph], graphdef_to_op_graph.library(self.message.graph), closed=False
            ).wrapper
        except Broken as e:
            raise serving_meta_graph.broken(self.path, e) from e

    @cached_property
    def is_doubtful(self) -> bool:
        """True if computations from the same variables are joined along the batch: unproven towers."""
        view = GraphView(self.graph, graphdef_to_op_graph.library(self.message.graph))
        try:
            concatenations = [
                f"{op.name}:0" for op in self.graph.ops.values() if op.kind in CONCATENATIONS
            ]
            joined = recognise_serving_graph.concatenated_places(view, concatenations)
            variable_sets = [
                [_flat_names(describe_serving_wrapper.variables(view, {place})) for place in places]
                for places in joined[:MAX_JOINS]
                if len(places) > 1
            ]
        except Broken as e:
            raise serving_meta_graph.broken(self.path, e) from e
        return len(joined) > MAX_JOINS or any(
            set.intersection(*variable_set) for variable_set in variable_sets
        )

    @cached_property
    def parameters(self) -> int | None:
        """Number of elements of what the towers read."""
        if self.wrapper is None:
            return None
        try:
            return describe_serving_wrapper.parameters(
                self.graph, graphdef_to_op_graph.library(self.message.graph), self.wrapper
            )
        except Broken as e:
            raise serving_meta_graph.broken(self.path, e) from e

    @cached_property
    def read(self) -> frozenset[str] | None:
        """The variables that the first tower reads; None where there are no towers. Raises Unreadable."""
        towers = self.wrapper
        if towers is None:
            return None
        view = GraphView(self.graph, graphdef_to_op_graph.library(self.message.graph))
        try:
            return frozenset(
                _flat_names(
                    describe_serving_wrapper.variables(
                        view, *describe_serving_wrapper.tower_0(view, towers)
                    )
                )
            )
        except Broken as e:
            raise serving_meta_graph.broken(self.path, e) from e


def _flat_names(variables: dict[Place, Op]) -> set[str]:
    """Return the names of the variables in the flat graph."""
    return {op.name for place, op in variables.items() if not place.frame}


def _extents(part: str) -> tuple[tuple[int, int], ...] | None:
    match = SLICE_SPEC.fullmatch(part)
    if match is None:
        return None
    shape = [int(n) for n in match["shape"].split()]
    parts = match["extents"].split(":")
    if len(parts) != len(shape):
        return None
    pairs = (e.split(",") if e != "-" else ("0", str(n)) for e, n in zip(parts, shape, strict=True))
    return tuple((int(start), int(length)) for start, length in pairs)
