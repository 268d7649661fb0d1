"""TensorFlow's SavedModel folder, read without TensorFlow.

    saved_model.pb         MetaGraphs: a graph, functions, signatures, (TensorFlow 2) objects
    keras_metadata.pb      layout B (TF >= 2.5, tf_keras): the Keras configs
    variables/variables.*  a TensorBundle
    assets/                files that the graph reads; layout C (TF 1.x exports): saved_model.json, the Keras config

In layout A (TF 1.15-2.4) the Keras configs are in the objects of saved_model.pb; without any, only the graph shows it
(layout E). SavedModel to SavedModel is cut among the operations (`cut_serving_graph.py`); the Keras model inside can be
written to other containers.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar

from unnest.core.architecture import is_model
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.plan import Choices, Plan, Refusal
from unnest.errors import Refused, Unreadable
from unnest.files.file_reading import read_plain_file
from unnest.findings import Code, Finding, listed
from unnest.formats.container_interface import MODEL_SUFFIXES, Source
from unnest.formats.parse_json import is_architecture, parse, parse_object
from unnest.formats.tensorflow import (
    cut_serving_graph,
    keras_metadata_json,
    protobuf_messages,
    serving_meta_graph,
    unwrap_meta_graph,
)
from unnest.formats.tensorflow.check_restored_variables import check_stored
from unnest.formats.tensorflow.keras_metadata_json import METADATA
from unnest.formats.tensorflow.lookup_vocabularies import with_tables
from unnest.formats.tensorflow.object_graph import KEY, ObjectGraph
from unnest.formats.tensorflow.object_models import ObjectModels
from unnest.formats.tensorflow.plan_saved_model import plan_by_both_graphs
from unnest.formats.tensorflow.read_tensor_bundle import Bundle
from unnest.formats.translate_errors import reading

GRAPH, TEXT_GRAPH, EXPORTED = "saved_model.pb", "saved_model.pbtxt", "assets/saved_model.json"
VARIABLES_PREFIX = "variables/variables"
#: Protobuf's own limit.
MAX_GRAPH = 1 << 31
#: A SavedModel has a handful of files, and assets.
MAX_FILES = 10_000


class SavedModelSource(Source):
    """A SavedModel, its graph parsed when it is asked for, its tensors untouched."""

    container: ClassVar = "saved_model"

    def __init__(self, path: str) -> None:
        self.files = _files(path)
        self.bundle: Bundle | None = None
        if GRAPH not in self.files and TEXT_GRAPH not in self.files:
            raise Unreadable(
                "missing-file",
                f"{os.path.join(path, GRAPH)}: missing; the model is not complete without it: copy it, too",
            )
        if GRAPH not in self.files:
            raise Unreadable(
                "text-graph",
                f"{path}: is stored as text ({TEXT_GRAPH}); save it in the binary form",
            )
        self.graph_bytes = read_plain_file(os.path.join(path, GRAPH), MAX_GRAPH)
        model = protobuf_messages.parse("SavedModel", self.graph_bytes, os.path.join(path, GRAPH))
        if not model.meta_graphs:
            raise Unreadable("empty", f"{path}: the SavedModel holds no graph; save it again")
        self.tags = [list(m.info.tags) for m in model.meta_graphs]
        if VARIABLES_PREFIX + ".index" in self.files:
            self.bundle = Bundle(os.path.join(path, VARIABLES_PREFIX))
        self._files_of_words: frozenset[str] = frozenset()
        #: Why the owners of the weights are unknown: the graph can be cut without.
        self._conversion_refusal: Refusal | None = None
        try:
            served = next(
                (m for m in model.meta_graphs if "serve" in m.info.tags), model.meta_graphs[0]
            )
            check_stored(served, self.bundle, os.path.join(path, VARIABLES_PREFIX) + ".index")
            stored, findings = self._keras(path, model)
        except BaseException:
            self.close()
            raise
        others = _models_beside(self.files)
        super().__init__(
            path,
            stored,
            (*findings, Code.OTHER_MODELS(what=listed(others))) if others else findings,
        )

    def _keras(
        self, path: str, model: protobuf_messages.Message
    ) -> tuple[Stored, tuple[Finding, ...]]:
        """Return the Keras model, its architecture None if not stored, and findings on what is not carried."""
        metadata = self._metadata(path, model)
        if metadata is None or not is_model(metadata["architecture"]):
            return self._without_layers(path, model, metadata)
        architecture, self._files_of_words = with_tables(
            metadata["architecture"], model, self.bundle, path, self.files
        )
        stored = Stored(
            "model",
            architecture,
            metadata.get("training"),
            keras_version=metadata.get("keras_version"),
            backend=metadata.get("backend"),
        )
        if self.bundle is None or KEY not in self.bundle.entries:
            return stored._replace(groups=()), ()
        models = ObjectModels(ObjectGraph(self.bundle))
        try:
            weights = models.weights(architecture)
        except Refused as doubt:
            self._conversion_refusal = Refusal(doubt.code, doubt.message)
            return stored._replace(groups=()), ()
        stored = stored._replace(groups=weights.groups, optimizer=weights.optimizer)
        if stored.training is None and stored.optimizer:
            why = "this SavedModel does not store the compile settings it belongs to"
            return stored._replace(optimizer=None), (Code.OPTIMIZER_DROPPED(why=why),)
        if (
            stored.training is not None
            and stored.optimizer is None
            and models.optimizers.trains(stored.groups or ())
        ):
            return stored, (
                Code.OPTIMIZER_DROPPED(
                    why="in which order it is saved does not follow from the file"
                ),
            )
        return stored, ()

    def _without_layers(
        self, path: str, model: protobuf_messages.Message, metadata: dict[str, Any] | None
    ) -> tuple[Stored, tuple[Finding, ...]]:
        """Return a model that is stored without its layers; a subclassed one has its writer's versions."""
        if metadata is None or not metadata.get("is_subclassed"):
            return Stored("model"), ()
        self.subclassed = str(metadata["architecture"]["class_name"])
        version = metadata.get("keras_version")
        stored = Stored(
            "model",
            keras_version=version,
            backend=metadata.get("backend"),
            has_traced_calls=version is not None and self._has_traced_calls(path, model),
        )
        return stored, (Code.NO_GRAPH(what=self.subclassed),)

    def _has_traced_calls(self, path: str, model: protobuf_messages.Message) -> bool:
        """Return True if Keras 2 loads the subclassed model by its functions alone, without any custom class."""
        roots = [m.objects.nodes[0] for m in model.meta_graphs if m.objects.nodes]
        return any(
            child.local_name == keras_metadata_json.CALL
            for root in roots
            for child in root.children
        ) and not any(
            keras_metadata_json.needs_its_class(parse_object(text, f"{path}: Keras metadata"))
            for text in self._metadata_texts(path, model)
        )

    def _metadata(self, path: str, model: protobuf_messages.Message) -> dict[str, Any] | None:
        """Return the Keras config of the root, wherever this layout stores it; None without one."""
        if EXPORTED in self.files:
            file_path = os.path.join(path, EXPORTED)
            value = parse(
                read_plain_file(file_path, 64 << 20).decode("utf-8", "replace"), file_path
            )
            if is_architecture(value):
                assert isinstance(value, Mapping)
                return keras_metadata_json.model_of_exported_json(value)
        text = self._root_metadata(path, model)
        if not text:
            return None
        meta = parse_object(text, f"{path}: the root's Keras metadata")
        return keras_metadata_json.model_of_root_metadata(meta)

    def _metadata_texts(self, path: str, model: protobuf_messages.Message) -> Iterator[str]:
        """Yield the Keras metadata of every object that has some."""
        if METADATA in self.files:
            yield from keras_metadata_json.metadata_by_node(os.path.join(path, METADATA)).values()
            return
        for meta in model.meta_graphs:
            users = (node.user for node in meta.objects.nodes)
            yield from (str(u.metadata) for u in users if u.identifier.startswith("_tf_keras"))

    def _root_metadata(self, path: str, model: protobuf_messages.Message) -> str:
        if METADATA in self.files:
            return keras_metadata_json.metadata_by_node(os.path.join(path, METADATA)).get(0, "")
        for meta in model.meta_graphs:
            if meta.objects.nodes and meta.objects.nodes[0].user.identifier.startswith("_tf_keras"):
                return str(meta.objects.nodes[0].user.metadata)
        return ""

    @property
    def assets(self) -> tuple[str, ...]:
        """The files of the layers, without those of words that the architecture holds.

        The Keras model of layout C is one of them, and no layer's.
        """
        others = {EXPORTED, *self._files_of_words}
        return tuple(f for f in self.files if f.startswith("assets/") and f not in others)

    def serving(self) -> tuple[Any, Any]:
        """Return a fresh copy of the messages: (SavedModel, the MetaGraph that serves)."""
        model = protobuf_messages.parse(
            "SavedModel", self.graph_bytes, os.path.join(self.path, GRAPH)
        )
        return model, serving_meta_graph.choose(model, self.path)

    @property
    def members(self) -> Sequence[str]:
        """The files of the folder."""
        return self.files

    def cut(self) -> bytes:
        """Return the serving graph with one tower, serialised.

        Raises:
            Refused: the operations do not prove what the config says.

        """
        return self._cut

    @cached_property
    def _cut(self) -> bytes:
        # What cannot be cut is damaged, not the disk that is written to.
        with reading(os.path.join(self.path, GRAPH)):
            model, meta = self.serving()
            if not unwrap_meta_graph.cut_out_wrappers(meta, self.path).wrappers:
                raise Refused(
                    "cannot-cut",
                    f"{self.path}: the serving graph cannot be cut without doubt; "
                    "write the Keras model instead with --to h5",
                )
            return protobuf_messages.dump(cut_serving_graph.prune(model, meta))

    def plan(self, architecture: JsonObject | None, *, choices: Choices) -> Plan:
        """Plan by the layers if they show a wrapper, else by the serving graph: it may be in a layer's code."""
        return plan_by_both_graphs(
            self.stored,
            self._wrappers_in_serving_graph,
            self._metagraph_findings(),
            choices=choices,
            conversion_refusal=self._conversion_refusal,
        )

    def _wrappers_in_serving_graph(self) -> unwrap_meta_graph.ServedWrappers:
        """Return the wrappers among the operations that are served. Raises Unreadable, Refused."""
        _, meta = self.serving()
        return unwrap_meta_graph.cut_out_wrappers(meta, self.path)

    def _metagraph_findings(self) -> tuple[Finding, ...]:
        """Return the finding that names the graphs which no output has: those that are not for serving."""
        others = [t for t in self.tags if "serve" not in t] if len(self.tags) > 1 else []
        if not others:
            return ()
        return (Code.METAGRAPHS_LEFT_OUT(what=", ".join("+".join(t) for t in others)),)

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, checked against their checksum."""
        if self.bundle is None:
            raise KeyError(tensor.name)
        return self.bundle.blocks(self.bundle.entries[tensor.ref])

    def close(self) -> None:
        """Close the shards."""
        if self.bundle is not None:
            self.bundle.close()


def _models_beside(files: Sequence[str]) -> list[str]:
    """Return the parts of a SavedModel's folder that are models themselves, by their names: folders and files."""
    folders = {os.path.dirname(f) for f in files if os.path.basename(f) in (GRAPH, TEXT_GRAPH)} - {
        ""
    }
    models = [*folders, *(f for f in files if f.lower().endswith(MODEL_SUFFIXES))]
    return sorted(
        m for m in models if not any(str(parent) in folders for parent in PurePosixPath(m).parents)
    )


def _files(path: str) -> list[str]:
    """Return the relative path of every file in the folder, sorted. Raises Unreadable, Refused (links and such)."""
    files: list[str] = []
    pending = [path]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as e:
            raise Unreadable("cannot-open", f"{folder}: cannot be opened ({e.strerror})") from e
        for entry in entries:
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                pending.append(entry.path)
            elif stat.S_ISREG(mode):
                files.append(os.path.relpath(entry.path, path).replace(os.sep, "/"))
            else:
                raise Unreadable(
                    "link",
                    f"{entry.path}: a link or no plain file; TensorFlow writes no such thing",
                )
        if len(files) > MAX_FILES:
            raise Unreadable(
                "too-large", f"{path}: more than {MAX_FILES} files, which no SavedModel has"
            )
    return sorted(files)
