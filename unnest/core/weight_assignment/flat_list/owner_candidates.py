"""The layers that may own weights of a flat list: what their configs promise, and the names that speak for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from unnest.budget import memoize
from unnest.core import json_tree
from unnest.core.architecture import children, is_model, read, snake_case
from unnest.core.architecture.automatic_names import names_counted_on, stem_and_number
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.nested_models import leaves
from unnest.core.keras_facts.stored_class_names import (
    automatic_stems,
    is_keras_layer,
    record_of,
)
from unnest.core.keras_facts.weight_counts_by_config import (
    WeightCounts,
    expected_weight_counts,
    has_initializers,
    is_quantized,
    unit_sizes,
)
from unnest.core.keras_facts.weights_of_wrapped_layers import held_layers
from unnest.core.layers.record import Parts
from unnest.core.model import JsonObject, Tensor


class OwnerCandidate(NamedTuple):
    """A layer that may own weights: the names that speak for it, and how many its config promises.

    `has_none`: of Keras's own that have no weights. `is_plain`: of Keras's own that hold no others. `is_open`: a model
    that may have more than its config promises, for it does not speak of all that is in it. `trained_counts`: how many
    of its weights may stand with what is trained; None where it may be any.
    """

    name: str
    inner_names: frozenset[str]
    promised: WeightCounts | None
    units: frozenset[int]
    has_none: bool
    is_plain: bool
    is_open: bool
    trained_counts: frozenset[int] | None

    @classmethod
    def of(cls, layer: Layer, borne: str) -> OwnerCandidate:
        """Build from a layer; `borne`: the name in its weights if its config has none (empty: none either)."""
        return memoize(_candidate, layer, borne)

    def with_one_run(self, total: int | None = None) -> OwnerCandidate:
        """Return the layer for a list that does not separate trained weights; `total` overrides its promised count."""
        if total is None:
            total = None if self.promised is None else self.promised.total
        return self._replace(
            promised=None if total is None else WeightCounts(total, 0), trained_counts=None
        )

    def may_own(self, trained: int, rest: int) -> bool:
        """Return True if Keras can have stored so many trained and other weights as the layer's.

        No config shows that a model was frozen: some weights that a layer's config calls trained may stand with the
        rest. A custom layer may have more weights than its config mentions.
        """
        if self.promised is None:
            return not self.has_none or trained + rest == 0
        if trained + rest != self.promised.total:
            return trained + rest > self.promised.total and not self.is_plain
        return self.trained_counts is None or trained in self.trained_counts

    def fits(self, tensors: Iterable[Tensor]) -> bool:
        """Return True if the layer's sizes occur in the shapes of its weights."""
        shapes = [t.shape for t in tensors]
        return not shapes or all(
            any(d % unit == 0 for s in shapes for d in s) for unit in self.units
        )

    def counts(self) -> tuple[int, int]:
        """Return how many trained and how many other weights the config promises."""
        if self.promised is None:
            return (0, 0)
        return (self.promised.trained, self.promised.statistics)

    def possible_counts(self) -> list[tuple[int, int]]:
        """Return `counts`, and the other splits that result if a model in the layer, or a part of it, was frozen."""
        trained, rest = self.counts()
        others = (
            range(trained)
            if self.trained_counts is None
            else sorted(self.trained_counts - {trained})
        )
        return [(trained, rest), *((t, trained + rest - t) for t in reversed(others))]


def _candidate(layer: Layer, borne: str) -> OwnerCandidate:
    """Return what a layer's config shows of its weights: their number, names and scopes (see `OwnerCandidate`).

    `borne`: its name in the weights, where its config has none.
    """
    inner = frozenset(n for n in _names_within(layer.stored) if n != layer.name)
    promised = _promised(layer.stored)
    name = layer.name if layer.is_named else borne
    record = record_of(layer.class_name, layer.config)
    return OwnerCandidate(
        name, inner, promised, frozenset(unit_sizes(layer.settings)), has_none=_has_none(layer),
        is_plain=record.is_plain or record.keras_1_rules, is_open=_is_open(layer),
        trained_counts=_trained_counts(layer.stored),
    )  # fmt: skip


def _has_none(layer: Layer) -> bool:
    """True if a layer has no weights for certain; a custom layer may have some that its config does not mention."""
    if layer.is_model or has_initializers(layer.config) or _promised(layer.stored) is not None:
        return False
    record = record_of(layer.class_name, layer.config)
    # Some configs of Keras 1 lack the rules.
    may_be_silent = record.has_silent_weights or record.keras_1_rules
    return is_keras_layer(layer) and not may_be_silent


def _is_open(layer: Layer) -> bool:
    """Return True if a model holds layers that may have weights which their configs do not mention."""
    return layer.is_model and any(
        _promised(leaf.layer.stored) is None and not _has_none(leaf.layer)
        for leaf in leaves(layer.stored)
    )


