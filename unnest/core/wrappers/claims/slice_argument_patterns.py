"""The three patterns in which the numeric arguments of slices say which rows each slice takes.

    numbered parts   an index from 0 or 1, beside the number of parts     {i: 0, parts: 2}, {i: 1, parts: 2}
    shares           a start and a share, beside the total of the shares  {start: 0, share: 3, of: 5}, ...
    bounds           a start and a stop                                   {lo: 0.0, hi: 0.5}, {lo: 0.5, hi: 1.0}

Every function takes `numbers`, the numbers of each slice in the order of the towers, by their path in the config;
`constant`, those of them that all slices store alike; and the facts beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import isclose
from typing import NamedTuple

from unnest.core.json_tree import Path
from unnest.core.wrappers.claims.stored_slice_numbers import (
    CELLS,
    DEFAULTS,
    ROUND_TOTALS,
    Numbers,
    SliceFacts,
    called,
    name_in_code,
)
from unnest.core.wrappers.stored_code.code_names_and_numbers import Number

LISTED_INDICES = 4
"""Indices that a sentence lists one by one; of more slices it has the first and the last."""


class RowsPattern(NamedTuple):
    """A pattern that the numbers of all slices follow.

    `paths`: the numbers that it explains. `sentence`: the evidence for the report. `part_starts`: the first row of each
    part as a fraction of the batch, () if unknown. `covers_batch`: the numbers also say how many parts there are, or
    that the last one ends with the batch. `is_index`: the parts are numbered; else they have bounds.
    """

    paths: frozenset[Path]
    sentence: str
    part_starts: tuple[float, ...]
    covers_batch: bool
    is_index: bool = False


# ---- numbered parts ----


def numbered_parts(
    numbers: Sequence[Numbers], constant: Numbers, facts: SliceFacts
) -> Iterator[RowsPattern]:
    """Yield a pattern for each number that counts the slices; without the number of parts it covers no batch."""
    count = facts.slice_count
    for index_path in _index_paths(numbers, facts):
        index_name, first = called(index_path, facts), numbers[0][index_path]
        count_path = _path_of_part_count(index_path, numbers[0], constant, count)
        if count_path is not None:
            sentence = (
                f"slice arguments: {index_name} = {_indices(first, count)} "
                f"of {called(count_path, facts)} = {constant[count_path]}"
            )
            yield RowsPattern(
                frozenset({index_path, count_path}),
                sentence,
                part_starts=tuple(part / count for part in range(count)),
                covers_batch=True,
                is_index=True,
            )
        elif count > 1:
            yield RowsPattern(
                frozenset({index_path}),
                f"slice arguments: {index_name} counts from {first}",
                part_starts=(),
                covers_batch=False,
                is_index=True,
            )


def _index_paths(numbers: Sequence[Numbers], facts: SliceFacts) -> Iterator[Path]:
    """Yield the paths of numbers that count the slices from 0, or from 1 where the code may subtract 1."""
    for path, first in numbers[0].items():
        expected = [first + part for part in range(facts.slice_count)]
        if [of_slice.get(path) for of_slice in numbers] != expected:
            continue
        code_may_subtract_one = (
            facts.lowered_by_one is None or name_in_code(path, facts) in facts.lowered_by_one
        )
        if first == 0 or (first == 1 and code_may_subtract_one):
            yield path


def _indices(first: Number, count: int) -> str:
    indices = [str(first + part) for part in range(count)]
    return ", ".join(indices) if count <= LISTED_INDICES else f"{indices[0]} to {indices[-1]}"


def _path_of_part_count(
    index_path: Path, first_slice: Numbers, constant: Numbers, count: int
) -> Path | None:
    """Return the path of the number of parts, which all slices store beside their index; None without one.

    Where numbers stand beside the index (in `arguments`, say), one of them must be it: a cell of a closure that happens
    to hold the number of parts does not outweigh arguments that do not.
    """
    candidates = [path for path, value in constant.items() if value == count and path != index_path]
    beside_index = {
        path for path in first_slice if path[:1] == index_path[:1] and path != index_path
    }
    if beside_index and beside_index.isdisjoint(candidates):
        return None
    return next(iter(candidates), None)


def paths_of_ratio_lists(numbers: Sequence[Numbers], constant: Numbers, count: int) -> set[Path]:
    """Return the paths of numbers in lists that all slices store alike, with a share or both bounds for each slice.

    Such a list says no more than that the parts may be so many: a size of an image is one, too.
    """
    lists: dict[Path, list[Path]] = {}
    for path in numbers[0]:
        if isinstance(path[-1], int) and path[:-1] not in {*CELLS, *DEFAULTS}:
            lists.setdefault(path[:-1], []).append(path)
    paths: set[Path] = set()
    for parts in lists.values():
        if constant.keys() >= {*parts} and _are_ratios([constant[path] for path in parts], count):
            paths.update(parts)
    return paths


def _are_ratios(values: Sequence[Number], count: int) -> bool:
    """Return True for the shares of parts, or for where each begins and the last one ends."""
    if len(values) == count:
        return all(value > 0 for value in values)
    is_rising = all(one < other for one, other in pairwise(values))
    return len(values) == count + 1 and values[0] == 0 and is_rising


# ---- shares of a total ----


def shares_of_total(
    numbers: Sequence[Numbers], constant: Numbers, facts: SliceFacts
) -> Iterator[RowsPattern]:
    """Yield a pattern for each pair (start, share) in which every start is the end of the share before it."""
    stored_by_all = [path for path in numbers[0] if all(path in of_slice for of_slice in numbers)]
    for start, share in product(stored_by_all, stored_by_all):
        is_constant_start = facts.slice_count > 1 and start in constant
        if share == start or numbers[0][start] != 0 or is_constant_start:
            continue
        ends = [of_slice[start] + of_slice[share] for of_slice in numbers]
        begins_where_the_last_ends = all(
            isclose(end, following[start])
            for end, following in zip(ends, numbers[1:], strict=False)
        )
        if not begins_where_the_last_ends or any(of_slice[share] <= 0 for of_slice in numbers):
            continue
        total = ends[-1]
        total_path = next(
            (
                path
                for path in _companions((start, share), constant)
                if isclose(constant[path], total)
            ),
            None,
        )
        yield RowsPattern(
            _with_path({start, share}, total_path),
            f"slice arguments: every {called(start, facts)} is where the {called(share, facts)} before it ends",
            part_starts=tuple(of_slice[start] / total for of_slice in numbers),
            covers_batch=total_path is not None or _is_batch_size(total, facts),
        )


# ---- bounds ----


def bounds(numbers: Sequence[Numbers], facts: SliceFacts) -> Iterator[RowsPattern]:
    """Yield a pattern for each pair (start, stop) in which every start is the stop before it.

    The first slice may lack its start, and the last one its stop: such a part ends with the batch.
    """
    if facts.slice_count == 1:
        return
    starts = [
        path
        for path in numbers[-1]
        if all(path in of_slice for of_slice in numbers[1:]) and numbers[0].get(path, 0) == 0
    ]
    stops = [path for path in numbers[0] if all(path in of_slice for of_slice in numbers[:-1])]
    for start, stop in product(starts, stops):
        is_in_line = all(
            of_slice.get(start, 0) < of_slice[stop] and isclose(of_slice[stop], following[start])
            for of_slice, following in pairwise(numbers)
        )
        if start == stop or not is_in_line:
            continue
        open_ended = RowsPattern(
            frozenset({start, stop}),
            f"slice arguments: every {called(start, facts)} is the {called(stop, facts)} before it",
            part_starts=(),
            covers_batch=True,
        )
        last_stop = numbers[-1].get(stop)
        if last_stop is None:
            yield open_ended
        elif last_stop > numbers[-1][start]:
            yield _with_last_stop(open_ended, numbers, start, last_stop, facts)


def _with_last_stop(
    pattern: RowsPattern,
    numbers: Sequence[Numbers],
    start: Path,
    last_stop: Number,
    facts: SliceFacts,
) -> RowsPattern:
    """Return bounds of which the last stop is stored: they cover the batch only if it is known to be its end."""
    equal_to_stop = {
        path: last_stop
        for path in numbers[0].keys() - pattern.paths
        if all(of_slice.get(path) == last_stop for of_slice in numbers)
    }
    total_path = next(_companions([*pattern.paths], equal_to_stop), None)
    is_fraction_of_batch = isinstance(last_stop, float) and isclose(last_stop, 1)
    covers_batch = (
        is_fraction_of_batch or total_path is not None or _is_batch_size(last_stop, facts)
    )
    if isinstance(last_stop, int) and facts.rows is None:
        covers_batch = covers_batch or facts.bounds_are_rows or last_stop in ROUND_TOTALS
    return pattern._replace(
        paths=_with_path(pattern.paths, total_path),
        part_starts=tuple(of_slice.get(start, 0) / last_stop for of_slice in numbers),
        covers_batch=covers_batch,
    )


def _with_path(paths: frozenset[Path] | set[Path], path: Path | None) -> frozenset[Path]:
    return frozenset(paths) if path is None else frozenset(paths) | {path}


def _companions(paths: Sequence[Path], constant: Numbers) -> Iterator[Path]:
    """Yield the other constants that may be the total of the numbers at `paths`.

    Beside arguments no cell of a closure counts: it is bound late, so its value is that of the loop's end.
    """
    are_cells = any(path[:2] in CELLS for path in paths)
    return (path for path in constant if path not in paths and (are_cells or path[:2] not in CELLS))


def _is_batch_size(end: Number, facts: SliceFacts) -> bool:
    """Return True if a number is the fixed batch size, or stands in the slices' code as the end may."""
    return end == facts.rows or (end > 1 and end in facts.constants)
