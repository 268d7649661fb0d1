"""The index of a path-keyed file: `.weights.h5` and `.keras` of Keras 3, and of Keras 2 from 2.12 on.

A `PathKeyedTree` has the groups and tensors by path, as they are stored, and numbers a model's layers as the file's
writer did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Protocol

from unnest.core.architecture.graph import Layer
from unnest.core.model import JsonObject, Tensor
from unnest.errors import Unreadable
from unnest.formats.hdf5 import read_attributes as h5_attributes
from unnest.formats.hdf5.dataset_record_and_limits import DatasetNode, require_numbers
from unnest.formats.keras3.layer_paths import (
    COMPILED_PARTS,
    DEPENDENCIES,
    LAYERS,
    OPTIMIZER_GROUP,
    counts_as_weighted,
    join_path,
    layers_with_paths,
)
from unnest.formats.keras3.shared_layers import SharedLayers


class Index(Protocol):
    """The groups and datasets of a path-keyed file, from which its layers are located."""

    @property
    def path(self) -> str:
        """The path of the file, for messages."""

    @property
    def is_of_windows(self) -> bool:
        """True if the paths are stored as on Windows."""

    @property
    def groups(self) -> AbstractSet[str]:
        """The paths of the groups; that of the root is empty."""

    @property
    def datasets(self) -> Mapping[str, DatasetNode]:
        """Return the datasets of the file by path."""

    def attributes(self, path: str) -> h5_attributes.Attributes:
        """Return the attributes of a group. Raises Unreadable."""


class PathKeyedTree:
    """The index of a path-keyed file: groups and tensors, by path.

    `tensors_below` has the paths of the tensors of a sub-tree by that of its group, `compiled_parts` the same for what
    nested models have beside their layers, having been compiled themselves: these are in no other sub-tree.
    """

    def __init__(self, hdf5: Index, keras_version: str | None = None) -> None:
        """Index a file; `keras_version` is the writer's, if it is stored."""
        self.hdf5 = hdf5
        self.keras_version = keras_version
        self.groups = hdf5.groups
        #: What to do where an architecture is not that of the weights; a `.keras`, which has its version, holds both.
        self.way_out = (
            "pass the architecture of the saved model"
            if keras_version is None
            else "restore the file from a copy"
        )
        #: How the writer gets to a model's layers: LAYERS or DEPENDENCIES.
        self.attribute = DEPENDENCIES if DEPENDENCIES in hdf5.groups else LAYERS
        self.tensors_below: dict[str, list[str]] = {}
        self.compiled_parts: dict[str, list[str]] = {}
        for path in hdf5.datasets:
            parts = path.split("/")
            start = self._compiled_part_depth(parts)
            if start:
                self.compiled_parts.setdefault("/".join(parts[:start]), []).append(path)
            for depth in range(start, len(parts)):
                self.tensors_below.setdefault("/".join(parts[:depth]), []).append(path)
        optimizers = [
            f"{place}/vars" for place in self.compiled_parts if f"/{place}".endswith("/optimizer")
        ]
        #: The optimizer's group. It lies with a nested model that was compiled with the same optimizer: what is met
        #: first is stored.
        self.optimizer_group = (
            optimizers[0]
            if OPTIMIZER_GROUP not in hdf5.groups and len(optimizers) == 1
            else OPTIMIZER_GROUP
        )
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Check that the weights of each group are numbered from 0 on, as Keras looks for them.

        Custom layers may name theirs. The optimizer's, which may be left out, are checked by `unnumbered_optimizer`.

        Raises:
            Unreadable: a weight is missing or renamed.

        """
        numbers_by_group: dict[str, list[str]] = {}
        for path in self.hdf5.datasets:
            group, _, number = path.rpartition("/")
            if f"/{group}".endswith("/vars") and group != self.optimizer_group:
                numbers_by_group.setdefault(group, []).append(number)
        for group, numbers in numbers_by_group.items():
            if all(map(str.isdecimal, numbers)) and {*numbers} != {
                str(k) for k in range(len(numbers))
            }:
                what = f"/{group} holds weights {', '.join(sorted(numbers, key=int))}, where Keras counts from 0"
                raise Unreadable(
                    "missing-weight", f"{self.hdf5.path}: {what}; restore the file from a copy"
                )

    def _compiled_part_depth(self, parts: Sequence[str]) -> int:
        """Return how many parts lead to a nested model's own optimizer or metrics; 0 if the path is in none."""
        for k, part in enumerate(parts):
            if (
                k
                and part in COMPILED_PARTS
                and join_path("/".join(parts[:k]), self.attribute) in self.groups
            ):
                return k + 1
        return 0

    def layers_with_paths(
        self, model: JsonObject, prefix: str = "", shared: SharedLayers | None = None
    ) -> Iterator[tuple[Layer, str]]:
        """Yield every layer of a model at `prefix` with the path of its group, whether the file has that group or not.

        `shared` are the layers that the models before this one have.
        """

        def first_path(layer: Layer, path: str) -> str | None:
            is_stored = self.counts_shared and path in self.groups
            return None if shared is None else shared.first_path(layer, path, is_stored=is_stored)

        def has_weights(layer: Layer, path: str) -> bool:
            return path in self.tensors_below or counts_as_weighted(layer)

        return self.layers_numbered_as_written(model, prefix, has_weights, first_path)

    def layers_numbered_as_written(
        self,
        model: JsonObject,
        prefix: str,
        has_weights: Callable[[Layer, str], bool],
        first_path: Callable[[Layer, str], str | None] = lambda *_: None,
    ) -> Iterator[tuple[Layer, str]]:
        """Yield every layer of a model with the path of its group, numbered as this file's writer numbers it."""

        def numbers_taken(layer: Layer, path: str, stored_path: str) -> int:
            if stored_path != path and not self.counts_shared:
                return 0
            return 2 if self.counts_weights_twice and has_weights(layer, stored_path) else 1

        return layers_with_paths(model, prefix, self.attribute, numbers_taken, first_path)

    @cached_property
    def counts_shared(self) -> bool:
        """True if a layer that another model stores already takes up a number: in Keras 3, 2.12 and 2.13 it does."""
        if self.keras_version is not None:
            return self.keras_version.startswith(("2.12.", "2.13.", "3."))
        return self.counts_weights_twice or self.stores_layer_names()

    @cached_property
    def counts_weights_twice(self) -> bool:
        """Return True if a layer with weights takes up two numbers, as in Keras 2.12 and 2.13.

        Where no version is stored, it does unless a layer has the number after that of one with weights. A file in
        which no class comes again after such a layer is read alike either way.
        """
        if self.attribute != DEPENDENCIES:
            return False
        if self.keras_version is not None:
            return self.keras_version.startswith(("2.12.", "2.13."))
        return not any(self._follows_weights(group) for group in self.groups)

    def _follows_weights(self, group: str) -> bool:
        """Return True if this is the group of a layer, and the number before it is that of one with weights."""
        model, _, name = group.rpartition("/")
        stem, _, number = name.rpartition("_")
        if model.rpartition("/")[2] != DEPENDENCIES or not number.isdecimal():
            return False
        before = f"{stem}_{int(number) - 1}" if int(number) > 1 else stem
        return join_path(model, before) in self.tensors_below

    def tensor_paths_under(self, path: str) -> list[str]:
        """Return a sub-tree's tensor paths in Keras's order: own first, then by attribute, numbers as numbers."""
        return sorted(
            self.tensors_below.get(path, []),
            key=lambda p: [_rank(x) for x in p[len(path) :].split("/")],
        )

    def tensor(self, path: str, owner: tuple[str, ...] = (), *, trained: bool = True) -> Tensor:
        """Return the handle of a stored array."""
        node = self.hdf5.datasets[path]
        require_numbers(node, f"{self.hdf5.path}: /{path}")
        return Tensor(path, node.shape, node.dtype, path, owner, trained)

    def leftover_variables(self) -> dict[str, list[str]]:
        """Return variables of models that belong to no model taken out of this file: place -> tensors.

        That is what nested models were compiled with, and variables of the outermost model itself.
        """
        own = [path for path in self.hdf5.datasets if path.rpartition("/")[0] == "vars"]
        return {
            **({"vars": own} if own else {}),
            **{
                place: paths
                for place, paths in sorted(self.compiled_parts.items())
                if f"{place}/vars" != self.optimizer_group
            },
        }

    def name(self, path: str) -> str | None:
        """Return the layer's name if Keras 3 notes it, else None."""
        vars_ = join_path(path, "vars")
        return (
            h5_attributes.text(self.hdf5.attributes(vars_), "name", self.hdf5.path)
            if vars_ in self.groups
            else None
        )

    def optimizer(self) -> tuple[Tensor, ...] | None:
        """Return the optimizer's variables in order; None without them, or if their numbers leave a gap."""
        if self.optimizer_group not in self.groups or self.unnumbered_optimizer:
            return None
        return tuple(self.tensor(p) for p in self.tensor_paths_under(self.optimizer_group))

    @cached_property
    def unnumbered_optimizer(self) -> tuple[str, ...]:
        """Paths of the optimizer's variables if their numbers leave a gap; else ().

        Keras finds them by their numbers alone: what moved up would be another weight's.
        """
        start = self.optimizer_group + "/"
        paths = self.tensor_paths_under(self.optimizer_group)
        is_numbered = paths == [f"{start}{k}" for k in range(len(paths))]
        return (
            ()
            if is_numbered and not any(g.startswith(start) for g in self.groups)
            else tuple(paths)
        )

    def stores_layer_names(self) -> bool:
        """Return True if layers' names stand beside their weights, as Keras 3 writes them."""
        return any(self.name(g.rpartition("/")[0]) for g in self.groups if g.endswith("/vars"))


def _rank(part: str) -> tuple[int, int, str]:
    """Return a sort key: `vars` before attributes, 2 before 10."""
    if part == "vars":
        return 0, 0, ""
    return (1, int(part), "") if part.isdigit() else (2, 0, part)
