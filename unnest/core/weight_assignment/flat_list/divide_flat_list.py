"""Divide the flat list of a model's weights among its layers.

A nested model's weights are stored as one flat list: first what is trained, layer by layer and depth first, then what
is not (statistics, frozen layers), layer by layer again (Source: Container.weights of Keras 1 to tf_keras). So every
layer owns one run of tensors in the first part and one in the second, in the order of the layers; a layer's own stored
list is its two runs joined. The result is the owner of every tensor.

Weight names are the first witness (`dense_1/kernel:0` is dense_1's, if there is a dense_1), the numbers of weights that
configs promise the second, order binds both. A reading is accepted only if it is the only one that they leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from unnest.budget import memoize
from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph
from unnest.core.architecture.nested_models import LeafPath
from unnest.core.model import Group, JsonObject, Tensor
from unnest.core.weight_assignment.flat_list.owner_candidates import (
    OwnerCandidate,
    bearers_counted_on,
    name_bearers,
    names_of_nameless,
)
from unnest.core.weight_assignment.flat_list.repeat_shared_weights import (
    count_stored_once,
    repeat_shared_weights,
)
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights


def divide_flat_list(tensors: Sequence[Tensor], graph: Graph) -> Mapping[str, LayerWeights]:
    """Divide a nested model's flat list among its layers; every layer is in the result. Raises Ambiguous.

    Raises Ambiguous where more than one reading, or none, is left.
    """
    return memoize(_divide, tensors, graph.shared)


def _divide(tensors: Sequence[Tensor], graph: Graph) -> Mapping[str, LayerWeights]:
    if not tensors:  # an architecture alone
        return {name: LayerWeights() for name in graph.layers}
    if not all(t.owner for t in tensors):
        tensors = repeat_shared_weights(tensors, graph)
    if all(t.owner for t in tensors):
        return _by_owner(tensors, graph)
    shares = _only_reading(tensors, _candidates(tensors, graph, graph.layers))
    if shares is None:
        raise Ambiguous(f"its {len(tensors)} weights do not fit the layers of {graph.name}")
    return dict(zip(graph.layers, shares, strict=True))


def divide_runs(
    tensors: Sequence[Tensor], graph: Graph, names: Sequence[str]
) -> Mapping[str, LayerWeights]:
    """Divide a list in which each layer has one run, the layers in the order of `names`; every layer is in the result.

    The list does not show what of a run is trained: shares are not sorted out.

    Raises:
        Ambiguous: more than one reading is left, or none.

    """
    candidates = _candidates(tensors, graph, names)
    layers = [candidate.with_one_run() for candidate in candidates]
    totals = [
        count_stored_once(layer.stored) if (layer := graph.layers[name]).is_model else None
        for name in names
    ]
    sharing = [
        candidate.with_one_run(total) for candidate, total in zip(candidates, totals, strict=True)
    ]
    if _promised(layers) != len(tensors) == _promised(sharing):
        layers = sharing
    shares = _only_reading(tensors, layers, border=len(tensors))
    if shares is None:
        raise Ambiguous(f"{len(tensors)} weights do not fit the layers of {graph.name}")
    return {
        name: LayerWeights(share.tensors, sorted_out=False)
        for name, share in zip(names, shares, strict=True)
    }


def _promised(layers: Iterable[OwnerCandidate]) -> int:
    return sum(layer.promised.total for layer in layers if layer.promised is not None)


def _candidates(
    tensors: Sequence[Tensor], graph: Graph, names: Iterable[str]
) -> list[OwnerCandidate]:
    borne = names_of_nameless(tensors, graph)
    return [OwnerCandidate.of(graph.layers[name], borne.get(name, "")) for name in names]


def _only_reading(
    tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate], border: int | None = None
) -> list[LayerWeights] | None:
    """Return the layers' shares in the only reading that is left, or None; `border` as in `Search`.

    Raises:
        Ambiguous: several readings are left, or one in which a layer has too few weights.

    """
    by_name = name_bearers(tensors, layers)
    shares = _anchored(tensors, layers, by_name, border)
    if shares is None:
        shares = _searched(tensors, layers, by_name, border)
    if shares is not None:
        _check_complete(layers, shares)
    return shares


def _searched(
    tensors: Sequence[Tensor],
    layers: Sequence[OwnerCandidate],
    by_name: Sequence[frozenset[int] | None],
    border: int | None,
) -> list[LayerWeights] | None:
    """Return the shares in the only reading by the first rules that leave one; None if none do. Raises Ambiguous."""
    from unnest.core.weight_assignment.flat_list.partition_search import Rules, Search

    nameless: list[frozenset[int] | None] = [None] * len(tensors)
    for bearers, rules in (
        (by_name, Rules(kept_promises=True, spare_unknown=True, pure=True, whole_scopes=True)),
        (by_name, Rules(kept_promises=True, spare_unknown=True, pure=True)),
        (nameless, Rules(kept_promises=True, spare_unknown=True)),  # names may be another graph's
        (nameless, Rules(kept_promises=True, spare_unknown=True, torn_scopes=True)),
        (by_name, Rules(spare_unknown=True, pure=True)),
        (by_name, Rules(pure=True)),
        (by_name, Rules(spare_unknown=True)),
        (by_name, Rules()),
        (nameless, Rules(kept_promises=True)),
    ):
        shares = Search(tensors, layers, bearers, rules, border).only_reading()
        if shares is not None:
            return shares
    return None


def layers_placed_by_order(shares: Mapping[str, LayerWeights], graph: Graph) -> tuple[str, ...]:
    """Return the layers, the weights of which do not have their names, so that order alone assigned them.

    `shares`: the result of `divide_flat_list` for a graph that was stored apart from its weights.

    Raises:
        Ambiguous: names and order contradict each other, and shapes allow both.

    """
    tensors = [t for share in shares.values() for t in share.tensors]
    borne = names_of_nameless(tensors, graph)
    layers = [OwnerCandidate.of(graph.layers[name], borne.get(name, "")) for name in shares]
    if bearers_counted_on(tensors, layers) is not None:
        return tuple(
            name
            for name, share in shares.items()
            if any(name not in t.name.split("/") for t in share.tensors)
        )
    bearers = dict(zip((t.ref for t in tensors), name_bearers(tensors, layers), strict=True))
    named: dict[int, list[Tensor]] = {}
    for tensor in tensors:
        for index in bearers[tensor.ref] or ():
            named.setdefault(index, []).append(tensor)
    by_order = []
    for index, (name, share) in enumerate(shares.items()):
        if all(index in (bearers[t.ref] or ()) for t in share.tensors):
            continue
        by_order.append(name)
        if [t.shape for t in named.get(index, ())] == [t.shape for t in share.tensors]:
            raise Ambiguous(
                f"the weights called {name} stand where those of another layer of its shape belong"
            )
    return tuple(by_order)


def _check_complete(layers: Sequence[OwnerCandidate], shares: Sequence[LayerWeights]) -> None:
    """Raise Ambiguous if a layer has fewer weights than its config promises: Keras would refuse the result."""
    for layer, share in zip(layers, shares, strict=True):
        if layer.promised is not None and len(share.tensors) < layer.promised.total:
            have = f"{len(share.tensors)} of {layer.promised.total}"
            raise Ambiguous(f"{layer.name} has {have} weights; a weight is missing from the file")


def _by_owner(tensors: Sequence[Tensor], graph: Graph) -> dict[str, LayerWeights]:
    """Divide by the owners that the container, or sharing layers, give for each weight. Raises Ambiguous."""
    if not {t.owner[0] for t in tensors} <= set(graph.layers):
        raise Ambiguous(f"its weights belong to layers that {graph.name} has not")
    shares = {}
    for name in graph.layers:
        own = [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[0] == name]
        shares[name] = LayerWeights(
            tuple(t for t in own if t.trained), tuple(t for t in own if not t.trained)
        )
    return shares


def _anchored(
    tensors: Sequence[Tensor],
    layers: Sequence[OwnerCandidate],
    bearers: Sequence[frozenset[int] | None],
    border: int | None,
) -> list[LayerWeights] | None:
    """Return the division in which each tensor bears one layer's name and the order agrees; None without one."""
    owners = [next(iter(c)) for c in bearers if c is not None and len(c) == 1]
    if len(owners) < len(tensors):
        return None
    falls = [i for i in range(1, len(owners)) if owners[i] < owners[i - 1]]
    most_falls = 1 if border is None else 0
    if len(falls) > most_falls:
        return None
    if border is None:
        border = falls[0] if falls else _border(layers, owners)
    if border is None:
        return None
    trained: list[list[Tensor]] = [[] for _ in layers]
    rest: list[list[Tensor]] = [[] for _ in layers]
    for index, (tensor, owner) in enumerate(zip(tensors, owners, strict=True)):
        (trained if index < border else rest)[owner].append(tensor)
    shares = [LayerWeights(tuple(a), tuple(b)) for a, b in zip(trained, rest, strict=True)]
    for layer, share in zip(layers, shares, strict=True):
        if not layer.may_own(len(share.trained), len(share.rest)) or not layer.fits(share.tensors):
            return None
    return shares


