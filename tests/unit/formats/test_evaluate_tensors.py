"""Recipes against NumPy: what is written for a tensor that is computed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from unnest.core.keras3 import derived_weights
from unnest.core.model import Stored, Tensor
from unnest.formats.container_interface import TRANSFER_BLOCK, Source
from unnest.formats.evaluate_tensors import array, blocks_of

RNG = np.random.default_rng(1)
KERNEL = RNG.normal(size=(3, 8)).astype("<f4")
BIAS = RNG.normal(size=(16,)).astype("<f4")


class Arrays(Source):
    """A source of arrays in memory."""

    container = "h5"

    def blocks(self, tensor: Tensor) -> Iterator[bytes]:
        yield {"k": KERNEL, "b": BIAS}[tensor.ref].tobytes()


SOURCE = Arrays("memory", Stored("model"))
K = Tensor("k", (3, 8), "<f4", "k")
B = Tensor("b", (16,), "<f4", "b")

CASES = {
    "scaled as a whole": (derived_weights.scaled(K, 1.2), (KERNEL.astype("f8") * 1.2).astype("f4")),
    "scaled by gate": (derived_weights.scaled(K, 1, 2, 1, 1), KERNEL * np.repeat([1, 2, 1, 1], 2).astype("f4")),
    "transposed": (derived_weights.transposed(K, 1, 0), KERNEL.T),
    "reshaped": (derived_weights.reshaped(K, 2, 12), KERNEL.reshape(2, 12)),
    "flipped": (derived_weights.flipped(K, 0), KERNEL[::-1]),
    "part": (derived_weights.part(K, 1, 2, 5), KERNEL[:, 2:5]),
    "gates in reverse": (
        derived_weights.concatenated(derived_weights.blocks(K, 1, 4)[::-1], 1),
        np.hstack(np.hsplit(KERNEL, 4)[::-1]),
    ),
    "two biases": (derived_weights.added(*derived_weights.blocks(B, 0, 2)), BIAS[:8] + BIAS[8:]),
    "constant": (derived_weights.constant("c", 0.5, (2, 3), "<f4"), np.full((2, 3), 0.5, "f4")),
    "cast": (derived_weights.cast(derived_weights.constant("c", 3, (), "<f4"), "<i8"), np.array(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    """Value, shape and dtype."""
    tensor, expected = CASES[name]
    made = array(SOURCE, tensor)
    assert (made.shape, made.dtype) == (tensor.shape, np.dtype(tensor.dtype))
    np.testing.assert_array_equal(made, expected)


def test_blocks() -> None:
    """The same bytes in pieces of bounded size; a stored tensor's are the source's own."""
    large = derived_weights.constant("c", 1.5, (TRANSFER_BLOCK // 4 + 1,), "<f4")
    pieces = list(blocks_of(SOURCE, large))
    assert [len(p) for p in pieces] == [TRANSFER_BLOCK, 4]
    assert b"".join(blocks_of(SOURCE, K)) == KERNEL.tobytes()


def test_equal_computations_are_equal_handles() -> None:
    """And others are not."""
    assert derived_weights.scaled(K, 1.2).ref == derived_weights.scaled(K, 1.2).ref
    assert (
        len(
            {
                derived_weights.scaled(K, 1.2).ref,
                derived_weights.scaled(K, 1.3).ref,
                derived_weights.flipped(K, 0).ref,
                K.ref,
            }
        )
        == 4
    )
    assert derived_weights.stored_operands(
        derived_weights.added(K, derived_weights.scaled(K, 2.0))
    ) == [
        K,
        K,
    ]
