"""What a writer leaves in the JSON of a model only because it was nested in another.

From TensorFlow 2.5 on, Keras 2 numbers the objects of a functional model as it serializes them,
inner ones first, and notes the number of those that it meets again (`shared_object_id`; source: the
SharedObjectSavingScope of Keras 2.5 to 2.15). A Sequential opens no such scope of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from unnest.core.model import Json, JsonObject

SHARED = "shared_object_id"

MOST_PER_OBJECT = 8
"""Objects that a writer may number for each that it shows; an RNN's cell makes it two."""


def tidy(before: JsonObject, after: JsonObject) -> JsonObject:
    """A model taken out of another as its writer stores it at top level.

    The outer model reuses the template's input layers, so their numbers go where only one is
    left, and later objects move up; it can leave them in a Sequential in the form that a
    functional model's layers have.
    """
    then, now = Counter(_numbers(before)), Counter(_numbers(after))
    numbers: dict[int, int | None] = {}
    if now:
        numbers = _moved_up(before, after)
        numbers.update({n: None for n, times in now.items() if times == 1 and then[n] > 1})
        if not _is_functional(after):
            after = _as_object(_renumbered(after, dict.fromkeys(now), stop_at_functional=True))
    return _as_object(_renumbered(after, numbers))


def _as_object(value: Json) -> JsonObject:
    assert isinstance(value, Mapping)
    return value


def _is_functional(model: Json) -> bool:
    config = model.get("config") if isinstance(model, Mapping) else None
    return isinstance(config, Mapping) and "output_layers" in config


def _objects(value: Json) -> Iterator[JsonObject]:
    """Every serialized object, inner ones first: the order in which a writer numbers them."""
    stack: list[tuple[Json, bool]] = [(value, False)]
    while stack:
        part, entered = stack.pop()
        if part is None or isinstance(part, (str, int, float)):
            continue
        if isinstance(part, Mapping):
            if entered:
                yield part
            else:
                if "class_name" in part and "config" in part:
                    stack.append((part, True))
                stack += [(inner, False) for inner in reversed(list(part.values()))]
        else:
            stack += [(inner, False) for inner in reversed(part)]


def _numbers(value: Json) -> Iterator[int]:
    for found in _objects(value):
        number = found.get(SHARED)
        if isinstance(number, int):
            yield number


def _moved_up(before: JsonObject, after: JsonObject) -> dict[int, int | None]:
    """New numbers: as many objects come earlier now, plus those that a writer numbers but does not show."""
    then, now = _earlier(before), _earlier(after)
    if any(number > MOST_PER_OBJECT * (1 + sum(1 for _ in _objects(before))) for number in now):
        return {}  # memory addresses, as Keras 3 and the zip of Keras 2 have them
    return {number: now[number] + number - then[number] for number in now}


def _earlier(model: JsonObject) -> dict[int, int]:
    """How many objects a writer shows before it first shows the one with each number."""
    found: dict[int, int] = {}
    count = 0
    for item in _objects(model):
        number = item.get(SHARED)
        if not isinstance(number, int):
            count += 1
        elif number not in found:
            found[number] = count
            count += 1
    return found


def _renumbered(value: Json, numbers: Mapping[int, int | None], *, stop_at_functional: bool = False) -> Json:
    """The same JSON with other numbers (None: without) and without strays; unchanged parts are kept as they are."""
    if isinstance(value, Mapping):
        if stop_at_functional and _is_functional(value):
            return value
        kept = {k: _renumbered(v, numbers, stop_at_functional=stop_at_functional) for k, v in value.items()}
        number = value.get(SHARED)
        if isinstance(number, int) and (new := numbers.get(number, number)) != number:
            del kept[SHARED]
            if new is not None:
                kept[SHARED] = new
        if isinstance(layers := kept.get("layers"), list) and "output_layers" not in kept:
            kept["layers"] = _plain(layers)
        same = len(kept) == len(value) and all(kept[k] is v for k, v in value.items())
        return value if same else kept
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = [_renumbered(part, numbers, stop_at_functional=stop_at_functional) for part in value]
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
        {k: v for k, v in e.items() if k not in drop} if isinstance(e, Mapping) and "inbound_nodes" in e else e
        for e in layers
    ]
