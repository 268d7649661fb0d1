"""Find the weights of each layer of a model in a path-keyed file, by the layers' paths.

A `Placement` says where the layers of one model lie in a `PathKeyedTree`. `weights_to_paths` is the inverse,
`path_keyed_weights_in_keras_order` the order in which Keras lists the weights that were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from unnest.core.architecture import is_model
from unnest.core.architecture.automatic_names import CountedOn
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.model_json_as_saved_alone import SHARED_OBJECT_ID
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras_facts.weight_counts_by_config import trained_count
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.plan import Move
from unnest.core.weight_assignment.layer_weights_record import trained_first
from unnest.errors import Refused
from unnest.formats.keras3.layer_paths import (
    join_path,
    promises_weights,
)
from unnest.formats.keras3.path_keyed_tree import PathKeyedTree
from unnest.formats.keras3.shared_layers import SharedLayers


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
        self._counted_on = CountedOn()
        #: Layers whose weights bear another automatic name in the file.
        self.by_order: list[str] = []
        self._architecture = model
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
        for layer, path in tree.layers_with_paths(model, prefix, self._shared):
            if path in self._weights:
                # A layer that another model has, too, and whose tensors have their place there.
                groups.append(Group(layer.name, self._weights[path]))
                continue
            stored_name = tree.name(path) if path in tree.groups else None
            if path not in tree.groups and promises_weights(layer):
                raise Refused(
                    "architecture-mismatch",
                    f"{tree.hdf5.path}: /{path} is not {layer.name!r}; {self._way_out}",
                )
            if stored_name is not None:
                self._check_name(layer, path, stored_name)
            self.layer_paths.setdefault((layer.name, layer.class_name), []).append(path)
            placed_paths |= set(tree.tensors_below.get(path, ()))
            self._weights[path] = self._layer(layer, path)
            groups.append(Group(layer.name, self._weights[path]))
        strays = set(tree.tensors_below.get(join_path(prefix, tree.attribute), ())) - placed_paths
        if strays:
            raise Refused(
                "architecture-mismatch",
                f"{tree.hdf5.path}: /{min(strays)} is of no layer of the architecture; {self._way_out}",
            )
        return tuple(groups)

    def _check_name(self, layer: Layer, path: str, stored_name: str) -> None:
        """Check the name that the file has for the layer at a path.

        Weights alone may be those of the same code, run where Keras had numbered other layers before.

        Raises:
            Refused: it is another layer's.

        """
        if not self._has_its_names or not layer.is_named:
            return
        is_alone = self.tree.keras_version is None
        if is_alone and self._counted_on.takes(layer.class_name, stored_name, layer.name):
            if stored_name != layer.name and self.tree.tensor_paths_under(path):
                self.by_order.append(layer.name)
        elif stored_name != layer.name:
            raise Refused(
                "architecture-mismatch",
                f"{self.tree.hdf5.path}: /{path} is named {stored_name!r}, not {layer.name!r}; {self._way_out}",
            )

    @property
    def _way_out(self) -> str:
        """The advice where an architecture is not that of the weights."""
        entries = layer_entries(self._architecture) if self.tree.keras_version is not None else ()
        if any(SHARED_OBJECT_ID in entry for entry in entries):
            return "models in it share layers, which no Keras finds again in a .keras; save an .h5"
        return self.tree.way_out

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
            paths = self.tree.tensor_paths_under(path)
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
            or not self.tree.tensor_paths_under(path_of)
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
            (r for r in roots if self._is_at(inner_model, r, tree.tensor_paths_under(start))), None
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
        for layer, path in self.tree.layers_with_paths(model, root):
            if layer.is_model:
                yield from self._leaves(layer.stored, path)
            else:
                yield layer, path
