"""Attention layers."""

from __future__ import annotations

from unnest.core.layers.attention import LAYERS
from unnest.core.layers.record import MaskUse

RECORDS = {layer.name: layer for layer in LAYERS}


def test_weights_of_multi_head_attention() -> None:
    layer = RECORDS["MultiHeadAttention"]
    assert layer.weight_count is not None
    assert layer.weight_count({}) == len(layer.weights or ())


def test_all_read_the_mask() -> None:
    assert all(layer.mask is MaskUse.HEEDS_AND_PASSES for layer in LAYERS if layer.is_in_keras_3)
