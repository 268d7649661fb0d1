"""Rules for the weights of a layer by its config: shapes, the axes of the input that they depend on, numbers.

(Source: the `build` methods of Keras 2.0.9 to 3.15.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from unnest.core.model import Json, JsonObject, Shape

PartialShape: TypeAlias = "tuple[int | None, ...]"
"""Shape of a weight; None for a size that depends on the input."""

# ---- shapes of the first weights ----


def dense_shapes(config: JsonObject) -> list[PartialShape] | None:
    """Kernel (features, units) and bias (units)."""
    units = _size(config.get("units"))
    return None if units is None else [(None, units), (units,)]


def conv_shapes(axes: int) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a convolution that slides over so many axes: kernel (*window, channels, filters) and bias (filters)."""

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        filters = _size(config.get("filters"))
        window = _window(config, axes)
        return None if filters is None else [(*window, None, filters), (filters,)]

    return shapes


def conv_transpose_shapes(axes: int) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a transposed convolution: kernel (*window, filters, channels) and bias (filters)."""

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        filters = _size(config.get("filters"))
        window = _window(config, axes)
        return None if filters is None else [(*window, filters, None), (filters,)]

    return shapes


def separable_shapes(axes: int) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a separable convolution: depthwise kernel, pointwise kernel (1, ..., channels, filters), bias."""

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        filters, times = _size(config.get("filters")), _size(config.get("depth_multiplier"))
        if filters is None or times is None:
            return None
        depthwise = (*_window(config, axes), None, times)
        return [depthwise, (*[1] * axes, None, filters), (filters,)]

    return shapes


def depthwise_shapes(axes: int) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a convolution of each channel by itself: kernel (*window, channels, depth_multiplier) and bias."""

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        times = _size(config.get("depth_multiplier"))
        return None if times is None else [(*_window(config, axes), None, times), (None,)]

    return shapes


def embedding_shapes(config: JsonObject) -> list[PartialShape] | None:
    """Table (input_dim, output_dim)."""
    rows, size = config.get("input_dim"), config.get("output_dim")
    return [(rows, size)] if isinstance(rows, int) and isinstance(size, int) else None


def recurrent_shapes(
    gates: int, biases: int = 1
) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a recurrent layer: kernel (features, gates * units), recurrent kernel (units, gates * units), bias.

    `biases`: blocks of gates * units in the bias; CuDNN has one for either kernel.
    """

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        units = _size(config.get("units"))
        if units is None:
            return None
        return [(None, gates * units), (units, gates * units), (biases * gates * units,)]

    return shapes


def gru_shapes(config: JsonObject) -> list[PartialShape] | None:
    """The same of a GRU, whose bias has a row for either kernel with `reset_after`."""
    shapes = recurrent_shapes(3)(config)
    if shapes is None or config.get("reset_after") is not True:
        return shapes
    return [*shapes[:2], (2, *shapes[2])]


def conv_lstm_shapes(axes: int) -> Callable[[JsonObject], list[PartialShape] | None]:
    """Rule for a ConvLSTM over so many axes: kernels (*window, channels or filters, 4 * filters) and bias."""

    def shapes(config: JsonObject) -> list[PartialShape] | None:
        filters = _size(config.get("filters"))
        if filters is None:
            return None
        window = _window(config, axes)
        return [(*window, None, 4 * filters), (*window, filters, 4 * filters), (4 * filters,)]

    return shapes


def attention_shapes(config: JsonObject) -> list[PartialShape] | None:
    """Kernels and biases for query, key, value and output of a MultiHeadAttention.

    That of the output has the shape of the query, which the config does not show, unless it has `output_shape`.
    """
    heads, size = _size(config.get("num_heads")), _size(config.get("key_dim"))
    if heads is None or size is None or config.get("output_shape") is not None:
        return None
    of_value = _size(config.get("value_dim")) or size
    shapes: list[PartialShape] = []
    for each in (size, size, of_value):
        shapes += [(None, heads, each), (heads, each)]
    shapes += [(heads, of_value, None), (None,)]
    return shapes[::2] if config.get("use_bias") is False else shapes


# ---- shapes of all weights, by the shape of the input too ----


def prelu_shapes(config: JsonObject, shape: Shape) -> list[PartialShape] | None:
    """One number for each place of a row; axes in `shared_axes` have one for all their places."""
    unshared = unshared_axes(config, len(shape))
    return [tuple(shape[axis] if axis in unshared else 1 for axis in range(1, len(shape)))]


