"""TensorFlow.js layers models: a Keras model as `model.json`, its weights in files beside it. Read, never written.

    modelTopology      Keras's JSON: {"model_config": ..., "keras_version", "backend", "training_config"} of the
                       converter, {"class_name", "config", ...} of TensorFlow.js itself; null for weights alone
    weightsManifest    which weights there are, and where (`manifest.py`)
    format             "layers-model"; a "graph-model" is a TensorFlow graph without Keras's layers

Which layer a weight is of stands nowhere. The converter lists layer after layer, in the order of their names, as it
meets them in the HDF5 that it converts; of weights alone in the order of `layer_names`. TensorFlow.js lists what is
trained in the whole model, then the rest. Names are witnesses. A `.keras` of Keras 3 was converted path by path.
(Source: files of tensorflowjs 0.8.6 to 4.22.0 and of TensorFlow.js 4.22.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np

from unnest.core.architecture import is_model
from unnest.core.make_plan import plan
from unnest.core.model import Contents, Group, Json, JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Plan, Refusal, Rewritten
from unnest.core.weight_assignment.layer_groups.divide_by_architecture import (
    groups_of_flat_list,
    groups_of_runs,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous
from unnest.errors import Refused, Unreadable
from unnest.findings import Code, Finding, listed
from unnest.formats.container_interface import TRANSFER_BLOCK, ReadOnlyContainer, Source, Target
from unnest.formats.hdf5.dataset_record_and_limits import DatasetNode
from unnest.formats.hdf5.read_attributes import Attributes
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.path_keyed_weights_in_keras_order import as_h5_lists
from unnest.formats.keras3.weights_from_paths import Placement
from unnest.formats.parse_json import is_architecture, parse
from unnest.formats.tfjs.detection import MANIFEST, TOPOLOGY, read_model_json
from unnest.formats.tfjs.manifest import DTYPE_BY_MANIFEST_NAME, HALF, WeightEntry, read_manifest

#: Keys that say nothing of the model.
SAID_ELSEWHERE = {"format", "generatedBy", "convertedBy", TOPOLOGY, MANIFEST, "trainingConfig"}
#: How the version of TensorFlow.js begins where that of Keras stands otherwise.
JAVASCRIPT = "tfjs-layers"
#: By contents: HDF5, which the converter made it from; an architecture alone stays JSON.
WRITTEN_AS: dict[Contents, Target] = {"model": "h5", "weights": "weights", "architecture": "json"}
#: What stands for it: its configs and weights are those of Keras 2, on TensorFlow.
KERAS_2, BACKEND = "2.x", "tensorflow"


class _Topology(NamedTuple):
    """The content of `modelTopology`: the model, its compile settings, and the version of its writer."""

    architecture: JsonObject | None
    training: JsonObject | None
    keras_version: str | None
    backend: str | None

    @property
    def is_of_javascript(self) -> bool:
        """True if TensorFlow.js wrote it, and not the converter."""
        return (self.keras_version or "").startswith(JAVASCRIPT)

    @property
    def stored(self) -> Stored:
        """The model without its weights, in the words of Keras."""
        contents: Contents = "weights" if self.architecture is None else "architecture"
        if self.is_of_javascript:
            return Stored(contents, self.architecture, keras_version=KERAS_2, backend=BACKEND)
        return Stored(
            contents,
            self.architecture,
            self.training,
            keras_version=self.keras_version,
            backend=self.backend,
        )


class TfjsSource(Source):
    """A `model.json` with the files of its manifest, which are checked at once and read when tensors are copied."""

    container: ClassVar = "tfjs"
    not_in_place = "is one of several files, and what is written is a single one"

    def __init__(self, path: str) -> None:
        value = read_model_json(path)
        topology = _topology(path, value)
        self._is_of_javascript = topology.is_of_javascript
        self._manifest = read_manifest(path, value.get(MANIFEST) or [])
        self._entries = {entry.name: entry for entry in self._manifest.entries}
        #: Why the layers of the weights are unknown.
        self._doubt: str | None = None
        stored, findings = self._read(path, topology.stored)
        super().__init__(path, stored, (*findings, *self._findings(value)))
        self.written_as = WRITTEN_AS[stored.contents]

    def _read(self, path: str, stored: Stored) -> tuple[Stored, tuple[Finding, ...]]:
        """Return the model with its weights by layer, and findings on their order. Raises Unreadable."""
        weights = [entry for entry in self._manifest.entries if not entry.is_optimizers]
        if not weights:
            if stored.architecture is None:
                raise Unreadable(
                    "not-keras",
                    f"{path}: holds no model and no weights; convert the Keras file again",
                )
            return stored, ()
        if stored.architecture is None:
            return stored._replace(groups=(Group("", self._tensors(weights, stored)),)), ()
        stored = stored._replace(contents="model")
        if stored.is_keras_3:
            try:
                return stored_by_path(path, stored, weights), ()
            except Refused as doubt:
                self._doubt = doubt.message.removeprefix(f"{path}: ")
        return self._by_layer(stored, self._tensors(weights, stored))

    def _by_layer(
        self, stored: Stored, tensors: tuple[Tensor, ...]
    ) -> tuple[Stored, tuple[Finding, ...]]:
        """Return the model with its weights by layer, and findings; unplaced if names and order leave a doubt."""
        assert stored.architecture is not None
        unplaced = stored._replace(groups=(Group("", tensors),))
        if self._doubt is not None or not is_model(stored.architecture):
            self._doubt = self._doubt or "the layers are kept in code"
            return unplaced, ()
        try:
            if self._is_of_javascript:
                groups, by_order = groups_of_flat_list(tensors, stored.architecture)
            else:
                groups, by_order = groups_of_runs(tensors, stored.architecture, is_sorted=True)
        except Ambiguous as doubt:
            self._doubt = str(doubt)
            return unplaced, ()
        return stored._replace(groups=groups), (
            Code.BY_ORDER(layers=listed(by_order)),
        ) if by_order else ()

    def _tensors(self, entries: list[WeightEntry], stored: Stored) -> tuple[Tensor, ...]:
        """Return the tensors' handles; the converter leaves out the `:0` of TensorFlow's names."""
        end = ":0" if stored.backend in (None, BACKEND) else ""
        return tuple(
            Tensor(entry.name + end, entry.shape, entry.dtype, entry.name) for entry in entries
        )

    def _findings(self, value: JsonObject) -> Iterator[Finding]:
        quantized = [e for e in self._manifest.entries if e.quantization is not None]
        dtypes = sorted({e.quantization.dtype for e in quantized if e.quantization is not None})
        if quantized:
            yield Code.QUANTIZED(count=len(quantized), dtype=" and ".join(dtypes))
        if value.get("trainingConfig") is not None or any(
            e.is_optimizers for e in self._manifest.entries
        ):
            yield Code.COMPILE_DROPPED(why="TensorFlow.js spells them in its own way")
        if others := sorted(key for key in value.keys() - SAID_ELSEWHERE if value[key] is not None):
            yield Code.NOT_CARRIED(what=listed(others))

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Plan with the file's own architecture; a given one is for weights alone."""
        if self.stored.contents == "weights":
            return self._plan_weights(architecture, choices)
        if self._doubt is None:
            return plan(self.stored, choices=choices)
        made = plan(
            self.stored._replace(contents="architecture", groups=(), training=None), choices=choices
        )
        refusal = Refusal(
            "weights-ambiguous", f"{self._doubt}; convert or save the model again, as .h5"
        )
        if made.verdict == "clean":
            return made._replace(
                stored=self.stored, output=Rewritten(self.stored), conversion_refusal=refusal
            )
        return made._replace(stored=self.stored, output=None, refusal=refusal)

    def _plan_weights(self, architecture: JsonObject | None, choices: Choices) -> Plan:
        """Plan for weights alone: their layers are those of the given architecture, in its order."""
        if architecture is None:
            needs = (Code.NEEDS_ARCHITECTURE(),)
            return Plan(
                "clean",
                self.stored,
                Rewritten(self.stored),
                findings=needs,
                conversion_refusal=WITHOUT_LAYERS,
            )
        (group,) = self.stored.groups
        stored, by_order = self.stored, tuple[str, ...]()
        if is_model(architecture):
            try:
                groups, by_order = groups_of_runs(group.tensors, architecture, is_sorted=False)
            except Ambiguous:  # they may be those of a model around the one that was given
                groups = (group._replace(name="the whole"),)
            stored = stored._replace(groups=groups)
        made = plan(stored, architecture=architecture, choices=choices)
        by_order_alone = (Code.BY_ORDER(layers=listed(by_order)),) if by_order else ()
        return made._replace(findings=(*made.findings, *by_order_alone))

    def parts(self) -> tuple[str, ...]:
        """Return the files of the weights, then the JSON."""
        return (*(shard.path for group in self._manifest.groups for shard in group), self.path)

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, little-endian; a quantized one as the float32 that TensorFlow.js computes."""
        entry = self._entries[tensor.ref]
        quantization = entry.quantization
        if quantization is None:
            for start in range(0, entry.size, TRANSFER_BLOCK):
                yield self._bytes(entry, start, min(TRANSFER_BLOCK, entry.size - start))
            return
        stored = np.dtype(DTYPE_BY_MANIFEST_NAME[quantization.dtype])
        step = TRANSFER_BLOCK // np.dtype(entry.dtype).itemsize * stored.itemsize
        for start in range(0, entry.size, step):
            numbers = np.frombuffer(
                self._bytes(entry, start, min(step, entry.size - start)), stored
            )
            if quantization.dtype != HALF:
                # In double precision, rounded once, as both readers of the format do.
                numbers = numbers.astype(np.float64) * quantization.scale + quantization.minimum
            with np.errstate(over="ignore"):
                yield numbers.astype(entry.dtype).tobytes()

    def _bytes(self, entry: WeightEntry, start: int, size: int) -> bytes:
        return b"".join(self._manifest.read(entry.group, entry.start + start, size))


WITHOUT_LAYERS = Refusal(
    "needs-architecture",
    "holds weights alone, whose layers are stored nowhere; pass --architecture MODEL.json",
)


def _topology(path: str, value: JsonObject) -> _Topology:
    """Return the model in a `model.json`. Raises Unreadable for what is no layers model."""
    topology: Json = value.get(TOPOLOGY)
    if isinstance(topology, str):
        topology = parse(topology, f"{path}: {TOPOLOGY}")
    if value.get("format") == "graph-model" or (
        isinstance(topology, Mapping) and "node" in topology
    ):
        what = "is a TensorFlow.js graph model, which has a TensorFlow graph in place of Keras's layers"
        raise Unreadable(
            "not-keras",
            f"{path}: {what}; pass the Keras file or SavedModel that it was converted from",
        )
    if topology is None:
        return _Topology(None, None, None, None)
    model = topology.get("model_config", topology) if isinstance(topology, Mapping) else None
    if not isinstance(topology, Mapping) or not is_architecture(model):
        raise Unreadable(
            "damaged", f"{path}: {TOPOLOGY} is no model of Keras; convert or save the model again"
        )
    training, version, backend = (
        topology.get(key) for key in ("training_config", "keras_version", "backend")
    )
    return _Topology(
        {key: each for key, each in model.items() if key not in ("keras_version", "backend")},
        training if isinstance(training, Mapping) else None,
        version if isinstance(version, str) else None,
        backend if isinstance(backend, str) else None,
    )


class TfjsContainer(ReadOnlyContainer):
    """Reads TensorFlow.js layers models; what comes out of one is written as Keras's own containers."""

    name: ClassVar = "tfjs"
    suffix: ClassVar = ".h5"
    not_written: ClassVar = "TensorFlow.js models are read, not written; use --to h5"

    def open(self, path: str) -> TfjsSource:
        """Read the JSON, and hold it against the sizes of the files beside it."""
        return TfjsSource(path)


