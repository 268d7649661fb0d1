"""Flat lists of weights that were saved with other layers frozen than the architecture given for them says.

A nested model's list has what is trained before the rest, so freezing a layer moves its weights. Where each weight
bears the name of one layer, the names say whose it is, and the list is put in the order of the architecture. What was
frozen in the file and is trained by the architecture stays in doubt: a list does not show where such a layer stands in
the model, and code in which it moved meanwhile would be taken for the right one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from unnest.core.architecture import is_model
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import leaves
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.keras_facts.weight_counts_by_config import expected_weight_counts
from unnest.core.keras_facts.weights_of_wrapped_layers import held_layers
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate, name_bearers
from unnest.core.weight_assignment.layer_groups.match_layer_groups import grouped_layers


class ReorderedLists(NamedTuple):
    """Groups of weights with their lists in the order of an architecture.

    `groups`: the names of those that had another order. `doubt`: why the list of a group stays as it is although names
    place its weights; empty where no list is in doubt.
    """

    weights: tuple[Group, ...]
    groups: tuple[str, ...] = ()
    doubt: str = ""


def reorder_frozen_lists(groups: Sequence[Group], architecture: JsonObject) -> ReorderedLists:
    """Put the lists of nested models in the order in which the architecture given has them.

    `groups`: those of its layers, or those of a parallel model, of which one holds the template's weights. A container
    that stores each weight under its own layer has no list whose order freezing would change.
    """
    layers = grouped_layers(architecture)
    names = {group.name for group in groups if group.tensors}
    doubt, weights, changed = "", [], []
    for group in groups:
        if group.name in layers:
            model = layers[group.name].stored
            owners = [leaf.layer for leaf in leaves(model)] if is_model(model) else []
        else:
            owners = [leaf.layer for leaf in leaves(architecture) if leaf.path[0] not in names]
        is_list = any(not tensor.owner for tensor in group.tensors)
        order = _Order.of(group.tensors, owners) if owners and is_list else None
        if order is None or order.wanted == group.tensors or not order.is_of_freezing():
            weights.append(group)
        elif why := order.doubt():
            doubt = doubt or why
            weights.append(group)
        else:
            changed.append(group.name)
            weights.append(group._replace(tensors=order.wanted))
    return ReorderedLists(tuple(weights), tuple(changed), doubt)


class _Owner(NamedTuple):
    """A leaf layer with its weights in Keras's order; the first `trained` are trained unless the layer is frozen."""

    layer: Layer
    tensors: tuple[Tensor, ...]
    trained: int
    is_frozen: bool

    @classmethod
    def of(cls, layer: Layer, tensors: Sequence[Tensor]) -> _Owner | None:
        """Build from a layer and its weights by name; None if its class or config leaves their order open."""
        if not tensors:
            return cls(layer, (), 0, is_frozen=False)
        weights = expected_weight_counts(layer.class_name, layer.config)
        candidate = OwnerCandidate.of(layer, "")
        is_known = candidate.is_plain or (is_keras_layer(layer) and not weights_apart(layer))
        if weights is None or weights.total != len(tensors) or not is_known:
            return None
        return cls(
            layer,
            tuple(tensors),
            weights.trained,
            is_frozen=layer.settings.get("trainable") is False,
        )


def weights_apart(layer: Layer) -> bool:
    """Return True if weights of a layer that holds others may stand apart in a list: frozen parts, or statistics."""
    weights = expected_weight_counts(layer.class_name, layer.config)
    return (
        weights is None
        or weights.statistics > 0
        or any(part.is_frozen for part in held_layers(layer.stored))
    )


class _Order(NamedTuple):
    """The owners of a list's weights, by name, in the order of the layers; `indices`: of each weight, its owner's."""

    owners: list[_Owner]
    indices: list[int]

    @classmethod
    def of(cls, tensors: Sequence[Tensor], layers: Sequence[Layer]) -> _Order | None:
        """Read from the names of the weights; None if these do not place every one.

        None, too, if a layer's order or its number of trained weights is not known.
        """
        bearers = name_bearers(tensors, [OwnerCandidate.of(layer, "") for layer in layers])
        indices = [next(iter(named)) for named in bearers if named is not None and len(named) == 1]
        if len(indices) < len(tensors):
            return None
        owned: list[list[Tensor]] = [[] for _ in layers]
        for tensor, index in zip(tensors, indices, strict=True):
            owned[index].append(tensor)
        owners = [_Owner.of(layer, own) for layer, own in zip(layers, owned, strict=True)]
        known = [owner for owner in owners if owner is not None]
        return cls(known, indices) if len(known) == len(owners) else None

    @property
    def wanted(self) -> tuple[Tensor, ...]:
        """The tensors in the order of the architecture."""
        counts = [0 if owner.is_frozen else owner.trained for owner in self.owners]
        pairs = list(zip(self.owners, counts, strict=True))
        return (
            *_concatenate(o.tensors[:n] for o, n in pairs),
            *_concatenate(o.tensors[n:] for o, n in pairs),
        )

    @property
    def _border(self) -> int | None:
        """Return where the rest begins, the only place at which layers begin anew: 0 without one, None for several."""
        falls = [k for k in range(1, len(self.indices)) if self.indices[k] < self.indices[k - 1]]
        return None if len(falls) > 1 else next(iter(falls), 0)

    def is_of_freezing(self) -> bool:
        """Return True if the file has the layers in this order, some of them frozen."""
        if self._border is None:
            return False
        trained = Counter(self.indices[: self._border])
        return all(count == self.owners[index].trained for index, count in trained.items())

    def doubt(self) -> str:
        """Return why the order in the file leaves the place of a layer open; empty if it does not.

        What is frozen stands behind all that is trained, wherever it is in the model, and so does what is last in it.
        """
        trained = {*self.indices[: self._border or 0]}
        thawed = (
            owner.layer.name
            for index, owner in enumerate(self.owners)
            if self._border and owner.trained and not owner.is_frozen and index not in trained
        )
        name = next(thawed, None)
        if name is None:
            return ""
        return f"{name} was frozen when the weights were saved, or stood last: their order does not show its place"


def _concatenate(parts: Iterable[tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    return tuple(tensor for part in parts for tensor in part)
