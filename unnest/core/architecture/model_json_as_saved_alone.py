"""Remove what a writer leaves in the JSON of a model only because it was nested in another.

From TensorFlow 2.5 on, Keras 2 numbers the objects of a functional model as it serializes them, inner ones first, and
notes the number of those that it meets again (`shared_object_id`; Source: the SharedObjectSavingScope of Keras 2.5 to
2.15). A Sequential opens no such scope of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from unnest.core import json_tree
from unnest.core.architecture.graph import Layer
from unnest.core.model import Json, JsonObject

SHARED_OBJECT_ID = "shared_object_id"

MOST_PER_OBJECT = 8
"""Objects that a writer may number for each that it shows; an RNN's cell makes it two."""


def as_saved_at_top_level(outer: JsonObject, model: JsonObject) -> JsonObject:
    """Return a model that was taken out of `outer` as its writer would have saved it alone.

    - Objects that only `outer` shared with it (its input layers) lose their id; ids that are left move up by the
      objects that no longer come before. A Sequential, which opens no scope of its own, loses its ids.
    - A Sequential's entry loses the calls that it got as a layer of `outer` too: the writer keeps one dictionary for
      an object that it meets twice, and writes the outer model's `name` and `inbound_nodes` into it.
    """
    times_in_model = Counter(_numbers(model))
    new_ids: dict[int, int | None] = {}
    if times_in_model:
        times_in_outer = Counter(_numbers(outer))
        new_ids = _moved_up(outer, model)
        new_ids |= {
            number: None
            for number, times in times_in_model.items()
            if times == 1 and times_in_outer[number] > 1
        }
        if not _is_functional(model):
            no_ids = dict.fromkeys(times_in_model)
            model = _as_object(_renumbered(model, no_ids, stop_at_functional=True))
    if new_ids or any(map(_is_list_of_layers, json_tree.all_objects(model))):
        return _as_object(_renumbered(model, new_ids))
    return model


def _is_list_of_layers(config: JsonObject) -> bool:
    """Return True for a Sequential's config."""
    return isinstance(config.get("layers"), list) and "output_layers" not in config


def without_numbers(value: Json) -> Json:
    """Return JSON without the ids of shared objects."""

    def change(_: JsonObject, parts: dict[str, Json]) -> Json:
        return {k: v for k, v in parts.items() if k != SHARED_OBJECT_ID}

    return json_tree.transform(value, change)


def _as_object(value: Json) -> JsonObject:
    assert isinstance(value, Mapping)
    return value


def _is_functional(model: Json) -> bool:
    config = model.get("config") if isinstance(model, Mapping) else None
    return isinstance(config, Mapping) and "output_layers" in config


def _objects(value: Json) -> Iterator[JsonObject]:
    """Yield every serialized object, inner ones first: the order in which a writer numbers them."""
    return (
        part
        for part in json_tree.objects_inner_first(value)
        if "class_name" in part and "config" in part
    )


def _numbers(value: Json) -> Iterator[int]:
    for part in json_tree.all_objects(value):
        number = part.get(SHARED_OBJECT_ID)
        if isinstance(number, int) and "class_name" in part and "config" in part:
            yield number


def _moved_up(before: JsonObject, after: JsonObject) -> dict[int, int | None]:
    """Old id -> new id: lower by the objects that no longer come earlier; None if it is no longer shared."""
    earlier_before, earlier_after = _earlier(before), _earlier(after)
    if any(
        number > MOST_PER_OBJECT * (1 + sum(1 for _ in _objects(before)))
        for number in earlier_after
    ):
        return {}  # memory addresses, as Keras 3 and the zip of Keras 2 have them
    return {
        number: earlier_after[number] + number - earlier_before[number] for number in earlier_after
    }


def _earlier(model: JsonObject) -> dict[int, int]:
    """Return for each number how many objects the writer stores before the first one with that number."""
    earlier: dict[int, int] = {}
    count = 0
    for part in _objects(model):
        number = part.get(SHARED_OBJECT_ID)
        if not isinstance(number, int):
            count += 1
        elif number not in earlier:
            earlier[number] = count
            count += 1
    return earlier


def _renumbered(
    value: Json, numbers: Mapping[int, int | None], *, stop_at_functional: bool = False
) -> Json:
    """Return the JSON with shared object ids replaced by `numbers` (None: removed); unchanged parts are kept."""

    def change(before: JsonObject, kept: dict[str, Json]) -> Json:
        number = before.get(SHARED_OBJECT_ID)
        if isinstance(number, int) and (new := numbers.get(number, number)) != number:
            del kept[SHARED_OBJECT_ID]
            if new is not None:
                kept[SHARED_OBJECT_ID] = new
        if _is_list_of_layers(kept) and isinstance(layers := kept["layers"], list):
            kept["layers"] = _plain(layers)
        return kept

    return json_tree.transform(
        value, change, into=lambda part: not (stop_at_functional and _is_functional(part))
    )


def _plain(layers: list[Json]) -> list[Json]:
    """Return a Sequential's entries without the calls that only entries of functional models have."""
    entries = [e for e in layers if isinstance(e, Mapping)]
    stray = [e for e in entries if "inbound_nodes" in e]
    if not stray or len(stray) == len(entries):
        return layers
    others_have_names = any("name" in e for e in entries if "inbound_nodes" not in e)
    keys_to_drop = ("inbound_nodes",) if others_have_names else ("inbound_nodes", "name")
    return [
        {k: v for k, v in e.items() if k not in keys_to_drop}
        if isinstance(e, Mapping) and "inbound_nodes" in e
        else e
        for e in layers
    ]


TOP_LEVEL_ONLY = ("inbound_nodes", "name", "class_name", "config")


def as_top_level_model(outer: JsonObject, layer: Layer) -> JsonObject:
    """Return a nested model as a top-level model, with what the writer puts beside a top-level config."""
    inner_keys = {
        key: layer.stored[key] for key in outer if key in layer.stored and key not in TOP_LEVEL_ONLY
    }
    outer_keys = {
        key: value
        for key, value in outer.items()
        if key not in ("class_name", "config", *inner_keys)
    }
    if "name" in outer:
        outer_keys["name"] = layer.name
    if "module" in outer_keys and layer.class_name != outer["class_name"]:
        outer_keys |= _home_of(layer.class_name)
    return {**outer_keys, **inner_keys, "class_name": layer.class_name, "config": layer.config}


FUNCTIONAL_IN_2_12 = "keras.engine.functional"


FUNCTIONAL_SINCE_2_13 = "keras.src.engine.functional"


def _home_of(class_name: str) -> JsonObject:
    """Return Keras 2.12's module of a model's class; a nested model's JSON lacks it (Source: its files)."""
    if class_name == "Sequential":
        return {"module": "keras", "registered_name": None}
    is_functional = class_name == "Functional"
    return {"module": FUNCTIONAL_IN_2_12 if is_functional else None, "registered_name": class_name}


def with_module_of_release(model: JsonObject, release: tuple[int, ...]) -> JsonObject:
    """Return a model with its class in that release's module (Source: files of Keras 2.12 and 2.13)."""
    if model.get("module") == FUNCTIONAL_IN_2_12 and release >= (2, 13):
        return {**model, "module": FUNCTIONAL_SINCE_2_13}
    return model
