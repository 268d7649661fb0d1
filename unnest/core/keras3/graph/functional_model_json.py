"""The JSON of a functional model of Keras 3: entries of layers and operations in, those that its outputs need out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import keras_order, reached
from unnest.core.architecture.nested_models import with_owner
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.keras3.conversion_context import refused
from unnest.core.keras3.layer_replacements import FUNCTIONAL, NewLayer, NodeTree
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import CallId, Json, JsonObject, Ref, Tensor

SHAPE_OR_NUMBER = "Shape"
"""The class of an operation that stands for a shape or a number: whoever reads it knows its value, and it goes."""


@dataclass(eq=False, repr=False)
class Entry:
    """A layer or operation, the calls of it, and what each reads."""

    entry: JsonObject
    weights: tuple[Tensor, ...]
    nodes: list[Json] = field(default_factory=list)
    reads: list[tuple[GraphTensor, ...]] = field(default_factory=list)


@dataclass(eq=False, repr=False)
class GraphEntries:
    """The layers and operations of a graph by name, each with its calls."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def ordered(self, inputs: Sequence[GraphTensor], outputs: Sequence[GraphTensor]) -> list[str]:
        """Return the names of the layers that the outputs need, in Keras's order."""

        def refs(tensors: Sequence[GraphTensor]) -> list[Ref]:
            return [Ref(t.layer, t.call_index, t.tensor) for t in tensors]

        return keras_order(self._reads, refs(inputs), refs(outputs))

    def model(
        self,
        name: str,
        inputs: Sequence[GraphTensor],
        outputs: Sequence[GraphTensor],
        settings: JsonObject,
        structures: tuple[Json, Json] = (None, None),
    ) -> NewLayer:
        """Return the functional model; `settings` are more keys of its config. Raises CannotConvert.

        `structures` are those of its inputs and outputs, where they are no lists: mappings, or nested.
        """
        names = self.ordered(inputs, outputs)
        for size in (n for n in names if self.entries[n].entry["class_name"] == SHAPE_OR_NUMBER):
            raise refused(
                size,
                "TensorFlow operation",
                "gives a shape or a number, where a layer needs a tensor",
            )
        new_indices = self._needed_calls(outputs)
        layers: list[Json] = [
            {**self.entries[n].entry, "name": n, "inbound_nodes": self._nodes(n, new_indices)} for n in names
        ]  # fmt: skip
        config: JsonObject = {
            "name": name, **settings, "layers": layers, "input_layers": self._ends(inputs, new_indices, structures[0]),
            "output_layers": self._ends(outputs, new_indices, structures[1]),
        }  # fmt: skip
        weights = tuple(w for n in names for w in with_owner(n, self.entries[n].weights))
        return NewLayer(name, FUNCTIONAL, config, weights, "keras.src.models.functional")

    def _reads(self, at: CallId) -> list[Ref]:
        """Return the tensors that a call reads; an input has none."""
        calls = self.entries[at.layer].reads
        return [Ref(t.layer, t.call_index, t.tensor) for t in calls[at.call_index]] if calls else []

    def _needed_calls(self, outputs: Sequence[GraphTensor]) -> dict[str, dict[int, int]]:
        """Return the calls that the outputs need: layer -> index of the call here -> its index among those needed."""
        ends = (CallId(t.layer, t.call_index) for t in outputs)
        new_indices: dict[str, dict[int, int]] = {}
        for at in sorted(reached(ends, lambda at: [ref.call for ref in self._reads(at)])):
            of_layer = new_indices.setdefault(at.layer, {})
            of_layer[at.call_index] = len(of_layer)
        return new_indices

    def _nodes(self, name: str, new_indices: Mapping[str, Mapping[int, int]]) -> list[Json]:
        """Return the calls of a layer that are needed, with the indices that the calls of their tensors have then."""
        nodes = self.entries[name].nodes
        return (
            [
                _with_call_indices(nodes[call_index], new_indices)
                for call_index in new_indices.get(name, ())
            ]
            if nodes
            else []
        )

    def _ends(
        self,
        tensors: Sequence[GraphTensor],
        new_indices: Mapping[str, Mapping[int, int]],
        structure: Json,
    ) -> Json:
        """Return stored inputs or outputs; functional models count calls from 1 here (source: Keras 3.15)."""
        ends: list[Json] = []
        for t in tensors:
            call_index = new_indices.get(t.layer, {}).get(t.call_index, t.call_index)
            ends.append(
                [
                    t.layer,
                    call_index + int(self.entries[t.layer].entry["class_name"] == FUNCTIONAL),
                    t.tensor,
                ]
            )
        if structure is not None:
            return _packed(structure, iter(ends))
        return ends[0] if len(ends) == 1 else ends


def stored_arguments(tree: NodeTree, specs: Mapping[GraphTensor, Spec | None]) -> Json:
    """Return the arguments as Keras 3 stores them; an unknown shape is noted as (), which no loader reads."""
    if isinstance(tree, GraphTensor):
        spec = specs.get(tree) or Spec((), "float32")
        history: Json = [tree.layer, tree.call_index, tree.tensor]
        noted: JsonObject = {
            "shape": list(spec.shape),
            "dtype": spec.dtype,
            "keras_history": history,
        }
        return {"class_name": tensor_refs.KERAS_3_TENSOR, "config": noted}
    if isinstance(tree, Mapping):
        return {k: stored_arguments(v, specs) for k, v in tree.items()}
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        return [stored_arguments(v, specs) for v in tree]
    assert tree is None or isinstance(tree, bool | int | float | str)
    return tree


def _with_call_indices(node: Json, new_indices: Mapping[str, Mapping[int, int]]) -> Json:
    """Return a stored call, or a part of it, with new indices of the calls that its tensors come from."""
    if isinstance(node, OBJECT):
        if node.get("class_name") == tensor_refs.KERAS_3_TENSOR:
            config = node["config"]
            assert isinstance(config, Mapping)
            # As `stored_arguments` writes it.
            layer, call_index, tensor = cast("list[Any]", config["keras_history"])
            return {
                **node,
                "config": {
                    **config,
                    "keras_history": [layer, new_indices[layer][call_index], tensor],
                },
            }
        return {key: _with_call_indices(part, new_indices) for key, part in node.items()}
    return [_with_call_indices(part, new_indices) for part in node] if is_list(node) else node


def _packed(structure: Json, ends: Iterator[Json]) -> Json:
    """Put the ends in the places of a structure, in the order in which Keras flattens it: a mapping's keys sorted.

    (Source: Keras 3.7, which takes a list of tensors for a mapping of inputs only where its keys are in order.)
    """
    if isinstance(structure, OBJECT):
        return {key: _packed(structure[key], ends) for key in sorted(structure)}
    if not is_list(structure) or (structure and isinstance(structure[0], str)):
        return next(ends)
    return [_packed(part, ends) for part in structure]
