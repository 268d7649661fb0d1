"""Sums that Keras 3 on TensorFlow may add along another axis; tests/keras adds numbers there."""

from __future__ import annotations

import itertools
from typing import TypeAlias

import pytest

from unnest.core.keras3.graph.sums_mistaken_for_bias_adds import (
    has_misplaced_sum,
    is_taken_for_bias,
)
from unnest.core.model import Shape

Sizes: TypeAlias = tuple[int, ...]


def goes_astray(first: Sizes, second: Sizes) -> bool:
    """Whether Keras 3 adds along another axis, for sizes that are all known: its rule, restated."""
    long = [axis for axis, size in enumerate(second) if size > 1]
    if len(long) != 1 or len(first) < 2 or second[long[0]] not in (first[1], first[-1]):
        return False
    along = len(first) - 1 if first[-1] == second[long[0]] else 1
    return len(first) - along != len(second) - long[0]


def fits(first: Sizes, second: Sizes) -> bool:
    """Whether the two can be broadcast."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def test_every_pair_of_known_sizes() -> None:
    """Up to three axes of 1, 2 or 3."""
    shapes = [s for rank in (1, 2, 3) for s in itertools.product((1, 2, 3), repeat=rank)]
    pairs = [(a, b) for a in shapes for b in shapes if fits(a, b)]
    assert [p for p in pairs if is_taken_for_bias(*p) != goes_astray(*p)] == []
    assert sum(goes_astray(*p) for p in pairs) > 20


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((None, 5, 5), (5, 1), True),
        ((None, 5, 5), (None, 1, 5), False),
        ((None, 5, 4), (None, 5, 1), False),
        ((None, 5, 1), (None, 1, 5), True),  # a batch of one row
        ((None, 10), (None, 1), True),  # a batch of ten rows
        ((None, 1), (None, 10), False),
        ((None, None, 8), (None, None, 1), True),  # of eight steps
        ((None, None, 8), (8,), False),
        ((None, None), (None, None), False),
        ((None, 8, 8, 3), (None, 1, 1, 3), False),
        ((None, 3, 8, 8), (3, 1, 1), False),
        ((None, 3, 3, 3), (3, 1, 1), True),
        ((5,), (None, 5, 1), False),
        ((None, 5, 5), (), False),
    ],
)
def test_sizes_that_are_known_later(first: Shape, second: Shape, expected: bool) -> None:
    assert is_taken_for_bias(first, second) is expected


def test_sums_of_several() -> None:
    """Each is added to the sum of those before."""
    assert not has_misplaced_sum([(None, 4), (None, 4), (None, 4)])
    assert has_misplaced_sum([(None, 1, 4), (None, 4, 4), (None, 4, 1)])
