"""The ways to share out a flat list that order, names and promises leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple, TypeAlias

from unnest.core.model import Tensor
from unnest.core.weight_assignment.flat_list.owner_candidates import OwnerCandidate
from unnest.core.weight_assignment.layer_weights_record import Ambiguous, LayerWeights

MAX_SEARCH_STEPS = 300_000
"""Ways to go on that a search looks at, a second or two; where names are honest it is a handful a layer."""

CountPair: TypeAlias = tuple[int, int]
"""How many trained and how many other tensors a layer owns."""


class Rules(NamedTuple):
    """Rules that a reading must respect besides order; from strict to lax.

    `kept_promises`: a layer owns what its config promises, also if names say otherwise. `spare_unknown`: a layer that
    promises nothing owns only what has its name. `pure`: a layer that some weights are named after owns no others.
    `torn_scopes`: weights that share a scope in their names may be several layers'. `whole_scopes`: they are one
    layer's, also if several have the name, and only layers that promise some have any.
    """

    kept_promises: bool = False
    spare_unknown: bool = False
    pure: bool = False
    torn_scopes: bool = False
    whole_scopes: bool = False


_Way: TypeAlias = "tuple[_Way, CountPair] | None"
"""The counts of the layers so far, the last one first."""


def _unwound(way: _Way) -> list[CountPair]:
    counts = []
    while way is not None:
        way, last = way
        counts.append(last)
    return counts[::-1]


@dataclass(eq=False, repr=False)
class Search:
    """All readings that order, names and promises leave under some rules.

    `border` is where the trained weights end; None where that is to be found.
    """

    tensors: Sequence[Tensor]
    layers: Sequence[OwnerCandidate]
    bearers: Sequence[frozenset[int] | None]
    rules: Rules
    border: int | None = None
    steps: int = 0

    @cached_property
    def _layers_with_name(self) -> frozenset[int]:
        """Indices of the layers that at least one weight is unambiguously named after."""
        return frozenset(
            next(iter(named)) for named in self.bearers if named is not None and len(named) == 1
        )

    def only_reading(self) -> list[LayerWeights] | None:
        """Return the only reading, or None.

        Raises:
            Ambiguous: there are several.

        """
        found: list[list[LayerWeights]] = []
        for border in self._borders():
            for counts in self._readings(border):
                shares = self._shares(counts, border)
                if all(
                    [s.tensors for s in shares] != [s.tensors for s in other] for other in found
                ):
                    found.append(shares)
                if len(found) > 1:
                    raise Ambiguous(
                        "the names and order of its weights allow more than one reading"
                    )
        return found[0] if found else None

    def _borders(self) -> Iterable[int]:
        """Return the positions at which the trained weights may end."""
        if self.border is not None:
            return [self.border]
        if self.rules.spare_unknown and all(c is None for c in self.bearers):
            promised = sum(layer.counts()[0] for layer in self.layers)
            return [promised] if promised <= len(self.tensors) else []
        certain = [
            (k, next(iter(named)))
            for k, named in enumerate(self.bearers)
            if named and len(named) == 1
        ]
        falls = [(a, b) for (a, x), (b, y) in pairwise(certain) if y < x]
        if len(falls) > 1:
            return []
        return range(falls[0][0] + 1, falls[0][1] + 1) if falls else range(len(self.tensors) + 1)

    def _shares(self, counts: Iterable[CountPair], border: int) -> list[LayerWeights]:
        shares = []
        i, j = 0, border
        for a, b in counts:
            shares.append(
                LayerWeights(tuple(self.tensors[i : i + a]), tuple(self.tensors[j : j + b]))
            )
            i, j = i + a, j + b
        return shares

    def _readings(self, border: int) -> list[list[CountPair]]:
        """Return up to two divisions of the tensors: (trained, other) a layer; `border` ends the trained ones."""
        end = (border, len(self.tensors))
        states: dict[CountPair, list[_Way]] = {(0, border): [None]}
        for index in range(len(self.layers)):
            following: dict[CountPair, list[_Way]] = {}
            for (i, j), ways in states.items():
                for a, b in self._options(index, (i, j), end):
                    kept = following.setdefault((i + a, j + b), [])
                    kept += [(way, (a, b)) for way in ways[: 2 - len(kept)]]
            states = following
        return [_unwound(way) for way in states.get(end, [])]

    def _options(self, index: int, at: CountPair, end: CountPair) -> Iterator[CountPair]:
        """Yield the numbers of trained and other tensors, from the positions `at` on, that a layer may own.

        Raises:
            Ambiguous: the search takes more than MAX_STEPS.

        """
        limits = (self._reach(index, at[0], end[0]), self._reach(index, at[1], end[1]))
        for counts in self._possible_counts(index, at, limits, end):
            self.steps += 1
            if self.steps > MAX_SEARCH_STEPS:
                raise Ambiguous("too many readings of its weights are possible")
            if (
                counts[0] <= limits[0]
                and counts[1] <= limits[1]
                and self._may_own(index, at, counts, end)
            ):
                yield counts

    def _possible_counts(
        self, index: int, at: CountPair, limits: CountPair, end: CountPair
    ) -> Iterable[CountPair]:
        """Return the numbers that the rules, the layer's config and the names in reach leave to a layer."""
        layer, rules = self.layers[index], self.rules
        is_named = any(
            named is not None
            for start, n in zip(at, limits, strict=True)
            for named in self.bearers[start : start + n]
        )
        if layer.promised is not None and (rules.kept_promises or not is_named):
            if layer.is_open and is_named and not rules.whole_scopes:
                all_counts = self._all_counts(index, at, limits, end)
                return [counts for counts in all_counts if sum(counts) >= layer.promised.total]
            return layer.possible_counts()
        if layer.has_none or rules.whole_scopes or (rules.spare_unknown and not is_named):
            return [(0, 0)]
        return self._all_counts(index, at, limits, end)

    def _all_counts(
        self, index: int, at: CountPair, limits: CountPair, end: CountPair
    ) -> Iterable[CountPair]:
        """Return every pair of numbers after which the next tensor may be another layer's."""
        trained, others = (self._stops(index, at[k], limits[k], end[k]) for k in range(2))
        return product(trained, others)

    def _may_own(self, index: int, at: CountPair, counts: CountPair, end: CountPair) -> bool:
        """Return True if so many tensors from the positions `at` on can be a layer's, by scopes, config and shapes."""
        layer = self.layers[index]
        if not self.rules.torn_scopes and not _whole_owners(
            self.tensors, self.bearers, at, counts, end
        ):
            return False
        # Configs of other layers may not show what is trained.
        if layer.is_plain and not layer.may_own(*counts):
            return False
        if layer.units and not layer.fits(self._tensors_from(at, counts)):
            return False
        return not self.rules.whole_scopes or self._all_of_their_scopes(at, counts)

    def _tensors_from(self, at: CountPair, counts: CountPair) -> list[Tensor]:
        """Return the trained and the other tensors from the positions `at` on."""
        return [
            tensor
            for start, n in zip(at, counts, strict=True)
            for tensor in self.tensors[start : start + n]
        ]

    @cached_property
    def _scopes(self) -> Counter[str]:
        return Counter(_scope(t) for t in self.tensors)

    def _all_of_their_scopes(self, at: CountPair, counts: CountPair) -> bool:
        """Return True if no other tensor shares a scope with these."""
        taken = Counter(_scope(tensor) for tensor in self._tensors_from(at, counts))
        return all(self._scopes[scope] == n for scope, n in taken.items() if scope)

    def _stops(self, index: int, start: int, most: int, stop: int) -> list[int]:
        """Return the places at which a layer's tensors may end: not before one that bears the layer's name alone."""
        return [
            n
            for n in range(most + 1)
            if start + n == stop or self.bearers[start + n] != frozenset({index})
        ]

    def _reach(self, index: int, start: int, stop: int) -> int:
        """Return how many tensors from `start` on may be the layer's, by the names of the others."""
        borne = self.rules.pure and index in self._layers_with_name
        k = start
        while k < stop and (
            index in named if (named := self.bearers[k]) is not None else not borne
        ):
            k += 1
        return k - start


def _scope(tensor: Tensor) -> str:
    """Return the part of a weight's name before its own name; empty without a slash."""
    return tensor.name.rpartition("/")[0]


def _whole_owners(
    tensors: Sequence[Tensor],
    bearers: Sequence[frozenset[int] | None],
    at: tuple[int, int],
    counts: tuple[int, int],
    end: tuple[int, int],
) -> bool:
    """Return True unless weights that share a scope in their names go to different layers."""
    for start, count, stop in zip(at, counts, end, strict=True):
        border = start + count
        if 0 < border < stop and count:
            scope = _scope(tensors[border - 1])
            if scope and scope == _scope(tensors[border]) and bearers[border] is None:
                return False
    return True
