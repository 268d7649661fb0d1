"""Weights against an architecture that was kept apart from them: number, shapes, names and order, layer by layer.

Weights name their layers, and nothing else in them says of which state of the code they are. A layer that was added,
moved, renamed or made wider since then shows in one of these four.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from unnest.core.architecture import read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.keras_facts.weight_counts_by_config import switched_off_weights
from unnest.core.keras_facts.weight_shape_check import name_contradiction, shape_contradiction
from unnest.core.keras_facts.weights_of_wrapped_layers import expected_weight_total
from unnest.core.model import CallId, Group, JsonObject, Tensor
from unnest.core.weight_assignment.flat_list.divide_flat_list import divide_flat_list
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate
from unnest.core.weight_assignment.layer_groups.match_layer_groups import grouped_layers
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights
from unnest.core.weight_assignment.weight_order_within_layer import (
    NamedWeight,
    Variable,
    in_creation_order,
)


def check_architecture(groups: Sequence[Group], model: JsonObject) -> None:
    """Check that weights may be those of an architecture that was given for them.

    `groups`: the weights by layer, in the order of the file, which is the order of the layers in the model that was
    saved. (Source: `save_weights` of Keras 1 to 3 writes a group per layer, in the order of `model.layers`.)

    Raises:
        Ambiguous: If a layer's weights contradict its config, or the order of the groups the graph.

    """
    layers = grouped_layers(model)
    tensors = {group.name: group.tensors for group in groups}
    for layer in layers.values():
        check_layer(layer, tensors.get(layer.name, ()))
        _check_number(layer, tensors.get(layer.name, ()))
    stored = [group.name for group in groups if group.tensors]
    _check_order(stored, layers, read(model))
    _check_exchange(stored, [name for name in layers if tensors.get(name)], tensors)


def misshapen_layer(
    model: JsonObject, weights: Mapping[str, Sequence[Tensor]], *, takes_cudnn: bool = True
) -> tuple[str, str] | None:
    """Return the first layer whose weights cannot be its own by their shapes, and the contradiction; None if all fit.

    `weights`: by layer, those of a nested model as the file lists them. Of such a list only the layers are held against
    it that it can be divided among. `takes_cudnn` as in `shape_contradiction`.
    """
    for name, layer in read(model).layers.items():
        tensors = weights.get(name, ())
        if why := shape_contradiction(layer, [t.shape for t in tensors], takes_cudnn=takes_cudnn):
            return name, why
        if layer.is_model and tensors:
            with suppress(Ambiguous):
                shares = divide_flat_list(tensors, read(layer.stored))
                by_layer = {name: share.tensors for name, share in shares.items()}
                if found := misshapen_layer(layer.stored, by_layer, takes_cudnn=takes_cudnn):
                    return found
    return None


def check_layer(layer: Layer, tensors: Sequence[Tensor]) -> None:
    """Check shapes and names of the weights of a layer, and of those of a nested model that can be placed.

    Raises:
        Ambiguous: If they contradict the layer's config, or the order in which its class makes its weights.

    """
    if why := shape_contradiction(layer, [t.shape for t in tensors]):
        raise Ambiguous(f"{layer.name}: {why}")
    if layer.is_model:
        _check_nested(read(layer.stored), tensors)
        return
    if why := name_contradiction(layer, [t.name for t in tensors]):
        raise Ambiguous(f"{layer.name}: {why}")
    absent = switched_off_weights(layer.config) & {_last_name(t) for t in tensors}
    if absent:
        raise Ambiguous(
            f"{layer.name}: the file has its weight {min(absent)!r}, which its config switches off"
        )
    made = in_creation_order(
        layer, [NamedWeight(Variable(t.name, t), (), _last_name(t), 0) for t in tensors]
    )
    if made is not None and [c.variable.tensor for c in made] != list(tensors):
        raise Ambiguous(
            f"the weights of {layer.name} are listed in another order than {layer.class_name} makes them"
        )


def _check_nested(graph: Graph, tensors: Sequence[Tensor]) -> None:
    """Check the layers of a nested model, as its order and names share its list of weights out.

    Raises:
        Ambiguous: If a layer's weights contradict it, or bear the name of another layer while every name is known.

    """
    shares: Mapping[str, LayerWeights] = {}
    # If it is ambiguous, no reading of the list asks for the layers in it, or says why not.
    with suppress(Ambiguous):
        shares = divide_flat_list(tensors, graph)
    for name, share in shares.items():
        check_layer(graph.layers[name], share.tensors)
    bearers = {t.ref: _bearer(t, graph) for t in tensors}
    if {*bearers.values()} != {name for name, share in shares.items() if share.tensors}:
        return  # another program's numbers, which count on: order alone decides
    for name, share in shares.items():
        other = next((t for t in share.tensors if bearers[t.ref] != name), None)
        if other is not None:
            raise Ambiguous(
                f"by its order {other.name!r} is a weight of {name}, by its name of {bearers[other.ref]}"
            )


def _bearer(tensor: Tensor, graph: Graph) -> str | None:
    """Return the layer that a tensor is named after."""
    return next(
        (part for part in reversed(tensor.name.split("/")[:-1]) if part in graph.layers), None
    )


def _last_name(tensor: Tensor) -> str:
    """Return `kernel` of `dense_1/kernel:0`."""
    return tensor.name.rpartition("/")[2].partition(":")[0]


def _check_number(layer: Layer, tensors: Sequence[Tensor]) -> None:
    """Raise Ambiguous where a layer of Keras's own has more or fewer weights than its config promises."""
    promised = expected_weight_total(layer.stored)
    if promised is not None and promised != len(tensors):
        raise Ambiguous(
            f"{layer.name} has {len(tensors)} weights in the file, and {promised} by the architecture"
        )


