"""Functional and Sequential models as graphs, in every dialect, and graphs as models again."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from unnest.budget import charge_steps, memoize
from unnest.core import json_tree
from unnest.core.architecture import mapping_calls_as_lists, tensor_refs
from unnest.core.architecture.automatic_names import snake_case
from unnest.core.architecture.graph import Call, Graph, Layer, in_order, is_model, stored_layers
from unnest.core.json_tree import OBJECT, is_list, is_object
from unnest.core.model import Json, JsonObject, Ref

#: Steps of the budget (`unnest.budget`) for a layer, and for each of its calls, whenever a graph is read.
STEPS_A_LAYER = 20

#: Keras's own classes that are stored with their layers.
MODEL_CLASSES = frozenset({"Sequential", "Functional", "Model"})


class NotAGraph(ValueError):
    """The JSON claims to be a model but does not add up; the message says where."""


def is_broken_model(entry: JsonObject) -> bool:
    """Return True for a model, some entries of which are not layers.

    A custom class may have a setting called `layers` of any form (`MLP(layers=[64, 32])`). The ends of a graph beside
    it, or a class of Keras's that has layers, show that these should be layers.
    """
    config = entry.get("config")
    layers = config.get("layers") if isinstance(config, OBJECT) else config
    if stored_layers(entry) is not None or layers is None:
        return False
    if isinstance(config, OBJECT) and "input_layers" in config and "output_layers" in config:
        return True
    holds_layers = isinstance(layers, Sequence) and any(
        isinstance(e, OBJECT) and "class_name" in e for e in layers
    )
    return holds_layers and entry.get("class_name") in MODEL_CLASSES


def model_name(model: JsonObject) -> str:
    """Return the model's own name; that of an old Sequential stands in the layer entry around it only."""
    return entry_name(model) or str(model.get("class_name", "model"))


def entry_name(entry: JsonObject) -> str | None:
    """Return the name in an entry's config, else the entry's own; None if it has neither."""
    config = entry.get("config")
    name = config.get("name") if isinstance(config, OBJECT) else None
    name = name if isinstance(name, str) else entry.get("name")
    return name if isinstance(name, str) else None


def read(model: JsonObject) -> Graph:
    """Return the graph of a serialized model, one level deep.

    Raises NotAGraph where names repeat, or a reference leads nowhere or in a circle.
    """
    return memoize(_read, model)


def _read(model: JsonObject) -> Graph:
    entries = stored_layers(model)
    if entries is None:
        raise NotAGraph(f"{str(model.get('class_name'))!r} holds no list of layers")
    objects = [e for e in entries if isinstance(e, OBJECT)]
    charge_steps(STEPS_A_LAYER * len(objects))
    config = model["config"]
    if is_object(config) and "output_layers" in config:
        if "input_layers" not in config:
            raise NotAGraph(f"{model_name(model)!r} has outputs but no inputs")
        graph = memoize(_read_functional, config, model_name(model))
        return replace(graph, model=model, of_config=graph)
    return _read_sequential(model, objects)


def layer_name(entry: JsonObject) -> str:
    """Return the name of a layer entry: its own, else its config's.

    Raises:
        NotAGraph: it has none.

    """
    config = entry.get("config")
    inner = config.get("name") if isinstance(config, OBJECT) else None
    name = entry.get("name", inner)
    if not isinstance(name, str):
        raise NotAGraph(f"a layer of class {str(entry.get('class_name'))!r} has no name")
    return name


def _entries_by_name(entries: Iterable[JsonObject]) -> dict[str, JsonObject]:
    """Return layer entries by name.

    Raises:
        NotAGraph: a name is missing or repeats.

    """
    entry_by_name: dict[str, JsonObject] = {}
    unnamed = 0
    for entry in entries:
        if "name" not in entry and not is_object(entry.get("config")):
            # An old Sequential in another has no name in the file; its writer counts them.
            unnamed += 1
            name = f"{str(entry['class_name']).lower()}_{unnamed}"
        else:
            name = layer_name(entry)
        if name in entry_by_name:
            raise NotAGraph(f"two layers are called {name!r}")
        if not isinstance(entry["class_name"], str) or not entry["class_name"]:
            raise NotAGraph(f"the class of {name!r} is no name")
        entry_by_name[name] = entry
    return entry_by_name


