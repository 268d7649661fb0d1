"""Weights of Keras 1 and of the Theano backend."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import DENSE, made, one, steps

CONV = {"filters": 2, "kernel_size": [3, 3], "strides": [1, 1], "padding": "valid", "use_bias": True,
        "data_format": "channels_last", "dilation_rate": [1, 1], "activation": "linear"}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "backend", "expected"),
    [
        ("Conv2D", "theano", [[("flip", (0, 1))], []]),
        ("Conv2D", "tensorflow", [[], []]),
        ("Dense", "theano", [[], []]),
    ],
)
def test_kernels_of_theano_are_turned(kind: str, backend: str, expected: list[Any]) -> None:
    """Of convolutions alone, and not their bias."""
    config, shape = (CONV, (3, 3, 3, 2)) if kind == "Conv2D" else (DENSE, (4, 2))
    layer = one(made(kind, config, shape, (2,), release=(2, 2, 4), backend=backend))
    assert [steps(w) for w in layer.weights] == expected


def test_gates_of_keras_1_are_joined_in_the_order_of_today() -> None:
    """Keras 1 stored input, cell, forget, output, three arrays each."""
    old = {
        "output_dim": 2,
        "activation": "tanh",
        "inner_activation": "sigmoid",
        "forget_bias_init": "one",
    }
    layer = one(made("LSTM", old, *(((4, 2), (2, 2), (2,)) * 4), release=(1, 2, 2)))
    joined = [w.recipe for w in layer.weights]
    assert [[t.ref for t in recipe.of] for recipe in joined if recipe is not None] == [
        ["/w0", "/w6", "/w3", "/w9"], ["/w1", "/w7", "/w4", "/w10"], ["/w2", "/w8", "/w5", "/w11"],
    ]  # fmt: skip
    assert [w.shape for w in layer.weights] == [(4, 8), (2, 8), (8,)]
