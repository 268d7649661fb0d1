"""Recurrent layers: their gates, CuDNN's, and what is refused of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.keras3.layers.making import RNN, made, one, refuses, steps
from unnest.core.keras3.conversion_context import CannotConvert


@pytest.mark.parametrize(
    ("kind", "config", "shapes", "factors"),
    [
        (
            "LSTM",
            {**RNN, "recurrent_activation": "hard_sigmoid"},
            ((4, 8), (2, 8), (8,)),
            (1.2, 1.2, 1.0, 1.2),
        ),
        (
            "GRU",
            {**RNN, "recurrent_activation": "hard_sigmoid"},
            ((4, 6), (2, 6), (6,)),
            (1.2, 1.2, 1.0),
        ),
        ("LSTM", RNN, ((4, 8), (2, 8), (8,)), None),
    ],
    ids=["lstm", "gru", "sigmoid"],
)
def test_gates_alone_are_scaled(
    kind: str,
    config: dict[str, Any],
    shapes: tuple[tuple[int, ...], ...],
    factors: tuple[float, ...] | None,
) -> None:
    """Weights inside tanh are not scaled."""
    layer = one(made(kind, config, *shapes))
    assert [steps(w) for w in layer.weights] == [
        [] if factors is None else [("scale", factors)]
    ] * 3


def test_a_gru_of_cudnn() -> None:
    """Each gate's kernels transposed, its two biases one above the other; with reset_after."""
    layer = one(made("CuDNNGRU", {"units": 2}, (4, 6), (2, 6), (12,)))
    assert (layer.class_name, layer.config["reset_after"], layer.config["recurrent_activation"]) == (
        "GRU", True, "sigmoid",
    )  # fmt: skip
    assert [w.shape for w in layer.weights] == [(4, 6), (2, 6), (2, 6)]
    assert [steps(w) for w in layer.weights] == [
        [("concatenate", (1,)), ("transpose", (1, 0)), ("reshape", (2, 4)), ("part", (1, 0, 2))],
        [("concatenate", (1,)), ("transpose", (1, 0)), ("part", (1, 0, 2))],
        [("reshape", (2, 6))],
    ]  # fmt: skip
    with pytest.raises(CannotConvert, match="has 2 weights in place of 3"):
        made("CuDNNGRU", {"units": 2}, (4, 6), (2, 6))


@pytest.mark.parametrize(
    ("kind", "config", "why"),
    [
        ("LSTM", {**RNN, "activation": "hard_sigmoid"}, "acts on the cell state"),
        ("LSTM", {"name": "l"}, "its arguments are not in the file"),
        ("RNN", {"cell": None}, "holds no layer"),
        ("StackedRNNCells", {"cells": None}, "holds no list of cells"),
        (
            "StackedRNNCells",
            {"cells": [], "reverse_state_order": True},
            "reverse_state_order has no counterpart",
        ),
    ],
)
def test_refused(kind: str, config: dict[str, Any], why: str) -> None:
    refuses(kind, config, why)


SEQUENCES = {**RNN, "return_sequences": True, "zero_output_for_mask": True}


@pytest.mark.parametrize(
    ("kind", "release", "masks", "is_carried"),
    [
        ("LSTM", (2, 4, 0), True, True), ("GRU", (2, 3, 0), True, True), ("SimpleRNN", (2, 2, 4), True, True),
        ("LSTM", (2, 2, 4), False, True), ("LSTM", (2, 2, 4), True, False), ("GRU", (2, 2, 4), True, False),
    ],
)  # fmt: skip
def test_zeros_at_masked_steps(
    kind: str, release: tuple[int, ...], masks: bool, is_carried: bool
) -> None:
    """Carried, but where TensorFlow 2.0 may have written it, whose LSTM and GRU took it and gave none."""
    config = {
        k: v for k, v in SEQUENCES.items() if kind != "SimpleRNN" or k != "recurrent_activation"
    }
    if not is_carried:
        refuses(
            kind,
            config,
            "whether it heeded zero_output_for_mask",
            release=release,
            is_tf=True,
            masks=masks,
        )
        return
    layer = one(made(kind, config, release=release, is_tf=True, masks=masks))
    assert layer.config["zero_output_for_mask"] is True


def test_a_convlstm_gives_no_zeros() -> None:
    """It takes the argument, and does not heed it."""
    config = {k: v for k, v in SEQUENCES.items() if k != "units"}
    config |= {"filters": 2, "kernel_size": [3, 3], "data_format": "channels_last"}
    assert "zero_output_for_mask" not in one(made("ConvLSTM2D", config, masks=True)).config


@pytest.mark.parametrize(
    ("release", "masks", "config", "is_carried"),
    [
        ((2, 2, 4), True, {}, False),
        ((2, 0, 9), True, {}, False),
        ((2, 3, 0), True, {}, True),
        ((2, 2, 4), False, {}, True),
        ((2, 2, 4), True, {"unroll": True}, True),
        ((2, 2, 4), True, {"stateful": False}, True),
    ],
)
def test_a_state_kept_behind_a_mask(
    release: tuple[int, ...], masks: bool, config: dict[str, Any], is_carried: bool
) -> None:
    """Before Keras 2.3 a row that began with masked steps gave the state of the batch before."""
    stateful = {**RNN, "stateful": True, **config}
    if is_carried:
        kept = one(made("LSTM", stateful, release=release, masks=masks)).config["stateful"]
        assert kept is stateful["stateful"]
    else:
        refuses(
            "LSTM", stateful, "gave the state of the batch before", release=release, masks=masks
        )
