"""Read a path-keyed file (`.weights.h5` and `.keras` of Keras 3, and of Keras 2 from 2.12 on).

A `PathKeyedTree` is the file as it is stored, a `Placement` where the layers of one model lie in it. `layer_paths` has
the paths of a model's layers, `path_keyed_layout` is the inverse, `path_keyed_weight_order` the order in which Keras
lists the weights that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple, Protocol

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import by_owner
from unnest.core.keras_facts.expected_weight_counts import trained_count
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.plan import Move
from unnest.core.weight_assignment.layer_weights import trained_first
from unnest.errors import Refused, Unreadable
from unnest.formats.hdf5 import attributes as h5_attributes
from unnest.formats.hdf5.dataset_node import DatasetNode, require_numbers
from unnest.formats.keras3.layer_paths import (
    COMPILED_PARTS,
    DEPENDENCIES,
    LAYERS,
    OPTIMIZER_GROUP,
    join_path,
    places,
    promises_weights,
)
from unnest.formats.keras3.shared_layers import SharedLayers


class Index(Protocol):
    """The groups and datasets of a path-keyed file, from which its layers are located."""

    @property
    def path(self) -> str:
        """The path of the file, for messages."""

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

    def places(
        self, model: JsonObject, prefix: str = "", shared: SharedLayers | None = None
    ) -> Iterator[tuple[Layer, str]]:
        """Yield every layer of a model at `prefix` with the path of its group, whether the file has that group or not.

        `shared` are the layers that the models before this one have.
        """

        def first_path(layer: Layer, path: str) -> str | None:
            is_stored = self.counts_shared and path in self.groups
            return None if shared is None else shared.first_path(layer, path, is_stored=is_stored)

        def has_weights(layer: Layer, path: str) -> bool:
            return path in self.tensors_below or promises_weights(layer)

        return self.numbered(model, prefix, has_weights, first_path)

    def numbered(
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

        return places(model, prefix, self.attribute, numbers_taken, first_path)

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

    def under(self, path: str) -> list[str]:
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
        return tuple(self.tensor(p) for p in self.under(self.optimizer_group))

    @cached_property
    def unnumbered_optimizer(self) -> tuple[str, ...]:
        """Paths of the optimizer's variables if their numbers leave a gap; else ().

        Keras finds them by their numbers alone: what moved up would be another weight's.
        """
        start = self.optimizer_group + "/"
        paths = self.under(self.optimizer_group)
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


class Placement:
    """The paths of a model's layers, and of those nested in it, in a file, with the weights of each."""

    def __init__(
        self,
        tree: PathKeyedTree,
        model: JsonObject,
        prefix: str = "",
        *,
        has_its_names: bool = True,
    ) -> None:
        """Locate the layers below `prefix`, at which the sub-tree of the model starts.

        Not `has_its_names`: the model is another program's, so its layers may have other names.

        Raises:
            Refused: model and file do not fit.

        """
        self.tree = tree
        self._has_its_names = has_its_names
        #: (layer name, class) -> where the layer is, outermost first.
        self.layer_paths: dict[tuple[str, str], list[str]] = {}
        #: Path of a weight -> that of the layer that owns it.
        self._owners: dict[str, str] = {}
        #: Path of a model -> the paths of its weights, those included that an earlier model stores.
        self._weights_of_models: dict[str, set[str]] = {}
        #: Path of a layer -> its weights.
        self._weights: dict[str, tuple[Tensor, ...]] = {}
        self._shared = SharedLayers()
        #: A group per layer of the model.
        self.groups = self._groups(model, prefix)

    def _groups(self, model: JsonObject, prefix: str) -> tuple[Group, ...]:
        """Return the weights of each layer of a model that is stored below `prefix`, in the order of its layers.

        Raises:
            Refused: a layer has no place, or another's, or a tensor there is of no layer.

        """
        tree = self.tree
        groups = []
        placed_paths: set[str] = set()
        for layer, path in tree.places(model, prefix, self._shared):
            if path in self._weights:
                # A layer that another model has, too, and whose tensors have their place there.
                groups.append(Group(layer.name, self._weights[path]))
                continue
            stored_name = tree.name(path) if path in tree.groups else None
            is_other = (
                self._has_its_names and stored_name not in (None, layer.name) and layer.is_named
            )
            if (path not in tree.groups and promises_weights(layer)) or is_other:
                raise Refused(
                    "architecture-mismatch",
                    f"{tree.hdf5.path}: /{path} is not {layer.name!r}; {tree.way_out}",
                )
            self.layer_paths.setdefault((layer.name, layer.class_name), []).append(path)
            placed_paths |= set(tree.tensors_below.get(path, ()))
            self._weights[path] = self._layer(layer, path)
            groups.append(Group(layer.name, self._weights[path]))
        strays = set(tree.tensors_below.get(join_path(prefix, tree.attribute), ())) - placed_paths
        if strays:
            raise Refused(
                "architecture-mismatch",
                f"{tree.hdf5.path}: /{min(strays)} is of no layer of the architecture; {tree.way_out}",
            )
        return tuple(groups)

    def _layer(self, layer: Layer, path: str) -> tuple[Tensor, ...]:
        """Return a layer's weights in Keras's order; of a nested model the flat list, with owners."""
        if layer.is_model:
            flat = [
                t._replace(owner=(g.name, *t.owner))
                for g in self._groups(layer.stored, path)
                for t in g.tensors
            ]
            self._weights_of_models[path] = {t.ref for t in flat}
        else:
            paths = self.tree.under(path)
            count = trained_count(layer, len(paths))
            flat = [
                self.tree.tensor(p, trained=count is None or k < count) for k, p in enumerate(paths)
            ]
            self._owners |= dict.fromkeys(paths, path)
        return trained_first(flat)

    def path_of(self, layer: Layer, tensors: Iterable[Tensor]) -> str | None:
        """Return the path of a layer of the result in this file, by its weights, else by its name and class."""
        refs = [t.ref for t in tensors]
        if refs and layer.is_model:
            holding = [
                path
                for path, weights in self._weights_of_models.items()
                if weights.issuperset(refs)
            ]
            with_name = [
                p for p in self.layer_paths.get((layer.name, layer.class_name), ()) if p in holding
            ]
            return max(with_name or holding or [""], key=len)
        if refs:
            return self._owners.get(refs[0])
        # A template's input layer is often the wrapper's own, and then has its group there alone.
        stored = [
            p
            for p in self.layer_paths.get((layer.name, layer.class_name), ())
            if p in self.tree.groups
        ]
        return stored[-1] if stored else None

    def moves_of(self, layer: Layer, path_of: str, target: str) -> list[Move]:
        """Return the moves of a layer's sub-tree; a nested model that loses a wrapper moves up. Raises Refused.

        A model that another layer holds too, and has stored, has nothing in this one's.
        """
        inner_model = layer.settings.get("layer")
        if (
            not isinstance(inner_model, Mapping)
            or not is_model(inner_model)
            or not self.tree.under(path_of)
        ):
            return [Move(path_of, target)]
        tree, start = self.tree, join_path(path_of, "layer")
        roots = [
            start,
            *(
                m
                for m in sorted(tree.groups, key=len)
                if m.startswith(join_path(start, tree.attribute) + "/")
            ),
        ]
        inner_root = next(
            (r for r in roots if self._is_at(inner_model, r, tree.under(start))), None
        )
        if inner_root is None:
            raise Refused(
                "weights-unplaced",
                f"{tree.hdf5.path}: /{start} is not the model that {layer.name!r} holds",
            )
        return [
            Move(path_of, target, recursive=False),
            Move(inner_root, join_path(target, "layer")),
        ]

    def _is_at(self, model: JsonObject, root: str, weights: Iterable[str]) -> bool:
        """Return True if the file has this very model at `root`: all these weights are its own, and none is missing."""
        leaves = [*self._leaves(model, root)]
        if any(promises_weights(layer) and path not in self.tree.groups for layer, path in leaves):
            return False
        places = tuple(path + "/" for _, path in leaves)
        return all(weight.startswith(places) for weight in weights)

    def _leaves(self, model: JsonObject, root: str) -> Iterator[tuple[Layer, str]]:
        """Yield the layers at `root` and below that are no models, with their paths."""
        for layer, path in self.tree.places(model, root):
            if layer.is_model:
                yield from self._leaves(layer.stored, path)
            else:
                yield layer, path


