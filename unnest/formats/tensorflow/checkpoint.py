"""TensorFlow checkpoints: an index and its shards, object-based (`save_weights`) or name-based (`tf.train.Saver`).

An object-based checkpoint stores which layer holds what, a name-based one only the variables' names; `prefix.meta`,
where it was kept, adds the graph and the order in which the variables were made. Neither stores an architecture (except
TensorFlow 1.13 to 1.15, object-based), so that `--architecture` says more than the checkpoint does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from unnest.core.architecture import is_model, read
from unnest.core.assign.variable_names import Names
from unnest.core.keras_facts.weight_order import Variable
from unnest.core.model import Choices, Group, JsonObject, Plan, Refusal, Stored, Template, Tensor, Wrapper
from unnest.core.plan import plan
from unnest.errors import Refused
from unnest.findings import Code, listed
from unnest.formats.base import Container, Progress, Source
from unnest.formats.detect import checkpoint_prefix
from unnest.formats.json_text import parse_object
from unnest.formats.tensorflow.bundle import Bundle, Entry
from unnest.formats.tensorflow.meta_graph import Program
from unnest.formats.tensorflow.object_graph import KEY, ObjectGraph


class CheckpointSource(Source):
    """A checkpoint; `path` is its prefix."""

    container: ClassVar = "checkpoint"
    not_in_place = "is one of several files, and what is written is a single one"

    def __init__(self, path: str) -> None:
        self.bundle = Bundle(path)
        try:
            self.graph = ObjectGraph(self.bundle) if KEY in self.bundle.entries else None
            self.program = Program(path + ".meta") if os.path.isfile(path + ".meta") else None
            #: Slices that are variables of their own.
            self._entries: dict[str, Entry] = {}
            #: The variables, where names alone are stored; the plan says.
            self._names: Names | None = None
            #: The saved model among the objects; the plan says.
            self._model: int | None = None
            names = self.graph.names() if self.graph else {}
            every = tuple(
                Tensor(names.get(key, key) + ":0", e.shape, e.dtype, key)
                for key, e in self.bundle.entries.items() if e.dtype != "string"
            )  # fmt: skip
        except BaseException:
            self.bundle.close()
            raise
        super().__init__(path, Stored("weights", groups=(Group("", every),)))
        self._every = every

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """As `_plan`; what a file of weights has no place for is dropped."""
        made = self._plan(architecture, choices=choices)
        left = [v.name for v in self._names.left] if self._names else []
        if left:
            made = replace(made, findings=(*made.findings, Code.NOT_CARRIED(what=listed(left))))
        if made.result is None:
            return made
        kept = {t.ref for g in made.result.groups for t in g.tensors}
        return replace(made, dropped=tuple(t for t in self.everything if t.ref not in kept))

    @property
    def everything(self) -> tuple[Tensor, ...]:
        """Every tensor of the bundle."""
        return self._every

    def _completed(self, architecture: JsonObject, made: Plan, *, choices: Choices) -> Stored | None:
        """The model that the weights make with the architecture given, the optimizer's state in Keras's order."""
        bare = {k: v for k, v in architecture.items() if k not in ("keras_version", "backend")}
        if {g.name for g in self.stored.groups} <= set(read(architecture).layers):
            whole = replace(self.stored, contents="model", architecture=bare)
            planned = plan(whole, choices=choices)
            whole = planned.result or whole
        elif made.result is not None:
            whole = replace(made.result, contents="model", architecture=bare)
        else:
            return None
        state = None
        if self.graph is not None and self._model is not None:
            state = self.graph.state(self._model, whole.groups)
        elif self._names is not None:
            state = self._names.state(whole.groups)
        return replace(whole, optimizer=state)

    def _plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """With the architecture given, or stored; else as far as objects and names tell."""
        if architecture is None:
            architecture = self._stored_architecture()
        if architecture is not None and is_model(architecture):
            try:
                self.stored = self._with(architecture)
            except Refused as doubt:
                return self._without_weights(architecture, doubt, choices=choices)
            made = plan(self.stored, architecture=architecture, choices=choices)
            if not made.refusal:
                self.complete = self._completed(architecture, made, choices=choices)
            seen = self._by_graph() if made.verdict == "clean" and not made.refusal else None
            # The architecture given is the template's: its weights are placed, and the graph tells of the wrapper.
            return made if seen is None else replace(seen, refusal=None, result=self.stored)
        if architecture is not None:
            why = "the architecture given is not a graph of layers; pass the model's own"
            return Plan("clean", refusal=Refusal("architecture-mismatch", why))
        return self._bare()

    def _without_weights(self, architecture: JsonObject, doubt: Refused, *, choices: Choices) -> Plan:
        """What the architecture tells where its weights cannot be placed; what is clean may stay as it is."""
        if doubt.code == "architecture-mismatch":
            raise doubt
        made = plan(Stored("architecture", architecture), choices=choices)
        if made.verdict == "clean":
            made = self._by_graph() or made
        self.doubt = doubt
        if made.verdict == "clean":
            return made
        why = doubt.message.removeprefix(f"{self.path}: ")
        return replace(made, result=None, refusal=Refusal(doubt.code, why))

    def _stored_architecture(self) -> JsonObject | None:
        texts = [t for n in self.graph.models() if (t := self.graph.config(n)) is not None] if self.graph else []
        return parse_object(texts[0].decode("utf-8", "replace"), f"{self.path}: the stored config") if texts else None

    def _with(self, architecture: JsonObject) -> Stored:
        """The weights by layer of the architecture, which is the saved model's or its template's."""
        versions = {k: v if isinstance(v := architecture.get(k), str) else None for k in ("keras_version", "backend")}
        stored = Stored("weights", **versions)  # type: ignore[arg-type]
        if self.graph is None:
            return replace(stored, groups=self._by_name(architecture))
        found = self.graph.find(architecture)
        if not found.within:
            self._model = found.node
            return replace(stored, groups=found.groups)
        # The template of a wrapper, if it holds all weights of what is around it.
        self._model, at, count = found.within[0]
        own = [replace(t, owner=(g.name, *t.owner)) for g in found.groups for t in g.tensors]
        if {t.ref for t in own} != self.graph.below(self._model):
            raise Refused(
                "architecture-mismatch",
                f"{self.path}: the architecture given is that of a part, beside which there are other weights; "
                "pass that of the model that was saved",
            )
        groups = [Group(f"layer-{k}", tuple(own) if k == at else ()) for k in range(count)]
        return replace(stored, groups=tuple(groups))

    # ---- names alone ----

    def _by_name(self, architecture: JsonObject) -> tuple[Group, ...]:
        """A group per layer of the architecture: the variables named after it. Raises Refused."""
        variables = [v for key, entry in self.bundle.entries.items() for v in self._saved(key, entry)]
        self._every = tuple(v.tensor for v in variables if v.tensor is not None)
        self._names = Names(self.path, variables, list(self.program.made) if self.program else ())
        return self._names.groups(architecture)

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
            lengths = tuple(n for _, n in extents)
            whole = replace(slices[extents], extents=tuple((0, n) for n in lengths))
            ref = f"{key} {','.join(f'{start}:{start + n}' for start, n in extents)}"
            self._entries[ref] = replace(entry, shape=lengths, pieces=(whole,))
            yield self._variable(each.variable, ref, self._entries[ref])

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
        if self.program is not None:
            return Plan("clean", findings=(Code.NEEDS_ARCHITECTURE(),) if self.program.is_doubtful else ())
        # Objects tell of layers in layers, and not of what a layer is or reads: there may be a wrapper.
        models = self.graph.models() if self.graph else []
        flat = self.graph is not None and all(self.graph.is_flat(n) for n in models)
        return Plan("clean", findings=() if flat else (Code.NEEDS_ARCHITECTURE(),))

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
        return Plan("parallel", (wrapper,), template, refusal=Refusal("needs-architecture", why))

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """The tensor's bytes, checked against their checksum."""
        return self.bundle.blocks(self._entries.get(tensor.ref) or self.bundle.entries[tensor.ref])

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

    def write(self, model: Stored, source: Source, path: str, progress: Progress) -> None:  # noqa: ARG002
        """Never asked for: `aim` sends what comes out of a checkpoint to .h5."""
        raise Refused("cannot-write", f"{path}: checkpoints are read, not written; use --to weights")

    def verify(self, model: Stored, source: Source, path: str, progress: Progress) -> tuple[str, ...]:  # noqa: ARG002
        """As `write`."""
        raise Refused("cannot-write", f"{path}: checkpoints are read, not written; use --to weights")


__all__ = ["CheckpointContainer", "CheckpointSource"]
