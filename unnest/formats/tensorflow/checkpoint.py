"""TensorFlow checkpoints: an index and its shards, object-based (`save_weights`) or name-based (`tf.train.Saver`).

An object-based checkpoint stores which layer holds what, a name-based one only the variables' names; `prefix.meta`,
where it was kept, adds the graph and the order in which the variables were made. Neither stores an architecture (except
TensorFlow 1.13 to 1.15, object-based), so that `--architecture` says more than the checkpoint does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from unnest.core.architecture import is_model, read
from unnest.core.assign.variable_names import Names
from unnest.core.keras_facts.weight_order import Variable
from unnest.core.model import (
    Choices,
    Group,
    JsonObject,
    Output,
    Plan,
    Refusal,
    Rewritten,
    Stored,
    Template,
    Tensor,
    Wrapper,
)
from unnest.core.plan import plan
from unnest.errors import Refused
from unnest.findings import Code, listed
from unnest.formats.base import Container, Progress, Source
from unnest.formats.detect import checkpoint_prefix
from unnest.formats.json_text import parse_object
from unnest.formats.tensorflow.bundle import Bundle, Entry, Piece
from unnest.formats.tensorflow.meta_graph import Program
from unnest.formats.tensorflow.object_graph import KEY, ObjectGraph


class _Placed(NamedTuple):
    """The weights by layer of an architecture.

    `model` is the saved model among the objects, `names` what is known where only names are stored, `left` the names of
    variables that are no part of the model.
    """

    stored: Stored
    model: int | None = None
    names: Names | None = None
    left: tuple[str, ...] = ()


def _slice(entry: Entry, piece: Piece) -> Entry:
    """One piece of a stored tensor as a tensor of its own."""
    lengths = tuple(n for _, n in piece.extents)
    return entry._replace(shape=lengths, pieces=(piece._replace(extents=tuple((0, n) for n in lengths)),))


class CheckpointSource(Source):
    """A checkpoint; `path` is its prefix."""

    container: ClassVar = "checkpoint"
    not_in_place = "is one of several files, and what is written is a single one"

    def __init__(self, path: str) -> None:
        self.bundle = Bundle(path)
        try:
            self.graph = ObjectGraph(self.bundle) if KEY in self.bundle.entries else None
            self.program = Program(path + ".meta") if os.path.isfile(path + ".meta") else None
            names = self.graph.names() if self.graph else {}
            every = tuple(
                Tensor(names.get(key, key) + ":0", e.shape, e.dtype, key)
                for key, e in self.bundle.entries.items() if e.dtype != "string"
            )  # fmt: skip
        except BaseException:
            self.bundle.close()
            raise
        super().__init__(path, Stored("weights", groups=(Group("", every),)))

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """With the architecture given, or stored; else as far as objects and names tell."""
        if architecture is None:
            architecture = self._stored_architecture()
        if architecture is None:
            return self._bare()
        if not is_model(architecture):
            why = "the architecture given is not a graph of layers; pass the model's own"
            return Plan(verdict="clean", stored=self.stored, refusal=Refusal("architecture-mismatch", why))
        try:
            placed = self._placed(architecture)
        except Refused as doubt:
            return self._without_weights(architecture, doubt, choices=choices)
        return self._planned(architecture, placed, choices=choices)

    def _planned(self, architecture: JsonObject, placed: _Placed, *, choices: Choices) -> Plan:
        """The plan for weights that are placed; what a file of weights has no place for is dropped."""
        made = plan(placed.stored, architecture=architecture, choices=choices)
        complete = self._completed(architecture, placed, made, choices=choices) if not made.refusal else None
        seen = self._by_graph() if made.verdict == "clean" and not made.refusal else None
        if seen is not None:
            # The architecture given is the template's: its weights are placed, and the graph tells of the wrapper.
            made = replace(seen, stored=placed.stored, refusal=None, output=Rewritten(placed.stored))
        if placed.left:
            made = replace(made, findings=(*made.findings, Code.NOT_CARRIED(what=listed(placed.left))))
        if made.result is not None:
            kept = {t.ref for g in made.result.groups for t in g.tensors}
            made = replace(made, dropped=tuple(t for t in self.everything if t.ref not in kept))
        return replace(made, complete=complete)

    @property
    def everything(self) -> tuple[Tensor, ...]:
        """Every tensor of the bundle; where only names are stored, every variable."""
        if self.graph is not None:
            return self.stored.groups[0].tensors
        return tuple(v.tensor for v in self._variables if v.tensor is not None)

    def _completed(self, architecture: JsonObject, placed: _Placed, made: Plan, *, choices: Choices) -> Stored | None:
        """The model that the weights make with the architecture given, the optimizer's state in Keras's order."""
        stored = placed.stored
        bare = {k: v for k, v in architecture.items() if k not in ("keras_version", "backend")}
        if {g.name for g in stored.groups} <= set(read(architecture).layers):
            whole = stored._replace(contents="model", architecture=bare)
            planned = plan(whole, choices=choices)
            whole = planned.result or whole
        elif made.result is not None:
            whole = made.result._replace(contents="model", architecture=bare)
        else:
            return None
        state = None
        if self.graph is not None and placed.model is not None:
            state = self.graph.optimizers.state(placed.model, whole.groups)
        elif placed.names is not None:
            state = placed.names.state(whole.groups)
        return whole._replace(optimizer=state)

    def _without_weights(self, architecture: JsonObject, doubt: Refused, *, choices: Choices) -> Plan:
        """What the architecture tells where its weights cannot be placed; what is clean may stay as it is."""
        if doubt.code == "architecture-mismatch":
            raise doubt
        made = plan(Stored("architecture", architecture), choices=choices)
        if made.verdict == "clean":
            made = self._by_graph() or made
        made = replace(made, stored=self.stored)
        if made.verdict == "clean":
            return replace(made, output=Rewritten(self.stored), doubt=Refusal(doubt.code, doubt.message))
        why = doubt.message.removeprefix(f"{self.path}: ")
        return replace(made, output=None, refusal=Refusal(doubt.code, why))

    def _stored_architecture(self) -> JsonObject | None:
        texts = [t for n in self.graph.models() if (t := self.graph.config(n)) is not None] if self.graph else []
        return parse_object(texts[0].decode("utf-8", "replace"), f"{self.path}: the stored config") if texts else None

    def _placed(self, architecture: JsonObject) -> _Placed:
        """The weights by layer of the architecture, which is the saved model's or its template's. Raises Refused."""
        versions = {k: v if isinstance(v := architecture.get(k), str) else None for k in ("keras_version", "backend")}
        stored = Stored("weights", **versions)  # type: ignore[arg-type]
        if self.graph is None:
            names = Names(self.path, self._variables, list(self.program.made) if self.program else ())
            groups = names.groups(architecture)
            return _Placed(stored._replace(groups=groups), names=names, left=tuple(v.name for v in names.left))
        found = self.graph.find(architecture)
        if not found.within:
            return _Placed(stored._replace(groups=found.groups), model=found.node)
        # The template of a wrapper, if it holds all weights of what is around it.
        model, at, count = found.within[0]
        own = [t._replace(owner=(g.name, *t.owner)) for g in found.groups for t in g.tensors]
        if {t.ref for t in own} != self.graph.below(model):
            raise Refused(
                "architecture-mismatch",
                f"{self.path}: the architecture given is that of a part, beside which there are other weights; "
                "pass that of the model that was saved",
            )
        groups = tuple(Group(f"layer-{k}", tuple(own) if k == at else ()) for k in range(count))
        return _Placed(stored._replace(groups=groups), model=model)

    # ---- names alone ----

    @cached_property
    def _variables(self) -> tuple[Variable, ...]:
        return tuple(v for key, entry in self.bundle.entries.items() for v in self._saved(key, entry))

    def _saved(self, key: str, entry: Entry) -> Iterator[Variable]:
        """The variables that one stored tensor holds: one, or, where the graph says so, one per slice."""
        if entry.dtype == "string":
            return
        program = self.program
        saved = program.saved.get(key, ()) if program else ()
        slices = {p.extents: p for p in entry.pieces}
        parts = {s.extents for s in saved if s.extents is not None}
        if len(saved) <= 1 or len(parts) < len(saved) or parts != set(slices):
            yield self._variable(saved[0].variable if len(saved) == 1 else key, key, entry)
            return
        for each in saved:
            extents = each.extents or ()
            ref = f"{key} {','.join(f'{start}:{start + n}' for start, n in extents)}"
            yield self._variable(each.variable, ref, _slice(entry, slices[extents]))

    def _variable(self, name: str, ref: str, entry: Entry) -> Variable:
        tensor = Tensor(f"{name}:0", entry.shape, entry.dtype, ref)
        if self.program is None:
            return Variable(name, tensor)
        read = self.program.read
        return Variable(
            name, tensor, self.program.made.get(name), name in self.program.trained,
            None if read is None else name in read,
        )  # fmt: skip

    # ---- no architecture ----

    def _bare(self) -> Plan:
        seen = self._by_graph()
        if seen is not None:
            return seen
        clean = Plan(verdict="clean", stored=self.stored, output=Rewritten(self.stored))
        if self.program is not None:
            return replace(clean, findings=(Code.NEEDS_ARCHITECTURE(),) if self.program.is_doubtful else ())
        # Objects tell of layers in layers, and not of what a layer is or reads: there may be a wrapper.
        models = self.graph.models() if self.graph else []
        flat = self.graph is not None and all(self.graph.is_flat(n) for n in models)
        return replace(clean, findings=() if flat else (Code.NEEDS_ARCHITECTURE(),))

    def _by_graph(self) -> Plan | None:
        """What the graph in .meta shows; names alone do not place the weights."""
        towers = self.program.towers if self.program else None
        if towers is None or self.program is None:
            return None
        merges, where = tuple(m.partition(":")[0] for m in towers.merges), os.path.basename(self.program.path)
        evidence = (f"{towers.towers} operands of {merges[0]} in {where} are the same computation",)
        wrapper = Wrapper(None, towers.replace[towers.merges[0]], towers.towers, "whole", merges, 0, "proven", evidence)
        template = Template(None, len(towers.sources), len(merges), None, self.program.parameters)
        why = "names alone do not tell the layers; pass --architecture MODEL.json"
        return Plan(verdict="parallel", stored=self.stored, wrappers=(wrapper,), template=template,
                    refusal=Refusal("needs-architecture", why))  # fmt: skip

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """The tensor's bytes, checked against their checksum; a slice is called by its key and where it lies."""
        key, _, where = tensor.ref.rpartition(" ")
        whole = self.bundle.entries.get(tensor.ref)
        if whole is not None:
            return self.bundle.blocks(whole)
        entry = self.bundle.entries[key]
        extents = tuple((int(a), int(b) - int(a)) for a, _, b in (part.partition(":") for part in where.split(",")))
        return self.bundle.blocks(_slice(entry, next(p for p in entry.pieces if p.extents == extents)))

    def parts(self) -> tuple[str, ...]:
        """The shards, the graph if there is one, then the index."""
        index, *shards = self.bundle.files()
        return (*shards, *([self.program.path] if self.program else []), index)

    def close(self) -> None:
        """Close the shards."""
        self.bundle.close()


class CheckpointContainer(Container):
    """Reads checkpoints; what comes out of one is written as weights."""

    name: ClassVar = "checkpoint"
    suffix: ClassVar = ".weights.h5"

    def open(self, path: str) -> CheckpointSource:
        """Read everything but the tensors' bytes; `path` is the prefix, or one of the files."""
        return CheckpointSource(checkpoint_prefix(path))

    def write(self, output: Output, source: Source, path: str, progress: Progress) -> None:
        """Never asked for: `aim` sends what comes out of a checkpoint to .h5."""
        raise Refused("cannot-write", f"{path}: checkpoints are read, not written; use --to weights")

    def verify(self, output: Output, source: Source, path: str, progress: Progress) -> tuple[str, ...]:
        """As `write`."""
        raise Refused("cannot-write", f"{path}: checkpoints are read, not written; use --to weights")


__all__ = ["CheckpointContainer", "CheckpointSource"]
