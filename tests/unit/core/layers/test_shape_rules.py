"""Each class's output shape, and what it leaves open; Keras's own answers are in test_shape_inference.py."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.layers.catalog import output_shape
from unnest.core.model import Shape, Unknown

CONV: dict[str, Any] = {
    "filters": 8, "kernel_size": [3, 3], "strides": [2, 2], "dilation_rate": [1, 1], "padding": "valid",
}  # fmt: skip
LAST: dict[str, Any] = {"data_format": "channels_last"}
POOL: dict[str, Any] = {"pool_size": [2, 2], "strides": [2, 2], "padding": "valid"}
RNN: dict[str, Any] = {"units": 5}
LSTM = {"class_name": "LSTM", "config": RNN}
IMAGE: Shape = (None, 9, 8, 3)


@pytest.mark.parametrize(
    ("name", "config", "shape", "result"),
    [
        ("Dropout", {}, IMAGE, IMAGE),
        ("Dense", {"units": 7}, (None, 3, 4), (None, 3, 7)),
        ("Embedding", {"output_dim": 6}, (None, 9), (None, 9, 6)),
        ("Flatten", {}, (None, 3, 4), (None, 12)),
        ("Flatten", {}, (None, None, 4), (None, None)),
        ("Reshape", {"target_shape": [2, -1]}, (None, 3, 4), (None, 2, 6)),
        ("Reshape", {"target_shape": [2, -1]}, (None, None, 4), (None, 2, None)),
        ("Permute", {"dims": [2, 1]}, (None, 3, 4), (None, 4, 3)),
        ("RepeatVector", {"n": 5}, (None, 3), (None, 5, 3)),
        ("LSTM", RNN, (None, 7, 3), (None, 5)),
        ("GRU", {**RNN, "return_sequences": True}, (None, 7, 3), (None, 7, 5)),
        ("Bidirectional", {"layer": LSTM, "merge_mode": "concat"}, (None, 7, 3), (None, 10)),
        ("Bidirectional", {"layer": LSTM, "merge_mode": "sum"}, (None, 7, 3), (None, 5)),
        ("Conv2D", CONV, IMAGE, (None, 4, 3, 8)),
        ("Conv2D", {**CONV, "padding": "same"}, IMAGE, (None, 5, 4, 8)),
        ("Conv2D", {**CONV, "dilation_rate": 2, "strides": 1}, IMAGE, (None, 5, 4, 8)),
        ("Conv2D", {**CONV, "data_format": "channels_first"}, (None, 3, 9, 8), (None, 8, 4, 3)),
        ("Conv2D", CONV, (None, None, 8, 3), (None, None, 3, 8)),
        (
            "DepthwiseConv2D",
            {**CONV, "filters": 8} | {"depth_multiplier": 2},
            IMAGE,
            (None, 4, 3, 8),
        ),
        ("Conv2DTranspose", CONV, IMAGE, (None, 19, 17, 8)),
        ("Conv2DTranspose", {**CONV, "padding": "same"}, IMAGE, (None, 18, 16, 8)),
        ("MaxPooling2D", POOL, IMAGE, (None, 4, 4, 3)),
        ("GlobalAveragePooling2D", {}, IMAGE, (None, 3)),
        ("GlobalAveragePooling2D", {"keepdims": True}, IMAGE, (None, 1, 1, 3)),
        ("ZeroPadding2D", {**LAST, "padding": [[1, 2], [0, 3]]}, IMAGE, (None, 12, 11, 3)),
        ("Cropping1D", {"cropping": [1, 2]}, (None, 9, 3), (None, 6, 3)),
        ("UpSampling2D", {**LAST, "size": [2, 3]}, IMAGE, (None, 18, 24, 3)),
        ("UpSampling2D", {**LAST, "size": 2}, IMAGE, (None, 18, 16, 3)),
        ("ConvLSTM2D", CONV, (None, 5, 9, 8, 3), (None, 4, 3, 8)),
        ("ConvLSTM2D", {**CONV, "return_sequences": True}, (None, 5, 9, 8, 3), (None, 5, 4, 3, 8)),
    ],
)
def test_the_shape_follows_from_class_and_config(
    name: str, config: dict[str, Any], shape: Shape, result: Shape
) -> None:
    assert output_shape(name, config, shape) == result


def test_depth_multiplier_counts_where_there_are_no_filters() -> None:
    config = {**{k: v for k, v in CONV.items() if k != "filters"}, "depth_multiplier": 2}
    assert output_shape("DepthwiseConv2D", config, IMAGE) == (None, 4, 3, 6)


@pytest.mark.parametrize(
    "name", ["Mine", "Conv4D", "Lambda", "TimeDistributed", "Conv2DTransposed", "2D", "dense"]
)
def test_another_class_is_unknown(name: str) -> None:
    with pytest.raises(Unknown):
        output_shape(name, {}, IMAGE)


@pytest.mark.parametrize(
    ("name", "config", "shape"),
    [
        ("Dense", {}, (None, 4)),
        ("Dense", {"units": True}, (None, 4)),
        ("Reshape", {"target_shape": [5, -1]}, (None, 3, 4)),
        ("Reshape", {"target_shape": [-1, -1]}, (None, 3, 4)),
        ("RepeatVector", {"n": 5}, (None, 3, 4)),
        ("LSTM", {**RNN, "return_state": True}, (None, 7, 3)),
        ("LSTM", RNN, (None, 3)),
        ("Bidirectional", {"layer": LSTM, "merge_mode": None}, (None, 7, 3)),
        (
            "Bidirectional",
            {"layer": {"class_name": "Mine", "config": RNN}, "merge_mode": "sum"},
            (None, 7, 3),
        ),
        ("Conv2D", {**CONV, "padding": "reflect"}, IMAGE),
        ("Conv2D", {**CONV, "strides": None}, IMAGE),
        ("Conv2D", CONV, (None, 9, 3)),
        ("Conv2D", CONV, (None, 2, 8, 3)),
        ("ConvLSTM2D", {**CONV, "return_state": True}, (None, 5, 9, 8, 3)),
        ("Cropping1D", {"cropping": [5, 4]}, (None, 9, 3)),
        ("ZeroPadding2D", {**LAST, "padding": [[1, 2]]}, IMAGE),
    ],
)
def test_what_it_does_not_tell_is_unknown(name: str, config: dict[str, Any], shape: Shape) -> None:
    with pytest.raises(Unknown):
        output_shape(name, config, shape)
