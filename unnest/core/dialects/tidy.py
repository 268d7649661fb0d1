"""What a writer leaves in the JSON of a model only because it was nested in another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from unnest.core.model import Json, JsonObject

SHARED = "shared_object_id"


def tidy(model: JsonObject) -> JsonObject:
    """The model as its writer stores it at top level.

    TensorFlow 2.5 and later number an object that occurs twice; the outer model reuses the
    template's input layers, so their numbers go where only one is left.
    """
    counts: Counter[Json] = Counter()
    _count(model, counts)
    once = {number for number, times in counts.items() if times == 1}
    return _without(model, once) if once else model  # type: ignore[return-value]  # an object stays one


def _count(value: Json, counts: Counter[Json]) -> None:
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get(SHARED), int):
                counts[part[SHARED]] += 1
            todo += part.values()
        elif isinstance(part, Sequence) and not isinstance(part, str):
            todo += part


def _without(value: Json, numbers: set[Json]) -> Json:
    if isinstance(value, Mapping):
        return {
            k: _without(v, numbers)
            for k, v in value.items()
            if not (k == SHARED and isinstance(v, int) and v in numbers)
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without(part, numbers) for part in value]
    return value
