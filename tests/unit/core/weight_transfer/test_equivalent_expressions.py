"""Two forms of one computation correspond; their nearest neighbours, which compute something else, do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.core.build import functional, layer
from unnest.core.weight_transfer.match_layers_by_graph import Different, match_layers

CONV: dict[str, Any] = {"filters": 3, "kernel_size": [3, 3], "strides": [2, 2], "dilation_rate": [1, 1],
                        "data_format": "channels_last", "activation": "linear"}  # fmt: skip


def model(*layers: dict[str, Any], size: Any = 32) -> dict[str, Any]:
    """A chain of layers from an image; `size` is that of its two axes."""
    image = layer("x", kind="InputLayer", batch_shape=[None, size, size, 2], dtype="float32")
    chain = [image]
    for entry in layers:
        chain.append({**entry, "inbound_nodes": [[[chain[-1]["config"]["name"], 0, 0, {}]]]})
    return functional(*chain, outputs=[(chain[-1]["config"]["name"], 0, 0)])


def corresponds(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Both ways round."""
    answers = [_corresponds(old, new), _corresponds(new, old)]
    assert answers[0] is answers[1]
    return answers[0]


def _corresponds(old: dict[str, Any], new: dict[str, Any]) -> bool:
    try:
        match_layers(old, new, {}, {})
    except Different:
        return False
    return True


def pooled(kind: str = "Average", axes: int = 2, **config: Any) -> dict[str, Any]:
    return layer(
        "pool", kind=f"Global{kind}Pooling{axes}D", **{"data_format": "channels_last", **config}
    )


def reshaped(*shape: int) -> dict[str, Any]:
    return layer("reshape", kind="Reshape", target_shape=[*shape])


@pytest.mark.parametrize(
    ("old", "new", "equal"),
    [
        ([pooled(), reshaped(1, 1, 2)], [pooled(keepdims=True)], True),
        ([pooled(keepdims=False), reshaped(1, 1, -1)], [pooled(keepdims=True)], True),
        ([pooled(), reshaped(2, 1, 1)], [pooled(keepdims=True)], False),
        ([pooled(), reshaped(1, 2)], [pooled(keepdims=True)], False),
        ([pooled(), reshaped(1, 1, 2)], [pooled("Max", keepdims=True)], False),
        ([pooled(), reshaped(1, 1, 2)], [pooled()], False),
        ([pooled(data_format="channels_first"), reshaped(2, 1, 1)],
         [pooled(data_format="channels_first", keepdims=True)], True),
        ([pooled(data_format="channels_first"), reshaped(1, 1, 2)],
         [pooled(data_format="channels_first", keepdims=True)], False),
    ],
)  # fmt: skip
def test_pooling(old: list[dict[str, Any]], new: list[dict[str, Any]], equal: bool) -> None:
    assert corresponds(model(*old), model(*new)) is equal


@pytest.mark.parametrize(
    ("activation", "shape", "equal"),
    [("softmax", (3,), True), ("softmax", (-1, 3), True), ("softmax", (768,), False), ("softmax", (-1,), False),
     ("relu", (768,), True), ("tanh", (-1,), True), ("log_softmax", (6,), False), ("mine", (3,), False)],
)  # fmt: skip
def test_activation_and_reshape(activation: str, shape: tuple[int, ...], equal: bool) -> None:
    """Along the last axis, if that stays; of single numbers, whatever the shape; unknown functions never."""
    conv = layer("conv", kind="Conv2D", **CONV, padding="same")
    act = layer("act", kind="Activation", activation=activation)
    assert (
        corresponds(model(conv, act, reshaped(*shape)), model(conv, reshaped(*shape), act)) is equal
    )


def padded(*amounts: list[int], **config: Any) -> list[dict[str, Any]]:
    pad = layer("pad", kind="ZeroPadding2D", padding=[*amounts], data_format="channels_last")
    return [pad, layer("conv", kind="Conv2D", **{**CONV, "padding": "valid", **config})]


@pytest.mark.parametrize(
    ("amounts", "sizes", "config", "equal"),
    [
        ([[0, 1], [0, 1]], (32, 32), {}, True),
        ([[1, 1], [1, 1]], (33, 33), {}, True),
        ([[1, 1], [1, 1]], (32, 32), {"strides": [1, 1]}, True),
        ([[2, 2], [2, 2]], (32, 32), {"strides": [1, 1], "dilation_rate": [2, 2]}, True),
        ([[1, 1], [1, 1]], (32, 32), {}, False),
        ([[1, 0], [1, 0]], (32, 32), {}, False),
        ([[0, 1], [1, 0]], (32, 32), {}, False),
        ([[0, 1], [0, 1]], (32, 34), {}, False),
        ([[0, 1], [0, 1]], (33, 33), {}, False),
        ([[0, 1], [0, 1]], (None, None), {}, False),
        ([[0, 1], [0, 1]], (32, 32), {"padding": "same"}, False),
        ([[0, 1], [0, 1]], (32, 32), {"kernel_size": [5, 5]}, False),
    ],
)
def test_padding(
    amounts: list[list[int]], sizes: tuple[Any, Any], config: dict[str, Any], equal: bool
) -> None:
    """As much as "same" adds at that size of input, which both models must have."""
    same = layer("conv", kind="Conv2D", **{**CONV, **config, "padding": "same"})
    assert (
        corresponds(model(*padded(*amounts, **config), size=sizes[0]), model(same, size=sizes[1]))
        is equal
    )


def test_padding_within_a_model() -> None:
    """The size is known of inputs alone."""
    first = layer("first", kind="Conv2D", **CONV, padding="valid")
    same = layer("conv", kind="Conv2D", **CONV, padding="same")
    assert not corresponds(model(first, *padded([0, 1], [0, 1])), model(first, same))
