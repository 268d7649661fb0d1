"""Whose weight is it? TensorFlow's object graph, as SavedModels and object-based checkpoints store it.

The string tensor `_CHECKPOINTABLE_OBJECT_GRAPH` holds numbered objects with named children: a Keras 2 model has its
layers as `layer-0`, `layer-1`, ... in the order of its config, a Keras 3 model under `_operations` (a Sequential's
under its `_functional`) by number, operations left out; a layer has its variables and sub-layers under their attribute
names; a variable names its tensor in the bundle. The bundle's keys are paths of such names and are not parsed. The
model may be the root or hang anywhere, among others: it is the one whose layers and weights are the architecture's.
(Source: files written by TensorFlow 1.13 to 2.21, Keras 3.15 among them.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from unnest.budget import hold, spend
from unnest.core.architecture import children, is_input, is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.assign.trainable import trained_count
from unnest.core.keras_facts.layer_classes import OWN, PLAIN, today
from unnest.core.keras_facts.weight_specs import expected, fits
from unnest.core.model import Group, JsonObject, Tensor
from unnest.errors import Refused, Unreadable
from unnest.formats.tensorflow import protos
from unnest.formats.tensorflow.bundle import Bundle
from unnest.formats.tensorflow.object_optimizers import Optimizers

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
#: Scopes of a variable's name, and attributes on the way to it, that are looked at.
MAX_PARTS = 40
Message: TypeAlias = Any
#: The attributes' names on the way from a layer to a variable.
AttributePath: TypeAlias = "tuple[str, ...]"


class PlacedModel(NamedTuple):
    """A model in the object graph, and the weights of its layers.

    `within` are the models around it whose layer it is, the outermost first: (node, which of its layers, how many).
    `doubt`: why the order of a layer's weights is open, which then stand as the objects list them.
    """

    node: int
    groups: tuple[Group, ...]
    within: tuple[tuple[int, int, int], ...]
    doubt: Refused | None = None


class ObjectWeights(NamedTuple):
    """What an object graph holds of a Keras model."""

    groups: tuple[Group, ...]
    optimizer: tuple[Tensor, ...] | None


class ObjectGraph:
    """The objects of a bundle, as numbered nodes; node 0 is the root. Raises Unreadable."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.where = f"{bundle.prefix}: object graph"
        self.nodes = protos.parse("ObjectGraph", bundle.strings(KEY)[0], self.where).nodes
        if not self.nodes:
            raise Unreadable("damaged-index", f"{self.where}: holds no objects; copy the files again")
        spend(STEPS_AN_OBJECT * len(self.nodes) + sum(len(n.children) for n in self.nodes))
        hold(BYTES_AN_OBJECT * len(self.nodes))
        self._children = [{c.local_name: self._number(c) for c in n.children} for n in self.nodes]
        if generators := self._generators():
            self._children = [{k: n for k, n in each.items() if n not in generators} for each in self._children]
        self._layers: dict[int, dict[int, int]] = {}
        self._graphs: dict[int, tuple[JsonObject, Graph]] = {}
        self._open_orders: list[str] = []
        self._steps = 0
        self.optimizers = Optimizers(self)

    def _generators(self) -> set[int]:
        """The objects that draw random numbers, as layers that augment images do: their state is no layer's weight.

        (Source: tf.random.Generator of TensorFlow 2.2, a vector of int64 under that name, and nothing else.)
        """
        with_state = ((n, each[STATE]) for n, each in enumerate(self._children) if len(each) == 1 and STATE in each)
        states = ((n, self.bundle.entries.get(self.key(state) or "")) for n, state in with_state)
        return {n for n, state in states if state and state.dtype == "<i8" and len(state.shape) == 1}

    def child(self, node: int, name: str) -> int | None:
        """The node that a node has under a name; None where it has none."""
        return self._children[node].get(name)

    def _number(self, child: Message) -> int:
        if not 0 <= child.node_id < len(self.nodes):
            raise Unreadable("damaged-index", f"{self.where}: {child.local_name!r} is an object that is not there")
        return int(child.node_id)

    def names(self) -> dict[str, str]:
        """What the program called each stored variable, by its key."""
        return {
            a.checkpoint_key: a.full_name for n in self.nodes for a in n.attributes if a.name == VALUE and a.full_name
        }

    # ---- models ----

    def models(self) -> list[int]:
        """Every object that has layers, the outermost first."""
        order = [0]
        met = {0}
        for node in order:
            unmet = [c for c in self._children[node].values() if c not in met]
            order += dict.fromkeys(unmet)
            met.update(unmet)
        return [n for n in order if self.layers(n)]

    def layers(self, node: int) -> dict[int, int]:
        """A model's layers: node by number among the layers, ascending; empty for what is no model."""
        if node not in self._layers:
            by_number = self._numbered(node)
            self._layers[node] = {k: by_number[k] for k in sorted(by_number)}
        return self._layers[node]

    def _numbered(self, node: int) -> dict[int, int]:
        operations = self.child(node, "_operations")
        functional = self.child(node, "_functional")
        if operations is None and functional is not None:
            operations = self.child(functional, "_operations")
        if operations is not None:
            return {int(name): n for name, n in self._children[operations].items() if NUMBER.fullmatch(name)}
        matches = ((LAYER.fullmatch(name), n) for name, n in self._children[node].items())
        return {int(m[1]): n for m, n in matches if m}

    def is_modern(self, node: int) -> bool:
        """Whether Keras 3 made a model: then operations have numbers and no objects, and names no `:0`."""
        return self.child(node, "_operations") is not None or self.child(node, "_functional") is not None

    def config(self, node: int) -> bytes | None:
        """The JSON that TensorFlow 1.13 to 1.15 stores beside the weights."""
        key = next((a.checkpoint_key for a in self.nodes[node].attributes if a.name == CONFIG), None)
        return self.bundle.strings(key)[0] if key in self.bundle.entries else None

    def weights(self, architecture: JsonObject) -> ObjectWeights:
        """The weights of a Keras model and its optimizer's state. Raises Unreadable, Refused."""
        placed = self.find(architecture)
        if placed.doubt is not None:
            raise placed.doubt
        return ObjectWeights(placed.groups, self.optimizers.state(placed.node, placed.groups))

    def find(self, architecture: JsonObject) -> PlacedModel:
        """The model of this architecture, wherever it hangs; one whose weights are in order, if there is any.

        Raises Unreadable, Refused.
        """
        models = self.models()
        if not models:
            raise Refused("architecture-mismatch", f"{self.where}: has no layers; pass a checkpoint of a Keras model")
        tried = [self._placed_or_refusal(architecture, node) for node in models]
        placed = [each for each in tried if isinstance(each, PlacedModel)]
        if not placed:
            raise next(each for each in tried if isinstance(each, Refused))
        fitting = [each for each in placed if each.doubt is None] or placed
        distinct = _distinct(fitting)
        if len(distinct) > 1:
            fitting = [each for each in fitting if _bear_layer_names(each.groups)]
            if len(_distinct(fitting)) != 1:
                raise Refused(
                    "weights-ambiguous",
                    f"{self.where}: holds {len(distinct)} models that fit the architecture; "
                    "save the one you want alone",
                )
        return fitting[0]._replace(within=self._models_around(fitting[0].node, models))

    def _placed_or_refusal(self, architecture: JsonObject, node: int) -> PlacedModel | Refused:
        """The model at a node, the models around it not looked for; or why it is none of this architecture."""
        self._open_orders = []
        try:
            groups = self.groups(architecture, node)
        except Refused as refusal:
            return refusal
        if not self._open_orders:
            return PlacedModel(node, groups, ())
        why = f"{self.where}: {self._open_orders[0]}; {self._restoring(node)}"
        return PlacedModel(node, groups, (), Refused("weights-ambiguous", why))

    def _restoring(self, node: int) -> str:
        """What a user with the model's code can do: load the weights of a node into it, which needs no order."""
        loading = "MODEL"
        for name in reversed(self._way_to(node)):
            given = f"{name}={loading}" if name.isidentifier() else f"**{{{name!r}: {loading}}}"
            loading = f"tf.train.Checkpoint({given})"
        prefix = repr(self.bundle.prefix)
        load = f"MODEL.load_weights({prefix})" if loading == "MODEL" else f"{loading}.restore({prefix})"
        return f"load it into the MODEL that your code makes, {load}, and save that as .h5"

    def _way_to(self, node: int) -> list[str]:
        """The names that lead from the root to a node, by the shortest way."""
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

    def _models_around(self, node: int, models: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
        """The models that one is a layer of, the outermost first."""
        holder_of: dict[int, tuple[int, int, int]] = {}
        for model in models:
            layers = self.layers(model)
            for k, n in enumerate(layers.values()):
                holder_of.setdefault(n, (model, k, len(layers)))
        holders_outermost_first: list[tuple[int, int, int]] = []
        while node in holder_of and len(holders_outermost_first) <= len(models):
            holders_outermost_first.insert(0, holder_of[node])
            node = holder_of[node][0]
        return tuple(holders_outermost_first)

    def groups(self, architecture: JsonObject, node: int) -> tuple[Group, ...]:
        """The weights of the model at a node, layer by layer. Raises Unreadable, Refused.

        Notes the layers the order of whose weights is open.
        """
        return tuple(Group(name, tensors) for name, tensors in self._model(architecture, node))

    def weight_keys(self, node: int) -> set[str]:
        """The keys of all weights of a model's layers."""
        return {self.key(n) or "" for layer in self.layers(node).values() for n in self._variables(layer)}

    def is_flat(self, node: int) -> bool:
        """Whether no layer of a model holds objects with weights: what is called on slices would be such a layer."""
        return not any(
            self.key(n) is None and any(self._variables(n))
            for layer in self.layers(node).values()
            for name, n in self._children[layer].items()
            if name not in NOT_WEIGHTS
        )

    def _model(self, entry: JsonObject, node: int) -> list[tuple[str, tuple[Tensor, ...]]]:
        self.step()
        graph, nodes = self._read(entry), self.layers(node)
        layers = list(graph.layers.values())
        modern = self.is_modern(node)
        # A Sequential's InputLayer may be in its config and not among its objects, or the other way round.
        count = max(nodes, default=-1) + 1
        begins_with_input = bool(layers) and is_input(layers[0].stored)
        if graph.sequential and count == len(layers) + 1 and not begins_with_input:
            nodes = {k - 1: n for k, n in nodes.items() if k}
        elif count + 1 == len(layers) and begins_with_input and not (modern and 0 in nodes):
            layers = layers[1:]
        if (max(nodes, default=-1) >= len(layers)) if modern else (sorted(nodes) != list(range(len(layers)))):
            raise Refused(
                "architecture-mismatch",
                f"{self.where}: stores {count} layers where the architecture has {len(layers)}; pass its own",
            )
        return [
            (layer.name, self._layer(layer, nodes[k], modern=modern) if k in nodes else self._operation(layer))
            for k, layer in enumerate(layers)
        ]

    def _read(self, entry: JsonObject) -> Graph:
        """The graph of a model, read once: many objects may be tried for it."""
        cached = self._graphs.get(id(entry))
        if cached is None or cached[0] is not entry:
            cached = self._graphs[id(entry)] = (entry, read(entry))
        return cached[1]

    def _operation(self, layer: Layer) -> tuple[Tensor, ...]:
        """An operation of Keras 3, which is no object and has no weights."""
        expected_weights = expected(layer.config)
        if is_model(layer.stored) or (expected_weights is not None and expected_weights.total):
            raise self._unfit(layer, 0)
        return ()

    def _unfit(self, layer: Layer, count: int) -> Refused:
        return Refused(
            "architecture-mismatch",
            f"{self.where}: {count} weights do not fit {layer.name!r}, a {layer.class_name}; "
            "pass the architecture of the model that was saved",
        )

    def _layer(self, layer: Layer, node: int, *, modern: bool) -> tuple[Tensor, ...]:
        inner_model = layer.stored if is_model(layer.stored) else None
        inner_node = node
        if inner_model is None:
            held_models = [child for _, child in children(layer.stored)]
            inner_layer = self.child(node, "layer")
            if len(held_models) == 1 and inner_layer is not None and self.layers(inner_layer):
                inner_model, inner_node = held_models[0], inner_layer
        if inner_model is None:
            return self._layer_variables(layer, node, modern=modern)
        flat = [
            Tensor(t.name, t.shape, t.dtype, t.ref, (name, *t.owner), t.trained)
            for name, tensors in self._model(inner_model, inner_node)
            for t in tensors
        ]
        stored_lists = self._stored_variable_lists(node)
        if stored_lists is not None:
            trained, _ = stored_lists
            flat = [Tensor(t.name, t.shape, t.dtype, t.ref, t.owner, t.ref in trained) for t in flat]
        return (*(t for t in flat if t.trained), *(t for t in flat if not t.trained))

    def _stored_variable_lists(self, node: int) -> tuple[set[str], list[str]] | None:
        """What a SavedModel says outright: which keys are trained, and all in Keras's order."""
        every, trained = self.child(node, "variables"), self.child(node, "trainable_variables")
        if every is None or trained is None:
            return None
        listed = [[k for k in map(self.key, self.listed(n)) if k is not None] for n in (trained, every)]
        return set(listed[0]), listed[1]

    def listed(self, node: int) -> list[int]:
        """The elements of a list."""
        numbered = {int(name): n for name, n in self._children[node].items() if NUMBER.fullmatch(name)}
        return [numbered[k] for k in sorted(numbered)]

    def key(self, node: int) -> str | None:
        """The tensor in the bundle that an object is; None where it is no variable."""
        return next((a.checkpoint_key for a in self.nodes[node].attributes if a.name == VALUE), None)

    def _layer_variables(self, layer: Layer, node: int, *, modern: bool) -> tuple[Tensor, ...]:
        variables = self._variables(node)
        self._check_fits(layer, node, variables)
        by_key = {self.key(n): n for n in variables}

        def tensor(n: int, *, trained: bool) -> Tensor:
            return self.tensor(n, "/".join((layer.name, *variables[n])), trained=trained, modern=modern)

        stored_lists = self._stored_variable_lists(node)
        if stored_lists is not None:
            trained, order = stored_lists
            numbers = [by_key[k] for k in order if k in by_key]
            return tuple(tensor(n, trained=(self.key(n) or "") in trained) for n in numbers)
        listed = list(variables) if today(layer.class_name) in OWN else self._as_code_lists(layer, node, variables)
        flags = self._trained(layer, listed)
        tensors = [tensor(n, trained=flag) for n, flag in zip(listed, flags, strict=True)]
        return (*(t for t in tensors if t.trained), *(t for t in tensors if not t.trained))

    def _as_code_lists(self, layer: Layer, node: int, variables: Mapping[int, AttributePath]) -> list[int]:
        """A custom layer's variables as Keras lists them: its own first, then each sub-layer's.

        Sub-layers are listed as they were made, but those in a dictionary by their keys, which looks the same here.
        """
        order: list[int] = []
        pending: list[tuple[int, bool]] = [(node, True)]
        while pending:
            current, is_layer = pending.pop()
            self.step()
            children_of = {n: name for name, n in self._children[current].items() if name not in NOT_WEIGHTS}
            own_variables = [n for n in children_of if n in variables and n not in order]
            order += own_variables
            sub_layers = [n for n in children_of if n not in variables and self._variables(n).keys() - {*order}]
            names = [children_of[n] for n in sub_layers]
            are_numbered = all(map(NUMBER.fullmatch, names))
            if not is_layer and not own_variables and not are_numbered and names != sorted(names):
                self._open_orders.append(
                    f"the order of the weights of {layer.name!r} is known to the code of {layer.class_name} alone"
                )
            pending += [(n, False) for n in reversed(sub_layers)]
        return order

    def _check_fits(self, layer: Layer, node: int, variables: Mapping[int, AttributePath]) -> None:
        """Raises Refused where these variables cannot be this layer's."""
        entries = [self.bundle.entries.get(self.key(n) or "") for n in variables]
        expected_weights, kind = expected(layer.config), today(layer.class_name)
        is_keras_own = kind in OWN
        does_not_fit = (
            (is_keras_own and bool(self.layers(node)))
            or (expected_weights is not None and len(entries) < expected_weights.total)
            or (kind in PLAIN and any(len(path) > 1 for path in variables.values()))
            or (expected_weights is not None and not fits(layer.settings, [e.shape for e in entries if e is not None]))
            or (is_input(layer.stored) and bool(entries))
        )
        if does_not_fit:
            raise self._unfit(layer, len(entries))

    def _trained(self, layer: Layer, nodes: list[int]) -> list[bool]:
        """Which of a layer's variables are trained, where only the optimizer or the config can tell."""
        count, expected_weights = trained_count(layer, len(nodes)), expected(layer.config)
        if count == 0:
            return [False] * len(nodes)
        if self.optimizers.all_trained & set(nodes):
            return [n in self.optimizers.all_trained for n in nodes]
        if count is not None:
            return [k < count for k in range(len(nodes))]
        if expected_weights is not None and not expected_weights.statistics:
            return [True] * len(nodes)
        if self.optimizers.all_trained:
            return [False] * len(nodes)
        if len(nodes) > 1:
            self._open_orders.append(
                f"which weights of {layer.name!r} are trained is not stored, so their order is open"
            )
        return [True] * len(nodes)

    def _variables(self, node: int) -> dict[int, AttributePath]:
        """The variables under an object, depth first in the order of its attributes, with the attributes' names.

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
            path = path[:MAX_PARTS]
            children_of = [(n, (*path, name)) for name, n in self._children[current].items() if name not in NOT_WEIGHTS]
            pending += reversed(children_of)
        own_names = {n: (name,) for name, n in reversed(self._children[node].items()) if name not in NOT_WEIGHTS}
        return {n: own_names.get(n, path) for n, path in variables.items()}

    def step(self) -> None:
        """One more object was looked at. Raises Unreadable where there are more than any model's graph leads to."""
        self._steps += 1
        spend(STEPS_A_VISIT)
        if self._steps > MAX_STEPS + MAX_STEPS_EACH * len(self.nodes):
            raise Unreadable("absurd-size", f"{self.where}: its objects lead to each other without end; no model's do")

    def name(self, node: int) -> str | None:
        """What the program called a variable; None where that is not stored, and of what is none."""
        return next((a.full_name for a in self.nodes[node].attributes if a.name == VALUE), None)

    def tensor(self, node: int, place: str, *, trained: bool, modern: bool) -> Tensor:
        """A variable by the name that the program gave it; by its place where that is not stored."""
        key = self.key(node) or ""
        entry = self.bundle.entries.get(key)
        if entry is None:
            raise Unreadable("missing-weight", f"{self.where}: names the tensor {key!r}, which is not stored")
        name = self.name(node) or place
        return Tensor(name if modern else f"{name}:0", entry.shape, entry.dtype, key, (), trained)


def _distinct(placed: Iterable[PlacedModel]) -> set[tuple[str, ...]]:
    """The tensors of models, each once."""
    return {tuple(t.ref for g in each.groups for t in g.tensors) for each in placed}


def _bear_layer_names(groups: Iterable[Group]) -> bool:
    """Whether every weight bears the name of its layer."""
    return all({g.name, *t.owner} & set(t.name.split("/")) for g in groups for t in g.tensors)
