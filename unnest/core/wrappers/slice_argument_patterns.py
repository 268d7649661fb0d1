"""The forms in which numbers tell rows: an index with the number of parts, shares of a total, bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import isclose
from typing import NamedTuple

from unnest.core.json_tree import Path
from unnest.core.wrappers.layer_batch_roles import Number
from unnest.core.wrappers.stored_slice_numbers import (
    CELLS,
    Numbers,
    SliceFacts,
    called,
    name_in_code,
)

ROUND = (10, 100)
"""Totals of bounds that are tenths or percent of the batch without saying so."""


class Reading(NamedTuple):
    """One form that the numbers of slices have: the places that it explains, and whether it covers all rows."""

    places: frozenset[Path]
    sentence: str
    edges: tuple[float, ...]
    is_complete: bool
    is_index: bool = False


#: Numbers of slices that a sentence lists.
FEW = 4


def counted(numbers: Sequence[Numbers], constant: Numbers, facts: SliceFacts) -> Iterator[Reading]:
    """Yield readings with an index from 0 or 1 and the number of parts: `{i, parts}`."""
    count = facts.slice_count
    edges = tuple(i / count for i in range(count))
    for place in _index_places(numbers, facts):
        index, first = called(place, facts), numbers[0][place]
        parts = _place_of_count(place, numbers[0], constant, count)
        if parts is not None:
            every = [str(first + k) for k in range(count)]
            values = ", ".join(every) if count <= FEW else f"{every[0]} to {every[-1]}"
            sentence = (
                f"slice arguments: {index} = {values} of {called(parts, facts)} = {constant[parts]}"
            )
            yield Reading(
                frozenset({place, parts}), sentence, edges, is_complete=True, is_index=True
            )
        elif count > 1:
            sentence = f"slice arguments: {index} counts from {first}"
            yield Reading(frozenset({place}), sentence, (), is_complete=False, is_index=True)


def _index_places(numbers: Sequence[Numbers], facts: SliceFacts) -> Iterator[Path]:
    """Yield the places of numbers that count the slices from 0, or from 1 where the code may subtract 1."""
    for place, first in numbers[0].items():
        counts = [n.get(place) for n in numbers] == [first + i for i in range(facts.slice_count)]
        may_begin_at_one = facts.from_one is None or name_in_code(place, facts) in facts.from_one
        if counts and (first == 0 or (first == 1 and may_begin_at_one)):
            yield place


def _place_of_count(index: Path, first: Numbers, constant: Numbers, count: int) -> Path | None:
    """Return the place of the number of parts, which all slices store beside their index; None without one.

    None too where other numbers beside the index, in the first slice's arguments say, are not that number: a cell of a
    closure that holds it is no evidence against these.
    """
    places = [place for place, value in constant.items() if value == count and place != index]
    beside = {place for place in first if place[:1] == index[:1] and place != index}
    if beside and beside.isdisjoint(places):
        return None
    return next(iter(places), None)


def shared_out(
    numbers: Sequence[Numbers], constant: Numbers, facts: SliceFacts
) -> Iterator[Reading]:
    """Yield readings with shares of a total, each with its start: `{share, total, start}`."""
    keys = [p for p in numbers[0] if all(p in n for n in numbers)]
    for start in keys:
        for share in keys:
            if (
                share == start
                or numbers[0][start] != 0
                or (facts.slice_count > 1 and start in constant)
            ):
                continue
            ends = [n[start] + n[share] for n in numbers]
            lined_up = all(
                isclose(end, n[start]) for end, n in zip(ends, numbers[1:], strict=False)
            )
            if not lined_up or any(n[share] <= 0 for n in numbers):
                continue
            total = next(
                (p for p in _beside((start, share), constant) if isclose(constant[p], ends[-1])),
                None,
            )
            is_told = total is not None or _is_told(ends[-1], facts)
            places = frozenset({start, share}) | (frozenset() if total is None else {total})
            begin, size = called(start, facts), called(share, facts)
            sentence = f"slice arguments: every {begin} is where the {size} before it ends"
            yield Reading(places, sentence, tuple(n[start] / ends[-1] for n in numbers), is_told)


def _beside(places: Sequence[Path], constant: Numbers) -> Iterator[Path]:
    """Yield the other constants that may belong to these places: with arguments no cell, which is bound late."""
    in_cells = any(place[:2] in CELLS for place in places)
    return (p for p in constant if p not in places and (in_cells or p[:2] not in CELLS))


def _is_told(end: Number, facts: SliceFacts) -> bool:
    """Return True if a number is the batch, where that is fixed, or stands in the slices' code."""
    return end == facts.rows or (end > 1 and end in facts.constants)


def bounded(numbers: Sequence[Numbers], facts: SliceFacts) -> Iterator[Reading]:
    """Yield readings of the numbers as `{start, stop}` of each slice; first start and last stop may be missing."""
    if facts.slice_count == 1:
        return
    starts = [
        p for p in numbers[-1] if all(p in n for n in numbers[1:]) and numbers[0].get(p, 0) == 0
    ]
    stops = [p for p in numbers[0] if all(p in n for n in numbers[:-1])]
    for start, stop in product(starts, stops):
        lined_up = all(
            n.get(start, 0) < n[stop] and isclose(n[stop], m[start]) for n, m in pairwise(numbers)
        )
        if start == stop or not lined_up:
            continue
        sentence = (
            f"slice arguments: every {called(start, facts)} is the {called(stop, facts)} before it"
        )
        reading, end = (
            Reading(frozenset({start, stop}), sentence, (), is_complete=True),
            numbers[-1].get(stop),
        )
        if end is None:
            yield reading
        elif end > numbers[-1][start]:
            yield _with_end(reading, numbers, start, end, facts)


def _with_end(
    reading: Reading, numbers: Sequence[Numbers], start: Path, end: Number, facts: SliceFacts
) -> Reading:
    """Return bounds whose last stop is stored: it must be the whole, by a total or by equal parts."""
    others = numbers[0].keys() - reading.places
    constant = {p: end for p in others if all(n.get(p) == end for n in numbers)}
    total = next(_beside([*reading.places], constant), None)
    places = reading.places if total is None else reading.places | {total}
    of_one = isinstance(end, float) and isclose(end, 1)
    is_whole = of_one or total is not None or _is_told(end, facts)
    if isinstance(end, int) and facts.rows is None:
        is_whole = is_whole or facts.literal or end in ROUND
    edges = tuple(n.get(start, 0) / end for n in numbers)
    return reading._replace(places=places, edges=edges, is_complete=is_whole)
