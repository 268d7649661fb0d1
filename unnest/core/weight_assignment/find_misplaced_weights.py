"""Find nested models of an `.h5`, the weights of which every Keras loads into the wrong layers.

A nested model's weights are listed as what is trained and then the rest, layer by layer, and set again in the order
that the loaded model has. Configs of the standalone Keras do not store that a model within it was frozen
(`inner.trainable = False`); once loaded, its layers are trained, and the order is another. If shapes allow it, that
happens without a word. (Source: a frozen Sequential in a nested one, written and loaded by Keras 1.2.2, 2.0.9, 2.1.6,
2.2.4 and 2.3.1, and loaded by tf_keras 2.21. TensorFlow's own Keras freezes each layer, which their configs store.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from unnest.budget import memoize
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import leaves
from unnest.core.keras_facts.weight_counts_by_config import trained_count
from unnest.core.model import Group, JsonObject, Stored, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import (
    divide_flat_list,
    weights_by_leaf,
)
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate
from unnest.core.weight_assignment.flat_list.repeat_shared_weights import (
    lacks_weights_of_wrapped_models,
    repeat_shared_weights,
)
from unnest.core.weight_assignment.layer_groups.match_layer_groups import layer_name_by_group
from unnest.core.weight_assignment.layer_weights_record import Ambiguous


def misplaced_nested_model(stored: Stored) -> str | None:
    """Return the first nested model, the layers of which Keras loads with others' weights, or None.

    Only what names and order show for certain counts.
    """
    if stored.architecture is None or not is_model(stored.architecture):
        return None
    return memoize(_first_misplaced, stored.architecture, stored.groups)


def _first_misplaced(model: JsonObject, groups: Sequence[Group]) -> str | None:
    return next(
        (
            group.name
            for layer, group in _nested_models(model, groups)
            if _changes_places(layer.stored, group.tensors)
        ),
        None,
    )


def _nested_models(model: JsonObject, groups: Sequence[Group]) -> Iterator[tuple[Layer, Group]]:
    """Yield the nested models of a model, each with the group of its weights."""
    layers, layer_names = read(model).layers, layer_name_by_group(model, groups)
    for group in groups:
        layer = layers.get(layer_names.get(group.name, group.name))
        if layer is not None and layer.is_model:
            yield layer, group


def model_with_weights_stored_once(stored: Stored) -> str | None:
    """Return the first nested model that holds one layer in several, with its weights listed once; None if none does.

    Built from the JSON, each of these has a layer of its own, and every Keras refuses the list for its length. (Source:
    one Dense, and one Sequential, in two TimeDistributed layers, one cell in two RNNs, each in a model within another,
    in `.h5` files of Keras 3.15 and tf_keras 2.21.)
    """
    if (
        stored.contents != "model"
        or stored.architecture is None
        or not is_model(stored.architecture)
    ):
        return None
    return memoize(_first_stored_once, stored.architecture, stored.groups)


def _first_stored_once(model: JsonObject, groups: Sequence[Group]) -> str | None:
    """Return the name of the first nested model whose list is shorter than the layers of its JSON read."""
    for layer, group in _nested_models(model, groups):
        if any(t.owner for t in group.tensors):
            continue
        graph = read(layer.stored)
        is_shorter = len(repeat_shared_weights(group.tensors, graph)) > len(group.tensors)
        if is_shorter or lacks_weights_of_wrapped_models(group.tensors, graph):
            return layer.name
    return None


def _changes_places(model: JsonObject, tensors: Sequence[Tensor]) -> bool:
    """Return True if loading gives the layers of a nested model other weights than their own."""
    graph = read(model)
    candidates = [OwnerCandidate.of(layer, "") for layer in graph.layers.values()]
    counts = [each.counts() for each in candidates]
    is_told = all(each.promised is not None or each.has_none for each in candidates)
    if not is_told or sum(map(sum, counts)) != len(tensors) or any(t.owner for t in tensors):
        return False
    trained = [*accumulate((a for a, _ in counts), initial=0)]
    rest = [*accumulate((b for _, b in counts), initial=trained[-1])]
    given = [
        [*tensors[a:b], *tensors[c:d]]
        for (a, b), (c, d) in zip(pairwise(trained), pairwise(rest), strict=True)
    ]
    try:
        shares = divide_flat_list(tensors, graph)
    except Ambiguous:
        return False
    return any(
        list(share.tensors) != weights
        for share, weights in zip(shares.values(), given, strict=True)
    )


def has_state_of_fewer_weights(stored: Stored) -> bool:
    """Return True if an optimizer's state covers fewer weights than are trained once the file is loaded.

    That happens if a model within was frozen: its layers' configs say that they are trained. Only what names, order and
    shapes show for certain counts.
    """
    if not stored.optimizer or stored.architecture is None or not is_model(stored.architecture):
        return False
    layer_names = layer_name_by_group(stored.architecture, stored.groups)
    groups = [
        Group(layer_names.get(group.name, group.name), group.tensors) for group in stored.groups
    ]
    trained = _trained_shapes(stored.architecture, groups)
    slots = Counter(tensor.shape for tensor in stored.optimizer if tensor.shape)
    if trained is None or not slots:
        return False
    return not _is_slots_of(slots, trained) and any(
        all(
            count % times == 0 and count // times <= trained[shape]
            for shape, count in slots.items()
        )
        for times in range(1, MOST_SLOTS + 1)
    )


MOST_SLOTS = 3
"""What Keras's optimizers keep for a weight, at most."""


def _is_slots_of(slots: Counter[tuple[int, ...]], trained: Counter[tuple[int, ...]]) -> bool:
    """Return True if there are equally many slots for each weight, and no others."""
    times = slots.total() // max(trained.total(), 1)
    return slots == Counter({shape: times * count for shape, count in trained.items()})


def _trained_shapes(model: JsonObject, groups: Sequence[Group]) -> Counter[tuple[int, ...]] | None:
    """Return the shapes of the weights that the configs of a model's layers call trained; None if they do not say."""
    try:
        weights = weights_by_leaf(model, groups)
    except Ambiguous:
        return None
    shapes: Counter[tuple[int, ...]] = Counter()
    for path, layer in leaves(model):
        own = weights[path]
        count = trained_count(layer, len(own)) if own else 0
        if count is None:
            return None
        shapes.update(tensor.shape for tensor in own[:count])
    return shapes
