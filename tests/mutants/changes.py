"""Changes of a wrapper's graph: each makes one place of it say something else, where it has such a place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from tests.mutants.meaning import Entry, ends, is_graph, is_model, numbers_of, refs_of

Change: TypeAlias = "Callable[[Random, Place], str | None]"
"""Changes a graph in place; what was changed, in words, None where there is nothing of the kind."""


@dataclass(frozen=True)
class Place:
    """The graph that holds a wrapper, with the names of its merges and template."""

    model: Entry
    merges: tuple[str, ...]
    template: str

    def entry(self, name: str) -> Entry:
        """A layer of it."""
        return next(e for e in self.layers if e["name"] == name)

    @property
    def layers(self) -> list[Entry]:
        """The layers of it."""
        return list(self.model["config"]["layers"])

    def refs(self) -> list[list[Any]]:
        """Every reference of a call."""
        return [ref for e in self.layers for node in e["inbound_nodes"] for ref in refs_of(node)]

    def slices(self) -> list[Entry]:
        """The layers with an argument for the part that they take."""
        return [e for e in self.layers if e["inbound_nodes"] and numbers_of(e) is not None]


def graphs(model: Entry) -> Iterator[Entry]:
    """Every layer graph in a model, itself first."""
    if is_graph(model):
        yield model
    config = model["config"]
    for entry in config if isinstance(config, list) else config["layers"]:
        if is_model(entry):
            yield from graphs(entry)


def place(model: Entry, merges: tuple[str, ...], template: str) -> Place | None:
    """The graph that holds layers of these names."""
    for graph in graphs(model):
        if {*merges, template} <= {e.get("name") for e in graph["config"]["layers"]}:
            return Place(graph, merges, template)
    return None


def claim(random: Random, at: Place) -> str | None:
    """A number of one slice."""
    return _number(random, at.slices(), 1)


def claim_of_all(random: Random, at: Place) -> str | None:
    """The same number of every slice."""
    return _number(random, at.slices(), len(at.slices()))


def _number(random: Random, slices: list[Entry], count: int) -> str | None:
    if not slices:
        return None
    kept = [numbers_of(e) for e in slices]
    _, keys = kept[0] or ({}, [])
    key, by = random.choice(keys), random.choice((1, -1, 2, -2, 5))
    if count > 1 and by == 1 and not isinstance(slices[0]["config"].get("function"), list):
        return None  # a function that is stored by its name alone, or a class, may count from 1
    for entry in random.sample(slices, count):
        holder, keys = numbers_of(entry) or ({}, [])
        if key not in keys or not isinstance(holder[key], int):
            return None
        holder[key] += by
    return f"{key} of {count} slices {by:+d}"


def reference(random: Random, at: Place) -> str | None:
    """A layer reads another tensor."""
    ref = random.choice(at.refs())
    others = [[*other[:3]] for other in at.refs() if other[:3] != ref[:3]]
    if not others:
        return None
    return _point(ref, random.choice(others))


def neighbour(random: Random, at: Place) -> str | None:
    """A call reads what another call of the same layer reads, or a layer of the same class: a slice for a slice."""
    kinds = {e["name"]: e["class_name"] for e in at.layers}
    ref = random.choice(at.refs())
    alike = [
        [*o[:3]] for o in at.refs() if o[:3] != ref[:3] and kinds.get(o[0]) == kinds.get(ref[0])
    ]
    return _point(ref, random.choice(alike)) if alike else None


def output(random: Random, at: Place) -> str | None:
    """A reference to another output of the template."""
    refs = [ref for ref in at.refs() if ref[0] == at.template]
    count = max((ref[2] for ref in refs), default=0) + 1
    if count == 1:
        return None
    ref = random.choice(refs)
    return _point(ref, [ref[0], ref[1], random.choice([k for k in range(count) if k != ref[2]])])


def _point(ref: list[Any], to: list[Any]) -> str:
    before, ref[:3] = [*ref[:3]], to
    return f"{before} is {to}"


def order(random: Random, at: Place) -> str | None:
    """Two tensors of one call change places."""
    many = [(e, refs_of(n)) for e in at.layers for n in e["inbound_nodes"] if len(refs_of(n)) > 1]
    if not many:
        return None
    entry, refs = random.choice(many)
    one, other = random.sample(refs, 2)
    if one[:3] == other[:3]:
        return None
    one[:3], other[:3] = other[:3], one[:3]
    return f"{entry['name']} reads {one[:3]} for {other[:3]}"


def order_of_outputs(random: Random, at: Place) -> str | None:
    """Two outputs of the model change places."""
    listed = at.model["config"]["output_layers"]
    refs = ends(at.model, "output_layers") if isinstance(listed, list) else []
    if len(refs) < 2 or refs[0][:3] == refs[1][:3]:
        return None
    one, other = random.sample(refs, 2)
    if one[:3] == other[:3]:
        return None
    one[:3], other[:3] = other[:3], one[:3]
    return f"outputs {one[:3]} and {other[:3]}"


def axis(random: Random, at: Place) -> str | None:
    """A merge is along another axis."""
    config = at.entry(random.choice(at.merges))["config"] if at.merges else {}
    key = next((k for k in ("axis", "concat_axis") if config.get(k) == 0), None)
    if key is None:
        return None
    config[key] = random.choice((1, -1))
    return f"{key} {config[key]}"


def kind(random: Random, at: Place) -> str | None:
    """A merge that does something else."""
    entry = at.entry(random.choice(at.merges)) if at.merges else {}
    if entry.get("class_name") != "Concatenate":
        return None
    entry["class_name"] = random.choice(("Add", "Average", "Maximum", "Multiply"))
    del entry["config"]["axis"]
    return f"{entry['name']} is {entry['class_name']}"


def activation(random: Random, at: Place) -> str | None:
    """One reference goes through an activation."""
    ref = random.choice(at.refs())
    inserted = _layer("Activation", {"activation": "relu"}, ref, at)
    at.model["config"]["layers"].append(inserted)
    return _point(ref, [inserted["name"], 0, 0])


def activations(_: Random, at: Place) -> str | None:
    """Put an activation behind every tower's output."""
    refs = [
        ref
        for name in at.merges
        for node in at.entry(name)["inbound_nodes"]
        for ref in refs_of(node)
    ]
    if not refs or not all(ref[0] == at.template for ref in refs):
        return None
    for ref in refs:
        inserted = _layer("Activation", {"activation": "sigmoid"}, ref, at)
        at.model["config"]["layers"].append(inserted)
        _point(ref, [inserted["name"], 0, 0])
    return f"{len(refs)} of them"


