"""Layers that nested models or wrapping layers of one model share, or models: tf.keras and Keras 3 store them once.

A nested model's flat list is free of repetitions from TensorFlow 2.0 on (source: files of tf.keras 2.0.4 to 2.15 and
of Keras 3.15): the weights stand at the first place, and the config of each model or wrapping layer has a copy of the
layer. Keras of its own, and TensorFlow 1, list them at every place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.model_json_as_saved_alone import without_numbers
from unnest.core.architecture.nested_models import leaves
from unnest.core.json_tree import OBJECT
from unnest.core.keras_facts.weights_of_wrapped_layers import wrapped_layer
from unnest.core.model import JsonObject, Tensor
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate


def count_stored_once(model: JsonObject) -> int | None:
    """Return the length of a model's flat list if shared layers are stored once; None if configs do not show it."""
    first: dict[str, _Place] = {}
    for place in _places(read(model)):
        if not place.is_known or not _are_one(place, first.setdefault(place.name, place)):
            return None
    return _total(first.values())


class _Place(NamedTuple):
    """A layer that is no model, at one of its places, and how many trained weights and others its config promises.

    `entry` is the layer that has them: another than `layer` where that one wraps it and has none of its own. `path` are
    the names of the models within that lead to it, and its own. `is_of_called_model`: `layer` wraps a model that is
    called by itself as well.
    """

    path: tuple[str, ...]
    layer: Layer
    entry: JsonObject
    trained: int
    rest: int
    is_known: bool
    is_of_called_model: bool = False

    @property
    def name(self) -> str:
        """The name by which the layer with the weights is recognized elsewhere; some cells have none."""
        config = self.entry.get("config")
        name = config.get("name") if isinstance(config, OBJECT) else None
        return (
            name
            if self.entry is not self.layer.stored and isinstance(name, str)
            else self.layer.name
        )

    def is_borne_by(self, tensor: Tensor) -> bool:
        """Return True if a weight is named after this layer, the one that wraps it, or one within it."""
        within = read(self.entry).layers if is_model(self.entry) else ()
        return not {self.name, self.layer.name, *within}.isdisjoint(tensor.name.split("/"))

    @property
    def total(self) -> int:
        return self.trained + self.rest


def repeat_shared_weights(tensors: Sequence[Tensor], graph: Graph) -> Sequence[Tensor]:
    """Return a model's flat list with shared weights repeated at each place, with owners; unchanged without any.

    It is certain where the list is shorter than what the configs promise by just what layers promise that are met
    again, by name, class and config, in another nested model or wrapping layer; and what stands at their first place
    bears their name. A model that is called and also wrapped (by a TimeDistributed) is met again layer by layer.
    """
    places = _places(graph)
    first: dict[str, _Place] = {}
    for place in places:
        first.setdefault(place.name, place)
    if len(tensors) == _total(places) or len(tensors) != _total(first.values()):
        return tensors
    if not all(place.is_known and _are_one(place, first[place.name]) for place in places):
        return tensors
    following = iter(tensors)
    trained = {name: [*islice(following, place.trained)] for name, place in first.items()}
    rest = {name: [*islice(following, place.rest)] for name, place in first.items()}
    names = [place.name for place in places]
    shared = [name for name, times in Counter(names).items() if times > 1]
    if not all(
        first[name].is_borne_by(t) for name in shared for t in (*trained[name], *rest[name])
    ):
        return tensors
    return [
        t._replace(owner=place.path, trained=part is trained)
        for part in (trained, rest)
        for place in places
        for t in part[place.name]
    ]


def lacks_weights_of_wrapped_models(tensors: Sequence[Tensor], graph: Graph) -> bool:
    """Return True if a flat list lacks just the weights of models that layers wrap and that are called by themselves.

    They are the same by name, class and config. Built from the JSON each is a model of its own, so that every Keras
    refuses the list for its length. (Source: a Sequential that is called and in a TimeDistributed, in a model within
    another, in `.h5` files of TensorFlow 2.0 to 2.3, loaded by their own Keras and by tf_keras 2.21.)
    """
    places = _places(graph)
    repeated = _total(place for place in places if place.is_of_called_model)
    are_known = all(place.is_known for place in places)
    return are_known and repeated == _total(places) - len(tensors) > 0


def _models_within(graph: Graph) -> Iterator[Layer]:
    """Yield the nested models of a model, and theirs, but none that a layer wraps."""
    for layer in graph.layers.values():
        if layer.is_model:
            yield layer
            yield from _models_within(read(layer.stored))


def _places(graph: Graph) -> Sequence[_Place]:
    """Return the layers of a model and its nested models, in the order of a flat list; walked once a file.

    A layer that wraps a model which is also called by itself has a place for each of that model's layers.
    """
    return memoize(_find_places, graph.shared)


def _find_places(graph: Graph) -> Sequence[_Place]:
    called = {
        (layer.name, layer.stored.get("class_name")): layer.stored.get("config")
        for layer in _models_within(graph)
    }
    places: list[_Place] = []
    for path, layer in leaves(graph.model):
        place = _place(path, layer)
        entry = place.entry
        own_config = called.get((place.name, entry.get("class_name")))
        if own_config is None or without_numbers(own_config) != without_numbers(
            entry.get("config")
        ):
            places.append(place)
            continue
        within = [_place(path, leaf)._replace(layer=layer) for _, leaf in leaves(entry)]
        counts = sum(p.trained for p in within), sum(p.rest for p in within)
        parts = within if counts == (place.trained, place.rest) else [place]
        places += [part._replace(is_of_called_model=True) for part in parts]
    return places


def _place(path: tuple[str, ...], layer: Layer) -> _Place:
    candidate = OwnerCandidate.of(layer, "")
    is_known = candidate.promised is not None or candidate.has_none
    entry = wrapped_layer(layer.stored) or layer.stored
    return _Place(path, layer, entry, *candidate.counts(), is_known)


def _total(places: Iterable[_Place]) -> int:
    return sum(place.total for place in places)


def _are_one(place: _Place, first: _Place) -> bool:
    """Return True if two places can be one layer's; layers without weights may share a name for any reason."""
    if place is first or not (place.total or first.total):
        return True
    entry, other = place.entry, first.entry
    are_alike = without_numbers(entry.get("config")) == without_numbers(other.get("config"))
    return are_alike and entry.get("class_name") == other.get("class_name")
