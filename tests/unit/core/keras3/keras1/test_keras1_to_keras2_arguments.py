"""Keras 1's words: which configs are in them, and what they are called since Keras 2."""

from __future__ import annotations

from typing import Any

import pytest

from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.keras1.keras1_to_keras2_arguments import (
    is_keras_1,
    renamed_class_and_arguments,
)

DENSE = {
    "name": "l",
    "output_dim": 3,
    "activation": "relu",
    "init": "uniform",
    "W_regularizer": None,
    "bias": False,
}


@pytest.mark.parametrize(
    ("config", "release", "is_old"),
    [
        ({"units": 3}, (1, 2, 2), True),
        ({"output_dim": 3, "init": "uniform"}, (2, 2, 4), False),
        ({"output_dim": 3, "init": "uniform"}, (), True),
        ({"p": 0.5}, (), True),
        ({"rate": 0.5}, (), False),
        ({"output_dim": 3, "input_dim": 4}, (), False),
        ({"output_dim": 3, "W_regularizer": None}, (), True),
        ({}, (), False),
    ],
    ids=["version", "later", "init", "p", "rate", "embedding-of-now", "regularizer", "nothing"],
)
def test_whose_words(config: dict[str, Any], release: tuple[int, ...], is_old: bool) -> None:
    """The version decides; where none is stored, a key that Keras 1 alone writes."""
    assert is_keras_1(config, Context(release=release)) is is_old


@pytest.mark.parametrize(
    ("kind", "config", "new_kind", "new"),
    [
        ("Dense", DENSE, "Dense",
         {"units": 3, "activation": "relu", "kernel_initializer": "uniform", "kernel_regularizer": None,
          "use_bias": False, "bias_initializer": "zeros"}),
        ("TimeDistributedDense", {"output_dim": 3}, "Dense",
         {"units": 3, "use_bias": True, "bias_initializer": "zeros"}),
        ("Convolution2D",
         {"nb_filter": 2, "nb_row": 3, "nb_col": 5, "border_mode": "same", "subsample": [2, 1], "dim_ordering": "th"},
         "Conv2D",
         {"filters": 2, "padding": "same", "strides": [2, 1], "data_format": "channels_first", "kernel_size": [3, 5],
          "use_bias": True, "bias_initializer": "zeros"}),
        ("AtrousConvolution1D", {"nb_filter": 2, "filter_length": 3, "atrous_rate": 2, "subsample_length": 1}, "Conv1D",
         {"filters": 2, "kernel_size": 3, "dilation_rate": 2, "strides": 1, "use_bias": True,
          "bias_initializer": "zeros"}),
        ("Convolution3D", {"nb_filter": 2, "kernel_dim1": 1, "kernel_dim2": 2, "kernel_dim3": 3, "dim_ordering": "tf"},
         "Conv3D",
         {"filters": 2, "data_format": "channels_last", "kernel_size": [1, 2, 3], "use_bias": True,
          "bias_initializer": "zeros"}),
        ("SeparableConvolution2D", {"init": "uniform", "depth_multiplier": 2}, "SeparableConv2D",
         {"depthwise_initializer": "glorot_uniform", "pointwise_initializer": "glorot_uniform", "depth_multiplier": 2,
          "use_bias": True, "bias_initializer": "zeros"}),
        ("LSTM", {"output_dim": 2, "inner_activation": "sigmoid", "forget_bias_init": "one", "consume_less": "cpu"},
         "LSTM",
         {"units": 2, "recurrent_activation": "sigmoid", "unit_forget_bias": True, "use_bias": True,
          "bias_initializer": "zeros"}),
        ("LSTM", {"output_dim": 2, "forget_bias_init": "zero", "dropout_W": 0.1, "dropout_U": 0.2}, "LSTM",
         {"units": 2, "unit_forget_bias": False, "dropout": 0.1, "recurrent_dropout": 0.2, "use_bias": True,
          "bias_initializer": "zeros"}),
        ("Embedding", {"init": "uniform", "W_constraint": None, "dropout": 0.0, "output_dim": 3}, "Embedding",
         {"embeddings_initializer": "uniform", "embeddings_constraint": None, "output_dim": 3}),
        ("MaxPooling1D", {"pool_length": 2, "stride": 3, "border_mode": "valid"}, "MaxPooling1D",
         {"pool_size": 2, "strides": 3, "padding": "valid"}),
        ("Dropout", {"p": 0.25}, "Dropout", {"rate": 0.25}),
    ],
    ids=["dense", "steps", "conv-2d", "dilated", "conv-3d", "separable", "lstm", "lstm-dropout", "embedding", "pool",
         "dropout"],
)  # fmt: skip
def test_class_and_arguments(
    kind: str, config: dict[str, Any], new_kind: str, new: dict[str, Any]
) -> None:
    context = Context(release=(1, 2, 2))
    assert renamed_class_and_arguments(kind, config, "l", context) == (
        new_kind,
        {**({"name": "l"} if "name" in config else {}), **new},
    )
    assert [(c.rule, c.layers) for c in context.conversions()] == [("keras-1-arguments", ("l",))]


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("Flatten", {"name": "l", "trainable": True}),
        ("Activation", {"activation": "relu"}),
        ("Mine", {"p": 0.5, "init": "uniform", "output_dim": 3}),
    ],
    ids=["nothing-old", "no-other-words", "own-class"],
)
def test_left_alone(kind: str, config: dict[str, Any]) -> None:
    """A word is Keras 1's in the classes that had it: in a custom class it means what its author made of it."""
    context = Context(release=(1, 2, 2))
    assert renamed_class_and_arguments(kind, config, "l", context) == (kind, config)
    assert context.conversions() == ()


@pytest.mark.parametrize(
    ("kind", "padding", "new"),
    [
        ("ZeroPadding1D", 2, 2),
        ("ZeroPadding1D", {"left_pad": 1, "right_pad": 2}, [1, 2]),
        ("ZeroPadding1D", {"right_pad": 2}, [0, 2]),
        ("ZeroPadding2D", [1, 2], [1, 2]),
        ("ZeroPadding2D", [1, 2, 3, 4], [[1, 2], [3, 4]]),
        ("ZeroPadding2D", {"top_pad": 1, "left_pad": 3, "right_pad": 4}, [[1, 0], [3, 4]]),
        ("ZeroPadding3D", [1, 2, 3], [1, 2, 3]),
    ],
)
def test_padding_in_its_other_forms(kind: str, padding: Any, new: Any) -> None:
    """Two numbers are rows and columns, four are top, bottom, left and right."""
    assert (
        renamed_class_and_arguments(kind, {"padding": padding}, "l", Context())[1]["padding"] == new
    )


@pytest.mark.parametrize(("rate", "codes"), [(0.3, ["words-not-dropped"]), (0.0, [])])
def test_a_dropout_of_whole_words_acts_in_training_alone(rate: float, codes: list[str]) -> None:
    """No layer of Keras 3 drops them, which a finding says."""
    context = Context()
    _, config = renamed_class_and_arguments(
        "Embedding", {"dropout": rate, "output_dim": 3}, "l", context
    )
    assert "dropout" not in config
    assert [f.code for f in context.notes.findings] == codes
