"""Shapes that layers store for their inputs or outputs, and whether a row of one tensor has the shape of another's."""

from __future__ import annotations

from unnest.core.architecture import read
from unnest.core.architecture.graph import Layer
from unnest.core.json_tree import is_list
from unnest.core.model import Json, JsonObject, Shape


def stored_shape(layer: Layer) -> Shape | None:
    """Return the shape of what a layer that reads no other is given; None if it does not store one.

    A layer that reads another may store the shape that it would be given as the first one (an Embedding always does).
    """
    if any(call.reads for call in layer.calls):
        return None
    for key in ("batch_input_shape", "batch_shape"):
        shape = _shape(layer.settings.get(key))
        if shape is not None:
            return shape
    return None


def promised_shape(layer: Layer) -> Shape | None:
    """Return a Lambda's `output_shape`, with None for the batch in front; None without one."""
    promised = _shape(layer.settings.get("output_shape"))
    return None if promised is None else (None, *promised)


def _shape(value: Json) -> Shape | None:
    if not is_list(value):
        return None
    return tuple(d if isinstance(d, int) else None for d in value)


def template_shapes(model: JsonObject) -> list[Shape | None] | None:
    """Return the shapes of a model's inputs, in order; None if it does not store them."""
    graph = read(model)
    while not graph.inputs:
        first = next(iter(graph.layers.values()), None)
        if first is None:
            return None
        if not first.is_model:
            return [stored_shape(first)]
        graph = read(first.stored)
    return [stored_shape(graph.layers[ref.layer]) for ref in graph.inputs]


def same_rows(source: Shape | None, template: Shape | None) -> bool:
    """Return True if a row of the source is a row for the template, as far as both are known."""
    if source is None or template is None:
        return True
    return len(source) == len(template) and all(
        a is None or b is None or a == b for a, b in zip(source[1:], template[1:], strict=True)
    )
