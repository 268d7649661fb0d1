"""What a writer leaves in the JSON of a model only because it was nested in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from unnest.core.model import Json, JsonObject

SHARED = "shared_object_id"


def tidy(before: JsonObject, after: JsonObject) -> JsonObject:
    """A model taken out of another as its writer stores it at top level.

    TensorFlow 2.5 and later number an object that occurs twice. The outer model reuses the
    template's input layers, so their numbers go where only one is left; and it can leave them
    in a Sequential in the form that a functional model's layers have.
    """
    then, now = _count(before), _count(after)
    once = {number for number, times in now.items() if times == 1 and then[number] > 1}
    tidied = _without(after, once)
    assert isinstance(tidied, Mapping)
    return tidied


def _count(value: Json) -> Counter[Json]:
    counts: Counter[Json] = Counter()
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get(SHARED), int):
                counts[part[SHARED]] += 1
            todo += part.values()
        elif isinstance(part, Sequence) and not isinstance(part, str):
            todo += part
    return counts


def _without(value: Json, numbers: set[Json]) -> Json:
    """The same JSON without these numbers and strays; what has none is returned as it is."""
    if isinstance(value, Mapping):
        kept = {k: _without(v, numbers) for k, v in value.items() if not (k == SHARED and v in numbers)}
        if isinstance(layers := kept.get("layers"), list) and "output_layers" not in kept:
            kept["layers"] = _plain(layers)
        same = len(kept) == len(value) and all(kept[k] is value[k] for k in kept)
        return value if same else kept
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [_without(part, numbers) for part in value]
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return value


def _plain(layers: list[Json]) -> list[Json]:
    """A Sequential's entries without the calls that only a functional model's have."""
    entries = [e for e in layers if isinstance(e, Mapping)]
    stray = [e for e in entries if "inbound_nodes" in e]
    if not stray or len(stray) == len(entries):
        return layers
    named = any("name" in e for e in entries if "inbound_nodes" not in e)
    drop = ("inbound_nodes",) if named else ("inbound_nodes", "name")
    return [
        {k: v for k, v in e.items() if k not in drop}
        if isinstance(e, Mapping) and "inbound_nodes" in e
        else e
        for e in layers
    ]
