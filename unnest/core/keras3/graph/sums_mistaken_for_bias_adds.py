"""Sums of tensors of different shapes, written so that Keras 3 on TensorFlow adds along the axes where these meet.

Its `add` takes a second operand with a single axis longer than 1 for a bias, and adds it along the last axis of the
first operand if that is as long, else along axis 1, wherever that axis stands. `subtract` does no such thing.
(Source: Keras 3.15, keras/src/backend/tensorflow/numpy.py: add; layers/merging.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unnest.core.keras3.conversion_context import refused
from unnest.core.keras3.layer_replacements import (
    LayerCall,
    NewLayer,
    NodeTree,
    negated,
    numpy_operation,
)
from unnest.core.keras3_op_node import GraphTensor, OpNode
from unnest.core.model import JsonObject, Shape

LAYERS = ("Add", "Average")
"""Layers that add tensors."""


def has_misplaced_sum(shapes: Sequence[Shape]) -> bool:
    """Return True if a sum of tensors of these shapes, each added to the sum of those before, may be another one."""
    if len(set(shapes)) <= 1:
        return False
    from unnest.core.ops.shape_arithmetic import broadcast  # with all operations

    return any(
        is_taken_for_bias(broadcast(shapes[:number]), shapes[number])
        for number in range(1, len(shapes))
    )


def of_operation(
    node: OpNode, addends: Sequence[NodeTree], shapes: Sequence[Shape]
) -> tuple[OpNode, list[NodeTree]]:
    """Return a misplaced sum of two, equal to the last bit: exchanged, or the negative of the second subtracted."""
    first, second = addends
    if not has_misplaced_sum(shapes[::-1]):
        return node, [second, first]
    is_tensor = isinstance(second, GraphTensor)
    negative = numpy_operation("Negative", second) if is_tensor else negated(second)
    return replace(node, class_name="Subtract"), [first, negative]


def of_layer(
    layer: NewLayer, addends: Sequence[NodeTree], shapes: Sequence[Shape], negative_name: str | None
) -> tuple[NewLayer, list[NodeTree]]:
    """Return the same for an Add or Average, by layers, which hand masks on; `negative_name` is None for integers.

    Raises:
        CannotConvert: Neither way gives the same.

    """
    first, *others = addends
    is_of_two = not others[1:]
    if is_of_two and not has_misplaced_sum(shapes[::-1]):
        return layer, [[*others, first]]
    if not is_of_two or layer.class_name != "Add" or negative_name is None:
        raise refused(layer.name, layer.class_name, "Keras 3 may add these along another axis")
    config: JsonObject = {"name": negative_name, "scale": -1.0, "offset": 0.0}
    negative = LayerCall(NewLayer(negative_name, "Rescaling", config), (*others,))
    return layer._replace(class_name="Subtract"), [[first, negative]]


def is_taken_for_bias(first: Shape, second: Shape) -> bool:
    """Return True if Keras 3 may add `second` to another axis of `first` than the one it meets.

    A size that is not known until the model runs may be 1, or as long as another axis.
    """
    if first == second or not first[1:]:
        return False
    known = [axis for axis, size in enumerate(second) if size not in (None, 1)]
    unknown = [axis for axis, size in enumerate(second) if size is None]
    if len(known) > 1:
        return False
    return any(
        _is_added_elsewhere(first, len(second) - axis, second[axis]) for axis in known or unknown
    )


def sums_with_biases(kind: str, config: JsonObject) -> list[tuple[Shape, Shape]]:
    """Return what a layer adds biases of several axes to, and the shapes of these; nothing for most layers."""
    if kind == "EinsumDense" and config.get("bias_axes"):
        return _einsum_bias(config)
    if kind == "MultiHeadAttention" and config.get("use_bias", True):
        asked = config.get("query_shape")
        front = _sizes(asked)[:-1] if isinstance(asked, Sequence) else (None, None)
        widths = {config.get("key_dim"), config.get("value_dim") or config.get("key_dim")}
        biases = [_sizes([config.get("num_heads"), width]) for width in widths]
        return [((*front, *bias), bias) for bias in biases]
    return []


def _einsum_bias(config: JsonObject) -> list[tuple[Shape, Shape]]:
    """Return an EinsumDense's output and bias: one long from the first of `bias_axes` on where an axis is not named.

    (Source: Keras 3.15, keras/src/layers/core/einsum_dense.py: _analyze_split_string.)
    """
    letters = str(config["equation"]).partition("->")[2].replace("...", "")
    sizes = config.get("output_shape")
    known = _sizes(sizes if isinstance(sizes, Sequence) else [sizes])
    output = (*[None] * len(letters), *known)[-len(letters) :]
    first = min(letters.index(axis) for axis in str(config["bias_axes"]))
    bias = (
        size if letter in str(config["bias_axes"]) else 1
        for letter, size in zip(letters[first:], output[first:], strict=True)
    )
    return [(output, (*bias,))]


def _sizes(stored: Iterable[object]) -> Shape:
    """Return stored sizes, None for one that is not known."""
    return tuple(size if isinstance(size, int) else None for size in stored)


def _is_added_elsewhere(first: Shape, place: int, size: int | None) -> bool:
    """Return True if a bias may be added to another axis than the one at `place`, counted from 1 at the last."""
    last, rank = first[-1], len(first)
    if place != 1 and _may_be(last, size):
        return True
    if not first[2:] or (last is not None and last == size):
        return False
    return place != rank - 1 and _may_be(first[1], size)


def _may_be(axis: int | None, size: int | None) -> bool:
    """Return True if an axis may be as long as the one long axis of a bias."""
    return axis is None or (axis > 1 and size in (None, axis))
