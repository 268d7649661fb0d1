"""Which stored tensor belongs to which layer of the template model.

A nested model's weights are stored as one flat list: first what is trained, layer by layer
and depth first, then what is not (statistics, frozen layers), layer by layer again
(source: Container.weights of Keras 1 to tf_keras). So every layer owns one run of tensors in the
first part and one in the second, in the order of the layers; a layer's own stored list is
its two runs joined. What is to be found is the owner of every tensor.

Weight names are the first witness (`dense_1/kernel:0` is dense_1's, where there is a dense_1), the
numbers of weights that configs promise the second, order binds both. A reading is
accepted only if it is the one that they leave.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from unnest.core import json_tree
from unnest.core.architecture import children, is_model, read, snake_case
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.keras_facts.layer_classes import CELLED, PLAIN, today
from unnest.core.keras_facts.weight_order import RULED, promised
from unnest.core.keras_facts.weight_specs import Expected, has_initializers, units
from unnest.core.model import JsonObject, Tensor


class Ambiguous(Exception):
    """The weights cannot be placed without doubt; the message says why."""


class Share(NamedTuple):
    """One layer's weights: what is trained, then the rest, each in stored order.

    Not `sorted_out`: all of them stand under `trained`, because nobody has asked yet.
    """

    trained: tuple[Tensor, ...] = ()
    rest: tuple[Tensor, ...] = ()
    sorted_out: bool = True

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The layer's list as it is stored."""
        return self.trained + self.rest


def split(tensors: Sequence[Tensor], graph: Graph) -> dict[str, Share]:
    """A nested model's flat list, shared out to its layers; every layer is in the result.

    Raises Ambiguous where more than one reading, or none, is left.
    """
    if not tensors:  # an architecture alone
        return {name: Share() for name in graph.layers}
    if all(t.owner for t in tensors):
        return _as_told(tensors, graph)
    borne = _names_of_nameless(tensors, graph)
    layers = [_Claimant.of(layer, borne.get(layer.name, "")) for layer in graph.layers.values()]
    by_name = _name_claims(tensors, layers)
    nameless: list[frozenset[int] | None] = [None] * len(tensors)
    shares = _anchored(tensors, layers, by_name)
    for claims, rules in (
        (by_name, _Rules(kept_promises=True, spare_unknown=True, pure=True)),
        (nameless, _Rules(kept_promises=True, spare_unknown=True)),  # names may be another graph's
        (nameless, _Rules(kept_promises=True, spare_unknown=True, torn_scopes=True)),
        (by_name, _Rules(spare_unknown=True, pure=True)),
        (by_name, _Rules(pure=True)),
        (by_name, _Rules(spare_unknown=True)),
        (by_name, _Rules()),
        (nameless, _Rules(kept_promises=True)),
    ):
        if shares is None:
            shares = _Search(tensors, layers, claims, rules).only_reading()
    if shares is not None:
        _check_complete(layers, shares)
        return dict(zip(graph.layers, shares, strict=True))
    raise Ambiguous(f"its {len(tensors)} weights do not fit the layers of {graph.name}")


def placed_by_order(shares: Mapping[str, Share], graph: Graph) -> tuple[str, ...]:
    """The layers whose weights do not bear their names, so that order alone said whose they are.

    `shares` is what `split` gave for a graph that was stored apart from its weights. Raises Ambiguous where names and
    order say two things, and shapes allow both.
    """
    tensors = [t for share in shares.values() for t in share.tensors]
    borne = _names_of_nameless(tensors, graph)
    layers = [_Claimant.of(graph.layers[name], borne.get(name, "")) for name in shares]
    claims = dict(zip((t.ref for t in tensors), _name_claims(tensors, layers), strict=True))
    named: dict[int, list[Tensor]] = {}
    for tensor in tensors:
        for index in claims[tensor.ref] or ():
            named.setdefault(index, []).append(tensor)
    by_order = []
    for index, (name, share) in enumerate(shares.items()):
        if all(index in (claims[t.ref] or ()) for t in share.tensors):
            continue
        by_order.append(name)
        if [t.shape for t in named.get(index, ())] == [t.shape for t in share.tensors]:
            raise Ambiguous(f"the weights called {name} stand where those of another layer of its shape belong")
    return tuple(by_order)


