"""Handles of tensors that are computed from stored ones: shapes, dtypes, and equal spelling of equal computations."""

from __future__ import annotations

import pytest

from unnest.core.keras3 import derived_weights
from unnest.core.model import Recipe, Tensor

KERNEL = Tensor("k", (4, 6), "<f4", "a/k")
OTHER = Tensor("o", (4, 6), "<f4", "a/o")


@pytest.mark.parametrize(
    ("made", "shape", "step", "arguments"),
    [
        (derived_weights.scaled(KERNEL, 1.0, 0.2, 1.0), (4, 6), "scale", (1.0, 0.2, 1.0)),
        (derived_weights.transposed(KERNEL, 1, 0), (6, 4), "transpose", (1, 0)),
        (derived_weights.reshaped(KERNEL, 2, 12), (2, 12), "reshape", (2, 12)),
        (derived_weights.flipped(KERNEL, 0), (4, 6), "flip", (0,)),
        (derived_weights.part(KERNEL, -1, 2, 5), (4, 3), "part", (1, 2, 5)),
        (derived_weights.concatenated([KERNEL, OTHER], -2), (8, 6), "concatenate", (0,)),
        (derived_weights.added(KERNEL, OTHER), (4, 6), "add", ()),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_step(
    made: Tensor, shape: tuple[int, ...], step: str, arguments: tuple[float, ...]
) -> None:
    assert (made.shape, made.dtype, made.name) == (shape, "<f4", "k")
    assert made.recipe is not None
    assert (made.recipe.step, made.recipe.arguments) == (step, arguments)
    assert derived_weights.stored_operands(made) == (
        [KERNEL, OTHER] if step in ("concatenate", "add") else [KERNEL]
    )


def test_nothing_is_done_where_nothing_changes() -> None:
    assert derived_weights.reshaped(KERNEL, 4, 6) is KERNEL
    assert derived_weights.cast(KERNEL, "<f4") is KERNEL


def test_equal_computations_are_equal_handles() -> None:
    assert derived_weights.transposed(KERNEL, 1, 0) == derived_weights.transposed(KERNEL, 1, 0)
    assert (
        derived_weights.transposed(KERNEL, 1, 0).ref != derived_weights.transposed(OTHER, 1, 0).ref
    )
    assert derived_weights.part(KERNEL, 1, 0, 3).ref != derived_weights.part(KERNEL, 0, 0, 3).ref


def test_blocks_are_equal_parts_in_order() -> None:
    assert [b.recipe for b in derived_weights.blocks(KERNEL, 1, 3)] == [
        Recipe("part", (KERNEL,), (1, start, start + 2)) for start in (0, 2, 4)
    ]


def test_a_cast_changes_the_dtype_alone() -> None:
    half = derived_weights.cast(KERNEL, "<f2")
    assert (half.dtype, half.shape, half.ref) == ("<f2", (4, 6), "<f2(a/k)")


def test_a_constant_is_stored_nowhere() -> None:
    count = derived_weights.constant("count", 0, (), "<i8")
    assert (count.shape, count.recipe) == ((), Recipe("constant", (), (0,)))
    assert derived_weights.stored_operands(count) == []
