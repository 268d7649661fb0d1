"""Names of a model's inputs and outputs where data is fed or read by name: keys of a mapping, or names of layers."""

from __future__ import annotations

from unnest.core.architecture.graph import Graph, is_model
from unnest.core.architecture.graph_to_and_from_json import read
from unnest.core.json_tree import is_object
from unnest.core.model import JsonObject

INPUTS, OUTPUTS = "input_layers", "output_layers"
"""Keys of a model's config: the lists, or mappings, of its inputs and outputs."""


def has_keys(graph: Graph, key: str) -> bool:
    """Return True if a model stores its inputs or outputs (`key`) in a mapping, whose keys are their names."""
    config = graph.model.get("config")
    return is_object(config) and is_object(config.get(key))


def end_names(graph: Graph, key: str) -> list[str]:
    """Return the names of a model's inputs or outputs (`key`), in its order."""
    config = graph.model.get("config")
    ends = config.get(key) if is_object(config) else None
    refs = graph.inputs if key == INPUTS else graph.outputs
    if is_object(ends) and len(ends) == len(refs):
        return sorted(ends)
    return [ref.layer for ref in refs]


def exchanged_end(before: JsonObject | None, after: JsonObject | None) -> str | None:
    """Return a name that `before` and `after` give to different inputs or outputs, or None."""
    if before is None or after is None or not is_model(before) or not is_model(after):
        return None
    for key in (INPUTS, OUTPUTS):
        old, new = (end_names(read(model), key) for model in (before, after))
        if len(old) == len(new) == len({*old}):
            moved = [
                name for name, here in zip(old, new, strict=True) if name != here and name in new
            ]
            if moved:
                return moved[0]
    return None