def _check_order(names: Sequence[str], layers: Iterable[str], graph: Graph) -> None:
    """Raise Ambiguous where the file lists a layer before another one that it reads.

    Keras keeps a layer behind all that its deepest call reads; layers of which neither reads the other may stand in
    either order. `names`: the layers that have weights, in the order of the file; `layers`: all, in that of the model.
    """
    places = {name: place for place, name in enumerate(names)}
    if graph.sequential:
        expected = [name for name in layers if name in places]
        wrong = next(
            (pair for pair in zip(names, expected, strict=False) if pair[0] != pair[1]), None
        )
    else:
        latest = _latest_read(graph, places)
        pairs = (
            (name, min(latest[CallId(name, n)] for n in range(len(graph.layers[name].calls))))
            for name in names
        )
        wrong = next(((name, names[place]) for name, place in pairs if place > places[name]), None)
    if wrong is not None:
        raise Ambiguous(
            f"the file lists the weights of {wrong[0]} before those of {wrong[1]}, the architecture behind"
        )


def _check_exchange(
    stored: Sequence[str], layers: Sequence[str], tensors: Mapping[str, Sequence[Tensor]]
) -> None:
    """Raise Ambiguous where the weights fit the layers by their order as well as by their names, and the two differ.

    Keras's `load_weights` goes by the order, which is that of the JSON of the model that was saved: two layers of equal
    shapes have exchanged their names since. `stored` and `layers`: the layers with weights, in the order of the file,
    and of the architecture; `tensors`: the weights by layer.
    """
    if any(
        [t.shape for t in tensors[a]] != [t.shape for t in tensors[b]]
        for a, b in zip(stored, layers, strict=False)
    ):
        return  # by their order they do not fit
    for by_name, by_order in zip(stored, layers, strict=False):
        if by_name != by_order:
            raise Ambiguous(
                f"by their order the weights of {by_name} are those of {by_order}, which fit as well as by their name"
            )


def check_list_order(stored: Sequence[Group], groups: Sequence[Group], model: JsonObject) -> None:
    """Check weights out of a template's list: layers of one shape may not stand in it in another order.

    `stored`: as the file has them; `groups`: the same weights by layer of `model`. A list has what is frozen behind the
    rest, and a config does not always say that a model in it was.

    Raises:
        Ambiguous: If the list fits by its order as well as by the names of its weights, and the two differ.

    """
    places = {tensor.ref: n for n, tensor in enumerate(t for g in stored for t in g.tensors)}
    tensors = {group.name: group.tensors for group in groups if group.tensors}
    layers = {name: layer for name, layer in grouped_layers(model).items() if name in tensors}
    frozen = {name for name, layer in layers.items() if _trains_nothing(layer)}
    _check_exchange(
        sorted(tensors, key=lambda name: min(places[t.ref] for t in tensors[name])),
        [*(n for n in layers if n not in frozen), *(n for n in layers if n in frozen)],
        tensors,
    )


def _trains_nothing(layer: Layer) -> bool:
    """Return True if the config says that all weights of a layer, or of a model, are frozen, or statistics."""
    promised = OwnerCandidate.of(layer, "").promised
    return promised is not None and promised.trained == 0


def _latest_read(graph: Graph, places: Mapping[str, int]) -> dict[CallId, int]:
    """Return the last place in the file of a layer that a call reads, by way of others too; -1 for none."""
    latest: dict[CallId, int] = {}
    pending = [call_id for call_id, _ in graph.calls()]
    while pending:
        call_id = pending[-1]
        reads = [ref.call for ref in graph.call(call_id).reads]
        unknown = [call for call in reads if call not in latest]
        if unknown and call_id not in latest:
            pending += unknown
            continue
        pending.pop()
        latest[call_id] = max((max(latest[c], places.get(c.layer, -1)) for c in reads), default=-1)
    return latest
