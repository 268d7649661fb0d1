"""Properties of a record that follow from its fields."""

from __future__ import annotations

from unnest.core.layers.record import (
    ATTENTION_WEIGHTS,
    MOVING_STATISTICS,
    SEPARABLE_WEIGHTS,
    KerasLayer,
    Parts,
    Weight,
)


def test_parts() -> None:
    assert KerasLayer("A").is_plain
    assert not KerasLayer("A", exported=False).is_plain
    assert not KerasLayer("A", parts=Parts.CELL).is_plain


def test_a_layer_without_weights_is_one_that_holds_none_either() -> None:
    assert KerasLayer("A", weights=()).is_weightless
    assert not KerasLayer("A").is_weightless
    assert not KerasLayer("A", weights=(), parts=Parts.LAYERS, holds=("layer",)).is_weightless


def test_generations() -> None:
    old = KerasLayer("A", keras=(1,), renamed_to="B")
    assert old.is_in_keras_2
    assert old.is_missing_in_keras_3
    assert not KerasLayer("A", keras=(1,)).is_in_keras_2
    assert not KerasLayer("A").is_missing_in_keras_3


def test_axes_of_a_window() -> None:
    assert KerasLayer("A", input_axes=4).window_axes == 2
    assert KerasLayer("A", input_axes=5, parts=Parts.CELL).window_axes == 2
    assert KerasLayer("A").window_axes == 0


def test_the_stem_of_a_weight() -> None:
    assert (Weight("gamma").stem, Weight("recurrent_kernel", argument="recurrent").stem) == (
        "gamma",
        "recurrent",
    )


def test_statistics_are_not_trained() -> None:
    assert [weight.trained for weight in MOVING_STATISTICS] == [False, False]


def test_order() -> None:
    assert [weight.stem for weight in SEPARABLE_WEIGHTS] == ["depthwise", "pointwise", "bias"]
    assert [weight.name for weight in ATTENTION_WEIGHTS[:3]] == [
        "query/kernel",
        "query/bias",
        "key/kernel",
    ]
