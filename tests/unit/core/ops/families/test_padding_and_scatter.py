"""Rows within a border of zeros, in given places, or over others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.unit.core.ops.families.test_reshaping import SHAPE, SOURCE, X, done, rows
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.apply_op_call_to_arrays import apply
from unnest.core.ops.call import OpCall
from unnest.core.ops.element_dtype_and_checks import ELEMENT, ZERO
from unnest.core.ops.families.arithmetic_comparisons_and_where import add_n, average_n
from unnest.core.ops.families.padding_and_scatter import pad


def test_a_part_is_put_over_zeros_and_over_rows() -> None:
    (over,) = done("sliceupdate", np.zeros((6, 4)), [2, 0], SOURCE[:3])
    assert over["element"][:, 0].tolist() == [ZERO, ZERO, 0, 4, 8, ZERO]
    assert rows(done("sliceupdate", X, [0, 0], SOURCE[5:])[0]) == [5, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="beyond the tensor"):
        done("sliceupdate", X, [4, 0], SOURCE[:3])
    with pytest.raises(DataDependent):
        done("sliceupdate", np.ones((6, 4)), [2, 0], SOURCE[:3])


def _scattered(places: Sequence[int], taken: Sequence[int]) -> list[Any]:
    """Rows of the source at places of a tensor of six rows."""
    values = {"x": SOURCE[list(taken)], "n": np.array(places).reshape(-1, 1)}
    results = apply(
        OpCall("scatternd", [SHAPE], {"updates": X, "shape": [6, 4]}), lambda ref: values[ref.layer]
    )
    return [np.asarray(result) for result in results]


def test_scattered_rows_are_added_where_there_are_no_others() -> None:
    (even,), (odd,) = _scattered([0, 2, 4], [0, 1, 2]), _scattered([1, 3, 5], [3, 4, 5])
    values = {"x": even, "n": odd}
    (together,) = apply(OpCall("add", [X], {"y": SHAPE}), lambda ref: values[ref.layer])
    assert rows(together) == [0, 3, 1, 4, 2, 5]
    with pytest.raises(DataDependent):
        apply(OpCall("add", [X], {"y": X}), lambda ref: values[ref.layer])


def test_one_row_in_one_place() -> None:
    with pytest.raises(ValueError, match="two rows in one place"):
        _scattered([1, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="beyond the tensor"):
        _scattered([1, 6], [0, 1])


def test_rows_are_put_over_zeros_and_over_rows() -> None:
    values = {"x": np.zeros((6, 4)), "n": SOURCE}
    lookup = lambda ref: values[ref.layer]  # noqa: E731 - what the two calls below read
    update = OpCall(
        "tensorscatterndupdate",
        [X],
        {"indices": [[i] for i in (5, 4, 3, 2, 1, 0)], "updates": SHAPE},
    )
    assert rows(apply(update, lookup)[0]) == [5, 4, 3, 2, 1, 0]
    values["x"] = np.ones((6, 4))
    with pytest.raises(DataDependent):
        apply(update, lookup)


def test_rows_are_stitched_by_number() -> None:
    values = {"x": SOURCE[:2], "n": SOURCE[2:]}
    stitch = OpCall("dynamicstitch", [[[5, 0], [1, 2, 3, 4]]], {"data": [X, SHAPE]})
    assert rows(apply(stitch, lambda ref: values[ref.layer])[0]) == [1, 2, 3, 4, 5, 0]
    with pytest.raises(ValueError, match="each once"):
        apply(
            OpCall("dynamicstitch", [[[5, 0], [1, 2, 3, 5]]], {"data": [X, SHAPE]}),
            lambda ref: values[ref.layer],
        )


def test_sums_and_means_of_several() -> None:
    """Of rows only a sum of such as stand where the others are zero."""
    numbers = [np.array([1, 2]), np.array([3, 4])]
    assert (add_n(numbers).tolist(), average_n(numbers).tolist()) == ([4, 6], [2.0, 3.0])
    (even,), (odd,) = _scattered([0, 2, 4], [0, 1, 2]), _scattered([1, 3, 5], [3, 4, 5])
    assert rows(add_n([even, odd])) == [0, 3, 1, 4, 2, 5]
    for mixed in (add_n, average_n):
        with pytest.raises(DataDependent):
            mixed([SOURCE, SOURCE])


def test_rows_within_zeros() -> None:
    result = pad(SOURCE[:2], [[1, 2], [0, 0]])
    assert result.dtype == ELEMENT
    assert result["element"][:, 0].tolist() == [ZERO, 0, 4, ZERO, ZERO]
    assert pad(np.array([[1.5]]), [[0, 1], [1, 0]]).tolist() == [[0, 1.5], [0, 0]]
    with pytest.raises(Unknown):
        pad(SOURCE, [[1, 0], [0, 0]], mode="REFLECT")
    with pytest.raises(Unknown):
        pad(SOURCE, [[1, 0], [0, 0]], constant_values=1)
