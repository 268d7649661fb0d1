"""The container `h5`: write the layout that `legacy_h5_reader` reads, and compare what was written with its source.

Tensors go from file to file by HDF5's own object copy, which keeps chunks and compression and never decodes them.
"""

from __future__ import annotations

from typing import ClassVar

import h5py

from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.plan import Output
from unnest.errors import Failed
from unnest.formats.container_interface import (
    MARK,
    MARKED,
    Container,
    OnBytes,
    Source,
    check_same_model,
)
from unnest.formats.hdf5 import read_attributes as h5_attributes
from unnest.formats.hdf5 import write_attributes
from unnest.formats.hdf5.compare_tensors import TensorComparer
from unnest.formats.hdf5.legacy_h5_reader import (
    KNOWN_ATTRIBUTES,
    MODEL,
    OPTIMIZER,
    TOP_LEVEL,
    H5Source,
)
from unnest.formats.hdf5.tensors_into_hdf5 import TensorCopier
from unnest.formats.parse_json import dump
from unnest.formats.translate_errors import writing_file


class H5Container(Container):
    """Reads and writes Keras's HDF5 layout."""

    name: ClassVar = "h5"
    suffix: ClassVar = ".h5"

    def open(self, path: str) -> H5Source:
        """Read the layout; the tensors stay in the file."""
        return H5Source(path)

    def write(self, output: Output, source: Source, path: str, progress: OnBytes) -> None:
        """Copy what the output's model names out of `source`. Raises Failed."""
        with writing_file(path):
            copier = TensorCopier(source, progress)
            with h5py.File(path, "x", libver="earliest") as hdf5:
                _Writer(hdf5, output.model, source, copier).write()
            with open(path, "r+b", buffering=0) as file:
                copier.fill_declared(file)

    def verify(
        self, output: Output, source: Source, path: str, progress: OnBytes
    ) -> tuple[str, ...]:
        """Compare structure and tensors' bytes with the source's. Return what was compared. Raises Failed."""
        model = output.model
        with self.open(path) as written:
            check_same_model(model, written.stored, path)
            comparer = TensorComparer(source, written.hdf5, progress)
            for tensor, written_tensor in zip(model.tensors, written.stored.tensors, strict=True):
                if not comparer.holds(tensor, written.hdf5.dataset(written_tensor.ref)):
                    name = written_tensor.name
                    raise Failed(
                        "read-back",
                        f"{path}: {name} reads back differently; the disk may be failing",
                    )
        checks = [
            "structure",
            *(["architecture"] if model.architecture is not None else []),
            "weights",
        ]
        return (*checks, "optimizer") if model.optimizer is not None else tuple(checks)


class _Writer:
    """Writes a stored model into a new file, in the order and the attribute styles of its source."""

    def __init__(
        self, file: h5py.File, model: Stored, source: Source, copier: TensorCopier
    ) -> None:
        self.file, self.model, self.style, self.copier = file, model, source.h5_style, copier

    def write(self) -> None:
        """Write versions, architecture, weights, compile settings and optimizer state in Keras's order."""
        is_model = self.model.contents == "model"
        root = self.file
        if is_model:
            self._versions(root, self.style.top, write_attributes.STR_TEXT)
            self._json("model_config", self.model.architecture)
            root = self.file.create_group(MODEL)
        else:
            write_attributes.write_text(root, MARK, MARKED, write_attributes.STR_TEXT)
        self._layers(root)
        if is_model and self.model.optimizer is not None:
            group = self.file.create_group(OPTIMIZER)
            self._tensors(group, self.model.optimizer, self.style.optimizer_names)
        if is_model:
            self._json("training_config", self.model.training)

    def _versions(
        self,
        group: h5py.Group,
        source_attributes: h5_attributes.Attributes,
        usual: h5_attributes.TextDtype,
    ) -> None:
        """Write the versions where the source has them (else everywhere), and copy unknown attributes.

        `usual` is the style if the source has none: text for a model, bytes for weights, since Keras decodes those when
        it loads them (Source: hdf5_format of TensorFlow 2.0 to 2.3).
        """
        for name, value in (
            ("keras_version", self.model.keras_version),
            ("backend", self.model.backend),
        ):
            if value is not None and (name in source_attributes or not self.style.layers):
                style = (
                    h5_attributes.text_dtype(source_attributes, name)
                    if name in source_attributes
                    else usual
                )
                write_attributes.write_text(group, name, value, style)
        for name in sorted(
            n
            for n in source_attributes
            if not KNOWN_ATTRIBUTES.fullmatch(n) and h5_attributes.can_copy(source_attributes, n)
        ):
            write_attributes.copy(source_attributes, name, group)

    def _json(self, name: str, value: JsonObject | None) -> None:
        if value is not None:
            top = self.style.top
            style = (
                h5_attributes.text_dtype(top, name) if name in top else write_attributes.BYTES_TEXT
            )
            write_attributes.write_text(self.file, name, dump(value), style)

    def _layers(self, root: h5py.Group) -> None:
        style = self.style
        names = [g.name for g in self.model.groups]
        write_attributes.write_names(
            root, "layer_names", names, h5_attributes.text_dtype(style.layers, "layer_names")
        )
        self._versions(root, style.layers, write_attributes.BYTES_TEXT)
        for layer in self.model.groups:
            # A layer's name may be a path, and lead through another layer's group.
            self._tensors(root.require_group(layer.name), layer.tensors, style.weight_names)
        if style.has_top_level:
            self._tensors(root.create_group(TOP_LEVEL), (), style.weight_names)

    def _tensors(
        self, group: h5py.Group, tensors: tuple[Tensor, ...], style: h5_attributes.TextDtype
    ) -> None:
        write_attributes.write_names(group, "weight_names", [t.name for t in tensors], style)
        for tensor in tensors:
            self.copier.write_dataset(group, tensor.name, tensor)
