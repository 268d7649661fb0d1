"""The JSON entry of every layer in a model, nested models and wrapped layers included."""

from __future__ import annotations

from collections.abc import Sequence

from unnest.budget import memoize
from unnest.core.json_tree import LEAVES, OBJECT, is_list
from unnest.core.model import Json, JsonObject

#: What a layer's config calls the layers that it holds.
NESTED_LAYER_KEYS = ("layer", "cell", "cells", "backward_layer", "forward_layer")


def layer_entries(model: Json) -> Sequence[JsonObject]:
    """Return the entry of every layer in a model, nested models and wrapped layers included; walked once a file."""
    return memoize(_find_layer_entries, model)


def _find_layer_entries(model: Json) -> Sequence[JsonObject]:
    """Return the entries of all layers in JSON, outer before inner."""
    entries: list[JsonObject] = []
    pending: list[Json] = [model]
    while pending:
        entry = pending.pop()
        if type(entry) in LEAVES:
            continue
        if not isinstance(entry, OBJECT):
            pending += reversed(entry) if is_list(entry) else ()
            continue
        if "class_name" not in entry:
            continue
        entries.append(entry)
        config = entry.get("config")
        if isinstance(config, OBJECT):
            pending += [
                config[key] for key in reversed(("layers", *NESTED_LAYER_KEYS)) if key in config
            ]
        else:
            pending.append(config)
    return tuple(entries)
