"""Walks over the layers of a model and of the models nested in it: with the names around each, or as JSON entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from unnest.budget import charge_steps, memoize
from unnest.core.architecture.graph import Graph, Layer, is_model
from unnest.core.architecture.graph_to_and_from_json import read
from unnest.core.json_tree import LEAVES, OBJECT, is_list
from unnest.core.model import Json, JsonObject, Tensor

#: Names of layers, the outermost model's first, the leaf layer's last.
LeafPath: TypeAlias = "tuple[str, ...]"


def merged_models(graph: Graph) -> tuple[JsonObject, ...]:
    """Return the models that Keras 1's Merge holds, which a Sequential begins with; of any other model none."""
    first = next(iter(graph.layers.values()), None)
    held = (
        first.settings.get("layers") if first is not None and first.class_name == "Merge" else None
    )
    return (
        tuple(entry for entry in held if isinstance(entry, OBJECT))
        if graph.sequential and is_list(held)
        else ()
    )


class Leaf(NamedTuple):
    """A layer that is no model, and the names of the layers that lead to it, its own the last."""

    path: LeafPath
    layer: Layer

    @property
    def name(self) -> str:
        """The path as text, for messages."""
        return "/".join(self.path)


def nested_model(layer: Layer) -> JsonObject | None:
    """Return the model that a layer is, else None."""
    return layer.stored if layer.is_model else None


def stored_names(graph: Graph) -> Iterable[str]:
    """Return the names of a graph's layers in the order in which they are stored."""
    return graph.layers


def leaves(
    model: JsonObject,
    path: LeafPath = (),
    inner_model: Callable[[Layer], JsonObject | None] = nested_model,
    order: Callable[[Graph], Iterable[str]] = stored_names,
) -> Iterator[Leaf]:
    """Yield the leaf layers of a model, depth first.

    `inner_model` gives the model to enter in place of a layer, `order` the names of a graph's layers in order.
    """
    graph = read(model)
    for name in order(graph):
        layer = graph.layers[name]
        charge_steps()
        inner = inner_model(layer)
        if inner is None:
            yield Leaf((*path, layer.name), layer)
        else:
            yield from leaves(inner, (*path, layer.name), inner_model, order)


def leaf_entries(entry: JsonObject) -> Iterator[JsonObject]:
    """Yield the entries of the leaf layers of a model, or the entry itself if it is no model."""
    if not is_model(entry):
        yield entry
        return
    for leaf in leaves(entry):
        yield leaf.layer.stored


def by_owner(tensors: Iterable[Tensor]) -> dict[str, tuple[Tensor, ...]]:
    """Return the weights of a nested model by the layer that owns them, each without that name; "" for no owner."""
    owned: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        owned.setdefault(tensor.owner[0] if tensor.owner else "", []).append(
            tensor._replace(owner=tensor.owner[1:])
        )
    return {name: tuple(own) for name, own in owned.items()}


def with_owner(name: str, weights: Iterable[Tensor]) -> list[Tensor]:
    """Return a layer's weights as weights of the model that contains it."""
    return [w._replace(owner=(name, *w.owner)) for w in weights]


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