def reader(random: Random, at: Place) -> str | None:
    """Another layer reads a tensor, and it is an output of the model."""
    ref = random.choice(at.refs())
    listed = at.model["config"]["output_layers"]
    if not isinstance(listed, list):
        return None
    inserted = _layer("Activation", {"activation": "tanh"}, ref, at)
    at.model["config"]["layers"].append(inserted)
    end = [inserted["name"], 0, 0]
    at.model["config"]["output_layers"] = (
        [listed, end] if isinstance(listed[0], str) else [*listed, end]
    )
    return f"of {ref[:3]}"


def _layer(class_name: str, config: Entry, ref: list[Any], at: Place) -> Entry:
    name = f"put_in_{len(at.layers)}"
    if any(isinstance(node, dict) for e in at.layers for node in e["inbound_nodes"]):
        tensor = {"shape": [None, 1], "dtype": "float32", "keras_history": [*ref[:3]]}
        node: Any = {"args": [{"class_name": "__keras_tensor__", "config": tensor}], "kwargs": {}}
        keras = {"module": "keras.layers", "registered_name": None}
    else:
        node, keras = [[*ref[:3], {}]], {}
    told = {"name": name, "trainable": True, **config}
    return {
        "class_name": class_name,
        "config": told,
        "name": name,
        "inbound_nodes": [node],
        **keras,
    }


def tower_dropped(random: Random, at: Place) -> str | None:
    """The merges leave one tower out."""
    dropped = None
    for name in at.merges:
        for node in at.entry(name)["inbound_nodes"]:
            refs = refs_of(node)
            if len(refs) < 2:
                return None
            dropped = (
                random.randrange(len(refs)) if dropped is None else min(dropped, len(refs) - 1)
            )
            _drop(node, dropped)
    return None if dropped is None else f"tower {dropped}"


def _drop(node: Any, number: int) -> None:
    """Take one tensor out of a merge's list."""
    if isinstance(node, dict):
        node["args"][0].pop(number)
    else:
        node.pop(number)


def slice_skipped(random: Random, at: Place) -> str | None:
    """A tower reads what its slice reads: the whole batch."""
    slices = {e["name"]: e for e in at.slices()}
    refs = [
        ref
        for node in at.entry(at.template)["inbound_nodes"]
        for ref in refs_of(node)
        if ref[0] in slices
    ]
    if not refs:
        return None
    ref = random.choice(refs)
    return _point(ref, refs_of(slices[ref[0]]["inbound_nodes"][0])[0][:3])


CHANGES: dict[str, Change] = {
    change.__name__.replace("_", " "): change
    for change in (
        claim, claim_of_all, reference, neighbour, output, order, order_of_outputs, axis, kind, activation, activations,
        reader, tower_dropped, slice_skipped,
    )
}  # fmt: skip
