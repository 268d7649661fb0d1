"""Layers that several nested models of one model share: tf.keras stores their weights once.

A nested model's flat list is free of repetitions from TensorFlow 2.0 on (source: files of tf.keras 2.0.4 to 2.15): the
weights stand at the first place, and the config of each model has a copy of the layer. Keras of its own, and
TensorFlow 1, list them at every place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.shared_objects import without_numbers
from unnest.core.assign.claimants import Claimant
from unnest.core.model import Tensor


class _Place(NamedTuple):
    """A layer that is no model, at one of its places, and how many trained weights and others its config promises."""

    layer: Layer
    trained: int
    rest: int
    is_told: bool

    @property
    def total(self) -> int:
        return self.trained + self.rest


def at_every_place(tensors: Sequence[Tensor], graph: Graph) -> Sequence[Tensor]:
    """A model's flat list with the weights of shared layers at each place; as it is where that is not certain.

    It is where the list is shorter than what the configs promise by just what layers promise that are met again, by
    name, class and config, in another nested model; and what stands at their first place bears their name.
    """
    places = [*_places(graph)]
    first: dict[str, _Place] = {}
    for place in places:
        first.setdefault(place.layer.name, place)
    if len(tensors) == _total(places) or len(tensors) != _total(first.values()):
        return tensors
    if not all(place.is_told and _are_one(place, first[place.layer.name]) for place in places):
        return tensors
    following = iter(tensors)
    trained = {name: [*islice(following, place.trained)] for name, place in first.items()}
    rest = {name: [*islice(following, place.rest)] for name, place in first.items()}
    names = [place.layer.name for place in places]
    shared = [name for name, times in Counter(names).items() if times > 1]
    if any(name not in t.name.split("/") for name in shared for t in (*trained[name], *rest[name])):
        return tensors
    return [t for part in (trained, rest) for name in names for t in part[name]]


def _places(graph: Graph) -> Iterator[_Place]:
    """The layers of a model and of those nested in it, in the order of a flat list."""
    for layer in graph.layers.values():
        if is_model(layer.stored):
            yield from _places(read(layer.stored))
        else:
            claimant = Claimant.of(layer, "")
            yield _Place(layer, *claimant.counts(), claimant.promised is not None or claimant.has_none)


def _total(places: Iterable[_Place]) -> int:
    return sum(place.total for place in places)


def _are_one(place: _Place, first: _Place) -> bool:
    """Whether two places can be one layer's; those without weights may share a name for any reason."""
    if place is first or not (place.total or first.total):
        return True
    layer, other = place.layer, first.layer
    return layer.class_name == other.class_name and without_numbers(layer.config) == without_numbers(other.config)