def _names_of_nameless(tensors: Sequence[Tensor], graph: Graph) -> dict[str, str]:
    """What the file called the layers of a Sequential whose configs tell no name: by the name that stands for it here.

    Their weights bear the class's name with a number that counts all of the writer's program. Only where there are as
    many such names as layers, met in the order of their numbers, is it told which is whose.
    """
    by_stem: dict[str, list[str]] = {}
    for layer in graph.layers.values():
        if not layer.is_named:
            by_stem.setdefault(snake_case(layer.class_name.rpartition(">")[2]), []).append(layer.name)
    named = {layer.name for layer in graph.layers.values() if layer.is_named}
    borne: dict[str, str] = {}
    for stem, nameless in by_stem.items():
        form = re.compile(rf"{re.escape(stem)}(?:_(\d+))?")
        parts = dict.fromkeys(part for t in tensors for part in t.name.split("/")[:-1] if form.fullmatch(part))
        met = [part for part in parts if part not in named]
        numbers = [int(m[1] or 0) for part in met if (m := form.fullmatch(part))]
        if len(met) == len(nameless) and numbers == sorted(numbers):
            borne.update(zip(nameless, met, strict=True))
    return borne


def _check_complete(layers: Sequence[_Claimant], shares: Sequence[Share]) -> None:
    """Raises Ambiguous where a layer has fewer weights than its config promises: Keras would refuse the result."""
    for layer, share in zip(layers, shares, strict=True):
        if layer.promised is not None and len(share.tensors) < layer.promised.total:
            have = f"{len(share.tensors)} of {layer.promised.total}"
            raise Ambiguous(f"{layer.name} has {have} weights; a weight is missing from the file")


def _as_told(tensors: Sequence[Tensor], graph: Graph) -> dict[str, Share]:
    """The container says whose each weight is."""
    if not {t.owner[0] for t in tensors} <= set(graph.layers):
        raise Ambiguous(f"its weights belong to layers that {graph.name} has not")
    shares = {}
    for name in graph.layers:
        own = [t._replace(owner=t.owner[1:]) for t in tensors if t.owner[0] == name]
        shares[name] = Share(tuple(t for t in own if t.trained), tuple(t for t in own if not t.trained))
    return shares


def flat(shares: Iterable[Share]) -> tuple[Tensor, ...]:
    """The flat list that a nested model with these layers stores."""
    shares = list(shares)
    return tuple(t for s in shares for t in s.trained) + tuple(t for s in shares for t in s.rest)


class _Claimant(NamedTuple):
    """A layer that may own weights: the names that speak for it, and how many its config promises.

    `likely`: a model, or a layer whose config speaks of initial weights. `is_plain`: of Keras's own that
    hold no others. `trained_counts`: how many of its weights may stand with what is trained; None where it may be any.
    """

    name: str
    inner_names: frozenset[str]
    promised: Expected | None
    units: frozenset[int]
    likely: bool
    is_plain: bool
    trained_counts: frozenset[int] | None

    @classmethod
    def of(cls, layer: Layer, borne: str) -> _Claimant:
        """`borne` is the name that its weights bear where its config tells none; empty where they tell none either."""
        inner = frozenset(n for n in _names_within(layer.stored) if n != layer.name)
        promised = _promised(layer.stored)
        likely = is_model(layer.stored) or has_initializers(layer.config)
        name = layer.name if layer.is_named else borne
        return cls(
            name, inner, promised, frozenset(units(layer.settings)), likely,
            is_plain=today(layer.class_name) in PLAIN | RULED, trained_counts=_trained_counts(layer.stored),
        )  # fmt: skip

    def may_own(self, trained: int, rest: int) -> bool:
        """Whether Keras can have stored so many weights as the layer's: what its config promises, trained and not.

        That a model was frozen stands in no config: of what a layer holds, some that its config calls trained may stand
        with the rest. A layer of somebody's own may have more weights than its config speaks of.
        """
        if self.promised is None:
            return True
        if trained + rest != self.promised.total:
            return trained + rest > self.promised.total and not self.is_plain
        return self.trained_counts is None or trained in self.trained_counts

    def counts(self) -> tuple[int, int]:
        """How many trained weights and how many others the config promises."""
        if self.promised is None:
            return (0, 0)
        return (self.promised.trained, self.promised.statistics)


