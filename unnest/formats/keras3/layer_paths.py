"""Paths of a model's layers in a path-keyed file, and the names that follow from them for weights.

A weight's path is made of where its layer is, not of names: `layers/dense_1/vars/0`. A model's layers lie under
`layers`, each called after its class in snake_case, numbered from the second of a class on, in the model's order; what
a layer holds beside its own `vars` lies under its attributes' names (`cell/vars/0`). Keras 3 notes the layer's name as
an attribute of `vars`. Taking a wrapper out moves whole sub-trees.

Keras 2.12 to 2.14 walk to the layers by another attribute, `_layer_checkpoint_dependencies`, which lists a layer with
weights twice. 2.12 and 2.13 count it twice, so that the second Dense with weights is `dense_2`; 2.14 counts it once.
(Source: files of Keras 2.12, 2.13, 2.14, 2.15, 3.15 and tf_keras 2.21.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from unnest.core.architecture import is_input, read, snake_case
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import leaf_entries
from unnest.core.keras_facts.vocabularies_and_bin_boundaries import adapted_to_words
from unnest.core.keras_facts.weight_counts_by_config import initialized_weight_counts
from unnest.core.model import Group, JsonObject, Tensor
from unnest.formats.hdf5.detect_path_keyed_layout import LAYER_ATTRIBUTES

#: The attribute that leads from a model to its layers; and that of Keras 2.12 to 2.14.
LAYERS, DEPENDENCIES = LAYER_ATTRIBUTES
OPTIMIZER_GROUP = "optimizer/vars"
#: The groups that a compiled model has beside its layers.
COMPILED_PARTS = ("optimizer", "metrics")
#: Modules of operations, which have no weights and no group.
OPERATION_MODULES = ("keras.src.ops", "keras.ops", "keras.src.backend")


def join_path(prefix: str, *parts: str) -> str:
    """Join path parts; the root is the empty path."""
    return "/".join(p for p in (prefix, *parts) if p)


def stored_layers(model: JsonObject) -> list[Layer]:
    """Return the layers that have a group: no operations, and not a Sequential's input layer."""
    graph = read(model)
    return [
        layer
        for layer in graph.layers.values()
        if not str(layer.stored.get("module", "")).startswith(OPERATION_MODULES)
        and not (graph.sequential and is_input(layer.stored))
    ]


def promises_weights(layer: Layer) -> bool:
    """True if the config shows that a layer has weights; False also for a custom layer, where it shows nothing."""
    promises = (
        initialized_weight_counts(entry.get("config")) for entry in leaf_entries(layer.stored)
    )
    return any(promise is not None and promise.total > 0 for promise in promises)


def counts_as_weighted(layer: Layer) -> bool:
    """Return True if Keras 2.12 and 2.13 list a layer as one with weights: also a lookup layer with words of adapt().

    One that was given its words, or a file of them, does not count. (Source: VocabWeightHandler in index_lookup.py of
    Keras 2.13; files of it.)
    """
    return promises_weights(layer) or any(map(adapted_to_words, leaf_entries(layer.stored)))


def layers_with_paths(
    model: JsonObject,
    prefix: str,
    attribute: str = LAYERS,
    numbers_taken: Callable[[Layer, str, str], int] = lambda *_: 1,
    first_path: Callable[[Layer, str], str | None] = lambda *_: None,
) -> Iterator[tuple[Layer, str]]:
    """Yield every layer of a model with the path of its group; names are numbered by class, as Keras's saver does it.

    `attribute` is LAYERS or DEPENDENCIES; `first_path(layer, path)` says where a layer is that another model stores
    already, `numbers_taken(layer, path, path where it is stored)` how many numbers a layer takes up.
    """
    count: dict[str, int] = {}
    for layer in stored_layers(model):
        name = snake_case(layer.class_name)
        number = count.get(name, 0)
        path = join_path(prefix, attribute, f"{name}_{number}" if number else name)
        stored_path = first_path(layer, path) or path
        count[name] = number + numbers_taken(layer, path, stored_path)
        yield layer, stored_path


def name_by_path(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Name the weights of the groups by their layers and their place in them, since path-keyed files store no names."""
    return tuple(Group(g.name, tuple(_name_weight(t, g.name) for t in g.tensors)) for g in groups)


def _name_weight(tensor: Tensor, layer_name: str) -> Tensor:
    """Name one weight by the layers that own it and its place below the last of them."""
    tail = re.split(rf"(?:^|/)(?:{LAYERS}|{DEPENDENCIES})/", tensor.ref)[-1].split("/")[1:]
    place = [part for part in tail if part != "vars"]
    return tensor._replace(name="/".join([layer_name, *tensor.owner, *place]))
