"""Functional and Sequential models as graphs, in every dialect, and graphs as models again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from unnest.core.dialects import nodes
from unnest.core.graph import Call, Graph, Layer, Ref
from unnest.core.model import Json, JsonObject

Path: TypeAlias = tuple[str | int, ...]
"""Where a nested model sits in a layer's entry: the keys and indices that lead to it."""


class NotAGraph(ValueError):
    """The JSON claims to be a model but does not add up; the message says where."""


class ShapesUnknown(ValueError):
    """Keras 3 would note tensors that nothing in the file tells; the message says after which layer."""


def is_model(entry: Json) -> bool:
    """Whether this is a serialized model with its layers in it, by its structure."""
    return isinstance(entry, Mapping) and "class_name" in entry and _entries(entry) is not None


def model_name(model: JsonObject) -> str:
    """The model's own name; an old Sequential's is only known to the layer entry around it."""
    config = model.get("config")
    name = config.get("name") if isinstance(config, Mapping) else None
    name = name if isinstance(name, str) else model.get("name")
    return name if isinstance(name, str) else str(model.get("class_name", "model"))


def _entries(model: JsonObject) -> Sequence[Json] | None:
    config = model.get("config")
    if isinstance(config, Mapping) and "concat_axis" in config:  # Keras 1's Merge lists the models that it merges
        return None
    layers = config.get("layers") if isinstance(config, Mapping) else config
    if not isinstance(layers, Sequence) or isinstance(layers, str):
        return None
    if not layers and not isinstance(config, Mapping):
        return None
    return layers if all(isinstance(e, Mapping) and "class_name" in e for e in layers) else None


def read(model: JsonObject) -> Graph:
    """The graph of a serialized model, one level deep.

    Raises NotAGraph where names repeat, or a reference leads nowhere or in a circle.
    """
    entries = _entries(model)
    if entries is None:
        raise NotAGraph(f"{model.get('class_name')!s} holds no list of layers")
    objects = [e for e in entries if isinstance(e, Mapping)]
    config = model["config"]
    if isinstance(config, Mapping) and "output_layers" in config:
        return _read_functional(model, config, objects)
    return _read_sequential(model, objects)


def _layer_name(entry: JsonObject) -> str:
    config = entry.get("config")
    inner = config.get("name") if isinstance(config, Mapping) else None
    name = entry.get("name", inner)
    if not isinstance(name, str):
        raise NotAGraph(f"a layer of class {entry.get('class_name')!s} has no name")
    return name


def _named(entries: Iterable[JsonObject]) -> dict[str, JsonObject]:
    named: dict[str, JsonObject] = {}
    nameless = 0
    for entry in entries:
        if "name" not in entry and not isinstance(entry.get("config"), Mapping):
            # An old Sequential in another has no name in the file; its writer counts them.
            nameless += 1
            name = f"{str(entry['class_name']).lower()}_{nameless}"
        else:
            name = _layer_name(entry)
        if name in named:
            raise NotAGraph(f"two layers are called {name!r}")
        named[name] = entry
    return named


def _read_functional(model: JsonObject, config: JsonObject, entries: Sequence[JsonObject]) -> Graph:
    if "input_layers" not in config:
        raise NotAGraph(f"{model_name(model)!r} has outputs but no inputs")
    named = _named(entries)
    stored_calls = {name: _stored_calls(entry) for name, entry in named.items()}
    raw = {name: [nodes.reads(node, named) for node in calls] for name, calls in stored_calls.items()}
    ends = [nodes.reads(config.get(key), named) for key in ("input_layers", "output_layers")]
    keras_3 = any(nodes.is_keras_3(node) for calls in stored_calls.values() for node in calls)
    first, first_at_ends = _first_numbers(named, raw, ends, keras_3=keras_3)

    def ref(raw_ref: nodes.RawRef, first: Mapping[str, int]) -> Ref:
        name, number, tensor = raw_ref
        rank = number - first[name]
        if not 0 <= rank < max(1, len(stored_calls[name])):
            raise NotAGraph(f"{name!r} has no call number {number}")
        return Ref(name, rank, tensor)

    layers = {
        name: Layer(
            name,
            str(entry["class_name"]),
            entry.get("config"),
            entry,
            tuple(
                Call(tuple(ref(r, first) for r in refs), stored)
                for refs, stored in zip(raw[name], stored_calls[name], strict=True)
            )
            or (Call(()),),
            first[name],
            first_at_ends[name],
        )
        for name, entry in named.items()
    }
    inputs, outputs = (tuple(ref(r, first_at_ends) for r in end) for end in ends)
    graph = Graph(model_name(model), layers, inputs, outputs, model)
    _refuse_circles(graph)
    return graph


def _stored_calls(entry: JsonObject) -> Sequence[Json]:
    calls = entry.get("inbound_nodes", [])
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise NotAGraph(f"{_layer_name(entry)!r} has inbound_nodes that are no list")
    return calls


