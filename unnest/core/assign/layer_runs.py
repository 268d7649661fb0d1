"""Weights that are stored in one list for the whole model, by layer: as writers list them, names as witnesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.assign.flat_list import layers_placed_by_order, runs, split
from unnest.core.assign.layer_weights import Share
from unnest.core.assign.stored_groups import group_names
from unnest.core.assign.weight_checks import check_layer
from unnest.core.model import Group, JsonObject, Tensor


def groups_of_runs(
    tensors: Sequence[Tensor], model: JsonObject, *, is_sorted: bool
) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """A group per layer of a list in which each layer has one run, and the layers that order alone placed.

    `is_sorted`: the runs are in the order of the layers' names, as HDF5 lists groups, else in the model's. Raises
    Ambiguous.
    """
    graph = read(model)
    names = sorted(graph.layers, key=_place_in_hdf5) if is_sorted else [*graph.layers]
    return _groups(runs(tensors, graph, names), graph, model)


def groups_of_flat_list(tensors: Sequence[Tensor], model: JsonObject) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    """A group per layer of a list with all that is trained before the rest, and those that order alone placed.

    Raises Ambiguous.
    """
    graph = read(model)
    return _groups(split(tensors, graph), graph, model)


def _place_in_hdf5(name: str) -> list[bytes]:
    """The order of groups in HDF5: by the bytes of their names; a name with slashes is a path."""
    return [part.encode("utf-8", "surrogatepass") for part in name.split("/")]


def _groups(shares: Mapping[str, Share], graph: Graph, model: JsonObject) -> tuple[tuple[Group, ...], tuple[str, ...]]:
    shares = {name: shares[name] for name in graph.layers}
    by_order = layers_placed_by_order(shares, graph)
    for name, share in shares.items():
        check_layer(graph.layers[name], share.tensors)
    return tuple(Group(name, shares[name].tensors) for name in group_names(model)), by_order