def _names_within(entry: JsonObject) -> Iterator[str]:
    """Yield the names of all layers inside a layer: a nested model's, a wrapped layer's.

    Of a Bidirectional's two the config holds one, under its own name or, in Keras 1.2.0, as `forward_lstm_1`.
    """
    for part in json_tree.all_objects(entry.get("config")):
        if "class_name" in part:
            yield from _names(part)
        held = part.get("layer")
        if "merge_mode" in part and isinstance(held, json_tree.OBJECT):
            forward = "forward_"
            yield from (
                f"backward_{name.removeprefix(forward)}"
                for name in _names(held)
                if name.startswith(forward)
            )


def _names(entry: JsonObject) -> Iterator[str]:
    """Yield the names of a layer's entry: beside its config, and in it."""
    config = entry.get("config")
    names = (
        entry.get("name"),
        config.get("name") if isinstance(config, json_tree.OBJECT) else None,
    )
    return (name for name in names if isinstance(name, str))


def _promised(entry: JsonObject) -> WeightCounts | None:
    """Return the weights that an entry promises, None if it shows none: of a model, of its layers that show theirs."""
    return memoize(_promise, entry)


def _promise(entry: JsonObject) -> WeightCounts | None:
    """Return the weights that a layer promises: a nested model those of its layers; a frozen one none as trained."""
    if not is_model(entry):
        config = entry.get("config")
        if is_quantized(config):  # then it has others than its config speaks of
            return None
        expected_weights = expected_weight_counts(str(entry.get("class_name")), config)
        if expected_weights and isinstance(config, json_tree.OBJECT):
            is_frozen = config.get("trainable") is False
            frozen = (
                expected_weights.trained
                if is_frozen
                else sum(part.trained for part in held_layers(entry) if part.is_frozen)
            )
            return WeightCounts(
                expected_weights.trained - frozen, expected_weights.statistics + frozen
            )
        return expected_weights
    parts = [_promised(leaf.layer.stored) for leaf in leaves(entry)]
    known = [p for p in parts if p is not None]
    if not known:
        return None
    return WeightCounts(sum(p.trained for p in known), sum(p.statistics for p in known))


def _trained_counts(entry: JsonObject) -> frozenset[int] | None:
    """Return the possible numbers of a layer's trained weights: all promised ones, or 0 for a frozen model."""
    if not is_model(entry):
        told = _promised(entry)
        if told is None or next(children(entry), None) is not None:
            return None
        # Names in a config may be those of layers that it holds; in one of Keras's own without such, a dtype's.
        record = record_of(str(entry.get("class_name")), entry.get("config"))
        holds_none = record.is_plain or record.parts is Parts.CELL or record.keras_1_rules
        if holds_none or not any(_names_within(entry)):
            return frozenset({told.trained})
        # What a layer holds may be frozen part by part; a Bidirectional's config mentions one of its two.
        return frozenset({0, told.trained}) | _sums(
            {0, part.trained} for part in held_layers(entry)
        )
    by_layer = [
        _trained_counts(each.stored)
        for each in read(entry).layers.values()
        if _promised(each.stored) is not None
    ]
    known = [counts for counts in by_layer if counts is not None]
    return _sums(known) | {0} if len(known) == len(by_layer) else None


def _sums(options: Iterable[AbstractSet[int]]) -> frozenset[int]:
    """Return all sums of one number from each set."""
    sums = frozenset({0})
    for counts in options:
        sums = frozenset(a + b for a in sums for b in counts)
    return sums


def names_of_nameless(tensors: Sequence[Tensor], graph: Graph) -> dict[str, str]:
    """Return the file's names of a Sequential's layers without a name in their config, by their name in the graph.

    Their weights have the class's name with a number that counts all of the writer's program. Only if there are as many
    such names as layers are they assigned, in the order of their numbers.
    """
    by_stem: dict[str, list[str]] = {}
    for layer in graph.layers.values():
        if not layer.is_named:
            by_stem.setdefault(snake_case(layer.class_name.rpartition(">")[2]), []).append(
                layer.name
            )
    named = {layer.name for layer in graph.layers.values() if layer.is_named}
    borne: dict[str, str] = {}
    for stem, nameless in by_stem.items():
        form = re.compile(rf"{re.escape(stem)}(?:_(\d+))?")
        parts = dict.fromkeys(
            part for t in tensors for part in t.name.split("/")[:-1] if form.fullmatch(part)
        )
        met = [part for part in parts if part not in named]
        numbers = [int(m[1] or 0) for part in met if (m := form.fullmatch(part))]
        if len(met) == len(nameless) and numbers == sorted(numbers):
            borne.update(zip(nameless, met, strict=True))
    return borne


def name_bearers(
    tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]
) -> list[frozenset[int] | None]:
    """Return for every tensor the indices of the layers that its name contains; None if it contains none."""
    counted_on = bearers_counted_on(tensors, layers)
    if counted_on is not None:
        return counted_on
    bearers = _name_bearers(tensors, layers)
    if _are_promises_met(bearers, layers):
        return bearers
    return _bearers_counted_from_one(tensors, layers) or bearers


