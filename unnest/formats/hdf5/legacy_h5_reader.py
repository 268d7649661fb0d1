"""Keras's HDF5 layout: a full model, or weights only. Read into a stored model.

    /                     keras_version, backend, model_config, training_config
      model_weights       layer_names, backend, keras_version
        <layer>           weight_names
          <weight name>   a dataset; slashes in the name make groups
      optimizer_weights   weight_names
        <weight name>

A weights-only file has what is below `model_weights` at its root.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.errors import Unreadable
from unnest.findings import Code, Finding, listed
from unnest.formats.container_interface import MARK, Source
from unnest.formats.hdf5 import read_attributes as h5_attributes
from unnest.formats.hdf5.dataset_record_and_limits import require_numbers, short
from unnest.formats.hdf5.fast_reader import PlainFile
from unnest.formats.parse_json import parse_object
from unnest.formats.preserved_style import H5Style

if TYPE_CHECKING:
    from unnest.formats.hdf5.guarded_file import GuardedFile

MODEL, OPTIMIZER = "model_weights", "optimizer_weights"

#: Newer Keras writes the model's own variables here, beside the layers; a functional model has none.
TOP_LEVEL = "top_level_model_weights"

#: Attributes that a stored model knows; all others are carried as they are.
KNOWN_ATTRIBUTES = re.compile(
    r"unnest|keras_version|backend|model_config|training_config|(layer|weight)_names\d*"
)


class H5Source(Source):
    """A Keras HDF5 file, its tree walked and its tensors untouched."""

    container: ClassVar = "h5"

    def __init__(self, path: str, plain: PlainFile | None = None) -> None:
        """Read architecture and index; with `plain`, HDF5's library opens the file when tensors are read."""
        self._guarded = None if plain is not None else _opened(path)
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
            self._guarded = _opened(self.path)
        return self._guarded

    @property
    def content(self) -> Hashable:
        """A key that decides plan and report: the stored model follows from the index and the JSON texts."""
        return (
            self._json_texts,
            self.stored._replace(architecture=None, training=None),
            self.findings,
        )

    def _place(self, layer_name: str) -> str:
        return f"{self.root}/{layer_name}" if self.root else layer_name

    @property
    def h5_style(self) -> H5Style:
        """The spelling of the file; an empty list of weights does not show how the others are stored."""

        def names_style(group: str) -> h5_attributes.TextDtype:
            return h5_attributes.text_dtype(self.hdf5.attributes(group), "weight_names")

        with_weights = next((g.name for g in self.stored.groups if g.tensors), None)
        return H5Style(
            self.hdf5.attributes(""),
            self.hdf5.attributes(self.root),
            None if with_weights is None else names_style(self._place(with_weights)),
            None if self.stored.optimizer is None else names_style(OPTIMIZER),
            self._place(TOP_LEVEL) in self.hdf5.groups,
        )

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        """Yield the tensor's bytes, decompressed."""
        from unnest.formats.hdf5.read_datasets import blocks  # as `_opened`

        return blocks(self.hdf5.dataset(tensor.ref))

    def hdf5_of(self, tensor: Tensor) -> GuardedFile | None:
        """Return the file itself, unless the tensor is computed."""
        return self.hdf5 if tensor.recipe is None else None

    def close(self) -> None:
        """Close the file."""
        if self._guarded is not None:
            self._guarded.close()


def _opened(path: str) -> GuardedFile:
    """Open the file by HDF5's library, which takes longer to load than most of what `inspect` does."""
    from unnest.formats.hdf5.guarded_file import GuardedFile

    return GuardedFile(path)


def root_of(hdf5: GuardedFile | PlainFile) -> str:
    """Return the path of the group that contains the layers' groups: the root, where that lists layers itself.

    Then a layer of a weights-only file may be called `model_weights`.
    """
    lists_layers = not {"layer_names", "layer_names0"}.isdisjoint(hdf5.attributes(""))
    return MODEL if MODEL in hdf5.groups and not lists_layers else ""


def read(hdf5: GuardedFile | PlainFile, root: str) -> tuple[Stored, tuple[Finding, ...]]:
    """Return the model in a file, and findings on what else is in it. Raises Unreadable, OverBudget or NotPlain."""
    return _Reader(hdf5, root).read()


