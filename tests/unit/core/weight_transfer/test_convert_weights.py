"""Weights of older Kerases by the rules of --keras 3, where the config is today's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import DENSE, layer, sequential
from unnest.core.architecture.nested_models import leaves
from unnest.core.keras3.conversion_context import CannotConvert, Context
from unnest.core.model import Tensor
from unnest.core.weight_transfer.convert_weights import weights_for_keras_3


def weights(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    return tuple(Tensor(f"w{k}", shape, "<f4", f"/w{k}") for k, shape in enumerate(shapes))


def converted(
    tensors: tuple[Tensor, ...], kind: str, context: Context, **config: Any
) -> list[tuple[str, tuple[int, ...]]]:
    (leaf,) = leaves(sequential(layer("it", kind=kind, **config)))
    found = weights_for_keras_3(leaf, tensors, context)
    return [(t.recipe.step if t.recipe else "", t.shape) for t in found]


GATES = {"units": 2, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True}
LSTM = weights((4, 8), (2, 8), (8,))


def test_what_needs_no_rule_stays() -> None:
    assert converted(weights((4, 3), (3,)), "Dense", Context.of("2.2.4", None), **DENSE) == [
        ("", (4, 3)),
        ("", (3,)),
    ]
    assert converted(LSTM, "LSTM", Context.of("2.2.4", None), **GATES) == [
        ("", (4, 8)),
        ("", (2, 8)),
        ("", (8,)),
    ]


def test_hard_sigmoid() -> None:
    hard = {**GATES, "recurrent_activation": "hard_sigmoid"}
    assert [step for step, _ in converted(LSTM, "LSTM", Context.of("2.2.4", None), **hard)] == [
        "scale"
    ] * 3
    found = converted(weights((4, 3), (3,)), "Dense", Context(), **DENSE, activation="hard_sigmoid")
    assert [step for step, _ in found] == ["scale"] * 2


def test_rules_reach_the_layers_that_a_layer_holds() -> None:
    """Both directions of a Bidirectional: its gates are scaled as those of an LSTM by itself."""
    hard = {**GATES, "name": "held", "recurrent_activation": "hard_sigmoid"}
    held = {"class_name": "LSTM", "config": hard}
    found = converted(
        (*LSTM, *LSTM), "Bidirectional", Context.of("2.2.4", None), layer=held, merge_mode="concat"
    )
    assert [step for step, _ in found] == ["scale"] * 6


def test_cudnn_is_told_by_its_bias() -> None:
    cudnn = weights((4, 8), (2, 8), (16,))
    assert [shape for _, shape in converted(cudnn, "LSTM", Context.of("2.2.4", None), **GATES)] == [
        (4, 8),
        (2, 8),
        (8,),
    ]
    with pytest.raises(CannotConvert, match="CuDNN"):
        converted(
            cudnn,
            "LSTM",
            Context.of("2.2.4", None),
            **{**GATES, "recurrent_activation": "hard_sigmoid"},
        )


def test_kernels_of_theano() -> None:
    found = converted(
        weights((3, 3, 2, 4), (4,)),
        "Conv2D",
        Context.of("2.2.4", "theano"),
        kernel_size=[3, 3],
        filters=4,
    )
    assert found == [("flip", (3, 3, 2, 4)), ("", (4,))]
