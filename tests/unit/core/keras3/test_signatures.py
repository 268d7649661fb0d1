"""Which arguments the constructors of Keras 3 take."""

from __future__ import annotations

import pytest

from unnest.core.keras3.signatures import BARE, SIGNATURES, takes


@pytest.mark.parametrize(
    ("class_name", "argument", "taken"),
    [
        ("Dense", "units", True),
        ("Dense", "kernel_initializer", True),
        ("Dense", "bias_constraint", True),
        ("Dense", "kernel_*", False),
        ("Dense", "filters", False),
        ("Dense", "batch_input_shape", False),
        ("Conv2D", "groups", True),
        ("Conv2DTranspose", "groups", False),
        ("DepthwiseConv2D", "kernel_initializer", False),
        ("SeparableConv2D", "pointwise_regularizer", True),
        ("LSTM", "unit_forget_bias", True),
        ("GRU", "unit_forget_bias", False),
        ("GRU", "reset_after", True),
        ("LSTM", "time_major", False),
        ("LSTMCell", "return_sequences", False),
        ("Flatten", "name", True),
        ("Flatten", "dtype", True),
        ("Flatten", "trainable", True),
        ("Discretization", "trainable", False),
        ("SpatialDropout2D", "trainable", False),
        ("Dropout", "trainable", True),
    ],
)
def test_takes(class_name: str, argument: str, taken: bool) -> None:
    assert takes(class_name, argument) is taken


def test_every_role_is_spelled_out() -> None:
    assert [n for arguments in SIGNATURES.values() for n in arguments if "*" in n] == []
    assert set(SIGNATURES) >= BARE
