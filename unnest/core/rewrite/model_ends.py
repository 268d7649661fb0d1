"""The names under which a model is fed and read, and whether a rewritten one exchanges them."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Graph
from unnest.core.model import JsonObject

INPUTS, OUTPUTS = "input_layers", "output_layers"


def has_keys(graph: Graph, key: str) -> bool:
    """Return True if the inputs or outputs of a model stand in a mapping, the keys of which are their names."""
    config = graph.model.get("config")
    return isinstance(config, Mapping) and isinstance(config.get(key), Mapping)


def end_names(graph: Graph, key: str) -> list[str]:
    """Return what the inputs or outputs of a model are called where they are fed or read by name, in its order."""
    config = graph.model.get("config")
    ends = config.get(key) if isinstance(config, Mapping) else None
    refs = graph.inputs if key == INPUTS else graph.outputs
    if isinstance(ends, Mapping) and len(ends) == len(refs):
        return sorted(ends)
    return [ref.layer for ref in refs]


def exchanged_end(before: JsonObject | None, after: JsonObject | None) -> str | None:
    """Return an input or output that stands in the place of another one in the second model; None without such."""
    if before is None or after is None or not is_model(before) or not is_model(after):
        return None
    for key in (INPUTS, OUTPUTS):
        old, new = (end_names(read(model), key) for model in (before, after))
        if len(old) == len(new) == len({*old}):
            moved = [name for name, here in zip(old, new, strict=True) if name != here and name in new]
            if moved:
                return moved[0]
    return None