def _read_functional(config: JsonObject, graph_name: str) -> Graph:
    """Return the graph of a functional model's config, which stays when the model becomes another's layer or its own.

    Raises:
        NotAGraph: names repeat, or a reference leads nowhere or in a circle.

    """
    model: JsonObject = {"class_name": "Functional", "config": config}
    entry_by_name = _entries_by_name(e for e in stored_layers(model) or () if isinstance(e, OBJECT))
    stored_calls = _calls_by_layer(entry_by_name)
    raw_calls = {
        name: [_raw_call(node, entry_by_name[name], entry_by_name) for node in calls]
        for name, calls in stored_calls.items()
    }
    raw_reads = {name: [call.reads for call in calls] for name, calls in raw_calls.items()}
    ends = [_end_refs(config, key, entry_by_name) for key in ("input_layers", "output_layers")]
    keras_3 = any(tensor_refs.is_keras_3(node) for calls in stored_calls.values() for node in calls)
    first, first_at_ends = _first_numbers(entry_by_name, raw_reads, ends, keras_3=keras_3)

    def ref(raw_ref: tensor_refs.RawRef, first: Mapping[str, int]) -> Ref:
        name, number, tensor = raw_ref
        call_index = number - first[name]
        if not 0 <= call_index < max(1, len(stored_calls[name])):
            raise NotAGraph(f"{name!r} has no call number {number}")
        return Ref(name, call_index, tensor)

    layers = {
        name: Layer(
            name,
            str(entry["class_name"]),
            entry.get("config"),
            entry,
            tuple(
                Call(tuple(ref(r, first) for r in raw.reads), raw.stored, raw.arguments, raw.unused)
                for raw in raw_calls[name]
            )
            or (Call(()),),
            first[name],
            first_at_ends[name],
        )
        for name, entry in entry_by_name.items()
    }
    inputs, outputs = (tuple(ref(r, first_at_ends) for r in end) for end in ends)
    graph = Graph(graph_name, layers, inputs, outputs, model)
    _refuse_circles(graph)
    return graph


class _RawCall(NamedTuple):
    """A `Call` with its tensors as the file numbers them."""

    reads: list[tensor_refs.RawRef]
    stored: Json
    arguments: Json
    unused: int


def _raw_call(node: Json, entry: JsonObject, names: Container[str]) -> _RawCall:
    """Read a stored call of a layer; `names` are those of all layers."""
    arguments, unused = mapping_calls_as_lists.with_input_list(node, entry)
    others = tensor_refs.reads(unused, names) if unused else []
    return _RawCall([*tensor_refs.reads(arguments, names), *others], node, arguments, len(others))


def _end_refs(config: JsonObject, key: str, names: Container[str]) -> list[tensor_refs.RawRef]:
    """Return a model's input or output tensors, by `key`. Raises NotAGraph if one of them belongs to no layer."""
    refs = tensor_refs.reads(config.get(key), names)
    stranger = next(
        (
            leaf
            for _, leaf in json_tree.leaves(config.get(key))
            if isinstance(leaf, str) and leaf not in names
        ),
        None,
    )
    if stranger is not None:
        raise NotAGraph(f"{key} names {stranger!r}, which is no layer")
    return refs


def _calls_by_layer(entry_by_name: Mapping[str, JsonObject]) -> dict[str, Sequence[Json]]:
    """Layer name -> its stored calls. Raises NotAGraph for an entry without a config, or an impossible call."""
    without_config = next(
        (name for name, entry in entry_by_name.items() if entry.get("config", {}) is None), None
    )
    if without_config is not None:
        raise NotAGraph(f"{without_config!r} has no config")
    stored_calls = {name: _stored_calls(entry) for name, entry in entry_by_name.items()}
    charge_steps(STEPS_A_LAYER * sum(map(len, stored_calls.values())))
    for name, calls in stored_calls.items():
        if any(tensor_refs.has_negative_index(node, entry_by_name) for node in calls):
            raise NotAGraph(f"{name!r} reads an output with a number below zero")
    return stored_calls


def _stored_calls(entry: JsonObject) -> Sequence[Json]:
    calls = entry.get("inbound_nodes", [])
    if not is_list(calls):
        raise NotAGraph(f"{layer_name(entry)!r} has inbound_nodes that are no list")
    return calls