def _first_numbers(
    named: Mapping[str, JsonObject],
    raw: Mapping[str, Sequence[Sequence[nodes.RawRef]]],
    ends: Sequence[Sequence[nodes.RawRef]],
    *,
    keras_3: bool,
) -> tuple[dict[str, int], dict[str, int]]:
    """The numbers that the file gives to every layer's first call, in calls and at the model's ends.

    A nested model's own graph is its node 0 and its calls count from 1 (source: the get_config of Network
    and Functional). Keras 3 does so at the ends only, and not for a Sequential.
    """

    def first(name: str, numbers: set[int], default: int) -> int:
        count = len(raw[name])
        beyond = max(numbers, default=0) - count + 1
        if not count:
            return 0
        return beyond if beyond > 0 else 0 if 0 in numbers else default

    in_calls = _numbers_of(named, (group for calls in raw.values() for group in calls))
    at_ends = _numbers_of(named, ends)
    if keras_3:
        starts = {name: first(name, in_calls[name], 0) for name in named}
        return starts, {name: first(name, at_ends[name], first_at_ends(named[name])) for name in named}
    starts = {name: first(name, in_calls[name] | at_ends[name], int(is_model(named[name]))) for name in named}
    return starts, starts


def _numbers_of(names: Iterable[str], groups: Iterable[Iterable[nodes.RawRef]]) -> dict[str, set[int]]:
    numbers: dict[str, set[int]] = {name: set() for name in names}
    for name, number, _ in (ref for group in groups for ref in group):
        numbers[name].add(number)
    return numbers


def first_at_ends(entry: JsonObject) -> int:
    """The number of a layer's first call in Keras 3's lists of inputs and outputs."""
    config = entry.get("config")
    return int(isinstance(config, Mapping) and "output_layers" in config)


def _refuse_circles(graph: Graph) -> None:
    waiting = {at: {r.call for r in call.reads} for at, call in graph.calls()}
    ready = [at for at, needs in waiting.items() if not needs]
    done = 0
    while ready:
        at = ready.pop()
        done += 1
        for user, _ in graph.readers.get(at, ()):
            if at in waiting[user]:
                waiting[user].discard(at)
                if not waiting[user]:
                    ready.append(user)
    if done < len(waiting):
        raise NotAGraph(f"the layers of {graph.name!r} read one another in a circle")


def _read_sequential(model: JsonObject, entries: Sequence[JsonObject]) -> Graph:
    """A chain: every layer reads the one before it, the first an input that need not be stored."""
    named = _named(entries)
    layers: dict[str, Layer] = {}
    before: Ref | None = None
    for name, entry in named.items():
        calls = (Call((before,) if before else ()),)
        layers[name] = Layer(name, str(entry["class_name"]), entry.get("config"), entry, calls)
        before = Ref(name, 0, 0)
    first = next(iter(layers), None)
    inputs = (Ref(first, 0, 0),) if first and is_input(layers[first].stored) else ()
    return Graph(model_name(model), layers, inputs, (before,) if before else (), model, sequential=True)


def functional(model: JsonObject, entries: Iterable[JsonObject], inputs: Json, outputs: Json) -> JsonObject:
    """The same model with other layers; entries, inputs and outputs are in stored form."""
    config = model["config"]
    assert isinstance(config, Mapping)
    new = {**config, "layers": list(entries), "input_layers": inputs, "output_layers": outputs}
    return {**model, "config": new}


def sequential_as_functional(model: JsonObject, inputs: Sequence[JsonObject]) -> JsonObject:
    """A Sequential's layers as Model(s.input, s.output) stores them; a functional model as it is.

    Where the Sequential does not store its input layer, `inputs[0]` is taken: the entry of the input
    layer that it is called on (the two are one object to the writer). Raises ShapesUnknown.
    """
    graph = read(model)
    if not graph.sequential:
        return model
    if _is_keras_3(inputs[0]):
        return _keras_3_chain(model, graph)
    layers = list(graph.layers.values())
    entries: list[JsonObject] = []
    if not graph.inputs:
        entries.append(_own_input(layers[0], inputs[0]))
    elif layers:
        entries.append({**layers[0].stored, "name": layers[0].name, "inbound_nodes": []})
        layers = layers[1:]
    keras_1 = _is_keras_1(inputs[0])
    before: Json = [_layer_name(entries[0]), 0, 0]
    if keras_1 and layers and is_model(layers[0].stored):
        entries, before = _inlined(layers[0].stored, inputs)
        layers = layers[1:]
    for layer in layers:
        assert isinstance(before, list)
        node: Json = [before if keras_1 else [*before, {}]]
        entries.append({**layer.stored, "name": layer.name, "inbound_nodes": [node]})
        before = [layer.name, int(is_model(layer.stored)), 0]
    start: Json = [_layer_name(entries[0]), 0, 0]
    config: JsonObject = {
        "name": graph.name,
        "layers": entries,
        "input_layers": [start],
        "output_layers": [before],
    }
    return {**model, "config": config}