def einsum_shapes(config: JsonObject, shape: Shape) -> list[PartialShape] | None:
    """Kernel and bias by the equation: letters of the input have its sizes, others those of `output_shape`.

    None for an equation that does not fit the input. (Source: keras/layers/core/einsum_dense.py of TensorFlow 2.15,
    and of Keras 3.15: `_analyze_split_string`.)
    """
    parts = re.fullmatch(
        r"(\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?",
        str(config.get("equation")).replace(" ", ""),
    )
    given = config.get("output_shape")
    sizes = [given] if isinstance(given, int) else given
    if parts is None or not isinstance(sizes, Sequence):
        return None
    of_input, of_kernel, of_output = parts[2], parts[4], parts[6]
    elided = len(shape) - len(of_input)
    if elided < 0 or (elided > 0 and not (parts[1] or parts[3])):
        return None
    behind = shape[elided:] if parts[1] else shape[: len(of_input)]
    if parts[1] and elided > 0:
        outputs = [_size(n) for n in sizes]
        outputs = outputs[len(outputs) - len(of_output) :]
    else:
        outputs = [shape[0], *(_size(n) for n in sizes)]
    known = {
        **dict(zip(of_output, outputs, strict=False)),
        **dict(zip(of_input, behind, strict=True)),
    }
    if not set(of_kernel) <= known.keys():
        return None
    kernel = tuple(known[letter] for letter in of_kernel)
    axes = config.get("bias_axes")
    if not isinstance(axes, str) or not axes:
        return [kernel]
    by_output = dict(zip(of_output, outputs, strict=False))
    first = min(of_output.find(letter) for letter in axes)
    bias = [by_output.get(letter) if letter in axes else 1 for letter in of_output[max(first, 0) :]]
    return [kernel, (*bias, *[1] * (elided if parts[3] else 0))]


def _window(config: JsonObject, axes: int) -> list[int | None]:
    """Return the sizes of a convolution's window, None for each that its config does not show."""
    window = config.get("kernel_size")
    window = [window] * axes if isinstance(window, int) else window
    sizes = window if isinstance(window, Sequence) and len(window) == axes else [None] * axes
    return [_size(n) for n in sizes]


def _size(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# ---- axes of the input whose sizes must be known when the weights are made ----


def last_axis(config: JsonObject, rank: int) -> list[int]:
    """Return the last axis alone."""
    del config
    return [rank - 1]


def channel_axis(config: JsonObject, rank: int) -> list[int]:
    """The axis of the channels, as `data_format` says."""
    return [1 if config.get("data_format") == "channels_first" else rank - 1]


def step_channel_axis(config: JsonObject, rank: int) -> list[int]:
    """The axis of the channels behind an axis of time steps."""
    return [2 if config.get("data_format") == "channels_first" else rank - 1]


def axes_argument(config: JsonObject, rank: int) -> list[int]:
    """The axes that `axis` names, the last if it names none."""
    axes = config.get("axis", -1)
    names = [] if axes is None else axes if isinstance(axes, Sequence) else [axes]
    return [axis % rank for axis in names if isinstance(axis, int) and -rank <= axis < rank]


def unshared_axes(config: JsonObject, rank: int) -> list[int]:
    """Return the axes with weights of their own: all but the batch axis and `shared_axes`."""
    shared = config.get("shared_axes")
    return [
        axis
        for axis in range(1, rank)
        if axis not in (shared if isinstance(shared, Sequence) else ())
    ]


# ---- numbers of weights that no initializer in the config shows ----


def multi_head_attention_count(config: JsonObject) -> int:
    """Kernel, and bias if there is one, of the layers for query, key, value and output."""
    return 4 * (1 + (config.get("use_bias") is not False))


def attention_count(config: JsonObject) -> int:
    """A scale, off by default, and the weight of a score by concatenation."""
    return bool(config.get("use_scale", False)) + (config.get("score_mode") == "concat")


def additive_attention_count(config: JsonObject) -> int:
    """A scale, on by default."""
    return int(bool(config.get("use_scale", True))) + (config.get("score_mode") == "concat")


def normalization_count(config: JsonObject) -> int:
    """Mean, variance and count, unless the config holds the mean."""
    return 3 * (config.get("mean") is None)


def reversible_embedding_count(config: JsonObject) -> int:
    """A table, and another one for the way back if they are not tied."""
    return 1 + (config.get("tie_weights") is False)