class _Reader:
    """From the index of an HDF5 file to a stored model."""

    def __init__(self, hdf5: GuardedFile | PlainFile, root: str) -> None:
        self.hdf5, self.root = hdf5, root
        self.json_texts: tuple[tuple[str, str], ...] = ()
        #: The paths of the datasets that are some layer's weights, or optimizer state.
        self.tensor_paths: set[str] = set()

    def read(self) -> tuple[Stored, tuple[Finding, ...]]:
        """Return the stored model, and findings on the rest of the file. Raises Unreadable."""
        top = self.hdf5.attributes("")
        architecture = self._json(top, "model_config")
        layers = self.hdf5.attributes(self.root) if self.root else top
        names = h5_attributes.names(layers, "layer_names", self._place(self.root))
        if names is None:
            raise self._no_weights(architecture is not None, top)
        listed = self._unique(names, self.root)
        has_optimizer = OPTIMIZER in self.hdf5.groups and (self.root or OPTIMIZER not in listed)
        training = self._json(top, "training_config")
        if architecture is None and (training is not None or has_optimizer):
            raise Unreadable(
                "damaged",
                f"{self.hdf5.path}: holds what only a whole model has, but no model_config; "
                "the file is damaged; copy it again",
            )
        groups = tuple(self._layer(name) for name in listed)
        stored = Stored(
            contents="weights" if architecture is None else "model",
            architecture=architecture,
            training=training,
            groups=groups,
            optimizer=self._tensors(OPTIMIZER) if has_optimizer else None,
            keras_version=self._version("keras_version", top, layers),
            backend=self._version("backend", top, layers),
            is_ours=architecture is None and MARK in top,
        )
        return stored, self._not_carried({"": top, self.root: layers})

    def _place(self, path: str) -> str:
        return f"{self.hdf5.path}: /{short(path)}"

    def _version(
        self, name: str, top: h5_attributes.Attributes, layers: h5_attributes.Attributes
    ) -> str | None:
        """Return a version from the file's attributes, else its layers'; both must be texts, as both are rewritten."""
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
                "missing-layer",
                f"{self._place(path)} is listed in layer_names but not there; the file is damaged; copy it again",
            )
        return Group(name, self._tensors(path))

    def _tensors(self, path: str) -> tuple[Tensor, ...]:
        names = h5_attributes.names(self.hdf5.attributes(path), "weight_names", self._place(path))
        if names is None:
            raise Unreadable(
                "bad-attribute",
                f"{self._place(path)} has no weight_names; the file is damaged or not Keras's",
            )
        return tuple(self._tensor(path, name) for name in self._unique(names, path))

    def _tensor(self, group: str, name: str) -> Tensor:
        node = self.hdf5.datasets.get(_path(group, name))
        if node is None:
            raise Unreadable(
                "missing-weight",
                f"{self._place(group)} lists a weight {short(name)!r} that is not in it; the file is damaged; copy it "
                "again",
            )
        require_numbers(node, self._place(node.path))
        self.tensor_paths.add(node.path)
        return Tensor(name, node.shape, node.dtype, node.path)

    def _unique(self, names: tuple[str, ...], path: str) -> tuple[str, ...]:
        """Return the names. Raises Unreadable if one is listed twice."""
        listed_names: set[str] = set()
        for name in names:
            if name in listed_names:
                raise Unreadable(
                    "duplicate-name",
                    f"{self._place(path)} lists {short(name)!r} twice; the file is damaged; copy it again",
                )
            listed_names.add(name)
        return names

    def _no_weights(self, has_architecture: bool, top: h5_attributes.Attributes) -> Unreadable:
        """Return the error for a file without a list of layers, by what else is in it."""
        path = self.hdf5.path
        if has_architecture:
            return Unreadable(
                "no-weights",
                f"{path}: holds an architecture but no layer_names; the file is damaged; copy it again",
            )
        if "keras_version" in top or self.root:
            return Unreadable(
                "stub",
                f"{path}: saving broke off before anything was written, as happened to Keras 2.0.9 to 2.1.6 with "
                "multi_gpu_model, for one; nothing is in it: look for a save_weights file or another checkpoint",
            )
        return Unreadable(
            "not-keras",
            f"{path}: is HDF5, but no Keras model or weights; pass the file of model.save() or save_weights()",
        )

    def _not_carried(
        self, attributes: Mapping[str, h5_attributes.Attributes]
    ) -> tuple[Finding, ...]:
        """Report everything in the file that belongs to no model, and so will not be in the output."""
        not_carried = [
            p for p in self.hdf5.datasets if p not in self.tensor_paths
        ] + self.hdf5.others
        for path, of_group in attributes.items():
            not_carried += [
                f"{path}@{n}"
                for n in of_group
                if not KNOWN_ATTRIBUTES.fullmatch(n) and not h5_attributes.can_copy(of_group, n)
            ]
        return (
            (Code.NOT_CARRIED(what=listed(sorted("/" + p for p in not_carried))),)
            if not_carried
            else ()
        )


def _path(group: str, name: str) -> str:
    """Return the path at which HDF5 finds a name: repeated slashes count as one, a leading slash starts at the root.

    A leading slash occurs in variables of the optimizer alone; weights of layers stay below their layer. (Source: Keras
    2.0 to 2.1 on Theano calls what is made outside of a name scope `/iterations`.)
    """
    if name.startswith("/"):
        return name.strip("/") if group == OPTIMIZER else name
    return "/".join(part for part in f"{group}/{name}".split("/") if part)
