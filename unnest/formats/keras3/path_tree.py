"""The path-keyed HDF5 layout of `.weights.h5` and `.keras` (Keras 3, Keras 2 from 2.12 on): read, rearranged, written.

A weight's path is made of where its layer is, not of names: `layers/dense_1/vars/0`. A model's layers lie under
`layers`, each called after its class in snake_case, numbered from the second of a class on, in the model's order; what
a layer holds beside its own `vars` lies under its attributes' names (`cell/vars/0`). Keras 3 notes the layer's name as
an attribute of `vars`. Taking a wrapper out moves whole sub-trees.

Keras 2.12 and 2.13 walk to the layers by another attribute, `_layer_checkpoint_dependencies`, which lists a layer with
weights twice, and count it twice: the second Dense with weights is `dense_2`.
(Source: files of Keras 2.12, 2.13, 2.15, 3.15 and tf_keras 2.21.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from unnest.core.architecture import is_input, is_model, read, snake_case
from unnest.core.architecture.graph import Layer
from unnest.core.assign.trainable import trained_count
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.model import Group, JsonObject, Move, Tensor
from unnest.errors import Refused, Unreadable
from unnest.formats.hdf5 import attributes as at
from unnest.formats.hdf5.guarded_file import NOT_PLAIN, Door

#: The attribute that leads from a model to its layers; and that of Keras 2.12 and 2.13.
LAYERS, DEPENDENCIES = "layers", "_layer_checkpoint_dependencies"
OPTIMIZER = "optimizer/vars"
#: What a model that was compiled has beside its layers.
ASIDE = ("optimizer", "metrics")
#: Modules of operations, which have no weights and no group.
OPERATIONS = ("keras.src.ops", "keras.ops", "keras.src.backend")


def below(prefix: str, *parts: str) -> str:
    """A path under another; the root is the empty one."""
    return "/".join(p for p in (prefix, *parts) if p)


def stored_layers(model: JsonObject) -> list[Layer]:
    """The layers that have a group: not operations, and not a Sequential's input layer."""
    graph = read(model)
    return [
        layer for layer in graph.layers.values()
        if not str(layer.stored.get("module", "")).startswith(OPERATIONS)
        and not (graph.sequential and is_input(layer.stored))
    ]  # fmt: skip


def promises_weights(layer: Layer) -> bool:
    """Whether a layer of Keras's own, or one in a model, has weights by its config; others do not tell."""
    if is_model(layer.stored):
        return any(promises_weights(inner) for inner in read(layer.stored).layers.values())
    told = expected(layer.config)
    return told is not None and told.total > 0


def places(
    model: JsonObject,
    prefix: str,
    attribute: str = LAYERS,
    has_weights: Callable[[Layer, str], bool] = lambda layer, _: promises_weights(layer),
) -> Iterator[tuple[Layer, str]]:
    """Every layer of a model with the path of its group.

    `attribute` is LAYERS or DEPENDENCIES; with the latter `has_weights(layer, path)` says which layers count twice.
    """
    count: dict[str, int] = {}
    for layer in stored_layers(model):
        name = snake_case(layer.class_name)
        n = count.get(name, 0)
        path = below(prefix, attribute, f"{name}_{n}" if n else name)
        count[name] = n + (2 if attribute == DEPENDENCIES and has_weights(layer, path) else 1)
        yield layer, path


