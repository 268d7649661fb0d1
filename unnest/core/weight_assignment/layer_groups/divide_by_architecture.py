"""Divide weights that were stored without an architecture into groups for the layers of the one that is given.

The groups of a parallel model, a list with one run a layer, and a list with all that is trained first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.keras_facts.weight_shape_check import shape_contradiction
from unnest.core.model import CallId, Group, JsonObject, Tensor
from unnest.core.weight_assignment.check_weights_fit_architecture import check_layer
from unnest.core.weight_assignment.flat_list.divide_flat_list import (
    divide_flat_list,
    divide_runs,
    layers_placed_by_order,
)
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate, name_bearers
from unnest.core.weight_assignment.layer_groups.match_layer_groups import group_names
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights


def divide_parallel_groups(
    groups: Sequence[Group], architecture: JsonObject
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """Return the groups of the single-device model, and its layers that order alone placed.

    One group holds the template's weights, as a flat list. The groups of a head, which follows it, have names of layers
    of the architecture; all other layers are the template's.

    Raises:
        Ambiguous: the weights can be divided in several ways, or in none.

    """
    graph = read(architecture)
    with_weights = [group for group in groups if group.tensors]
    head = {group.name: group.tensors for group in with_weights[1:]}
    if not with_weights or not head.keys() <= graph.layers.keys():
        raise Ambiguous("the layers of the architecture given are not those of the weights")
    flat_list = with_weights[0].tensors
    template = replace(
        graph, layers={name: each for name, each in graph.layers.items() if name not in head}
    )
    shares = {
        **divide_flat_list(flat_list, template),
        **{name: LayerWeights(tensors) for name, tensors in head.items()},
    }
    if head:
        _check_head(graph, head, flat_list, shares)
    by_order = layers_placed_by_order({name: shares[name] for name in graph.layers}, graph)
    return tuple(Group(name, shares[name].tensors) for name in group_names(architecture)), by_order


def _check_head(
    graph: Graph,
    head: Mapping[str, Sequence[Tensor]],
    flat_list: Sequence[Tensor],
    shares: Mapping[str, LayerWeights],
) -> None:
    """Raise Ambiguous if something speaks against these layers being the head, and all others the template.

    Layers of other weights may bear such names: those of the template itself, where the program counted on.
    """
    candidates = {name: OwnerCandidate.of(layer, "") for name, layer in graph.layers.items()}
    for name, tensors in head.items():
        promised = candidates[name].promised
        if candidates[name].has_none or (promised is not None and promised.total != len(tensors)):
            raise Ambiguous(f"{name} has not the weights that its config promises")
    for name, share in shares.items():
        if why := shape_contradiction(graph.layers[name], [t.shape for t in share.tensors]):
            raise Ambiguous(f"{name}: {why}")
    of_head = {index for index, name in enumerate(graph.layers) if name in head}
    if any(named and named <= of_head for named in name_bearers(flat_list, [*candidates.values()])):
        raise Ambiguous("weights within the template bear the name of a layer behind it")
    late = next(
        (name for name in _followers(graph, head) if name not in head and shares[name].tensors),
        None,
    )
    if late is not None:
        raise Ambiguous(f"{late} follows {next(iter(head))}, and has weights within the template")


def _followers(graph: Graph, layers: Collection[str]) -> list[str]:
    """Return the layers that depend on the outputs of these."""
    if graph.sequential:
        names = [*graph.layers]
        return names[min(map(names.index, layers)) + 1 :]
    pending = [
        CallId(name, index) for name in layers for index in range(len(graph.layers[name].calls))
    ]
    met = {*pending}
    for at in pending:
        following = {user for user, _ in graph.readers.get(at, ())} - met
        met |= following
        pending += following
    return [at.layer for at in pending]


def groups_of_runs(
    tensors: Sequence[Tensor], model: JsonObject, *, is_sorted: bool
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """Return a group per layer of a list with one run a layer, and the names of layers that order alone placed.

    `is_sorted`: the runs are in the order of the layers' names, as HDF5 lists groups, else in the model's. Raises
    Ambiguous.
    """
    graph = read(model)
    names = sorted(graph.layers, key=_place_in_hdf5) if is_sorted else [*graph.layers]
    return _groups(divide_runs(tensors, graph, names), graph, model)


def groups_of_flat_list(
    tensors: Sequence[Tensor], model: JsonObject
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """Return a group per layer of a list with trained weights first, and the names of layers that order alone placed.

    Raises Ambiguous.
    """
    graph = read(model)
    return _groups(divide_flat_list(tensors, graph), graph, model)


def _place_in_hdf5(name: str) -> list[bytes]:
    """Return a sort key for HDF5's order of groups: the bytes of the names, a name with slashes being a path."""
    return [part.encode("utf-8", "surrogatepass") for part in name.split("/")]


def _groups(
    shares: Mapping[str, LayerWeights], graph: Graph, model: JsonObject
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    shares = {name: shares[name] for name in graph.layers}
    by_order = layers_placed_by_order(shares, graph)
    for name, share in shares.items():
        check_layer(graph.layers[name], share.tensors)
    return tuple(Group(name, shares[name].tensors) for name in group_names(model)), by_order
