"""A model as an expression over its leaf layers, to be compared with another model's.

Nested models are written out, layers that pass their input on in inference are left out, and an activation is an
operation of its own, whether a layer's argument or a layer names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from unnest.budget import charge_steps
from unnest.core.architecture import is_input, read, tensor_refs
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.architecture.nested_models import Leaf, LeafPath
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_class,
    is_keras_layer,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.model import CallId, Json, JsonObject, Ref

#: Steps of the budget for each call that is written out.
STEPS_PER_EXPRESSION = 10

INPUT, ACTIVATION = "InputLayer", "Activation"


@dataclass(frozen=True, eq=False)
class Node:
    """One call of a leaf layer, an activation, or an input of the model; `leaf` is None for inputs.

    `argument` is an activation's name, an input's number, or what a call is given beside tensors. `settings` is the
    layer's config, of an input that of its layer, empty if it has none.
    """

    kind: str
    inputs: tuple[NodeOutput, ...]
    leaf: Leaf | None = None
    argument: Json = None
    settings: JsonObject = field(default_factory=dict)

    def with_settings(self, **changed: Json) -> Node:
        """Return the call with other arguments of its layer."""
        return replace(self, settings={**self.settings, **changed})

    @property
    def name(self) -> str:
        """The name of the leaf layer, for messages."""
        return self.kind if self.leaf is None else self.leaf.name

    @property
    def is_opaque(self) -> bool:
        """True if only code, or an operation's arguments, define what it computes."""
        if self.leaf is None or self.kind == ACTIVATION:
            return False
        layer = self.leaf.layer
        return (
            layer.class_name == "Lambda"
            or _is_operation(layer)
            or not is_keras_class(self.kind, layer.stored)
        )


class NodeOutput(NamedTuple):
    """One tensor: an output of a node."""

    node: Node
    tensor: int


def outputs_of(model: JsonObject) -> list[NodeOutput]:
    """Return the model's outputs as expressions over its inputs."""
    graph = read(model)
    settings = [graph.layers[ref.layer].settings for ref in graph.inputs] or [{}]
    inputs = [
        NodeOutput(Node(INPUT, (), argument=k, settings=own), 0) for k, own in enumerate(settings)
    ]
    return _written_out(graph, inputs, ())


def _written_out(graph: Graph, inputs: Sequence[NodeOutput], path: LeafPath) -> list[NodeOutput]:
    """Return a model's outputs as expressions over its leaf layers; nested models are expanded."""
    values: dict[CallId, list[NodeOutput] | Node] = {
        ref.call: [value] for ref, value in zip(graph.inputs, inputs, strict=False)
    }
    for call_id in _in_order(graph):
        charge_steps(STEPS_PER_EXPRESSION)
        layer, call = graph.layers[call_id.layer], graph.call(call_id)
        if call_id in values:
            continue
        reads = [_value(values, ref) for ref in call.reads] or (
            [] if is_input(layer.stored) else list(inputs)
        )
        if layer.is_model:
            values[call_id] = _written_out(read(layer.stored), reads, (*path, layer.name))
        else:
            values[call_id] = _of_leaf(Leaf((*path, layer.name), layer), call, reads, graph)
    return [_value(values, ref) for ref in graph.outputs]


def _value(values: Mapping[CallId, list[NodeOutput] | Node], ref: Ref) -> NodeOutput:
    made = values[ref.call]
    return (
        NodeOutput(made, ref.tensor)
        if isinstance(made, Node)
        else made[min(ref.tensor, len(made) - 1)]
    )


def _of_leaf(
    leaf: Leaf, call: Call, reads: Sequence[NodeOutput], graph: Graph
) -> list[NodeOutput] | Node:
    """Return a leaf layer's call as a node, or as its inputs if it computes nothing."""
    kind = current_class_name(leaf.layer.class_name)
    is_keras = is_keras_layer(leaf.layer) and not _is_operation(leaf.layer)
    settings = leaf.layer.settings
    if is_keras and reads and (layer_record(kind).in_training_only or is_input(leaf.layer.stored)):
        return [reads[0]]
    if is_keras and (name := _activation(kind, settings)) is not None:
        return (
            [reads[0]]
            if name == "linear"
            else Node(ACTIVATION, tuple(reads), leaf, _today(name), settings)
        )
    node = Node(kind, tuple(reads), leaf, _arguments(call, graph), settings)
    name = (
        settings.get("activation") if is_keras and layer_record(kind).applies_activation else None
    )
    if name is None or name == "linear":
        return node
    return [NodeOutput(Node(ACTIVATION, (NodeOutput(node, 0),), leaf, _today(name), settings), 0)]


def _activation(kind: str, settings: JsonObject) -> Json:
    """Return the activation that a layer of its own applies; None for other layers."""
    if kind == ACTIVATION:
        return settings.get("activation", "linear")
    plain = {"max_value": (None,), "negative_slope": (0, None), "threshold": (0, None)}
    if kind == "ReLU" and all(settings.get(key) in values for key, values in plain.items()):
        return "relu"
    return "softmax" if kind == "Softmax" and settings.get("axis", -1) == -1 else None


def _today(name: Json) -> Json:
    """Return the name that Keras 3 writes for an activation (source: keras/src/activations of Keras 3.15)."""
    return "silu" if name == "swish" else name


def _is_operation(layer: Layer) -> bool:
    return str(layer.stored.get("module", "")).startswith(("keras.src.ops", "keras.ops"))


def _arguments(call: Call, graph: Graph) -> Json:
    """Return what a call is given beside tensors, as a value to compare: `training=True`, constants."""
    given = call.stored
    if isinstance(given, OBJECT):
        given = {key: given.get(key) for key in ("args", "kwargs")}
    return _bare(tensor_refs.without_tensors(given, graph.layers))


def _bare(value: Json) -> Json:
    """Return a value without nulls and what is empty without them; a list keeps its places unless all are null."""
    if isinstance(value, OBJECT):
        told = {k: part for k, each in value.items() if (part := _bare(each)) is not None}
        if told.get("training") is False:  # as inference is
            del told["training"]
        return told or None
    if not is_list(value):
        return value
    parts = [_bare(each) for each in value]
    return parts if any(part is not None for part in parts) else None


def _in_order(graph: Graph) -> Iterator[CallId]:
    """Yield the calls that the outputs need, each behind what it reads. Without recursion: graphs are deep."""
    done: set[CallId] = set()
    pending = [(ref.call, False) for ref in reversed(graph.outputs)]
    while pending:
        call_id, is_ready = pending.pop()
        if is_ready:
            yield call_id
        elif call_id not in done:
            done.add(call_id)
            pending.append((call_id, True))
            pending += [
                (ref.call, False)
                for ref in reversed(graph.call(call_id).reads)
                if ref.call not in done
            ]
