"""Which losses and normalizations counted masked steps."""

from __future__ import annotations

import pytest

from unnest.core.keras3.context import Context
from unnest.core.keras3.masked_training import BY_ALL, note_end, note_normalization
from unnest.core.keras3.pieces import NewLayer


@pytest.mark.parametrize(
    ("context", "is_by_all"),
    [
        (Context(release=(1, 2, 2)), False),
        (Context(release=(2, 2, 4)), False),
        (Context(release=(2, 3, 1)), True),
        (Context(release=(2, 2, 4), is_tf=True), True),
        (Context(release=(2, 4, 0)), True),
        (Context(release=(2, 10, 0)), True),
        (Context(release=(2, 11, 0)), False),
        (Context(), False),
    ],
)
def test_what_a_masked_loss_was_divided_by(context: Context, is_by_all: bool) -> None:
    note_end("x", context)
    note_end("z", context, today=False)
    assert context.graph.masked_ends.get("x") == (BY_ALL if is_by_all else None)
    assert "another mask" in context.graph.masked_ends["z"]


NORMALIZATION = NewLayer("b", "BatchNormalization", {"name": "b"})
FROZEN = NewLayer("b", "BatchNormalization", {"name": "b", "trainable": False})
OVER_STEPS = NewLayer("t", "TimeDistributed", {"name": "t", "layer": NORMALIZATION.entry})


@pytest.mark.parametrize(
    ("layer", "release", "names"),
    [
        (NORMALIZATION, (2, 11, 0), ["b"]),
        (OVER_STEPS, (2, 11, 0), ["t"]),
        (FROZEN, (2, 11, 0), []),
        (NORMALIZATION, (2, 12, 0), []),
        (NORMALIZATION, (), []),
        (NewLayer("d", "Dense", {"name": "d"}), (2, 11, 0), []),
    ],
)
def test_a_normalization_that_counted_masked_steps(layer: NewLayer, release: tuple[int, ...], names: list[str]) -> None:
    context = Context(release=release)
    note_normalization(layer.entry, layer.name, context)
    assert context.notes.masked_norms == names
