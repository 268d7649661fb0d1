"""Weights of a model whose layers have other names in the architecture that is given for them.

Keras's `load_weights` goes by the order of the layers. So does this, where names do not place every group: a name that
both have stays, the other layers follow in their order, and number and shapes of the weights must fit each layer. A
name that both have says nothing where Keras numbered all of them, and began elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from unnest.core.architecture import is_input, read
from unnest.core.architecture.automatic_names import MODEL_STEMS, CountedOn, stem_and_number
from unnest.core.architecture.graph import Layer
from unnest.core.model import Group, JsonObject
from unnest.core.weight_assignment.check_weights_fit_architecture import check_architecture
from unnest.core.weight_assignment.flat_list.divide_flat_list import layers_placed_by_order
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate, number_shifts
from unnest.core.weight_assignment.layer_groups.match_layer_groups import (
    group_names,
    grouped_layers,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights

#: Keras's names of models.
NESTED_STEMS = {*MODEL_STEMS, "sequential"}
NOT_ITS_LAYERS = "the layers of the architecture given are not those of the weights"


class RenamedGroups(NamedTuple):
    """Groups under the names of an architecture; `by_order`: its layers whose weights bore other names."""

    groups: tuple[Group, ...]
    by_order: tuple[str, ...]


def rename_groups(groups: Sequence[Group], architecture: JsonObject) -> RenamedGroups:
    """Return the weights under the names of the architecture's layers.

    `groups`: in the order of the layers of the model that was saved.

    Raises:
        Ambiguous: the weights fit in no way, or by their names as well as by their order.

    """
    layers = grouped_layers(architecture)
    with_weights = [group for group in groups if group.tensors]
    owners = _owners(groups, layers, group_names(architecture))
    if len(owners) != len(with_weights) or _are_gone(groups, layers, architecture):
        raise Ambiguous(NOT_ITS_LAYERS)
    names_first = _names_first(with_weights, owners)
    if not _are_counted_on(with_weights, owners, layers):
        try:
            return _checked(with_weights, names_first, architecture)
        except Ambiguous:
            if names_first == owners:
                raise
            _check_exchange(with_weights, owners)
    return _checked(with_weights, owners, architecture)


def _owners(
    groups: Sequence[Group], layers: Mapping[str, Layer], names: Sequence[str]
) -> list[str]:
    """Return the layers with weights: as their configs promise, or as the groups of all layers show."""
    owning = {name: _has_weights(layer) for name, layer in layers.items()}
    if None not in owning.values():
        return [name for name, owns in owning.items() if owns]
    if len(groups) != len(names):
        raise Ambiguous(NOT_ITS_LAYERS)
    return [name for group, name in zip(groups, names, strict=True) if group.tensors]


def _has_weights(layer: Layer) -> bool | None:
    """Return whether a layer has weights; None for custom code whose config does not mention any."""
    candidate = OwnerCandidate.of(layer, "")
    if candidate.promised is not None and candidate.promised.total:
        return True
    is_known = not candidate.is_open if layer.is_model else candidate.is_plain
    return False if candidate.has_none or is_known else None


def _are_gone(
    groups: Sequence[Group], layers: Mapping[str, Layer], architecture: JsonObject
) -> bool:
    """Return True if the file lists more layers under names of its own than the architecture does: some are gone."""
    stored, is_sequential = {group.name for group in groups}, read(architecture).sequential
    new = [
        name
        for name, layer in layers.items()
        if name not in stored and not (is_sequential and is_input(layer.stored))
    ]
    return len(stored - layers.keys()) > len(new)


def _names_first(groups: Sequence[Group], owners: Sequence[str]) -> list[str]:
    """Return each group's layer: the one of its name, or the next that has the name of no group."""
    stored = {group.name for group in groups}
    others = iter([name for name in owners if name not in stored])
    return [group.name if group.name in owners else next(others) for group in groups]


def _are_counted_on(
    groups: Sequence[Group], owners: Sequence[str], layers: Mapping[str, Layer]
) -> bool:
    """Return True if all names that differ by the order are Keras's own, numbered from another number on."""
    names = CountedOn()
    return all(
        names.takes(layers[name].class_name, group.name, name)
        for group, name in zip(groups, owners, strict=True)
    )


def _check_exchange(groups: Sequence[Group], owners: Sequence[str]) -> None:
    """Raise Ambiguous if a group stands at the place of another one of its shapes, of which the name is kept."""
    shapes = {group.name: [tensor.shape for tensor in group.tensors] for group in groups}
    for group, name in zip(groups, owners, strict=True):
        if group.name != name and shapes.get(name) == shapes[group.name]:
            raise Ambiguous(
                f"by their order the weights of {group.name} are those of {name}, and others of the same shapes bear "
                "that name"
            )


def _checked(
    groups: Sequence[Group], names: Sequence[str], architecture: JsonObject
) -> RenamedGroups:
    """Return the groups under these names. Raises Ambiguous if they contradict the layers."""
    renamed = [group._replace(name=name) for group, name in zip(groups, names, strict=True)]
    check_architecture(renamed, architecture)
    tensors = {group.name: group.tensors for group in renamed}
    return RenamedGroups(
        tuple(Group(name, tensors.get(name, ())) for name in group_names(architecture)),
        tuple(name for group, name in zip(groups, names, strict=True) if group.name != name),
    )


def models_counted_on(groups: Sequence[Group], model: JsonObject) -> tuple[str, ...]:
    """Return the nested models in which the numbers of Keras's names began elsewhere, so that order places the weights.

    `groups`: the weights by layer of `model`, which was given for them.

    Raises:
        Ambiguous: the numbers in two models of the same shapes differ otherwise, and Keras named both: each may be the
            other one.

    """
    shifts: dict[str, Mapping[str, int]] = {}
    shapes: dict[str, list[tuple[int, ...]]] = {}
    weights = {group.name: group.tensors for group in groups}
    for name, layer in grouped_layers(model).items():
        tensors = weights.get(name, ())
        if not layer.is_model or not tensors:
            continue
        candidates = [OwnerCandidate.of(each, "") for each in read(layer.stored).layers.values()]
        shifts[name] = number_shifts(tensors, candidates)
        shapes[name] = [tensor.shape for tensor in tensors]
    for (name, own), (other_name, others) in combinations(shifts.items(), 2):
        is_named = not {stem_and_number(each)[0] for each in (name, other_name)} <= NESTED_STEMS
        if is_named or shapes[name] != shapes[other_name]:
            continue
        if any(own[stem] != others[stem] for stem in own.keys() & others.keys()):
            raise Ambiguous(
                f"{name} and {other_name} may have exchanged their weights: the shapes are the same, "
                "and the numbers in the names have moved by different amounts"
            )
    return tuple(name for name, by_stem in shifts.items() if any(by_stem.values()))


def template_layers_by_order(
    groups: Sequence[Group], stored: Sequence[Group], architecture: JsonObject
) -> tuple[str, ...]:
    """Return the layers out of a template's list that order alone placed, by the names of their weights.

    `groups`: of the single-device model, whose architecture is given; `stored`: of the file, in which each layer
    outside the template has a group of its own.

    Raises:
        Ambiguous: names and order contradict each other, and shapes allow both.

    """
    kept = {group.name for group in stored if group.tensors}
    shares = {group.name: LayerWeights(group.tensors) for group in groups}
    graph = read(architecture)
    placed = layers_placed_by_order(
        {name: shares.get(name, LayerWeights()) for name in graph.layers}, graph
    )
    return tuple(name for name in placed if name not in kept)
