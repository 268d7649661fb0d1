"""TensorFlow's object graph, as SavedModels and object-based checkpoints store it.

The string tensor `_CHECKPOINTABLE_OBJECT_GRAPH` holds numbered objects with named children: a Keras 2 model has its
layers as `layer-0`, `layer-1`, ... in the order of its config, a Keras 3 model under `_operations` (a Sequential's
under its `_functional`) by number, operations left out; a layer has its variables and sub-layers under their attribute
names; a variable names its tensor in the bundle. The bundle's keys are paths of such names and are not parsed.
(Source: files written by TensorFlow 1.13 to 2.21, Keras 3.15 among them.)
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

from unnest.budget import charge_memory, charge_steps
from unnest.core.model import Tensor
from unnest.errors import Unreadable
from unnest.formats.tensorflow import protobuf_messages
from unnest.formats.tensorflow.read_tensor_bundle import Bundle

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE, CONFIG = "VARIABLE_VALUE", "OBJECT_CONFIG_JSON"
LAYER, NUMBER = re.compile(r"layer-(\d{1,9})"), re.compile(r"\d{1,9}")
#: Children that hold again what is reached otherwise, or no weights of a layer.
NOT_WEIGHTS = frozenset(
    {
        "keras_api",
        "optimizer",
        "variables",
        "trainable_variables",
        "non_trainable_variables",
        "metrics",
        "layer_metrics",
        "layers",
        "regularization_losses",
        "layer_regularization_losses",
        "seed_generator",
    }
)
#: What a generator of random numbers keeps.
STATE = "_state_var"
#: Objects looked at in all: so many, and so many for each that there is.
MAX_STEPS, MAX_STEPS_EACH = 100_000, 10
#: What an object costs, and each look at one.
STEPS_AN_OBJECT, BYTES_AN_OBJECT, STEPS_A_VISIT = 10, 500, 10
#: Attributes on the way to a variable that are looked at.
MAX_ATTRIBUTES = 40
Message: TypeAlias = Any
#: The attributes' names on the way from a layer to a variable.
AttributePath: TypeAlias = "tuple[str, ...]"


class StoredLists(NamedTuple):
    """Keys of a layer's trained variables, and of all its variables in Keras's order, as a SavedModel lists them."""

    trained: frozenset[str]
    order: tuple[str, ...]


class ObjectGraph:
    """The objects of a bundle, as numbered nodes; node 0 is the root. Raises Unreadable."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.where = f"{bundle.prefix}: object graph"
        self.nodes = protobuf_messages.parse(
            "ObjectGraph", bundle.strings(KEY)[0], self.where
        ).nodes
        if not self.nodes:
            raise Unreadable(
                "damaged-index", f"{self.where}: holds no objects; copy the files again"
            )
        charge_steps(STEPS_AN_OBJECT * len(self.nodes) + sum(len(n.children) for n in self.nodes))
        charge_memory(BYTES_AN_OBJECT * len(self.nodes))
        self._children = [{c.local_name: self._number(c) for c in n.children} for n in self.nodes]
        if generators := self._generators():
            self._children = [
                {k: n for k, n in each.items() if n not in generators} for each in self._children
            ]
        self._layers: dict[int, dict[int, int]] = {}
        self._steps = 0

    def _generators(self) -> set[int]:
        """The objects that draw random numbers, as layers that augment images do: their state is no layer's weight.

        (Source: tf.random.Generator of TensorFlow 2.2, a vector of int64 under that name, and nothing else.)
        """
        with_state = (
            (n, each[STATE])
            for n, each in enumerate(self._children)
            if len(each) == 1 and STATE in each
        )
        states = ((n, self.bundle.entries.get(self.key(state) or "")) for n, state in with_state)
        return {
            n for n, state in states if state and state.dtype == "<i8" and len(state.shape) == 1
        }

    def _number(self, child: Message) -> int:
        if not 0 <= child.node_id < len(self.nodes):
            raise Unreadable(
                "damaged-index",
                f"{self.where}: {child.local_name!r} is an object that is not there",
            )
        return int(child.node_id)

    def step(self) -> None:
        """Count one more object. Raises Unreadable beyond the number that any model's graph leads to."""
        self._steps += 1
        charge_steps(STEPS_A_VISIT)
        if self._steps > MAX_STEPS + MAX_STEPS_EACH * len(self.nodes):
            raise Unreadable(
                "absurd-size",
                f"{self.where}: its objects lead to each other without end; no model's do",
            )

    # ---- objects ----

    def child(self, node: int, name: str) -> int | None:
        """Return the child of a node under a name; None without one."""
        return self._children[node].get(name)

    def attributes(self, node: int) -> dict[str, int]:
        """Return the children of an object that may be weights, or lead to some, by name."""
        return {name: n for name, n in self._children[node].items() if name not in NOT_WEIGHTS}

    def listed(self, node: int) -> list[int]:
        """Return the elements of a list."""
        numbered = {
            int(name): n for name, n in self._children[node].items() if NUMBER.fullmatch(name)
        }
        return [numbered[k] for k in sorted(numbered)]

    def way_to(self, node: int) -> list[str]:
        """Return the names on the shortest way from the root to a node."""
        came_from: dict[int, tuple[int, str]] = {}
        reached = [0]
        for at in reached:
            for name, child in self._children[at].items():
                if child and child not in came_from:
                    came_from[child] = (at, name)
                    reached.append(child)
        names: list[str] = []
        while node:
            node, name = came_from[node]
            names.insert(0, name)
        return names

    # ---- variables ----

    def key(self, node: int) -> str | None:
        """Return the key of a variable's tensor in the bundle; None for other objects."""
        return next(
            (a.checkpoint_key for a in self.nodes[node].attributes if a.name == VALUE), None
        )

    def name(self, node: int) -> str | None:
        """Return a variable's name in the program; None if it is not stored, or the node is not a variable."""
        return next((a.full_name for a in self.nodes[node].attributes if a.name == VALUE), None)

    def names(self) -> dict[str, str]:
        """Return the program's name of each stored variable, by its key."""
        return {
            a.checkpoint_key: a.full_name
            for n in self.nodes
            for a in n.attributes
            if a.name == VALUE and a.full_name
        }

    def tensor(self, node: int, place: str, *, trained: bool, modern: bool) -> Tensor:
        """Return a variable under the name that the program gave it, or under its place if that is not stored.

        Raises Unreadable.
        """
        key = self.key(node) or ""
        entry = self.bundle.entries.get(key)
        if entry is None:
            raise Unreadable(
                "missing-weight", f"{self.where}: names the tensor {key!r}, which is not stored"
            )
        name = self.name(node) or place
        return Tensor(name if modern else f"{name}:0", entry.shape, entry.dtype, key, (), trained)

    def variables(self, node: int) -> dict[int, AttributePath]:
        """Return the variables under an object, depth first in attribute order, with the attributes' names.

        One that is an attribute of its own has that name, whatever else lists it (`state_variables` of TensorFlow 2.3).
        """
        pending: list[tuple[int, AttributePath]] = [(node, ())]
        met: set[int] = set()
        variables: dict[int, AttributePath] = {}
        while pending:
            current, path = pending.pop()
            if current in met:
                continue
            self.step()
            met.add(current)
            if self.key(current) is not None:
                variables[current] = path
            path = path[:MAX_ATTRIBUTES]
            pending += [
                (n, (*path, name)) for name, n in reversed(self.attributes(current).items())
            ]
        own_names = {n: (name,) for name, n in reversed(self.attributes(node).items())}
        return {n: own_names.get(n, path) for n, path in variables.items()}

    # ---- models ----

    def models(self) -> list[int]:
        """Return the number of every object that has layers, the outermost first."""
        order = [0]
        met = {0}
        for node in order:
            unmet = [c for c in self._children[node].values() if c not in met]
            order += dict.fromkeys(unmet)
            met.update(unmet)
        return [n for n in order if self.layers(n)]

    def layers(self, node: int) -> dict[int, int]:
        """Return number among the layers -> node, ascending; {} for what is no model."""
        if node not in self._layers:
            by_number = self._numbered(node)
            self._layers[node] = {k: by_number[k] for k in sorted(by_number)}
        return self._layers[node]

    def _numbered(self, node: int) -> dict[int, int]:
        """Return number among the layers -> node, by the names of a model's children."""
        operations = self.child(node, "_operations")
        functional = self.child(node, "_functional")
        if operations is None and functional is not None:
            operations = self.child(functional, "_operations")
        if operations is not None:
            return {
                int(name): n
                for name, n in self._children[operations].items()
                if NUMBER.fullmatch(name)
            }
        matches = ((LAYER.fullmatch(name), n) for name, n in self._children[node].items())
        return {int(m[1]): n for m, n in matches if m}

    def is_modern(self, node: int) -> bool:
        """Return True if Keras 3 made a model: then operations have numbers and no objects, and names no `:0`."""
        return (
            self.child(node, "_operations") is not None
            or self.child(node, "_functional") is not None
        )

    def config(self, node: int) -> bytes | None:
        """Return the JSON that TensorFlow 1.13 to 1.15 stores beside the weights; None without it."""
        key = next(
            (a.checkpoint_key for a in self.nodes[node].attributes if a.name == CONFIG), None
        )
        return self.bundle.strings(key)[0] if key in self.bundle.entries else None

    def weight_keys(self, node: int) -> set[str]:
        """Return the keys of all weights of a model's layers."""
        return {
            self.key(n) or "" for layer in self.layers(node).values() for n in self.variables(layer)
        }

    def is_flat(self, node: int) -> bool:
        """True if no layer of a model holds objects with weights, as a template that is called on slices would."""
        return not any(
            self.key(n) is None and any(self.variables(n))
            for layer in self.layers(node).values()
            for n in self.attributes(layer).values()
        )

    def stored_lists(self, node: int) -> StoredLists | None:
        """Return the lists of a layer's variables; None if they are not stored."""
        every, trained = self.child(node, "variables"), self.child(node, "trainable_variables")
        if every is None or trained is None:
            return None
        return StoredLists(frozenset(self._keys(trained)), tuple(self._keys(every)))

    def _keys(self, node: int) -> list[str]:
        return [key for key in map(self.key, self.listed(node)) if key is not None]
