"""TensorFlow checkpoints: an index and its shards, object-based (`save_weights`) or name-based (`tf.train.Saver`).

An object-based checkpoint stores which layer holds what, a name-based one only the variables' names; `prefix.meta`,
where it was kept, adds the graph and the order in which the variables were made. Neither stores an architecture (except
TensorFlow 1.13 to 1.15, object-based), so that `--architecture` says more than the checkpoint does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, NamedTuple

from unnest.core.architecture import is_model, read
from unnest.core.make_plan import plan, without_layers
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Plan, Refusal, Rewritten
from unnest.core.recognition_results import Template, Wrapper
from unnest.core.weight_assignment.checkpoint.assign_checkpoint_variables import CheckpointVariables
from unnest.core.weight_assignment.checkpoint.layers_by_variable_name import optimizer_state
from unnest.core.weight_assignment.flat_list.divide_flat_list import weights_by_leaf
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.core.weight_assignment.weight_order_within_layer import Variable
from unnest.core.weight_transfer.load_into_model import PlacedWeights, place_leaves
from unnest.core.weight_transfer.match_weights_without_architecture import (
    layer_name,
    leaves_by_name,
)
from unnest.core.weight_transfer.state_for_compiled_optimizer import StateAlone
from unnest.core.weight_transfer.target_model import TargetModel
from unnest.errors import Refused
from unnest.findings import Code, listed
from unnest.formats.container_interface import ReadOnlyContainer, Source
from unnest.formats.detect_container import checkpoint_prefix, saved_model_around
from unnest.formats.parse_json import parse_object
from unnest.formats.tensorflow.checkpoint_meta_file import MetaFile
from unnest.formats.tensorflow.object_graph import KEY, ObjectGraph
from unnest.formats.tensorflow.object_models import ObjectModels, PlacedModel
from unnest.formats.tensorflow.read_tensor_bundle import Bundle, BundleEntry, ShardSlice


class _PlacedWeights(NamedTuple):
    """The weights by layer of an architecture.

    `model` is the saved model among the objects, `names` what is known where only names are stored, `not_carried` the
    names of variables that are no part of the model. `doubt`: why the order of a layer's weights is open.
    """

    stored: Stored
    model: int | None = None
    names: CheckpointVariables | None = None
    not_carried: tuple[str, ...] = ()
    doubt: Refused | None = None


def _piece_as_entry(entry: BundleEntry, piece: ShardSlice) -> BundleEntry:
    """Return one piece of a stored tensor as a tensor of its own."""
    lengths = tuple(n for _, n in piece.extents)
    return entry._replace(
        shape=lengths, pieces=(piece._replace(extents=tuple((0, n) for n in lengths)),)
    )


class CheckpointSource(Source):
    """A checkpoint; `path` is its prefix."""

    container: ClassVar = "checkpoint"
    not_in_place = "is one of several files, and what is written is a single one"

    def __init__(self, path: str) -> None:
        self.bundle = Bundle(path)
        try:
            self.objects = (
                ObjectModels(ObjectGraph(self.bundle)) if KEY in self.bundle.entries else None
            )
            self.meta_file = MetaFile(path + ".meta") if os.path.isfile(path + ".meta") else None
            names = self.objects.graph.names() if self.objects else {}
            tensors = tuple(
                Tensor(names.get(key, key) + ":0", e.shape, e.dtype, key)
                for key, e in self.bundle.entries.items()
                if e.dtype != "string"
            )
        except BaseException:
            self.bundle.close()
            raise
        others = self.objects.optimizers.other_keys() if self.objects else set[str]()
        self.tells_parameters = self.objects is not None
        weights = tuple(t for t in tensors if t.ref not in others)
        state = tuple(t for t in tensors if t.ref in others)
        super().__init__(
            path, Stored("weights", groups=(Group("", weights),), optimizer=state or None)
        )

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Plan with the architecture given, or stored; else with what objects and names show."""
        if architecture is None:
            architecture = self._stored_architecture()
        if architecture is None:
            return self._plan_without_architecture()
        if not is_model(architecture):
            return without_layers(self.stored, architecture)
        try:
            placed = self._placed(architecture)
        except Refused as doubt:
            return self._without_weights(architecture, doubt, choices=choices)
        return self._plan_with_weights(architecture, placed, choices=choices)

    def _plan_with_weights(
        self, architecture: JsonObject, placed: _PlacedWeights, *, choices: Choices
    ) -> Plan:
        """Return the plan for placed weights; variables that have no place in a file of weights are dropped."""
        weights_plan = plan(placed.stored, architecture=architecture, choices=choices)
        if placed.doubt is not None:
            return weights_plan._replace(
                stored=self.stored, output=None, dropped=(), refusal=self._refusal(placed.doubt)
            )
        complete = (
            self._completed(architecture, placed, weights_plan, choices=choices)
            if not weights_plan.refusal
            else None
        )
        graph_plan = (
            self._plan_by_graph()
            if weights_plan.verdict == "clean" and not weights_plan.refusal
            else None
        )
        if graph_plan is not None:
            # The architecture given is the template's: its weights are placed, and the graph shows the wrapper.
            weights_plan = graph_plan._replace(
                stored=placed.stored, refusal=None, output=Rewritten(placed.stored)
            )
        if placed.not_carried:
            weights_plan = weights_plan._replace(
                findings=(*weights_plan.findings, Code.NOT_CARRIED(what=listed(placed.not_carried)))
            )
        if weights_plan.result is not None:
            kept_refs = {t.ref for g in weights_plan.result.groups for t in g.tensors}
            weights_plan = weights_plan._replace(
                dropped=tuple(t for t in self.tensors if t.ref not in kept_refs)
            )
        return weights_plan._replace(complete=complete)

    def placed_in(self, target: TargetModel) -> PlacedWeights:
        """Place the weights by the objects' positions, or by the variables' names, ignoring Keras's numbers.

        Raises Refused.
        """
        if self.objects is not None:
            located = self.objects.find(target.architecture)
            if located.doubt is not None:
                raise located.doubt
            weights = weights_by_leaf(target.architecture, located.groups)
            state = self._state(
                self.objects.optimizers.state(located.node, located.groups), located
            )
            names = {path: layer_name(own) for path, own in weights.items()}
            return place_leaves(weights, target, names, state=state)
        try:
            chain, path_by_name = leaves_by_name([v.name for v in self._variables], target)
        except Ambiguous as doubt:
            why = (
                "give it the name that it had, or pass the architecture of the model that was saved"
            )
            raise Refused("other-model", f"{doubt}; {why}") from doubt
        variables = CheckpointVariables(
            self.path,
            self._variables,
            list(self.meta_file.creation_ranks) if self.meta_file else (),
        )
        groups = variables.groups(chain)
        state = self._state(optimizer_state(self._variables, groups))
        return place_leaves(
            {path_by_name[group.name]: group.tensors for group in groups}, target, {}, state=state
        )

    def state_alone(self, stored: Stored) -> StateAlone | None:
        """Return the optimizer's state of the model that the weights make with the architecture given."""
        located = (
            self.objects.find(stored.architecture) if self.objects and stored.architecture else None
        )
        return self._state(stored.optimizer, located)

    def _state(
        self, tensors: tuple[Tensor, ...] | None, located: PlacedModel | None = None
    ) -> StateAlone | None:
        """Return the optimizer's state under the names of its slots; `located` is its model. None without one."""
        if not tensors:
            return None
        is_modern = (
            self.objects is not None
            and located is not None
            and self.objects.optimizers.is_modern(located.node, located.groups)
        )
        return StateAlone(tensors, tuple(t.name for t in tensors if t.shape), modern=is_modern)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the bundle; of a name-based checkpoint every variable."""
        if self.objects is not None:
            return self.stored.tensors
        return tuple(v.tensor for v in self._variables if v.tensor is not None)

    def _completed(
        self,
        architecture: JsonObject,
        placed: _PlacedWeights,
        weights_plan: Plan,
        *,
        choices: Choices,
    ) -> Stored | None:
        """Return the model of the weights and the given architecture, with optimizer state; None without one."""
        stored = placed.stored
        architecture_alone = {
            k: v for k, v in architecture.items() if k not in ("keras_version", "backend")
        }
        if {g.name for g in stored.groups} <= set(read(architecture).layers):
            complete = stored._replace(contents="model", architecture=architecture_alone)
            complete_plan = plan(complete, choices=choices)
            complete = complete_plan.result or complete
        elif weights_plan.result is not None:
            complete = weights_plan.result._replace(
                contents="model", architecture=architecture_alone
            )
        else:
            return None
        state = None
        if self.objects is not None and placed.model is not None:
            state = self.objects.optimizers.state(placed.model, complete.groups)
        elif placed.names is not None:
            state = optimizer_state(placed.names.variables, complete.groups)
        return complete._replace(optimizer=state)

    def _without_weights(
        self, architecture: JsonObject, doubt: Refused, *, choices: Choices
    ) -> Plan:
        """Return the plan by the architecture alone, for weights that cannot be placed; what is clean may stay."""
        if doubt.code == "architecture-mismatch":
            raise doubt
        architecture_plan = plan(Stored("architecture", architecture), choices=choices)
        if architecture_plan.verdict == "clean":
            architecture_plan = self._plan_by_graph() or architecture_plan
        architecture_plan = architecture_plan._replace(stored=self.stored)
        if architecture_plan.verdict == "clean":
            return architecture_plan._replace(
                output=Rewritten(self.stored), conversion_refusal=Refusal(doubt.code, doubt.message)
            )
        return architecture_plan._replace(output=None, refusal=self._refusal(doubt))

    def _refusal(self, doubt: Refused) -> Refusal:
        return Refusal(doubt.code, doubt.message.removeprefix(f"{self.path}: "))

    def _stored_architecture(self) -> JsonObject | None:
        graph = self.objects.graph if self.objects else None
        texts = [t for n in graph.models() if (t := graph.config(n)) is not None] if graph else []
        return (
            parse_object(texts[0].decode("utf-8", "replace"), f"{self.path}: the stored config")
            if texts
            else None
        )

    def _placed(self, architecture: JsonObject) -> _PlacedWeights:
        """Return the weights by layer of the architecture, the saved model's or its template's. Raises Refused."""
        version, backend = (architecture.get(key) for key in ("keras_version", "backend"))
        stored = Stored(
            "weights",
            keras_version=version if isinstance(version, str) else None,
            backend=backend if isinstance(backend, str) else None,
        )
        if self.objects is None:
            names = CheckpointVariables(
                self.path,
                self._variables,
                list(self.meta_file.creation_ranks) if self.meta_file else (),
            )
            groups = names.groups(architecture)
            return _PlacedWeights(
                stored._replace(groups=groups),
                names=names,
                not_carried=tuple(v.name for v in names.not_placed),
            )
        located = self.objects.find(architecture)
        if not located.within:
            if located.doubt is not None:
                raise located.doubt
            return _PlacedWeights(stored._replace(groups=located.groups), model=located.node)
        # The template of a wrapper, if it holds all weights of what is around it.
        model, position, count = located.within[0]
        tensors = [t._replace(owner=(g.name, *t.owner)) for g in located.groups for t in g.tensors]
        if {t.ref for t in tensors} != self.objects.graph.weight_keys(model):
            raise Refused(
                "architecture-mismatch",
                f"{self.path}: the architecture given is that of a part, beside which there are other weights; "
                "pass that of the model that was saved",
            )
        groups = tuple(
            Group(f"layer-{k}", tuple(tensors) if k == position else ()) for k in range(count)
        )
        return _PlacedWeights(stored._replace(groups=groups), model=model, doubt=located.doubt)

    # ---- names alone ----

    @cached_property
    def _variables(self) -> tuple[Variable, ...]:
        return tuple(
            v
            for key, entry in self.bundle.entries.items()
            for v in self._saved_variables(key, entry)
        )

    def _saved_variables(self, key: str, entry: BundleEntry) -> Iterator[Variable]:
        """Yield the variables in one stored tensor: one, or, if the graph says so, one a slice."""
        if entry.dtype == "string":
            return
        meta_file = self.meta_file
        saved = meta_file.saved.get(key, ()) if meta_file else ()
        slices = {p.extents: p for p in entry.pieces}
        parts = {s.extents for s in saved if s.extents is not None}
        if len(saved) <= 1 or len(parts) < len(saved) or parts != set(slices):
            yield self._variable(saved[0].variable if len(saved) == 1 else key, key, entry)
            return
        for part in saved:
            extents = part.extents or ()
            ref = f"{key} {','.join(f'{start}:{start + n}' for start, n in extents)}"
            yield self._variable(part.variable, ref, _piece_as_entry(entry, slices[extents]))

    def _variable(self, name: str, ref: str, entry: BundleEntry) -> Variable:
        tensor = Tensor(f"{name}:0", entry.shape, entry.dtype, ref)
        if self.meta_file is None:
            return Variable(name, tensor)
        read_by_tower = self.meta_file.read
        return Variable(
            name,
            tensor,
            self.meta_file.creation_ranks.get(name),
            name in self.meta_file.trained,
            None if read_by_tower is None else name in read_by_tower,
        )

    # ---- no architecture ----

    def _plan_without_architecture(self) -> Plan:
        """Plan by the graph, if any; else ask for an architecture, unless no wrapper can be there."""
        graph_plan = self._plan_by_graph()
        if graph_plan is not None:
            return graph_plan
        clean = Plan(verdict="clean", stored=self.stored, output=Rewritten(self.stored))
        if self.meta_file is not None:
            return clean._replace(
                findings=(Code.NEEDS_ARCHITECTURE(),) if self.meta_file.is_doubtful else ()
            )
        # Objects show layers in layers, not what a layer is or reads: there may be a wrapper.
        graph = self.objects.graph if self.objects else None
        are_flat = graph is not None and all(graph.is_flat(n) for n in graph.models())
        if are_flat:
            return clean
        folder = saved_model_around(self.path)
        alone = (Code.VARIABLES_ALONE(folder=folder),) if folder is not None else ()
        return clean._replace(findings=(Code.NEEDS_ARCHITECTURE(), *alone))

    def _plan_by_graph(self) -> Plan | None:
        """Return the plan by the graph in `.meta`; weights are not placed, since names alone do not place them."""
        towers = self.meta_file.wrapper if self.meta_file else None
        if towers is None or self.meta_file is None:
            return None
        merges, file_name = (
            tuple(m.partition(":")[0] for m in towers.merges),
            os.path.basename(self.meta_file.path),
        )
        evidence = (
            f"{towers.towers} operands of {merges[0]} in {file_name} are the same computation",
        )
        wrapper = Wrapper(
            None,
            towers.replace[towers.merges[0]],
            towers.towers,
            "whole",
            merges,
            0,
            "proven",
            evidence,
        )
        template = Template(None, len(towers.sources), len(merges), None, self.meta_file.parameters)
        why = "names alone do not tell the layers; pass --architecture MODEL.json"
        return Plan(
            verdict="parallel",
            stored=self.stored,
            wrappers=(wrapper,),
            template=template,
            refusal=Refusal("needs-architecture", why),
        )

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, checked against their checksum; a slice goes by its key and extent."""
        key, _, range_text = tensor.ref.rpartition(" ")
        entry_of_key = self.bundle.entries.get(tensor.ref)
        if entry_of_key is not None:
            return self.bundle.blocks(entry_of_key)
        entry = self.bundle.entries[key]
        extents = tuple(
            (int(a), int(b) - int(a))
            for a, _, b in (part.partition(":") for part in range_text.split(","))
        )
        return self.bundle.blocks(
            _piece_as_entry(entry, next(p for p in entry.pieces if p.extents == extents))
        )

    def parts(self) -> tuple[str, ...]:
        """Return the shards, the graph if there is one, then the index."""
        index, *shards = self.bundle.files()
        return (*shards, *([self.meta_file.path] if self.meta_file else []), index)

    def close(self) -> None:
        """Close the shards."""
        self.bundle.close()


class CheckpointContainer(ReadOnlyContainer):
    """Reads checkpoints; what comes out of one is written as weights."""

    name: ClassVar = "checkpoint"
    suffix: ClassVar = ".weights.h5"
    not_written: ClassVar = "checkpoints are read, not written; use --to weights"

    def open(self, path: str) -> CheckpointSource:
        """Read everything but the tensors' bytes; `path` is the prefix, or one of the files."""
        return CheckpointSource(checkpoint_prefix(path))


__all__ = ["CheckpointContainer", "CheckpointSource"]
