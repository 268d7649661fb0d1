"""Match the groups of weights in a file with the layers of a model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import merged_models
from unnest.core.keras_facts.weights_of_wrapped_layers import (
    divide_spectral_normalization,
    held_layers,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Group, JsonObject


def group_names(model: JsonObject) -> list[str]:
    """Return the names of layers with a group of their own: a Sequential's input layer has none."""
    graph = read(model)
    return [
        n for n, layer in graph.layers.items() if not (graph.sequential and is_input(layer.stored))
    ]


def grouped_layers(model: JsonObject) -> dict[str, Layer]:
    """Return the layers that may have a group, by name, in the order of the groups.

    A Sequential that begins with a Merge of models has those of their layers in its place. (Source: flattened_layers of
    Keras 1.2.2, keras/models.py.)
    """
    graph = read(model)
    branches = merged_models(graph)
    if not branches or not all(map(is_model, branches)):
        return dict(graph.layers)
    layers = {name: layer for branch in branches for name, layer in grouped_layers(branch).items()}
    return layers | dict([*graph.layers.items()][1:])


def without_operations(groups: Sequence[Group], model: JsonObject) -> tuple[Group, ...]:
    """Return the groups of a Keras 3 model without those of operations, which are not layers.

    An .h5 does not store the module of a class. A layer's config has `trainable`, except for an input's. SpatialDropout
    and Discretization have only a dtype, which an operation of a layer's name has not. (Source: files of Keras 3.5,
    3.8, 3.11 and 3.15.)
    """
    operations = {name for name, layer in read(model).layers.items() if _is_operation(layer)}
    return tuple(group for group in groups if group.tensors or group.name not in operations)


def as_listed(group: Group, model: JsonObject) -> Group:
    """Return a layer's weights in the order that Keras 3 lists them in a group; a nested model's list may differ.

    A SpectralNormalization that was made frozen has its layer's weights among the trained ones of the model's list, and
    in its own none that is trained. (Source: files of Keras 3.15.)
    """
    layer = read(model).layers.get(group.name)
    if layer is None or layer.class_name != "SpectralNormalization":
        return group
    parts = divide_spectral_normalization(group.tensors)
    if parts is None or not (
        layer.settings.get("trainable") is False
        or all(p.is_frozen for p in held_layers(layer.stored))
    ):
        return group
    (kernel, *bias), vector = parts
    return group._replace(tensors=(kernel, vector, *bias))


def _is_operation(layer: Layer) -> bool:
    is_told_layer = "trainable" in layer.settings or (
        "dtype" in layer.settings and layer_record(layer.class_name).exported
    )
    return not (is_told_layer or is_input(layer.stored) or layer.is_model)


def layer_name_by_group(model: JsonObject, groups: Sequence[Group]) -> dict[str, str]:
    """Return the graph's name for each group whose layer has another, or none, in the JSON.

    It is the layer at the group's place in a Sequential: an entry of an old Sequential in another stores no name. A
    group that bears the name of a layer is that layer's, wherever it stands.
    """
    graph, names = read(model), group_names(model)
    if not graph.sequential or len(names) != len(groups):
        return {}
    layers = graph.layers
    return {
        group.name: group.name
        if group.name in layers and layers[group.name].is_named and layers[name].is_named
        else name
        for group, name in zip(groups, names, strict=True)
    }


NUMBERED_BYTES_NAME = re.compile(r"b'(?P<name>[^']+)'_\d+")
"""A name as Keras 2.3 writes it where the group has one already (source: files of Keras 2.3.1).

It numbers the text that Python shows for bytes: `b'tied/kernel:0'_2` for the second `tied/kernel:0`.
"""


def with_plain_weight_names(group: Group) -> Group:
    """Return the group with plain weight names where these stay unique, as its writer would have written it."""
    plain = [_plain_name(tensor.name) for tensor in group.tensors]
    count = Counter(plain)
    named = zip(group.tensors, plain, strict=True)
    return Group(
        group.name, tuple(t._replace(name=name) if count[name] == 1 else t for t, name in named)
    )


def _plain_name(name: str) -> str:
    numbered = NUMBERED_BYTES_NAME.fullmatch(name)
    return numbered["name"] if numbered else name


def groups_are_layers(groups: Sequence[Group], architecture: JsonObject) -> bool:
    """Return True if groups of weights are an architecture's layers: by name, or by place if an entry has no name.

    (Keras before 2.2.3 stored a Sequential in another as a bare list, and its weights under the name that it had.)
    """
    graph = read(architecture)
    if {g.name for g in groups} <= grouped_layers(architecture).keys():
        return True
    names = group_names(architecture)
    return (
        graph.sequential
        and len(names) == len(groups)
        and all(
            g.name == name or not isinstance(graph.layers[name].stored.get("config"), Mapping)
            for g, name in zip(groups, names, strict=True)
        )
    )


def groups_by_layer(groups: Sequence[Group], architecture: JsonObject) -> list[Group]:
    """Return the groups under the names that the graph has for their layers."""
    names = layer_name_by_group(architecture, groups)
    return [group._replace(name=names.get(group.name, group.name)) for group in groups]