COMPILE = "compile_config"


# ---- a `.keras` of Keras 3 that was converted: weights by their paths, and configs without the modules of classes ----
# What is made of it is the model as Keras 3's own `.h5` has it, in which classes have no modules either.
# (Source: h5_v3_merged_saved_model_to_tfjs_format of tensorflowjs 4.22.)


class ManifestIndex:
    """The weights of a manifest as the index of a path-keyed file, which had them under these names."""

    def __init__(self, path: str, entries: Iterable[WeightEntry]) -> None:
        self.path = path
        self.is_of_windows = False
        self.datasets = {e.name: DatasetNode(e.name, e.shape, e.dtype, 0, e.size) for e in entries}
        parts = (name.split("/")[:-1] for name in self.datasets)
        self.groups = {
            "/".join(path[:depth]) for path in parts for depth in range(len(path) + 1)
        } | {""}

    def attributes(self, path: str) -> Attributes:
        """Return no attributes, as the converter leaves them out."""
        return MappingProxyType({})


def stored_by_path(path: str, stored: Stored, entries: Sequence[WeightEntry]) -> Stored:
    """Return the model with weights by layer, in Keras's order, and optimizer state. Raises Refused."""
    assert stored.architecture is not None
    training = stored.architecture.get(COMPILE)
    architecture = {key: value for key, value in stored.architecture.items() if key != COMPILE}
    tree = PathKeyedTree(ManifestIndex(path, entries), stored.keras_version)
    model = stored._replace(
        architecture=architecture,
        training=training if isinstance(training, Mapping) and training else None,
        groups=Placement(tree, architecture).groups,
        optimizer=tree.optimizer(),
    )
    return as_h5_lists(model)
