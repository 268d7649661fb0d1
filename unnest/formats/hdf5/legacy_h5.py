"""Keras's HDF5 layout: a full model, or weights only. Read into a stored model, and written.

    /                     keras_version, backend, model_config, training_config
      model_weights       layer_names, backend, keras_version
        <layer>           weight_names
          <weight name>   a dataset; slashes in the name make groups
      optimizer_weights   weight_names
        <weight name>

A weights-only file has what is below `model_weights` at its root. Tensors go from file to file
by HDF5's own object copy, which keeps chunks and compression and never decodes them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import ClassVar

import h5py

from unnest.budget import refunded
from unnest.core.model import Group, JsonObject, Output, Stored, Tensor
from unnest.errors import Failed, Unreadable
from unnest.files.atomic import write_failed
from unnest.findings import Code, Finding, listed
from unnest.formats.base import BLOCK, MARK, MARKED, Container, OnBytes, Source, same_model
from unnest.formats.boundary import oneline
from unnest.formats.detect import is_path_keyed
from unnest.formats.hdf5 import attributes as h5_attributes
from unnest.formats.hdf5.compare import Comparer, slabs
from unnest.formats.hdf5.copy_tensors import Transfer
from unnest.formats.hdf5.guarded_file import NOT_PLAIN, GuardedFile, short
from unnest.formats.hdf5.plain_file import NotPlain, PlainFile, require
from unnest.formats.json_text import dump, parse_object
from unnest.formats.spelling import H5Spelling

MODEL, OPTIMIZER = "model_weights", "optimizer_weights"

#: Newer Keras writes the model's own variables here, beside the layers; a functional model has none.
TOP_LEVEL = "top_level_model_weights"

#: Attributes that a stored model knows; all others are carried as they are.
KNOWN = re.compile(r"unnest|keras_version|backend|model_config|training_config|(layer|weight)_names\d*")


class H5Source(Source):
    """A Keras HDF5 file, its tree walked and its tensors untouched."""

    container: ClassVar = "h5"

    def __init__(self, path: str, plain: PlainFile | None = None) -> None:
        """With `plain` nothing else is opened until somebody asks for the tensors."""
        self._guarded = None if plain is not None else GuardedFile(path)
        index = plain or self.hdf5
        try:
            self.root = root_of(index)
            reader = _Reader(index, self.root)
            stored, findings = reader.read()
            self._json_texts = reader.json_texts
            self.json_size = sum(len(text) for _, text in reader.json_texts)
        except BaseException:
            self.close()
            raise
        super().__init__(path, stored, findings)

    @property
    def hdf5(self) -> GuardedFile:
        """The file as HDF5's library has it open."""
        if self._guarded is None:
            self._guarded = GuardedFile(self.path)
        return self._guarded

    @property
    def content(self) -> Hashable:
        """All of it: what is planned follows from the stored model alone, and that from the index and these texts."""
        return self._json_texts, self.stored._replace(architecture=None, training=None), self.findings

    def _place(self, layer: str) -> str:
        return f"{self.root}/{layer}" if self.root else layer

    @property
    def h5_spelling(self) -> H5Spelling:
        """As it was read; an empty list of weights does not tell how the others are stored."""

        def names_style(group: str) -> h5_attributes.Style:
            return h5_attributes.style(self.hdf5.attributes(group), "weight_names")

        with_weights = next((g.name for g in self.stored.groups if g.tensors), None)
        return H5Spelling(
            self.hdf5.attributes(""),
            self.hdf5.attributes(self.root),
            None if with_weights is None else names_style(self._place(with_weights)),
            names_style(OPTIMIZER) if OPTIMIZER in self.hdf5.groups else None,
            self._place(TOP_LEVEL) in self.hdf5.groups,
        )

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """The tensor's bytes, decoded where they are compressed."""
        for slab in slabs(self.hdf5.dataset(tensor.ref)):
            for start in range(0, len(slab), BLOCK):
                yield slab[start : start + BLOCK]

    def hdf5_of(self, tensor: Tensor) -> GuardedFile | None:
        """The file itself."""
        return self.hdf5 if tensor.recipe is None else None

    def close(self) -> None:
        """Close the file."""
        if self._guarded is not None:
            self._guarded.close()


