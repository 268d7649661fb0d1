"""The layer graph of one model: layers, their calls, and which call reads what.

Nothing else knows what a "node" looks like. A graph is a view of the JSON that it was
read from: every layer and call keeps its stored form, so that what is not changed is
never written anew. Calls are ranked from 0 in the order they are stored in, whatever
numbers the file gives them (`Layer.first` holds the difference).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from unnest.core.architecture import tensor_refs
from unnest.core.json_tree import OBJECT, is_list
from unnest.core.model import CallId, Json, JsonObject, Ref


def is_model(entry: Json) -> bool:
    """Return True if this is a serialized model with its layers in it, by its structure."""
    return isinstance(entry, OBJECT) and "class_name" in entry and stored_layers(entry) is not None


def stored_layers(model: JsonObject) -> Sequence[Json] | None:
    """Return the layers that a model is stored with; None for what is not a model, by its structure."""
    config = model.get("config")
    # Keras 1's Merge lists the models that it merges.
    if isinstance(config, OBJECT) and "concat_axis" in config:
        return None
    layers = config.get("layers") if isinstance(config, OBJECT) else config
    if layers is None or not is_list(layers):
        return None
    if not layers and not isinstance(config, OBJECT):
        return None
    return layers if all(isinstance(e, OBJECT) and "class_name" in e for e in layers) else None


class Call(NamedTuple):
    """One call of a layer: the tensors it reads, positional ones first, and its JSON (an entry of `inbound_nodes`).

    `arguments` is the same JSON, but that a model which is given its inputs by name has the list of them, in its own
    order (`mapping_calls_as_lists`); `reads` follows it. Its last `unused` tensors are of names that the model has no
    input of.
    """

    reads: tuple[Ref, ...]
    stored: Json = None
    arguments: Json = None
    unused: int = 0

    @property
    def inputs(self) -> tuple[Ref, ...]:
        """The tensors that the call reads, without the unused ones."""
        return self.reads[: len(self.reads) - self.unused]


class _StoredLayer(NamedTuple):
    """The fields of a `Layer`."""

    name: str
    class_name: str
    config: Json
    stored: JsonObject
    calls: tuple[Call, ...]
    first: int = 0
    first_at_ends: int = 0
    #: True if the file stores the name; else it is one that Keras could give, and another layer may have it.
    is_named: bool = True


class Layer(_StoredLayer):
    """One layer. `stored` is its whole JSON entry.

    `first` is the file's number of call 0 in other layers' calls, `first_at_ends` that in the model's lists of
    inputs and outputs.
    """

    @cached_property
    def settings(self) -> JsonObject:
        """The layer's config if it is an object, else {} (an old Sequential's is a list)."""
        return self.config if isinstance(self.config, OBJECT) else {}

    @cached_property
    def is_model(self) -> bool:
        """Return True if the layer is a model that is stored with its layers."""
        return is_model(self.stored)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """One model's layers in stored order, with its input and output tensors."""

    name: str
    layers: Mapping[str, Layer]
    inputs: tuple[Ref, ...]
    outputs: tuple[Ref, ...]
    model: JsonObject
    sequential: bool = False
    #: The same graph of the config alone, which a nested model and the same model by itself share; None for itself.
    of_config: Graph | None = None

    @property
    def shared(self) -> Graph:
        """The graph to ask for what does not depend on what stands beside the config: it is worked out once.

        A graph of some of the layers alone shares nothing.
        """
        same = self.of_config
        return self if same is None or same.layers is not self.layers else same

    @property
    def arity(self) -> int:
        """The number of tensors that a call of this model takes; a Sequential need not store its one input."""
        return 1 if self.sequential else len(self.inputs)

    def calls(self) -> Sequence[tuple[CallId, Call]]:
        """Return every call with its id, layer by layer."""
        return self._calls

    @cached_property
    def _calls(self) -> Sequence[tuple[CallId, Call]]:
        if self.shared is not self:
            return self.shared.calls()
        return [
            (CallId(layer.name, call_index), call)
            for layer in self.layers.values()
            for call_index, call in enumerate(layer.calls)
        ]

    def call(self, call_id: CallId) -> Call:
        """Return one call.

        Raises:
            KeyError: there is no such layer.
            IndexError: the layer has no such call.

        """
        return self.layers[call_id.layer].calls[call_id.call_index]

    @cached_property
    def readers(self) -> Mapping[CallId, tuple[tuple[CallId, Ref], ...]]:
        """Call -> the calls that read its outputs, each with the tensor that it reads.

        The model's own outputs are not among the readers.
        """
        if self.shared is not self:
            return self.shared.readers
        readers: dict[CallId, list[tuple[CallId, Ref]]] = {}
        for call_id, call in self.calls():
            for ref in dict.fromkeys(call.reads):
                readers.setdefault(ref.call, []).append((call_id, ref))
        return {call_id: tuple(reads) for call_id, reads in readers.items()}

    def stored_reads(self, call_id: CallId) -> tuple[Ref, ...]:
        """Return the tensors that a call reads in the order in which Keras walks them: a mapping by its sorted keys."""
        call = self.call(call_id)
        if call.arguments is call.stored:
            return call.reads
        raw_reads = tensor_refs.reads(call.stored, self.layers)
        return tuple(
            Ref(name, number - self.layers[name].first, tensor)
            for name, number, tensor in raw_reads
        )

    @cached_property
    def noted_shapes(self) -> Mapping[Ref, tuple[int | None, ...]]:
        """Tensor -> the shape that Keras 3 notes where a call reads it; {} in other dialects."""
        return {
            Ref(layer, number - self.layers[layer].first, tensor): shape
            for _, call in self.calls()
            if tensor_refs.is_keras_3(call.stored)
            for (layer, number, tensor), shape in tensor_refs.noted_shapes(call.stored, self.layers)
        }


