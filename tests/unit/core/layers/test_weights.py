"""Weights that several layers share."""

from __future__ import annotations

from unnest.core.layers.weights import ATTENTION_WEIGHTS, MOVING_STATISTICS, SEPARABLE_WEIGHTS


def test_statistics_are_not_trained() -> None:
    assert [weight.trained for weight in MOVING_STATISTICS] == [False, False]


def test_order() -> None:
    assert [weight.stem for weight in SEPARABLE_WEIGHTS] == ["depthwise", "pointwise", "bias"]
    assert [weight.name for weight in ATTENTION_WEIGHTS[:3]] == ["query/kernel", "query/bias", "key/kernel"]