def looked_at(path: str) -> H5Source | None:
    """The source at the HDF5 file `path` for a look at it; None where it takes HDF5's library to tell.

    Its tensors can be had, but by opening the file again: who copies them uses `H5Container.open`. Raises Unreadable.
    """
    try:
        with refunded(NotPlain):
            plain = PlainFile(path)
            require(not is_path_keyed(plain.has_attribute, plain.__contains__))
            return H5Source(path, plain)
    except NotPlain:
        return None


def root_of(hdf5: GuardedFile | PlainFile) -> str:
    """The path of the group that the layers' groups are in."""
    return MODEL if MODEL in hdf5.groups else ""


def read(hdf5: GuardedFile | PlainFile, root: str) -> tuple[Stored, tuple[Finding, ...]]:
    """The model that a file holds, and what else is in it. Raises Unreadable, OverBudget or NotPlain."""
    return _Reader(hdf5, root).read()


class _Reader:
    """From the index of an HDF5 file to a stored model."""

    def __init__(self, hdf5: GuardedFile | PlainFile, root: str) -> None:
        self.hdf5, self.root = hdf5, root
        self.json_texts: tuple[tuple[str, str], ...] = ()
        #: The paths of the datasets that are some layer's weights, or optimizer state.
        self.tensor_paths: set[str] = set()

    def read(self) -> tuple[Stored, tuple[Finding, ...]]:
        top = self.hdf5.attributes("")
        architecture = self._json(top, "model_config")
        layers = self.hdf5.attributes(self.root) if self.root else top
        names = h5_attributes.names(layers, "layer_names", self._place(self.root))
        if names is None:
            raise self._no_weights(architecture is not None, top)
        training = self._json(top, "training_config")
        if architecture is None and (training is not None or OPTIMIZER in self.hdf5.groups):
            raise Unreadable(
                "damaged",
                f"{self.hdf5.path}: holds what only a whole model has, but no model_config; "
                "the file is damaged: restore it from a copy",
            )
        groups = tuple(self._layer(name) for name in self._unique(names, self.root))
        stored = Stored(
            contents="weights" if architecture is None else "model",
            architecture=architecture,
            training=training,
            groups=groups,
            optimizer=self._tensors(OPTIMIZER) if OPTIMIZER in self.hdf5.groups else None,
            keras_version=self._version("keras_version", top, layers),
            backend=self._version("backend", top, layers),
            is_ours=architecture is None and MARK in top,
        )
        return stored, self._left_behind({"": top, self.root: layers})

    def _place(self, path: str) -> str:
        return f"{self.hdf5.path}: /{short(path)}"

    def _version(self, name: str, top: h5_attributes.Attributes, layers: h5_attributes.Attributes) -> str | None:
        """Of the file, else of the group of its layers; both must be texts, as both are written again."""
        of_layers = h5_attributes.text(layers, name, self._place(self.root))
        return h5_attributes.text(top, name, self._place("")) if name in top else of_layers

    def _json(self, top: h5_attributes.Attributes, name: str) -> JsonObject | None:
        text = h5_attributes.text(top, name, self._place(""))
        if text is None:
            return None
        self.json_texts += ((name, text),)
        return parse_object(text, f"{self.hdf5.path}: {name}")

    def _layer(self, name: str) -> Group:
        path = f"{self.root}/{name}" if self.root else name
        if path not in self.hdf5.groups:
            raise Unreadable(
                "missing-layer", f"{self._place(path)} is listed in layer_names but not there; the file is damaged"
            )
        return Group(name, self._tensors(path))

    def _tensors(self, path: str) -> tuple[Tensor, ...]:
        names = h5_attributes.names(self.hdf5.attributes(path), "weight_names", self._place(path))
        if names is None:
            raise Unreadable(
                "bad-attribute", f"{self._place(path)} has no weight_names; the file is damaged or not Keras's"
            )
        return tuple(self._tensor(path, name) for name in self._unique(names, path))

    def _tensor(self, group: str, name: str) -> Tensor:
        node = self.hdf5.datasets.get(_path(group, name))
        if node is None:
            raise Unreadable(
                "missing-weight",
                f"{self._place(group)} lists a weight {short(name)!r} that is not in it; the file is damaged",
            )
        if node.dtype == NOT_PLAIN:
            raise Unreadable(
                "not-a-tensor", f"{self._place(node.path)} is not an array of numbers; do not trust this file"
            )
        self.tensor_paths.add(node.path)
        return Tensor(name, node.shape, node.dtype, node.path)

    def _unique(self, names: tuple[str, ...], path: str) -> tuple[str, ...]:
        """The names. Raises Unreadable where one is listed twice."""
        listed_names: set[str] = set()
        for name in names:
            if name in listed_names:
                raise Unreadable(
                    "duplicate-name", f"{self._place(path)} lists {short(name)!r} twice; the file is damaged"
                )
            listed_names.add(name)
        return names

    def _no_weights(self, has_architecture: bool, top: h5_attributes.Attributes) -> Unreadable:
        path = self.hdf5.path
        if has_architecture:
            return Unreadable("no-weights", f"{path}: holds an architecture but no layer_names; the file is damaged")
        if "layers" in self.hdf5.groups or "_layer_checkpoint_dependencies" in self.hdf5.groups:
            return Unreadable(
                "not-supported-yet", f"{path}: is a path-keyed .weights.h5, which this version cannot read yet"
            )
        if "keras_version" in top or self.root:
            return Unreadable(
                "stub",
                f"{path}: saving broke off before anything was written (Keras 2.0.9-2.1.6 and multi_gpu_model); "
                "nothing in it can be recovered: look for a save_weights file or another checkpoint",
            )
        return Unreadable("not-keras", f"{path}: is an HDF5 file, but neither a Keras model nor Keras weights")

    def _left_behind(self, attributes: Mapping[str, h5_attributes.Attributes]) -> tuple[Finding, ...]:
        """Whatever the file holds that no model accounts for: it will not be in the output."""
        not_carried = [p for p in self.hdf5.datasets if p not in self.tensor_paths] + self.hdf5.others
        for path, of_group in attributes.items():
            not_carried += [
                f"{path}@{n}" for n in of_group if not KNOWN.fullmatch(n) and not h5_attributes.can_copy(of_group, n)
            ]
        return (Code.NOT_CARRIED(what=listed(sorted("/" + p for p in not_carried))),) if not_carried else ()