def bearers_counted_on(
    tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]
) -> list[frozenset[int] | None] | None:
    """Return the bearers if Keras began to number the writer's layers elsewhere, as another process does, else None.

    Then the numbers of all layers of a class differ by the same. Accepted only if so every weight has one layer's
    name, every layer all that its config promises, and the list the order of the layers.
    """
    renamed = _counted_on(tensors, layers)
    if all(name == other for name, other in renamed.items()):
        return None
    bearers = _name_bearers(
        [
            t._replace(name="/".join(renamed.get(part, part) for part in t.name.split("/")))
            for t in tensors
        ],
        layers,
    )
    if not _are_promises_met(bearers, layers):
        return None
    owners = [min(named) for named in bearers if named is not None]
    falls = sum(after < before for before, after in pairwise(owners))
    return bearers if falls <= 1 else None  # what is trained, then what is not


def number_shifts(tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]) -> Mapping[str, int]:
    """Return by how much the numbers of Keras's names differ, by class, in the weights and in the layers."""
    shifts = {}
    for name, other in _counted_on(tensors, layers).items():
        (stem, number), (_, other_number) = map(stem_and_number, (name, other))
        shifts[stem] = other_number - number
    return shifts


def _counted_on(tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]) -> Mapping[str, str]:
    names = {name for layer in layers for name in (layer.name, *layer.inner_names)}
    stored = dict.fromkeys(part for t in tensors for part in t.name.split("/")[:-1])
    return names_counted_on(stored, names, automatic_stems())


def _name_bearers(
    tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]
) -> list[frozenset[int] | None]:
    """Return for each tensor the layers, by index, the name of which it bears.

    A layer with weights wins over one without (a merge) that has the same name.
    """
    layers_by_name: dict[str, set[int]] = {}
    for has_none in (False, True):  # a merge layer may bear the name of a layer in the template
        named: dict[str, set[int]] = {}
        for index, layer in enumerate(layers):
            if layer.has_none is has_none:
                for name in {layer.name, *layer.inner_names} - {""}:
                    named.setdefault(name, set()).add(index)
        layers_by_name = {**named, **layers_by_name}
    return [_bearers(tensor.name, layers_by_name) for tensor in tensors]


def _bearers_counted_from_one(
    tensors: Sequence[Tensor], layers: Sequence[OwnerCandidate]
) -> list[frozenset[int] | None] | None:
    """Return the bearers if the writer counted layers of a class from 1 and their variables from 0, else None.

    `dense_2` has `dense_1/kernel` there, and `dense_1` has `dense/kernel` (Source: tf.keras of TensorFlow 1.5 to 1.8).
    Accepted only if so every weight has one layer's name, and every layer all that its config promises; custom layers,
    the configs of which may not mention weights, must each have some.
    """
    names = {name for layer in layers for name in (layer.name, *layer.inner_names)}
    renamed = [tensor._replace(name=_one_more(tensor.name, names)) for tensor in tensors]
    bearers = _name_bearers(renamed, layers)
    return bearers if _are_promises_met(bearers, layers) else None


def _are_promises_met(
    bearers: Sequence[frozenset[int] | None], layers: Sequence[OwnerCandidate]
) -> bool:
    """Return True if every weight has one layer's name, and every layer as many weights as its config promises.

    A layer whose config may not mention all its weights may have any number of them, but at least one.
    """
    owners = Counter(
        next(iter(named)) for named in bearers if named is not None and len(named) == 1
    )
    return owners.total() == len(bearers) and all(
        _is_promise_met(layer, owners[k]) for k, layer in enumerate(layers)
    )


def _is_promise_met(layer: OwnerCandidate, count: int) -> bool:
    """Return True if `count` weights are all of a layer's own, as far as its config shows."""
    if layer.promised is None:
        return (count == 0) is layer.has_none
    return count == layer.promised.total


def _one_more(weight_name: str, names: Container[str]) -> str:
    """Return a weight's name with the next number in the part that would be the layer's."""
    parts = weight_name.split("/")
    for at, part in enumerate(parts[:-1]):
        stem, number = stem_and_number(part)
        following = f"{stem}_{number + 1}"
        if following in names:
            return "/".join([*parts[:at], following, *parts[at + 1 :]])
    return weight_name


def _bearers(weight_name: str, own: Mapping[str, set[int]]) -> frozenset[int] | None:
    """Return the layers that a weight name may name: the longest part of the name counts; None without any."""
    parts = weight_name.split("/")
    # A layer's name may be a path itself: the longest that is borne counts.
    for length in range(len(parts), 0, -1):
        paths = (
            "/".join(parts[start : start + length]) for start in range(len(parts) - length + 1)
        )
        exact = [own[path] for path in paths if path in own]
        if exact:
            return frozenset[int]().union(*exact)
    # `dense_1_W` in Keras 1, `dense_1_1/kernel` where a name was taken in the writer's graph.
    for part in parts:
        stem = part
        while "_" in stem:
            stem = stem.rpartition("_")[0]
            if stem in own:
                return frozenset(own[stem])
            if (wrapped := stem.partition("_")[2]) in own:  # `forward_gru_1_W`
                return frozenset(own[wrapped])
    return None
