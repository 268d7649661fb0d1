"""Forms of one computation that today's keras.applications writes otherwise than the Keras of then.

Each rule takes a call of the longer form and one of the shorter, and returns both in one form; where it is not certain
that they compute the same it returns None. (Source: keras_applications 1.0.8 and keras/src/applications of Keras 3.15.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from unnest.core.json_tree import is_list
from unnest.core.keras_facts.custom_functions_in_configs import ACTIVATIONS
from unnest.core.model import Json, JsonObject
from unnest.core.weight_transfer.model_expressions import ACTIVATION, INPUT, Node, NodeOutput

#: Activations of which each number depends on the numbers along the last axis; all others are of single numbers.
ALONG_LAST_AXIS = frozenset({"softmax", "log_softmax"})
POOLING = "Global"

Forms: TypeAlias = "tuple[Node, Node] | None"


def in_one_form(old: NodeOutput, new: NodeOutput) -> tuple[NodeOutput, NodeOutput]:
    """Return two tensors, which may be the same computation, in one form."""
    for rule in (_with_kept_axes, _activated_last, _padded_by_itself):
        if forms := rule(old.node, new.node):
            return old._replace(node=forms[0]), new._replace(node=forms[1])
        if forms := rule(new.node, old.node):
            return old._replace(node=forms[1]), new._replace(node=forms[0])
    return old, new


def _with_kept_axes(reshape: Node, pooling: Node) -> Forms:
    """Two forms of one thing: a global pooling reshaped to (1, 1, channels), and one with `keepdims`."""
    inner = _only_operand(reshape)
    if (
        reshape.kind != "Reshape"
        or inner is None
        or not inner.kind.startswith(POOLING)
        or inner.kind != pooling.kind
    ):
        return None
    target = reshape.settings.get("target_shape")
    if (
        inner.settings.get("keepdims")
        or pooling.settings.get("keepdims") is not True
        or not is_list(target)
    ):
        return None
    ones = target[1:] if _is_channels_first(inner) else target[:-1]
    axes = int(inner.kind[-2])
    is_kept = len(target) == axes + 1 and list(ones) == [1] * axes
    return (inner.with_settings(keepdims=True), pooling) if is_kept else None


def _activated_last(reshape: Node, activation: Node) -> Forms:
    """Two forms of one thing: a reshaped activation, and the activation of a reshaped tensor."""
    inner = _only_operand(reshape)
    other = _only_operand(activation)
    if reshape.kind != "Reshape" or inner is None or other is None or other.kind != "Reshape":
        return None
    if (
        inner.kind != ACTIVATION
        or activation.kind != ACTIVATION
        or inner.argument not in ACTIVATIONS
    ):
        return None
    if inner.argument in ALONG_LAST_AXIS and not _keeps_last_axis(reshape, _only_operand(inner)):
        return None
    moved = replace(reshape, inputs=inner.inputs)
    return replace(inner, inputs=(NodeOutput(moved, 0),)), activation


def _padded_by_itself(valid: Node, same: Node) -> Forms:
    """Two forms of one thing: a `valid` convolution of the zero-padded input, and a `same` one of the input.

    They are equal if the two inputs have one size, and the zero padding is what "same" adds for that size.
    """
    zero_padding, same_input = _only_operand(valid), _only_operand(same)
    if zero_padding is None or same_input is None or not _are_valid_and_same(valid, same):
        return None
    valid_input = _only_operand(zero_padding)
    if not zero_padding.kind.startswith("ZeroPadding") or valid_input is None:
        return None
    if valid_input.kind != INPUT or same_input.kind != INPUT:
        return None
    sizes = _sizes(valid_input, valid)
    if sizes is None or sizes != _sizes(same_input, same):
        return None
    pads_as_same = _amounts(zero_padding.settings.get("padding")) == [*_same_amounts(same, sizes)]
    if not pads_as_same or _is_channels_first(zero_padding) != _is_channels_first(valid):
        return None
    return replace(valid, inputs=zero_padding.inputs).with_settings(padding="same"), same


def _are_valid_and_same(valid: Node, same: Node) -> bool:
    """Return True for two convolutions of one class, the first with `padding="valid"`, the second with "same"."""
    paddings = valid.settings.get("padding"), same.settings.get("padding")
    return valid.kind == same.kind and paddings == ("valid", "same")


def _only_operand(node: Node) -> Node | None:
    """Return the only tensor that a call reads, if it is the only output of another call."""
    return node.inputs[0].node if len(node.inputs) == 1 and node.inputs[0].tensor == 0 else None


def _is_channels_first(node: Node) -> bool:
    return node.settings.get("data_format") == "channels_first"


def _keeps_last_axis(reshape: Node, producer: Node | None) -> bool:
    """Return True if the last axis, of a convolution or Dense layer, is the last axis of the new shape too."""
    target = reshape.settings.get("target_shape")
    if producer is None or not is_list(target) or not target or _is_channels_first(producer):
        return False
    channels = {"Conv": "filters", "Dense": "units"}
    key = next((key for kind, key in channels.items() if producer.kind.startswith(kind)), "")
    return isinstance(target[-1], int) and target[-1] == producer.settings.get(key)


def _sizes(image: Node, reader: Node) -> Sequence[int] | None:
    """Return the sizes of an input of the model along the axes that a layer moves over; None if one is unknown."""
    shape = image.settings.get("batch_shape")
    if not is_list(shape):
        return None
    sizes = shape[2:] if _is_channels_first(reader) else shape[1:-1]
    return (
        [n for n in sizes if isinstance(n, int)] if all(isinstance(n, int) for n in sizes) else None
    )


def _amounts(padding: Json) -> list[tuple[Json, Json]]:
    """Return what a ZeroPadding layer adds before and behind each axis, as Keras 3 stores it."""
    pairs = padding if is_list(padding) else []
    amounts: list[tuple[Json, Json]] = []
    for pair in pairs:
        if is_list(pair) and len(pair) == 2:  # noqa: PLR2004 - before and behind
            amounts.append((pair[0], pair[1]))
        else:
            amounts.append((pair, pair))
    return amounts


def _same_amounts(layer: Node, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield what `padding="same"` adds before and behind each axis (source: TensorFlow, nn.convolution)."""
    settings = layer.settings
    kernels, strides, dilations = (
        _numbers(settings, key, len(sizes)) for key in ("kernel_size", "strides", "dilation_rate")
    )
    for size, kernel, stride, dilation in zip(sizes, kernels, strides, dilations, strict=False):
        reach = (kernel - 1) * dilation + 1
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        yield total // 2, total - total // 2


def _numbers(settings: JsonObject, key: str, count: int) -> list[int]:
    """Return an argument of a convolution for each axis; one that is missing is 1."""
    value = settings.get(key, 1)
    numbers = (
        [n for n in value if isinstance(n, int)]
        if is_list(value)
        else [value]
        if isinstance(value, int)
        else []
    )
    return numbers * count if len(numbers) == 1 else numbers