def keras_order(
    reads: Callable[[CallId], Iterable[Ref]], inputs: Iterable[Ref], outputs: Iterable[Ref]
) -> list[str]:
    """Return the names of a functional model's layers in the order in which Keras keeps them.

    Deepest layers first, where a layer's depth is that of its deepest call, counted from
    the outputs; layers of one depth in the order that a depth-first walk back from the
    outputs meets them. The same in Keras 1 to 3 (source: what they save).
    """
    met, finished = _walk_back(reads, outputs)
    depth_of_call: dict[CallId, int] = {}
    depth_of_layer: dict[str, int] = {}
    for call_id in reversed(finished):
        depth = max(depth_of_call.get(call_id, 0), depth_of_layer.get(call_id.layer, 0))
        depth_of_layer[call_id.layer] = depth_of_call[call_id] = depth
        for ref in reads(call_id):
            depth_of_call[ref.call] = max(depth + 1, depth_of_call.get(ref.call, 0))
    for ref in inputs:
        if ref.layer not in depth_of_layer:
            depth_of_layer[ref.layer], met[ref.layer] = 0, -1
    return sorted(depth_of_layer, key=lambda name: (-depth_of_layer[name], met[name]))


def _walk_back(
    reads: Callable[[CallId], Iterable[Ref]], outputs: Iterable[Ref]
) -> tuple[dict[str, int], list[CallId]]:
    """Return layers in the order they are met, calls in the order they are finished (iterative: graphs are deep)."""
    layer_order: dict[str, int] = {}
    entered: set[CallId] = set()
    finished: list[CallId] = []
    for output in outputs:
        stack: list[tuple[CallId, Iterator[Ref]]] = []
        pending = iter((output,))
        while True:
            ref = next(pending, None)
            if ref is not None:
                if ref.call not in entered:
                    entered.add(ref.call)
                    layer_order.setdefault(ref.layer, len(layer_order))
                    stack.append((ref.call, pending))
                    pending = iter(tuple(reads(ref.call)))
            elif stack:
                call_id, pending = stack.pop()
                finished.append(call_id)
            else:
                break
    return layer_order, finished


def in_order(graph: Graph) -> Iterator[tuple[CallId, Call]]:
    """Yield every call after the calls that it reads; among equals in stored order."""
    calls = dict(graph.calls())
    missing = {at: {r.call for r in call.reads} for at, call in calls.items()}
    ready = [at for at, reads in missing.items() if not reads]
    while ready:
        following: list[CallId] = []
        for at in ready:
            yield at, calls[at]
            for user, _ in graph.readers.get(at, ()):
                if at in missing[user]:
                    missing[user].discard(at)
                    if not missing[user]:
                        following.append(user)
        ready = following


T = TypeVar("T", bound=Hashable)


def reached(starts: Iterable[T], leads_to: Callable[[T], Iterable[T]]) -> set[T]:
    """Return everything that is reachable from `starts`, themselves included, by `leads_to`.

    Each is asked once where it leads to. Without recursion: graphs are deep.
    """
    met: set[T] = set()
    pending = list(starts)
    while pending:
        item = pending.pop()
        if item not in met:
            met.add(item)
            pending += leads_to(item)
    return met