def _names_within(entry: JsonObject) -> Iterator[str]:
    """The names of all layers inside a layer: a nested model's, a wrapped layer's."""
    for part in json_tree.objects(entry.get("config")):
        if "class_name" in part:
            config = part.get("config")
            names = (part.get("name"), config.get("name") if isinstance(config, Mapping) else None)
            yield from (name for name in names if isinstance(name, str))


def _promised(entry: JsonObject) -> Expected | None:
    """A nested model promises what its layers promise; a frozen layer's weights are all rest."""
    if not is_model(entry):
        config = entry.get("config")
        told = promised(str(entry.get("class_name")), config)
        if told and isinstance(config, Mapping) and config.get("trainable") is False:
            return Expected(0, told.total)
        return told
    parts = [_promised(layer.stored) for layer in read(entry).layers.values()]
    known = [p for p in parts if p is not None]
    if not known:
        return None
    return Expected(sum(p.trained for p in known), sum(p.statistics for p in known))


def _trained_counts(entry: JsonObject) -> frozenset[int] | None:
    """How many weights of a layer may be trained: what its config promises, or none of those of a model in it."""
    if not is_model(entry):
        told = _promised(entry)
        if told is None or next(children(entry), None) is not None:
            return None
        # Names in a config may be those of layers that it holds; in one of Keras's own without such, a dtype's.
        alone = today(str(entry.get("class_name"))) in PLAIN | CELLED | RULED or not any(_names_within(entry))
        return frozenset({told.trained} if alone else {told.trained, 0})
    sums = frozenset({0})
    for layer in read(entry).layers.values():
        if _promised(layer.stored) is None:
            continue
        counts = _trained_counts(layer.stored)
        if counts is None:
            return None
        sums = frozenset(a + b for a in sums for b in counts)
    return sums | {0}


def _name_claims(tensors: Sequence[Tensor], layers: Sequence[_Claimant]) -> list[frozenset[int] | None]:
    """For every tensor the layers whose name it bears; None where it bears none."""
    own: dict[str, set[int]] = {}
    for likely in (True, False):  # a merge layer may bear the name of a layer in the template
        named: dict[str, set[int]] = {}
        for index, layer in enumerate(layers):
            if layer.likely is likely:
                for name in {layer.name, *layer.inner_names} - {""}:
                    named.setdefault(name, set()).add(index)
        own = {**named, **own}
    return [_bearers(tensor.name, own) for tensor in tensors]


def _bearers(weight_name: str, own: Mapping[str, set[int]]) -> frozenset[int] | None:
    parts = weight_name.split("/")
    for length in range(len(parts), 0, -1):  # a layer's name may be a path itself: the longest that is borne counts
        paths = ("/".join(parts[start : start + length]) for start in range(len(parts) - length + 1))
        exact = [own[path] for path in paths if path in own]
        if exact:
            return frozenset[int]().union(*exact)
    for part in parts:  # `dense_1_W` in Keras 1, `dense_1_1/kernel` where a name was taken in the writer's graph
        stem = part
        while "_" in stem:
            stem = stem.rpartition("_")[0]
            if stem in own:
                return frozenset(own[stem])
            if (wrapped := stem.partition("_")[2]) in own:  # `forward_gru_1_W`
                return frozenset(own[wrapped])
    return None


def _fits(layer: _Claimant, tensors: Iterable[Tensor]) -> bool:
    shapes = [t.shape for t in tensors]
    return not shapes or all(any(d % unit == 0 for s in shapes for d in s) for unit in layer.units)