class Tree:
    """The index of a path-keyed file: groups and tensors, by path."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.groups = door.groups
        #: How the writer gets to a model's layers: LAYERS or DEPENDENCIES.
        self.attribute = DEPENDENCIES if DEPENDENCIES in door.groups else LAYERS
        self.owned: dict[str, list[str]] = {}
        #: What nested models have beside their layers, having been compiled themselves: where -> tensors.
        self.aside: dict[str, list[str]] = {}
        for path in door.datasets:
            parts = path.split("/")
            start = self._aside(parts)
            if start:
                self.aside.setdefault("/".join(parts[:start]), []).append(path)
            for depth in range(start, len(parts)):
                self.owned.setdefault("/".join(parts[:depth]), []).append(path)
        within = [f"{place}/vars" for place in self.aside if f"/{place}".endswith("/optimizer")]
        #: The optimizer's group. It lies with a nested model that was compiled with the same optimizer: what is met
        #: first is stored.
        self.state_at = within[0] if OPTIMIZER not in door.groups and len(within) == 1 else OPTIMIZER

    def _aside(self, parts: Sequence[str]) -> int:
        """How many parts lead to a nested model's own optimizer or metrics; 0 where this is in none."""
        for k, part in enumerate(parts):
            if k and part in ASIDE and below("/".join(parts[:k]), self.attribute) in self.groups:
                return k + 1
        return 0

    def places(self, model: JsonObject, prefix: str = "") -> Iterator[tuple[Layer, str]]:
        """Every layer of a model of this file with the path of its group."""
        return places(model, prefix, self.attribute, lambda layer, path: path in self.owned or promises_weights(layer))

    def under(self, path: str) -> list[str]:
        """The tensors of a sub-tree in Keras's order: a layer's own first, then by attribute, numbers as numbers."""
        return sorted(self.owned.get(path, []), key=lambda p: [_rank(x) for x in p[len(path) :].split("/")])

    def tensor(self, path: str, owner: tuple[str, ...] = (), *, trained: bool = True) -> Tensor:
        """The handle of a stored array."""
        node = self.door.datasets[path]
        if node.dtype == NOT_PLAIN:
            raise Unreadable(
                "not-a-tensor", f"{self.door.path}: /{path} is not an array of numbers; do not trust this file"
            )
        return Tensor(path, node.shape, node.dtype, path, owner, trained)

    def left_aside(self) -> dict[str, list[str]]:
        """What of nested models' own is no part of any model taken out of this file: where -> tensors."""
        return {place: own for place, own in sorted(self.aside.items()) if f"{place}/vars" != self.state_at}

    def name(self, path: str) -> str | None:
        """The layer's name, where Keras 3 notes it."""
        vars_ = below(path, "vars")
        return at.text(self.door.attributes(vars_), "name", self.door.path) if vars_ in self.groups else None

    def optimizer(self) -> tuple[Tensor, ...] | None:
        """The optimizer's variables in order."""
        return tuple(self.tensor(p) for p in self.under(self.state_at)) if self.state_at in self.groups else None

    def notes_names(self) -> bool:
        """Whether layers' names stand beside their weights, as Keras 3 writes them."""
        return any(self.name(g.rpartition("/")[0]) for g in self.groups if g.endswith("/vars"))


class Placement:
    """Where the layers of a model, and of those nested in it, are in a file, and with which weights."""

    def __init__(self, tree: Tree, model: JsonObject, prefix: str = "") -> None:
        """`prefix` is where the sub-tree of the model starts. Raises Refused where the two do not fit."""
        self.tree = tree
        #: (layer name, class) -> where the layer is, outermost first.
        self.homes: dict[tuple[str, str], list[str]] = {}
        #: Path of a weight -> that of the layer that owns it.
        self._owners: dict[str, str] = {}
        #: Where the models are, the outermost first.
        self._models: list[str] = [""]
        #: A group per layer of the model.
        self.groups = self._groups(model, prefix)

    def _groups(self, model: JsonObject, prefix: str) -> tuple[Group, ...]:
        tree = self.tree
        groups = []
        placed: set[str] = set()
        for layer, path in tree.places(model, prefix):
            noted = tree.name(path) if path in tree.groups else None
            is_other = noted is not None and noted != layer.name and layer.is_named
            if (path not in tree.groups and promises_weights(layer)) or is_other:
                raise Refused(
                    "architecture-mismatch",
                    f"{tree.door.path}: /{path} is not {layer.name!r}; pass the architecture of the saved model",
                )
            self.homes.setdefault((layer.name, layer.class_name), []).append(path)
            placed |= set(tree.owned.get(path, ()))
            groups.append(Group(layer.name, self._layer(layer, path)))
        strays = set(tree.owned.get(below(prefix, tree.attribute), ())) - placed
        if strays:
            raise Refused(
                "architecture-mismatch",
                f"{tree.door.path}: /{min(strays)} is of no layer of the architecture; pass that of the saved model",
            )
        return tuple(groups)

    def _layer(self, layer: Layer, path: str) -> tuple[Tensor, ...]:
        if is_model(layer.stored):
            self._models.append(path)
            flat = [_owned(t, g.name) for g in self._groups(layer.stored, path) for t in g.tensors]
        else:
            paths = self.tree.under(path)
            count = trained_count(layer, len(paths))
            flat = [self.tree.tensor(p, trained=count is None or k < count) for k, p in enumerate(paths)]
            self._owners |= dict.fromkeys(paths, path)
        return (*(t for t in flat if t.trained), *(t for t in flat if not t.trained))

    def home(self, layer: Layer, tensors: Iterable[Tensor]) -> str | None:
        """Where a layer of the result is in this file: its weights tell, or its name and class."""
        refs = [t.ref for t in tensors]
        if refs and is_model(layer.stored):
            inside = [m for m in self._models if all(r.startswith(m + "/") or not m for r in refs)]
            named = [p for p in self.homes.get((layer.name, layer.class_name), ()) if p in inside]
            return max(named or inside, key=len)
        if refs:
            return self._owners.get(refs[0])
        # A template's input layer is often the wrapper's own, and then has its group there alone.
        found = [p for p in self.homes.get((layer.name, layer.class_name), ()) if p in self.tree.groups]
        return found[-1] if found else None

    def whole(self, layer: Layer, home: str, target: str) -> list[Move]:
        """A layer's sub-tree; a model inside it that had a wrapper lies deeper than it will. Raises Refused."""
        held = layer.settings.get("layer")
        if not isinstance(held, Mapping) or not is_model(held):
            return [Move(home, target)]
        tree = self.tree
        start, weighted = below(home, "layer"), [p for one, p in tree.places(held) if promises_weights(one)]
        roots = [start, *(m for m in sorted(tree.groups, key=len) if m.startswith(below(start, tree.attribute) + "/"))]
        found = next((r for r in roots if all(below(r, p) in tree.groups for p in weighted)), None)
        if found is None:
            raise Refused("weights-unplaced", f"{tree.door.path}: /{start} is not the model that {layer.name!r} holds")
        return [Move(home, target, whole=False), Move(found, below(target, "layer"))]


