"""Casts as TensorFlow computes them, and the shape of several shapes together."""

from __future__ import annotations

import pytest

from tests.unit.core.ops.families.test_reshaping import SOURCE
from unnest.core.model import DataDependent, Unknown
from unnest.core.ops.families.shape_and_dtype import broadcast_args, cast, rank, shape, size


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("DT_INT32", "i"), ("float32", "f"), ("half", "f"), ("bool", "b"), ("bfloat16", "f")],
)
def test_types(dtype: str, kind: str) -> None:
    assert cast([1, 0], dtype).dtype.kind == kind
    with pytest.raises(Unknown):
        cast([1, 0], "string")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool"])
def test_rows_of_another_type_are_others(dtype: str) -> None:
    """Rows in another dtype are other rows: their own dtype is unknown, and any other may hold less."""
    with pytest.raises(DataDependent):
        cast(SOURCE, dtype)


def test_sizes_and_axes() -> None:
    assert shape(SOURCE).tolist() == list(SOURCE.shape)
    assert (int(size(SOURCE)), int(rank(SOURCE))) == (SOURCE.size, SOURCE.ndim)


def test_the_shape_of_two_shapes_together() -> None:
    assert broadcast_args([4, 1], [3]).tolist() == [4, 3]