def _border(layers: Sequence[OwnerCandidate], owners: Sequence[int]) -> int | None:
    """Return where the trained weights end if order does not show it; None if they cannot end anywhere.

    Of the places that every layer allows, the nearest to what the configs promise, which is not among them if a model
    was frozen. All before it is trained and nothing behind it, so it lies in or beside one layer.
    """
    owned = Counter(owners)
    counts = [owned[index] for index in range(len(layers))]
    starts = [0, *accumulate(counts)]
    runs = list(zip(layers, counts, strict=True))
    last = next(
        (i for i, (layer, count) in enumerate(runs) if not layer.may_own(count, 0)), len(runs) - 1
    )
    first = next(
        (i for i, (layer, count) in reversed([*enumerate(runs)]) if not layer.may_own(0, count)), 0
    )
    borders = [
        starts[i] + trained
        for i in range(first, last + 1)
        for trained in range(counts[i] + 1)
        if layers[i].may_own(trained, counts[i] - trained)
    ]
    promised = sum(count if layer.promised is None else layer.counts()[0] for layer, count in runs)
    return min(borders, key=lambda border: abs(border - promised), default=None)


def weights_by_leaf(
    model: JsonObject, groups: Sequence[Group]
) -> dict[LeafPath, tuple[Tensor, ...]]:
    """Return the weights of each leaf layer; `groups` bear the names of the layers of `model`.

    Raises:
        Ambiguous: a nested model's flat list fits its layers in no way, or in several.

    """
    return dict(_by_leaf(model, {g.name: g.tensors for g in groups}, ()))


def _by_leaf(
    model: JsonObject, shares: Mapping[str, tuple[Tensor, ...]], path: LeafPath
) -> Iterator[tuple[LeafPath, tuple[Tensor, ...]]]:
    for name, layer in read(model).layers.items():
        tensors = shares.get(name, ())
        if not layer.is_model:
            yield (*path, name), tensors
            continue
        inner = divide_flat_list(tensors, read(layer.stored))
        yield from _by_leaf(
            layer.stored, {n: share.tensors for n, share in inner.items()}, (*path, name)
        )