def _owned(tensor: Tensor, name: str) -> Tensor:
    return Tensor(tensor.name, tensor.shape, tensor.dtype, tensor.ref, (name, *tensor.owner), tensor.trained)


def _rank(part: str) -> tuple[int, int, str]:
    """`vars` before attributes, 2 before 10."""
    if part == "vars":
        return 0, 0, ""
    return (1, int(part), "") if part.isdigit() else (2, 0, part)


def arrange(
    placed: Placement, model: JsonObject, shares: Mapping[str, tuple[Tensor, ...]], source: str, target: str = ""
) -> list[Move]:
    """How the sub-trees of a file, of which `placed` says where they are, are put together to those of `model`.

    `shares` are the weights of its layers, `source` is where the model itself (its own `vars`) was.
    """
    moves = [Move(source, target, whole=False)]

    def has_weights(layer: Layer, _: str) -> bool:
        return bool(shares.get(layer.name)) or promises_weights(layer)

    for layer, path in places(model, target, placed.tree.attribute, has_weights):
        tensors = shares.get(layer.name, ())
        home = placed.home(layer, tensors)
        if home is None:
            moves.append(Move("", path, whole=False, called=layer.name))
            continue
        if not is_model(layer.stored):
            moves += placed.whole(layer, home, path)
            continue
        inner: dict[str, list[Tensor]] = {}
        for t in tensors:
            inner.setdefault(t.owner[0] if t.owner else "", []).append(_popped(t))
        moves += arrange(placed, layer.stored, {k: tuple(v) for k, v in inner.items()}, home, path)
    return moves


def _popped(tensor: Tensor) -> Tensor:
    return Tensor(tensor.name, tensor.shape, tensor.dtype, tensor.ref, tensor.owner[1:], tensor.trained)


def called_by_place(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups for a container that names weights: by their layers and their place there, since no name is stored."""
    return tuple(Group(g.name, tuple(_called(t, g.name) for t in g.tensors)) for g in groups)


def _called(tensor: Tensor, layer: str) -> Tensor:
    """The layers that own it, and what lies below the last of them."""
    tail = re.split(rf"(?:^|/)(?:{LAYERS}|{DEPENDENCIES})/", tensor.ref)[-1].split("/")[1:]
    place = [part for part in tail if part != "vars"]
    return tensor._replace(name="/".join([layer, *tensor.owner, *place]))
