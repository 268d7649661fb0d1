"""Cells of a loop's variables hold the last part in every slice; those of another part were not bound late."""

from __future__ import annotations

import pytest

from unnest.core.wrappers.claims.late_bound_cells import hold_last_part
from unnest.core.wrappers.claims.stored_slice_numbers import SliceFacts


@pytest.mark.parametrize(
    ("cells", "others", "rows", "is_last"),
    [
        ([1], [], None, True),
        ([2], [], None, True),
        ([1, 2], [], None, True),
        ([2, 2], [], None, True),
        ([1], [2], None, True),
        ([0, 2], [], None, False),
        ([1], [3], None, False),
        ([2, 4], [], None, True),
        ([2, 7], [], None, False),
        ([2, 7], [], 7, False),
        ([60, 100], [], None, False),
        ([60, 40], [], None, True),
        ([60, 20], [], None, False),
        ([3, 2], [5], None, True),
        ([0, 4], [], None, False),
    ],
    ids=["index from 0", "index from 1", "index and count", "index from 1 and count", "count of each layer",
         "first index", "another count", "equal parts", "unequal parts", "unequal parts of a fixed batch",
         "unequal parts in percent", "start and size", "size before the end", "size to a total", "first part"],
)  # fmt: skip
def test_the_last_of_two_parts(
    cells: list[int], others: list[int], rows: int | None, is_last: bool
) -> None:
    facts = SliceFacts(2, rows, frozenset(), bounds_are_rows=False, lowered_by_one=None)
    assert hold_last_part(cells, others, facts) is is_last
