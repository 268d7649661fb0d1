"""Nested models of an `.h5` whose weights every Keras gives to other layers than they were of.

A nested model's weights are listed as what is trained and then the rest, layer by layer, and set again in the order
that the loaded model has. That a model within it was frozen (`inner.trainable = False`) stands in no config of the
standalone Keras; loaded, its layers are trained, and the order is another. Where shapes allow it, that goes without a
word. (Source: a frozen Sequential in a nested one, written and loaded by Keras 1.2.2, 2.0.9, 2.1.6, 2.2.4 and 2.3.1,
and loaded by tf_keras 2.21. TensorFlow's own Keras freezes each layer, which their configs tell.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from unnest.budget import remembered
from unnest.core.architecture import is_model, read
from unnest.core.assign.claimants import Claimant
from unnest.core.assign.flat_list import split
from unnest.core.assign.shares import Ambiguous
from unnest.core.assign.stored_groups import layer_name_by_group
from unnest.core.model import Group, JsonObject, Stored, Tensor


def misplaced(stored: Stored) -> str | None:
    """The first nested model whose layers get others' weights when Keras loads the file; None where there is none.

    What names and order do not tell for certain is no reason.
    """
    if stored.architecture is None or not is_model(stored.architecture):
        return None
    return remembered(_first, stored.architecture, stored.groups)


def _first(model: JsonObject, groups: Sequence[Group]) -> str | None:
    layers, layer_names = read(model).layers, layer_name_by_group(model, groups)
    for group in groups:
        layer = layers.get(layer_names.get(group.name, group.name))
        if layer is not None and is_model(layer.stored) and _changes_places(layer.stored, group.tensors):
            return group.name
    return None


def _changes_places(model: JsonObject, tensors: Sequence[Tensor]) -> bool:
    """Whether the layers of a nested model are given other weights than their own."""
    graph = read(model)
    claimants = [Claimant.of(layer, "") for layer in graph.layers.values()]
    counts = [each.counts() for each in claimants]
    is_told = all(each.promised is not None or each.has_none for each in claimants)
    if not is_told or sum(map(sum, counts)) != len(tensors) or any(t.owner for t in tensors):
        return False
    trained = [*accumulate((a for a, _ in counts), initial=0)]
    rest = [*accumulate((b for _, b in counts), initial=trained[-1])]
    given = [[*tensors[a:b], *tensors[c:d]] for (a, b), (c, d) in zip(pairwise(trained), pairwise(rest), strict=True)]
    try:
        shares = split(tensors, graph)
    except Ambiguous:
        return False
    return any(list(share.tensors) != weights for share, weights in zip(shares.values(), given, strict=True))