def _keras_3_chain(model: JsonObject, graph: Graph) -> JsonObject:
    """The same for Keras 3, which always stores the input layer, and notes every tensor in full."""
    from unnest.core import shapes

    if not graph.layers:
        raise ShapesUnknown("any shape of a model without layers")
    first, *rest = graph.layers.values()
    entries: list[JsonObject] = [{**first.stored, "name": first.name, "inbound_nodes": []}]
    spec = shapes.of_input(first.stored)
    before: Json = [first.name, 0, 0]
    for layer in rest:
        call = shapes.called(layer.stored, spec) if spec else None
        if spec is None or call is None:
            raise ShapesUnknown(f"the shapes after {layer.name!r}")
        node = nodes.keras_3(before, spec.shape, spec.dtype, call.kwargs)
        entries.append({**layer.stored, "name": layer.name, "inbound_nodes": [node]})
        before, spec = [layer.name, 0, 0], call.output
    end: Json = [entries[-1]["name"], first_at_ends(entries[-1]), 0]
    start: Json = [first.name, 0, 0]
    config: JsonObject = {"name": graph.name, "layers": entries, "input_layers": [start], "output_layers": [end]}
    return {**model, "config": config}


def _own_input(first: Layer, called_on: JsonObject) -> JsonObject:
    """The input layer that a Sequential makes for itself, from the one that it is called on.

    The two are one object unless the wrapper was given an input of its own, which then has an automatic
    name; a Sequential's own is called after the first layer, if that layer was given a shape.
    """
    automatic = re.fullmatch(r"input(_layer)?_\d+", str(called_on.get("name")))
    if "batch_input_shape" not in first.settings or _is_keras_1(called_on) or not automatic:
        return called_on
    name = f"{first.name}_input"
    config = called_on.get("config")
    if not isinstance(config, Mapping):
        raise NotAGraph(f"the input layer of {first.name!r} has no config")
    return {**called_on, "name": name, "config": {**config, "name": name}}


def _inlined(model: JsonObject, inputs: Sequence[JsonObject]) -> tuple[list[JsonObject], Json]:
    """A model that begins a Keras 1 Sequential: its layers are the Sequential's own graph."""
    inner = sequential_as_functional(model, inputs)
    graph = read(inner)
    config = inner["config"]
    assert isinstance(config, Mapping)
    outputs = nodes.reads(config["output_layers"], graph.layers)
    if len(outputs) != 1:
        raise NotAGraph(f"{graph.name!r} begins a Sequential and has {len(outputs)} outputs")
    return [layer.stored for layer in graph.layers.values()], list(outputs[0])


def is_input(entry: JsonObject) -> bool:
    """Whether an entry is an input layer: it has a shape, and nothing that could be trained."""
    config = entry.get("config")
    return (
        isinstance(config, Mapping)
        and ("batch_input_shape" in config or "batch_shape" in config)
        and "trainable" not in config
    )


def _is_keras_3(entry: JsonObject) -> bool:
    """Keras 3's input layers say `batch_shape` where earlier ones say `batch_input_shape`."""
    config = entry.get("config")
    return isinstance(config, Mapping) and "batch_shape" in config


def _is_keras_1(entry: JsonObject) -> bool:
    """Keras 1's input layers say `input_dtype` where later ones say `dtype`."""
    config = entry.get("config")
    return isinstance(config, Mapping) and "input_dtype" in config


def children(entry: JsonObject) -> Iterator[tuple[Path, JsonObject]]:
    """The models inside a layer's config (TimeDistributed's, a custom layer's), not the layer itself."""
    yield from _search(entry.get("config"), ("config",))


def _search(value: Json, path: Path) -> Iterator[tuple[Path, JsonObject]]:
    if isinstance(value, Mapping):
        if is_model(value):
            yield path, value
            return
        for key, part in value.items():
            if isinstance(part, (Mapping, list)):
                yield from _search(part, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, part in enumerate(value):
            if isinstance(part, (Mapping, list)):
                yield from _search(part, (*path, index))


def replace_children(entry: JsonObject, new: Mapping[Path, JsonObject]) -> JsonObject:
    """The entry with other models in the places named."""
    for path, model in new.items():
        entry = _replace(entry, path, model)  # type: ignore[assignment]  # a path never leads to the entry itself
    return entry


def _replace(value: Json, path: Path, new: Json) -> Json:
    if not path:
        return new
    key, *rest = path
    if isinstance(value, Mapping):
        return {**value, str(key): _replace(value[str(key)], tuple(rest), new)}
    assert isinstance(value, Sequence)
    assert isinstance(key, int)
    return [*value[:key], _replace(value[key], tuple(rest), new), *value[key + 1 :]]
