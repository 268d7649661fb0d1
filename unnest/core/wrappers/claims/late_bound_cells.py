"""Slices made in a loop whose code reads the loop's variables: all of them take the rows of the last part.

Python binds a closure's variables late. A Lambda that is made for each tower of a loop, and reads the loop's index or
bounds, is stored with cells that hold what the variables were in the end: those of the last part, in every slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from unnest.core.wrappers.claims.stored_slice_numbers import ROUND_TOTALS, SliceFacts
from unnest.core.wrappers.stored_code.code_names_and_numbers import Number


def hold_last_part(cells: Sequence[Number], others: Sequence[Number], facts: SliceFacts) -> bool:
    """Return True if cells that all slices share hold the last part: by its index, or by where it starts.

    `others` are numbers stored when each layer was made: the total or the number of parts may be among them, no index.
    """
    return _hold_last_index(cells, others, facts.slice_count) or any(
        _is_start_of_last_part(start, stop_or_size, [*cells, *others], facts)
        for start in cells
        for stop_or_size in (*cells, *others)
    )


def _hold_last_index(cells: Sequence[Number], others: Sequence[Number], count: int) -> bool:
    """Return True for the index of the last of `count` parts, from 0 or from 1, alone or beside the count."""
    if any(value != count for value in others):
        return False
    values = [*cells, *others]
    if len(values) == 1:
        return cells[0] in (count - 1, count)
    stores_index_from_zero = count - 1 in cells
    stores_index_from_one = count in cells and values.count(count) > 1  # index and count are equal
    return count in values and (stores_index_from_zero or stores_index_from_one)


def _is_start_of_last_part(
    start: Number, stop_or_size: Number, values: Sequence[Number], facts: SliceFacts
) -> bool:
    """Return True if a part that begins at `start` is the last, given where it stops, or its size.

    By its stop if the parts are of one size; by its size if it ends at a total that is stored, in the code, the fixed
    batch size, or a round number.
    """
    if start <= 0:
        return False
    fixed_batch = set() if facts.rows is None else {facts.rows}
    totals = {*values, *facts.constants, *fixed_batch, *ROUND_TOTALS}
    part_size = stop_or_size - start
    is_stop = part_size > 0 and isclose(part_size * facts.slice_count, stop_or_size)
    is_size = stop_or_size > 0 and start + stop_or_size in totals
    return is_stop or is_size
