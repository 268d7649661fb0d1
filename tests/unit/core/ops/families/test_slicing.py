"""Rows that are taken out of a tensor, by each operation's own way to say which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE, rows
from unnest.core.model import Unknown
from unnest.core.ops.families.slicing import (
    MAX_SPLIT_PARTS,
    array_split,
    boolean_mask,
    dynamic_partition,
    gather,
    gather_nd,
    get_item,
    k3_split,
    slice_of_sizes,
    split,
    strided_slice,
    unstack,
)


@pytest.mark.parametrize(
    ("bounds", "masks", "taken"),
    [
        (([1, 0], [5, 4], [2, 1]), {}, SOURCE[1:5:2]),
        (([1, 0], [5, 4]), {"begin_mask": 1}, SOURCE[:5]),
        (([1, 0], [5, 2]), {"end_mask": 3}, SOURCE[1:]),
        (([0, 1], [0, 3]), {"ellipsis_mask": 1}, SOURCE[..., 1:3]),
        (([0, 1], [0, 3]), {"new_axis_mask": 1}, SOURCE[None, 1:3]),
        (([2], [3]), {"shrink_axis_mask": 1}, SOURCE[2]),
        (([-1], [-7], [-1]), {}, SOURCE[::-1]),
    ],
)
def test_the_bits_of_a_strided_slice(bounds: Any, masks: dict[str, int], taken: Any) -> None:
    assert np.array_equal(strided_slice(SOURCE, *bounds, **masks), taken)


def test_items() -> None:
    assert rows(get_item(SOURCE, slice(1, None, 2))) == [1, 3, 5]
    assert np.array_equal(get_item(SOURCE, [..., 0]), SOURCE[..., 0])
    assert np.array_equal(get_item(SOURCE, [None, 2]), SOURCE[None, 2])


def test_slices_of_a_size() -> None:
    """Beyond the tensor TensorFlow fails, where NumPy gives less."""
    assert rows(slice_of_sizes(SOURCE, [2, 0], [2, -1])) == [2, 3]
    for begin, size in (([5, 0], [2, 4]), ([-1, 0], [1, 4]), ([0], [1])):
        with pytest.raises(ValueError, match=r"."):
            slice_of_sizes(SOURCE, begin, size)


def test_splits() -> None:
    """Keras 3's names places, TensorFlow's sizes; NumPy's own gives the first parts a row more."""
    assert [rows(part) for part in split(SOURCE, [1, -1])] == [[0], [1, 2, 3, 4, 5]]
    assert [rows(part) for part in k3_split(SOURCE, [1, 5])] == [[0], [1, 2, 3, 4], [5]]
    assert [rows(part) for part in array_split(SOURCE, 4)] == [[0, 1], [2, 3], [4], [5]]
    assert [part.shape for part in split(SOURCE, 2, axis=1)] == [(6, 2)] * 2
    assert [part.shape for part in unstack(SOURCE, axis=1)] == [(6,)] * 4


@pytest.mark.parametrize("taken_apart", [split, k3_split, array_split])
def test_nobody_has_so_many_devices(taken_apart: Any) -> None:
    with pytest.raises(Unknown):
        taken_apart(SOURCE, MAX_SPLIT_PARTS + 1)
    with pytest.raises(Unknown):
        unstack(np.zeros(MAX_SPLIT_PARTS + 1))


def test_rows_by_their_numbers() -> None:
    assert rows(gather(SOURCE, [5, 0, 5])) == [5, 0, 5]
    assert rows(gather_nd(SOURCE, [[5], [0]])) == [5, 0]
    with pytest.raises(Unknown):
        gather_nd(SOURCE, [[5, 0]])


def test_rows_by_a_mask() -> None:
    even = np.arange(6) % 2 == 0
    assert rows(boolean_mask(SOURCE, even)) == [0, 2, 4]
    assert [rows(part) for part in dynamic_partition(SOURCE, even.astype(int), 2)] == [
        [1, 3, 5],
        [0, 2, 4],
    ]
    with pytest.raises(Unknown):
        dynamic_partition(SOURCE, np.zeros((6, 4), int), 2)