def _path(group: str, name: str) -> str:
    """Where HDF5 finds a name: slashes in a row are one, and what begins with one is found from the root on.

    The latter is a number of the optimizer's alone; no layer's weight is out of its layer.
    (Source: Keras 2.0 to 2.1 on Theano calls what is made outside of a name scope `/iterations`.)
    """
    if name.startswith("/"):
        return name.strip("/") if group == OPTIMIZER else name
    return "/".join(part for part in f"{group}/{name}".split("/") if part)


class H5Container(Container):
    """Reads and writes Keras's HDF5 layout."""

    name: ClassVar = "h5"
    suffix: ClassVar = ".h5"

    def open(self, path: str) -> H5Source:
        """Read the layout; the tensors stay in the file."""
        return H5Source(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Copy what the output's model names out of `source`."""
        try:
            with h5py.File(path, "x", libver="earliest") as file:
                writer = _Writer(file, output.model, source, progress)
                writer.write()
            writer.fill(path)
        except (OSError, RuntimeError) as e:
            raise write_failed(path, e) from e
        except (ValueError, KeyError) as e:
            raise Failed("write", f"{path}: cannot be written ({oneline(e)})") from e

    def verify(self, output: Output, source: Source, path: str, progress: OnBytes) -> tuple[str, ...]:
        """Structure by equality, tensors by their stored bytes."""
        model = output.model
        with self.open(path) as written:
            same_model(model, written.stored, path)
            with Comparer(source, written.hdf5, progress) as comparer:
                for tensor, written_tensor in zip(model.tensors, written.stored.tensors, strict=True):
                    is_same = comparer.holds(tensor, written.hdf5.dataset(written_tensor.ref))
                    if not is_same:
                        raise Failed(
                            "read-back",
                            f"{path}: {written_tensor.name} reads back differently; the disk may be failing",
                        )
        checks = ["structure", *(["architecture"] if model.architecture is not None else []), "weights"]
        return (*checks, "optimizer") if model.optimizer is not None else tuple(checks)


class _Writer:
    """A stored model into a new file, in the order and the attribute styles of its source."""

    def __init__(self, file: h5py.File, model: Stored, source: Source, progress: OnBytes) -> None:
        self.file, self.model, self.spelling = file, model, source.h5_spelling
        self.transfer = Transfer(source, progress)

    def write(self) -> None:
        is_model = self.model.contents == "model"
        root = self.file
        if is_model:
            self._versions(root, self.spelling.top, h5_attributes.STR_TEXT)
            self._json("model_config", self.model.architecture)
            root = self.file.create_group(MODEL)
        else:
            h5_attributes.write_text(root, MARK, MARKED, h5_attributes.STR_TEXT)
        self._layers(root)
        if is_model and self.model.optimizer is not None:
            group = self.file.create_group(OPTIMIZER)
            self._tensors(group, self.model.optimizer, self.spelling.optimizer_names)
        if is_model:
            self._json("training_config", self.model.training)

    def _versions(
        self, group: h5py.Group, source_attributes: h5_attributes.Attributes, usual: h5_attributes.Style
    ) -> None:
        """Where the source has them; everywhere where it has no such places. And what else is there.

        `usual` is the style without a source's: a model's is text, its weights' bytes, which are decoded where they are
        loaded (source: hdf5_format of TensorFlow 2.0 to 2.3).
        """
        for name, value in (("keras_version", self.model.keras_version), ("backend", self.model.backend)):
            if value is not None and (name in source_attributes or not self.spelling.layers):
                style = h5_attributes.style(source_attributes, name) if name in source_attributes else usual
                h5_attributes.write_text(group, name, value, style)
        for name in sorted(
            n for n in source_attributes if not KNOWN.fullmatch(n) and h5_attributes.can_copy(source_attributes, n)
        ):
            h5_attributes.copy(source_attributes, name, group)

    def _json(self, name: str, value: JsonObject | None) -> None:
        if value is not None:
            top = self.spelling.top
            style = h5_attributes.style(top, name) if name in top else h5_attributes.BYTES_TEXT
            h5_attributes.write_text(self.file, name, dump(value), style)

    def _layers(self, root: h5py.Group) -> None:
        spelling = self.spelling
        names = [g.name for g in self.model.groups]
        h5_attributes.write_names(root, "layer_names", names, h5_attributes.style(spelling.layers, "layer_names"))
        self._versions(root, spelling.layers, h5_attributes.BYTES_TEXT)
        for layer in self.model.groups:
            # A layer's name may be a path, and lead through another layer's group.
            self._tensors(root.require_group(layer.name), layer.tensors, spelling.weight_names)
        if spelling.has_top_level:
            self._tensors(root.create_group(TOP_LEVEL), (), spelling.weight_names)

    def _tensors(self, group: h5py.Group, tensors: tuple[Tensor, ...], style: h5_attributes.Style) -> None:
        h5_attributes.write_names(group, "weight_names", [t.name for t in tensors], style)
        for tensor in tensors:
            self.transfer.put(group, tensor.name, tensor)

    def fill(self, path: str) -> None:
        """Put the bytes of other containers' tensors where they belong; HDF5 has closed the file by then."""
        if self.transfer.pending:
            with open(path, "r+b", buffering=0) as file:
                self.transfer.fill(file)