def _anchored(
    tensors: Sequence[Tensor], layers: Sequence[_Claimant], claims: Sequence[frozenset[int] | None]
) -> list[Share] | None:
    """The reading where every tensor bears exactly one layer's name, and order agrees."""
    owners = [next(iter(c)) for c in claims if c is not None and len(c) == 1]
    if len(owners) < len(tensors):
        return None
    falls = [i for i in range(1, len(owners)) if owners[i] < owners[i - 1]]
    if len(falls) > 1:
        return None
    border = falls[0] if falls else _border(tensors, layers, owners)
    trained: list[list[Tensor]] = [[] for _ in layers]
    rest: list[list[Tensor]] = [[] for _ in layers]
    for index, (tensor, owner) in enumerate(zip(tensors, owners, strict=True)):
        (trained if index < border else rest)[owner].append(tensor)
    shares = [Share(tuple(a), tuple(b)) for a, b in zip(trained, rest, strict=True)]
    for layer, share in zip(layers, shares, strict=True):
        if not layer.may_own(len(share.trained), len(share.rest)) or not _fits(layer, share.tensors):
            return None
    return shares


def _border(tensors: Sequence[Tensor], layers: Sequence[_Claimant], owners: Sequence[int]) -> int:
    """Where the trained weights end if order does not show it: after what the configs promise."""
    owned = Counter(owners)
    promised = (owned[i] if layer.promised is None else layer.counts()[0] for i, layer in enumerate(layers))
    return min(sum(promised), len(tensors))


MAX_STEPS = 300_000
"""Ways to go on that a search looks at, a second or two; where names are honest it is a handful a layer."""

Counts: TypeAlias = tuple[int, int]
"""How many trained and how many other tensors a layer owns."""


class _Rules(NamedTuple):
    """What a reading has to respect besides order; from strict to lax.

    `kept_promises`: a layer owns what its config promises, also where names say otherwise.
    `spare_unknown`: a layer that promises nothing owns only what bears its name.
    `pure`: a layer whose name is borne by some weights owns no others.
    `torn_scopes`: weights that share a scope in their names may be several layers'.
    """

    kept_promises: bool = False
    spare_unknown: bool = False
    pure: bool = False
    torn_scopes: bool = False


_Way: TypeAlias = "tuple[_Way, Counts] | None"
"""The counts of the layers so far, the last one first."""


def _unwound(way: _Way) -> list[Counts]:
    counts = []
    while way is not None:
        way, last = way
        counts.append(last)
    return counts[::-1]