def moves_to(
    placement: Placement,
    model: JsonObject,
    shares: Mapping[str, tuple[Tensor, ...]],
    source_path: str,
    shared: SharedLayers | None = None,
) -> list[Move]:
    """Return the moves of sub-trees that make a tree of `model`; `placement` says where the input has them.

    `shares` are the weights of its layers by name, `source_path` is where the model itself (its own `vars`) was.
    `shared` are the layers that the models before this one have; None where the model's JSON makes each layer an
    object of its own.
    """
    return _Moves(placement, shared).of(model, shares, source_path, "")


class _Moves(NamedTuple):
    """The moves out of one file, model by model."""

    placement: Placement
    shared: SharedLayers | None

    def of(
        self,
        model: JsonObject,
        shares: Mapping[str, tuple[Tensor, ...]],
        source_path: str,
        target: str,
    ) -> list[Move]:
        """Return the moves of a model, and of those nested in it, from `source_path` to `target`."""
        moves = [Move(source_path, target, recursive=False)]
        tree, placed_paths = self.placement.tree, set[str]()

        def has_weights(layer: Layer, _: str) -> bool:
            return bool(shares.get(layer.name)) or promises_weights(layer)

        for layer, path in tree.numbered(model, target, has_weights, self._first_path):
            if path in placed_paths or path.rpartition("/")[0] != join_path(target, tree.attribute):
                continue  # this model has it already, or one before it
            placed_paths.add(path)
            moves += self._of_layer(layer, shares.get(layer.name, ()), path)
        return moves

    def _first_path(self, layer: Layer, path: str) -> str | None:
        return None if self.shared is None else self.shared.first_path(layer, path, is_stored=False)

    def _of_layer(self, layer: Layer, tensors: Sequence[Tensor], target: str) -> list[Move]:
        source = self.placement.path_of(layer, tensors)
        if source is None:
            return [Move("", target, recursive=False, new_layer=layer.name)]
        if not layer.is_model:
            return self.placement.moves_of(layer, source, target)
        return self.of(layer.stored, by_owner(tensors), source, target)
