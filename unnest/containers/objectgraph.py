"""Whose weight is it? TensorFlow's object graph, as SavedModels and object-based checkpoints store it.

The string tensor `_CHECKPOINTABLE_OBJECT_GRAPH` holds numbered objects with named children: a Keras model has its
layers as `layer-0`, `layer-1`, ... in the order of its config, a layer its variables and sub-layers under their
attribute names; a variable names its tensor in the bundle. The bundle's keys are paths of such names and are not
parsed. (Source: files written by TensorFlow 1.13 to 2.21.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from unnest.containers import protos
from unnest.containers.bundle import Bundle
from unnest.core.dialects import children, is_input, is_model, read
from unnest.core.graph import Layer
from unnest.core.layers import expected
from unnest.core.model import Group, JsonObject, Tensor
from unnest.errors import Refused, Unreadable

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE, CONFIG = "VARIABLE_VALUE", "OBJECT_CONFIG_JSON"
LAYER = re.compile(r"layer-(\d+)")
#: Children that hold again what is reached otherwise, or no weights of a layer.
ASIDE = frozenset({"keras_api", "optimizer", "variables", "trainable_variables", "non_trainable_variables", "metrics",
                   "layer_metrics", "layers", "regularization_losses", "layer_regularization_losses"})  # fmt: skip
Message: TypeAlias = Any


@dataclass(frozen=True)
class Weights:
    """What an object graph holds of a Keras model; `left` are the tensors that are no part of it."""

    groups: tuple[Group, ...]
    optimizer: tuple[Tensor, ...] | None
    left: tuple[str, ...]


class ObjectGraph:
    """The objects of a bundle, as numbered nodes."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.where = f"{bundle.prefix}: object graph"
        self.nodes = protos.parse("ObjectGraph", bundle.strings(KEY)[0], self.where).nodes
        if not self.nodes:
            raise Unreadable("damaged-index", f"{self.where}: holds no objects; copy the files again")
        self.slotted = {s.original for n in self.nodes for s in n.slot_variables}
        self.taken: set[str] = set()

    def child(self, node: int, name: str) -> int | None:
        """The number of a named child."""
        return next((self._number(c) for c in self.nodes[node].children if c.local_name == name), None)

    def _number(self, child: Message) -> int:
        if not 0 <= child.node_id < len(self.nodes):
            raise Unreadable("damaged-index", f"{self.where}: {child.local_name!r} is an object that is not there")
        return int(child.node_id)

    def model(self) -> int | None:
        """The root, or the one object under it, that has layers."""
        found = [n for n in (0, *(self._number(c) for c in self.nodes[0].children)) if self.layers(n)]
        return found[0] if found else None

    def layers(self, node: int) -> list[int]:
        """A model's layers in order."""
        found = {}
        for child in self.nodes[node].children:
            match = LAYER.fullmatch(child.local_name)
            if match:
                found[int(match[1])] = self._number(child)
        return [found[k] for k in sorted(found)]

    def names(self) -> dict[str, str]:
        """What the program called each stored variable, by its key."""
        return {
            a.checkpoint_key: a.full_name for n in self.nodes for a in n.attributes if a.name == VALUE and a.full_name
        }

    def config(self, node: int) -> bytes | None:
        """The JSON that TensorFlow 1.13 to 1.15 stores beside the weights."""
        key = next((a.checkpoint_key for a in self.nodes[node].attributes if a.name == CONFIG), None)
        return self.bundle.strings(key)[0] if key in self.bundle.entries else None

    def weights(self, architecture: JsonObject) -> Weights:
        """The weights of a Keras model, layer by layer. Raises Unreadable, Refused."""
        root = self.model()
        if root is None:
            raise Refused("architecture-mismatch", f"{self.where}: has no layers; pass a checkpoint of a Keras model")
        groups = self.groups(architecture, root)
        optimizer = self.state(groups)
        everything = {k for k, e in self.bundle.entries.items() if e.dtype != "string"}
        return Weights(groups, optimizer, tuple(sorted(everything - self.taken)))

    def groups(self, architecture: JsonObject, node: int) -> tuple[Group, ...]:
        """The weights of the model at a node, layer by layer. Raises Unreadable, Refused."""
        return tuple(Group(name, tensors) for name, tensors in self._model(architecture, node))

    def lone_model(self) -> tuple[int, int, int] | None:
        """(which layer, its node, how many layers) where one layer, itself a model, holds all weights."""
        root = self.model()
        layers = self.layers(root) if root is not None else []
        weighted = [(k, n) for k, n in enumerate(layers) if any(self._variables(n, set()))]
        if len(weighted) != 1 or not self.layers(weighted[0][1]):
            return None
        return (*weighted[0], len(layers))

    def below(self, node: int) -> tuple[Tensor, ...]:
        """All weights under a node, layer by layer, each layer's in the order of its attributes."""
        return tuple(self._tensor(n, trained=True) for n in self._variables(node, set()))

    def _model(self, entry: JsonObject, node: int) -> list[tuple[str, tuple[Tensor, ...]]]:
        graph, nodes = read(entry), self.layers(node)
        layers = list(graph.layers.values())
        # A Sequential's InputLayer may be in its config and not among its objects, or the other way round.
        if graph.sequential and len(nodes) == len(layers) + 1:
            nodes = nodes[1:]
        elif len(nodes) + 1 == len(layers) and is_input(layers[0].stored):
            layers = layers[1:]
        if len(nodes) != len(layers):
            raise Refused(
                "architecture-mismatch",
                f"{self.where}: stores {len(nodes)} layers where the architecture has {len(layers)}; pass its own",
            )
        return [(layer.name, self._layer(layer, n)) for layer, n in zip(layers, nodes, strict=True)]

    def _layer(self, layer: Layer, node: int) -> tuple[Tensor, ...]:
        inner = layer.stored if is_model(layer.stored) else None
        at = node
        if inner is None:
            held = [child for _, child in children(layer.stored)]
            wrapped = self.child(node, "layer")
            if len(held) == 1 and wrapped is not None and self.layers(wrapped):
                inner, at = held[0], wrapped
        if inner is None:
            return self._own(layer, node)
        flat = [
            Tensor(t.name, t.shape, t.dtype, t.ref, (name, *t.owner), t.trained)
            for name, tensors in self._model(inner, at) for t in tensors
        ]  # fmt: skip
        told = self._told(node)
        if told is not None:
            trained, _ = told
            flat = [Tensor(t.name, t.shape, t.dtype, t.ref, t.owner, t.ref in trained) for t in flat]
        return (*(t for t in flat if t.trained), *(t for t in flat if not t.trained))

    def _told(self, node: int) -> tuple[set[str], list[str]] | None:
        """What a SavedModel says outright: which keys are trained, and all in Keras's order."""
        every, trained = self.child(node, "variables"), self.child(node, "trainable_variables")
        if every is None or trained is None:
            return None
        listed = [self._keys(n) for n in (trained, every)]
        return set(listed[0]), listed[1]

    def _keys(self, list_node: int) -> list[str]:
        ordered = sorted(
            self.nodes[list_node].children, key=lambda c: int(c.local_name) if c.local_name.isdigit() else 0
        )
        found = (self._key(self._number(c)) for c in ordered)
        return [k for k in found if k is not None]

    def _key(self, node: int) -> str | None:
        return next((a.checkpoint_key for a in self.nodes[node].attributes if a.name == VALUE), None)

    def _own(self, layer: Layer, node: int) -> tuple[Tensor, ...]:
        found = dict.fromkeys(self._variables(node, set()))
        by_key = {self._key(n): n for n in found}
        told = self._told(node)
        if told is not None:
            trained, order = told
            numbers = [by_key[k] for k in order if k in by_key]
            return tuple(self._tensor(n, trained=(self._key(n) or "") in trained) for n in numbers)
        flags = self._trained(layer, list(found))
        tensors = [self._tensor(n, trained=flag) for n, flag in zip(found, flags, strict=True)]
        return (*(t for t in tensors if t.trained), *(t for t in tensors if not t.trained))

    def _trained(self, layer: Layer, nodes: list[int]) -> list[bool]:
        """Which of a layer's variables are trained, where only the optimizer or the config can tell."""
        promised = expected(layer.config)
        if layer.settings.get("trainable") is False:
            return [False] * len(nodes)
        if self.slotted:
            return [n in self.slotted for n in nodes]
        if promised is not None and promised.total == len(nodes):
            return [k < promised.trained for k in range(len(nodes))]
        if len(nodes) > 1:
            raise Refused(
                "weights-ambiguous",
                f"{self.where}: which weights of {layer.name!r} are trained is not stored, so their order is open; "
                "save it as .h5 or SavedModel",
            )
        return [True] * len(nodes)

    def _variables(self, node: int, seen: set[int]) -> Iterator[int]:
        """The variables under an object, depth first in the order of its attributes."""
        pending = [node]
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            if self._key(at) is not None:
                yield at
            below = [self._number(c) for c in self.nodes[at].children if c.local_name not in ASIDE]
            pending += reversed(below)

    def _tensor(self, node: int, *, trained: bool) -> Tensor:
        key = self._key(node) or ""
        entry = self.bundle.entries.get(key)
        if entry is None:
            raise Unreadable("missing-weight", f"{self.where}: names the tensor {key!r}, which is not stored")
        name = next(a.full_name for a in self.nodes[node].attributes if a.name == VALUE)
        self.taken.add(key)
        return Tensor(f"{name or key}:0", entry.shape, entry.dtype, key, (), trained)

    def state(self, groups: Iterable[Group]) -> tuple[Tensor, ...] | None:
        """The optimizer's state in the order in which Keras saves it to .h5, for a model with these weights."""
        root = self.model()
        at = self.child(root, "optimizer") if root is not None else None
        at = self.child(0, "optimizer") if at is None else at
        if at is None:
            return None
        listed = self.child(at, "_variables")
        if listed is not None:  # Keras 2.11 and later: one list
            edges = sorted(self.nodes[listed].children, key=lambda c: int(c.local_name))
            return tuple(self._tensor(self._number(c), trained=False) for c in edges) or None
        count = self.child(at, "iter")
        slots = self._slots(at, [t.ref for g in groups for t in g.tensors])
        state = [*([count] if count is not None else []), *slots]
        return tuple(self._tensor(n, trained=False) for n in state) if slots else None

    def _slots(self, optimizer: int, order: Sequence[str]) -> list[int]:
        """Slot after slot, as the optimizer made them, each weight by weight in the model's order."""
        place = {key: k for k, key in enumerate(order)}
        slots = self.nodes[optimizer].slot_variables
        kinds = list(dict.fromkeys(s.slot_name for s in slots))

        def rank(slot: Message) -> tuple[int, int]:
            return kinds.index(slot.slot_name), place.get(self._key(slot.original) or "", len(place))

        return [s.variable for s in sorted(slots, key=rank)]