@dataclass
class _Search:
    """All readings that order, names and promises leave under some rules."""

    tensors: Sequence[Tensor]
    layers: Sequence[_Claimant]
    claims: Sequence[frozenset[int] | None]
    rules: _Rules
    steps: int = 0

    @cached_property
    def _named(self) -> frozenset[int]:
        """The layers whose name, and no other's, some weight bears."""
        return frozenset(next(iter(claim)) for claim in self.claims if claim is not None and len(claim) == 1)

    def only_reading(self) -> list[Share] | None:
        """The one reading; None where there is none. Raises Ambiguous where there are several."""
        found: list[list[Share]] = []
        for border in self._borders():
            for counts in self._readings(border):
                shares = self._shares(counts, border)
                if all([s.tensors for s in shares] != [s.tensors for s in other] for other in found):
                    found.append(shares)
                if len(found) > 1:
                    raise Ambiguous("the names and order of its weights allow more than one reading")
        return found[0] if found else None

    def _borders(self) -> Iterable[int]:
        """Where the trained weights may end."""
        if self.rules.spare_unknown and all(c is None for c in self.claims):
            promised = sum(layer.counts()[0] for layer in self.layers)
            return [promised] if promised <= len(self.tensors) else []
        told = [(k, next(iter(claim))) for k, claim in enumerate(self.claims) if claim and len(claim) == 1]
        falls = [(a, b) for (a, x), (b, y) in pairwise(told) if y < x]
        if len(falls) > 1:
            return []
        return range(falls[0][0] + 1, falls[0][1] + 1) if falls else range(len(self.tensors) + 1)

    def _shares(self, counts: Iterable[Counts], border: int) -> list[Share]:
        shares = []
        i, j = 0, border
        for a, b in counts:
            shares.append(Share(tuple(self.tensors[i : i + a]), tuple(self.tensors[j : j + b])))
            i, j = i + a, j + b
        return shares

    def _readings(self, border: int) -> list[list[Counts]]:
        """Up to two ways to share the tensors out."""
        end = (border, len(self.tensors))
        states: dict[Counts, list[_Way]] = {(0, border): [None]}
        for index in range(len(self.layers)):
            following: dict[Counts, list[_Way]] = {}
            for (i, j), ways in states.items():
                for a, b in self._options(index, (i, j), end):
                    kept = following.setdefault((i + a, j + b), [])
                    kept += [(way, (a, b)) for way in ways[: 2 - len(kept)]]
            states = following
        return [_unwound(way) for way in states.get(end, [])]

    def _options(self, index: int, at: Counts, end: Counts) -> Iterator[Counts]:
        """How many of the next trained and other tensors a layer may own."""
        layer = self.layers[index]
        most = (self._reach(index, at[0], end[0]), self._reach(index, at[1], end[1]))
        named = any(self.claims[k] is not None for s, m in zip(at, most, strict=True) for k in range(s, s + m))
        options: Iterable[Counts]
        if layer.promised is not None and (self.rules.kept_promises or not named):
            options = [layer.counts()]
        elif self.rules.spare_unknown and not named:
            options = [(0, 0)]
        else:
            options = [(a, b) for a in range(most[0] + 1) for b in range(most[1] + 1)]
        for a, b in options:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Ambiguous("too many readings of its weights are possible")
            whole = self.rules.torn_scopes or _whole_owners(self.tensors, self.claims, at, (a, b), end)
            if a <= most[0] and b <= most[1] and whole and layer.may_own(a, b):
                own = [*self.tensors[at[0] : at[0] + a], *self.tensors[at[1] : at[1] + b]] if layer.units else ()
                if _fits(layer, own):
                    yield a, b

    def _reach(self, index: int, start: int, stop: int) -> int:
        """How many tensors from `start` on no other layer's name forbids."""
        borne = self.rules.pure and index in self._named
        k = start
        while k < stop and (index in claim if (claim := self.claims[k]) is not None else not borne):
            k += 1
        return k - start


def _whole_owners(
    tensors: Sequence[Tensor],
    claims: Sequence[frozenset[int] | None],
    at: tuple[int, int],
    counts: tuple[int, int],
    end: tuple[int, int],
) -> bool:
    """Weights that share a scope in their names are not torn apart."""
    for start, count, stop in zip(at, counts, end, strict=True):
        border = start + count
        if 0 < border < stop and count:
            last, following = tensors[border - 1].name, tensors[border].name
            scope = last.rpartition("/")[0]
            if scope and scope == following.rpartition("/")[0] and claims[border] is None:
                return False
    return True


def owners(tensors: Iterable[Tensor]) -> dict[str, tuple[Tensor, ...]]:
    """A flat list by the owner that each weight name bears, in order of first appearance.

    The owner is what stands before the first `/` (`dense_1` of `dense_1/kernel:0`) after a scope that
    all share; in Keras 1's spelling what stands before the last `_`.
    """
    tensors = list(tensors)
    parts = [t.name.split("/") for t in tensors]
    while all(p[0] == parts[0][0] and p[2:] for p in parts) and len({p[1] for p in parts}) > 1:
        parts = [p[1:] for p in parts]
    found: dict[str, list[Tensor]] = {}
    for tensor, (owner, *rest) in zip(tensors, parts, strict=True):
        found.setdefault(owner if rest else owner.rpartition("_")[0] or owner, []).append(tensor)
    for longer in [o for o in found if _belongs_to_shorter(o, found)]:
        found[_belongs_to_shorter(longer, found) or longer] += found.pop(longer)
    return {owner: tuple(own) for owner, own in found.items()}


def _belongs_to_shorter(owner: str, found: Mapping[str, Sequence[Tensor]]) -> str | None:
    """Keras 1 writes `bn_1_gamma` and `bn_1_running_mean`: one owner, if all are of one shape."""
    for other, own in found.items():
        rest = owner.removeprefix(other + "_")
        if rest != owner and not rest.isdigit() and "/" not in own[0].name:
            shapes = {t.shape for t in (*own, *found[owner])}
            if len(shapes) == 1:
                return other
    return None