def _first_numbers(
    entry_by_name: Mapping[str, JsonObject],
    raw_reads: Mapping[str, Sequence[Sequence[tensor_refs.RawRef]]],
    ends: Sequence[Sequence[tensor_refs.RawRef]],
    *,
    keras_3: bool,
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the numbers of every layer's first call: as calls refer to it, and as the model's ends do.

    A nested model's own graph is its node 0 and its calls count from 1 (source: the get_config of Network
    and Functional). Keras 3 does so at the ends only, and not for a Sequential.
    """

    def first_number(name: str, numbers: set[int], default: int) -> int:
        count = len(raw_reads[name])
        lowest = max(numbers, default=0) - count + 1
        if not count:
            return 0
        return lowest if lowest > 0 else 0 if 0 in numbers else default

    in_calls = _numbers_of(
        entry_by_name, (group for calls in raw_reads.values() for group in calls)
    )
    at_ends = _numbers_of(entry_by_name, ends)
    if keras_3:
        starts = {name: first_number(name, in_calls[name], 0) for name in entry_by_name}
        return starts, {
            name: first_number(name, at_ends[name], first_at_ends(entry_by_name[name]))
            for name in entry_by_name
        }
    starts = {
        name: first_number(name, in_calls[name] | at_ends[name], int(is_model(entry_by_name[name])))
        for name in entry_by_name
    }
    return starts, starts


def _numbers_of(
    names: Iterable[str], groups: Iterable[Iterable[tensor_refs.RawRef]]
) -> dict[str, set[int]]:
    numbers: dict[str, set[int]] = {name: set() for name in names}
    for name, number, _ in (ref for group in groups for ref in group):
        numbers[name].add(number)
    return numbers


def first_at_ends(entry: JsonObject) -> int:
    """Return the number of a layer's first call as Keras 3's lists of inputs and outputs have it."""
    config = entry.get("config")
    return int(is_object(config) and "output_layers" in config)


def _refuse_circles(graph: Graph) -> None:
    """Raise NotAGraph if calls read one another in a circle."""
    if sum(1 for _ in in_order(graph)) < len(graph.calls()):
        raise NotAGraph(f"the layers of {graph.name!r} read one another in a circle")


def _read_sequential(model: JsonObject, entries: Sequence[JsonObject]) -> Graph:
    """Return a Sequential's graph: each layer reads the one before it, the first an input that may not be stored."""
    entry_by_name = _entries_by_name(_with_names(entries))
    layers: dict[str, Layer] = {}
    previous: Ref | None = None
    for (name, entry), stored in zip(entry_by_name.items(), entries, strict=True):
        calls = (Call((previous,) if previous else ()),)
        layers[name] = Layer(
            name,
            str(entry["class_name"]),
            entry.get("config"),
            stored,
            calls,
            is_named=entry is stored,
        )
        previous = Ref(name, 0, 0)
    first_layer = next(iter(layers), None)
    inputs = (
        (Ref(first_layer, 0, 0),) if first_layer and is_input(layers[first_layer].stored) else ()
    )
    return Graph(
        model_name(model), layers, inputs, (previous,) if previous else (), model, sequential=True
    )


def _with_names(entries: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the entries of a Sequential, all with names, which a custom class need not store.

    Such a layer (an `__init__` without `name`, no `get_config`: Keras 3 and tf_keras store the arguments of `__init__`)
    is given a name when it is loaded: its class in snake_case, numbered from the second on. (Source: files of Keras
    3.15 and tf_keras 2.21.)
    """
    taken_names = {
        config["name"] for e in entries if is_object(config := e.get("config")) and "name" in config
    }
    taken_names |= {e["name"] for e in entries if "name" in e}
    named_entries: list[JsonObject] = []
    count: dict[str, int] = {}
    for entry in entries:
        config = entry.get("config")
        if (
            "name" in entry
            or not is_object(config)
            or "name" in config
            or stored_layers(entry) is not None
        ):
            named_entries.append(entry)
            continue
        stem = snake_case(str(entry["class_name"]).rpartition(">")[2])
        while True:
            number = count[stem] = count.get(stem, -1) + 1
            name = f"{stem}_{number}" if number else stem
            if name not in taken_names:
                break
        named_entries.append({**entry, "name": name})
    return named_entries


def functional(
    model: JsonObject, entries: Iterable[JsonObject], inputs: Json, outputs: Json
) -> JsonObject:
    """Return a functional model with other layers: JSON entries, and the stored lists of input and output tensors."""
    config = model["config"]
    assert isinstance(config, Mapping)
    new = {**config, "layers": list(entries), "input_layers": inputs, "output_layers": outputs}
    return {**model, "config": new}


def is_input(entry: JsonObject) -> bool:
    """Return True for an input layer: it has a shape, and no `trainable`.

    The config of a model that begins a Sequential has a shape too (Source: Sequential.get_config of TensorFlow 1.15).
    """
    config = entry.get("config")
    return (
        isinstance(config, OBJECT)
        and ("batch_input_shape" in config or "batch_shape" in config)
        and "trainable" not in config
        and not is_model(entry)
    )


def children(entry: JsonObject) -> Iterator[tuple[json_tree.Path, JsonObject]]:
    """Yield the models inside a layer's config (TimeDistributed's, a custom layer's), with their paths in the entry."""
    config = entry.get("config")
    if not any(map(is_model, json_tree.all_objects(config))):  # most layers hold none
        return
    for path, part in json_tree.walk(config, into=lambda part: not is_model(part)):
        if is_model(part):
            yield ("config", *path), part


def replace_children(entry: JsonObject, models: Mapping[json_tree.Path, JsonObject]) -> JsonObject:
    """Return the layer entry with other models in its config, by their paths in the entry. Raises KeyError."""
    for path, model in models.items():
        changed = json_tree.replace_at(entry, path, model)
        assert isinstance(changed, Mapping)  # a path never leads to the entry itself
        entry = changed
    return entry
