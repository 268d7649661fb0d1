"""Shapes, axes and numbers of weights by config."""

from __future__ import annotations

from typing import Any

from unnest.core.layers import weight_rules


def test_weight_shapes() -> None:
    assert weight_rules.dense_shapes({"units": 3}) == [(None, 3), (3,)]
    assert weight_rules.conv_shapes(2)({"filters": 4, "kernel_size": [3, 5]}) == [
        (3, 5, None, 4),
        (4,),
    ]
    assert weight_rules.conv_shapes(1)({"filters": 4, "kernel_size": 3}) == [(3, None, 4), (4,)]
    assert weight_rules.conv_shapes(2)({"filters": 4}) == [(None, None, None, 4), (4,)]
    assert weight_rules.embedding_shapes({"input_dim": 7, "output_dim": 2}) == [(7, 2)]
    assert weight_rules.recurrent_shapes(4)({"units": 2}) == [(None, 8), (2, 8), (8,)]
    assert weight_rules.recurrent_shapes(4, biases=2)({"units": 2}) == [(None, 8), (2, 8), (16,)]
    assert weight_rules.gru_shapes({"units": 2}) == [(None, 6), (2, 6), (6,)]
    reset_after: dict[str, Any] = {"units": 2, "reset_after": True}
    assert weight_rules.gru_shapes(reset_after) == [(None, 6), (2, 6), (2, 6)]


def test_shapes_of_other_convolutions() -> None:
    config: dict[str, Any] = {"filters": 4, "kernel_size": [3, 5], "depth_multiplier": 2}
    assert weight_rules.conv_transpose_shapes(2)(config) == [(3, 5, 4, None), (4,)]
    assert weight_rules.depthwise_shapes(2)(config) == [(3, 5, None, 2), (None,)]
    assert weight_rules.separable_shapes(2)(config) == [(3, 5, None, 2), (1, 1, None, 4), (4,)]
    assert weight_rules.separable_shapes(1)({"filters": 4}) is None
    assert weight_rules.conv_lstm_shapes(2)(config) == [(3, 5, None, 16), (3, 5, 4, 16), (16,)]


def test_shapes_of_attention() -> None:
    config: dict[str, Any] = {"num_heads": 2, "key_dim": 3, "value_dim": 4}
    kernels = [(None, 2, 3), (None, 2, 3), (None, 2, 4), (2, 4, None)]
    assert weight_rules.attention_shapes({**config, "use_bias": False}) == kernels
    shapes = weight_rules.attention_shapes(config)
    assert shapes is not None
    assert (shapes[::2], shapes[1::2]) == (kernels, [(2, 3), (2, 3), (2, 4), (None,)])
    assert weight_rules.attention_shapes({**config, "output_shape": [5]}) is None
    assert weight_rules.attention_shapes({"num_heads": 2}) is None


def test_sizes_that_are_none() -> None:
    assert weight_rules.dense_shapes({"units": True}) is None
    assert (
        weight_rules.conv_shapes(2)({})
        is weight_rules.embedding_shapes({})
        is weight_rules.recurrent_shapes(1)({})
        is None
    )


def test_built_axes() -> None:
    assert weight_rules.last_axis({}, 3) == [2]
    assert weight_rules.channel_axis({"data_format": "channels_first"}, 4) == [1]
    assert weight_rules.step_channel_axis({"data_format": "channels_first"}, 5) == [2]
    assert weight_rules.step_channel_axis({}, 5) == [4]
    assert weight_rules.axes_argument({"axis": [1, -1]}, 3) == [1, 2]
    assert (
        weight_rules.axes_argument({"axis": 5}, 3)
        == weight_rules.axes_argument({"axis": None}, 3)
        == []
    )
    assert weight_rules.unshared_axes({"shared_axes": [1]}, 4) == [2, 3]


def test_weight_counts() -> None:
    assert weight_rules.multi_head_attention_count({}) == 8
    assert weight_rules.multi_head_attention_count({"use_bias": False}) == 4
    assert weight_rules.attention_count({}) == 0
    assert weight_rules.attention_count({"use_scale": True, "score_mode": "concat"}) == 2
    assert weight_rules.additive_attention_count({}) == 1
    assert weight_rules.normalization_count({}) == 3
    assert weight_rules.reversible_embedding_count({"tie_weights": True}) == 1
    assert weight_rules.reversible_embedding_count({"tie_weights": False}) == 2
    assert weight_rules.normalization_count({"mean": [0.0]}) == 0


def test_shapes_by_the_input() -> None:
    """Of a PReLU and an EinsumDense; an equation that does not fit the input promises nothing."""
    assert weight_rules.prelu_shapes({"shared_axes": [1]}, (None, 5, 2)) == [(1, 2)]
    assert weight_rules.prelu_shapes({"shared_axes": None}, (None, None, 2)) == [(None, 2)]
    dense: dict[str, Any] = {"equation": "abc,cd->abd", "output_shape": [5, 3], "bias_axes": "bd"}
    assert weight_rules.einsum_shapes(dense, (None, 5, 2)) == [(2, 3), (5, 3)]
    assert weight_rules.einsum_shapes({**dense, "bias_axes": "b"}, (None, 5, 2)) == [(2, 3), (5, 1)]
    dots: dict[str, Any] = {"equation": "...x,xy->...y", "output_shape": 3, "bias_axes": "y"}
    assert weight_rules.einsum_shapes(dots, (None, 5, 4, 2)) == [(2, 3), (3,)]
    behind: dict[str, Any] = {"equation": "ab...,bc->ac...", "output_shape": 3, "bias_axes": "c"}
    assert weight_rules.einsum_shapes(behind, (None, 5, 2)) == [(5, 3), (3, 1)]
    assert weight_rules.einsum_shapes({**dense, "bias_axes": None}, (None, 5, 2)) == [(2, 3)]
    assert weight_rules.einsum_shapes(dense, (None, 5, 4, 2)) is None
    assert weight_rules.einsum_shapes({"equation": "abc"}, (None, 5, 2)) is None
