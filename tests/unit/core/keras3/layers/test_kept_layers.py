"""A layer that Keras 3 has too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import DENSE, KERAS_2, links, made, one, refuses, weights
from unnest.core.keras3.conversion_context import CannotConvert, Context, OldLayer
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.keras3.layers.kept_layers import embedding
from unnest.core.model import JsonObject


@pytest.mark.parametrize(("shapes", "use_bias"), [(((4, 3),), True), (((4, 3), (3,)), False)])
def test_other_weights_than_promised_are_refused(
    shapes: tuple[tuple[int, ...], ...], use_bias: bool
) -> None:
    config = {**DENSE, "use_bias": use_bias}
    with pytest.raises(
        CannotConvert, match=rf"has {len(shapes)} weights, and its config promises {1 + use_bias}"
    ):
        made("Dense", config, *shapes)
    right = ((4, 3), (3,))[: 1 + use_bias]
    assert [w.ref for w in one(made("Dense", config, *right)).weights] == ["/w0", "/w1"][
        : 1 + use_bias
    ]


def test_a_layer_of_double_numbers_computes_in_them() -> None:
    """A layer whose config names no dtype computes in that of its float64 weights."""
    for config, dtype in (({}, "float64"), ({"dtype": "float32"}, "float32")):
        entry: JsonObject = {"class_name": "Dense", "config": {"name": "l", **DENSE, **config}}
        layer = one(
            convert_layer(entry, "l", weights((4, 3), (3,), dtype="<f8"), Context(release=KERAS_2))
        )
        assert layer.config["dtype"] == dtype


def test_an_argument_that_nobody_knows_is_refused() -> None:
    refuses("Dense", {"units": 3, "surprise": 1}, "'surprise' = 1 is not known")


@pytest.mark.parametrize(
    ("kind", "config", "more", "new_kind", "new"),
    [
        ("Activation", {"activation": "relu"}, {}, "Activation", {"activation": "relu"}),
        ("Activation", {"activation": {"class_name": "ReLU", "config": {"name": "r", "max_value": 6.0}}}, {}, "ReLU",
         {"max_value": 6.0, "name": "l"}),
        ("Softmax", {"axis": 1}, {}, "Softmax", {"axis": 1}),
        ("Softmax", {"axis": 1}, {"masks": True}, "Softmax", {"axis": 1}),
        ("Softmax", {"axis": -1}, {"masks": True, "release": (2, 2, 4)}, "Activation", {"activation": "softmax"}),
        ("ThresholdedReLU", {"theta": 0.5}, {}, "ReLU", {"threshold": 0.5, "max_value": None}),
        ("PReLU", {"alpha_initializer": "zeros", "shared_axes": [1, 2]}, {}, "PReLU", {"shared_axes": [1, 2]}),
    ],
)  # fmt: skip
def test_class_and_config(
    kind: str, config: dict[str, Any], more: dict[str, Any], new_kind: str, new: dict[str, Any]
) -> None:
    layer = one(made(kind, config, **more))
    assert (layer.class_name, {key: layer.config[key] for key in new}) == (new_kind, new)


def test_axes_that_keras_1_does_not_store() -> None:
    """A weight of size 1 along an axis is shared there."""
    layer = one(made("PReLU", {"alpha_initializer": "zeros"}, (1, 1, 3)))
    assert layer.config["shared_axes"] == [1, 2]
    assert one(made("PReLU", {"alpha_initializer": "zeros"}, (4, 3))).config["shared_axes"] is None


def test_a_softmax_of_then_along_another_axis_than_the_last() -> None:
    """A Softmax that may get a mask is replaced, as today's heeds it."""
    assert one(made("Softmax", {"axis": 1}, release=(2, 2, 4))).class_name == "Softmax"
    refuses("Softmax", {"axis": 1}, "heeds a mask in Keras 3", masks=True, release=(2, 2, 4))


@pytest.mark.parametrize(("padding", "before"), [("causal", [4, 0]), ("valid", None)])
def test_a_causal_separable_convolution(padding: str, before: list[int] | None) -> None:
    config = {
        "filters": 2, "kernel_size": [3], "strides": [1], "dilation_rate": [2], "padding": padding,
        "data_format": "channels_last", "depth_multiplier": 1, "use_bias": True, "activation": "linear",
    }  # fmt: skip
    layer = made("SeparableConv1D", config)
    if before is None:
        assert one(layer).config["padding"] == padding
    else:
        zeros, inner = links(layer)
        assert (zeros.config["padding"], inner.config["padding"], inner.name) == (
            before,
            "valid",
            "l",
        )


@pytest.mark.parametrize(
    ("version", "dtype", "written"),
    [
        ("2.0.4", "int32", "float32"),
        ("2.0.4", "float64", "float64"),
        ("2.0.5", "int32", "int32"),
        (None, "int32", "int32"),
    ],
)
def test_dtype(version: str | None, dtype: str, written: str) -> None:
    """Of the ids in the oldest files alone; later the same text means the weights."""
    context = Context.of(version, "tensorflow")
    config: dict[str, Any] = {"input_dim": 4, "output_dim": 2, "dtype": dtype}
    made = embedding(OldLayer("Embedding", config, "e", (), context))
    assert isinstance(made, NewLayer)
    assert made.config["dtype"] == written


@pytest.mark.parametrize(
    ("config", "shape", "dtype"),
    [
        ({"batch_input_shape": [None, 4], "dtype": None}, [None, 4], "float32"),
        ({"batch_input_shape": [2, 4], "input_dtype": "int32"}, [2, 4], "int32"),
        (
            {"batch_shape": [None, 4], "dtype": "float32", "sparse": False, "ragged": False},
            [None, 4],
            "float32",
        ),
        ({"input_shape": [4], "batch_size": 3}, [3, 4], "float32"),
    ],
)
def test_shape_and_dtype(config: dict[str, Any], shape: list[int | None], dtype: str) -> None:
    layer = one(made("InputLayer", config))
    assert layer.config == {"batch_shape": shape, "dtype": dtype, "sparse": False, "name": "l"}


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({}, "its shape is not stored"),
        ({"batch_input_shape": [None, 4], "ragged": True}, "a ragged input is not converted"),
        ({"batch_input_shape": [None, 4], "sparse": True}, "a sparse input is not converted"),
    ],
)
def test_an_input_that_is_refused(config: dict[str, Any], why: str) -> None:
    refuses("InputLayer", config, why)


@pytest.mark.parametrize(
    ("deviation", "scales"), [(0.5, None), (1.0, None), (3.0, [0.25, 4.0]), (4, [0.25, 4.0])]
)
def test_noise_of_more_than_one(deviation: float, scales: list[float] | None) -> None:
    """As the noise of a smaller tensor, by a power of two."""
    noise = made("GaussianNoise", {"stddev": deviation})
    if scales is None:
        assert one(noise).config["stddev"] == deviation
    else:
        smaller, inner, larger = links(noise)
        assert [smaller.config["scale"], larger.config["scale"]] == scales
        assert (inner.config["stddev"], larger.name) == (deviation / 4, "l")
