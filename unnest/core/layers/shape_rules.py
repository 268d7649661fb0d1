"""Rules for the shape of a Keras 3 layer's output, by its config and its input's shape.

(Source: the layers' `compute_output_shape` in Keras 3.15, where every rule was compared with what Keras itself says.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from unnest.core.layers.read_config_values import integer, integers, settings
from unnest.core.model import JsonObject, Shape, Unknown


def same(config: JsonObject, shape: Shape) -> Shape:
    """Shape of the input, unchanged."""
    del config
    return shape


def _spatial(
    config: JsonObject, shape: Shape, sizes: Sequence[int | None], channels: int | None
) -> Shape:
    """Return the shape with other spatial sizes, channels first or last as the config says. Raises Unknown."""
    if any(size is not None and size <= 0 for size in sizes):
        raise Unknown("a size below 1")
    if config.get("data_format") == "channels_first":
        return (shape[0], channels, *sizes)
    return (shape[0], *sizes, channels)


def _parts(config: JsonObject, shape: Shape) -> tuple[Shape, int | None]:
    """Return the spatial sizes and the channels of a shape, as `data_format` says."""
    if config.get("data_format") == "channels_first":
        return shape[2:], shape[1]
    return shape[1:-1], shape[-1]


def _windows(
    config: JsonObject, sizes: Shape, window: Sequence[int], dilation: Sequence[int]
) -> list[int | None]:
    """Number of window positions along each axis: 13 for size 28, window 3, stride 2, padding `valid`.

    Raises Unknown.
    """
    padding = config.get("padding")
    if padding not in {"valid", "same", "causal"}:
        raise Unknown(f"the padding {padding}")
    strides = integers(config.get("strides"), len(sizes))
    reach = [
        d * (w - 1) if padding == "valid" else 0 for w, d in zip(window, dilation, strict=True)
    ]
    return [
        None if size is None else (size - over - 1) // step + 1
        for size, over, step in zip(sizes, reach, strides, strict=True)
    ]


def conv(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a convolution: window positions, `filters` channels (depthwise: `depth_multiplier` times as many)."""
    sizes, channels = _parts(config, shape)
    window = integers(config.get("kernel_size"), len(sizes))
    # No convolution of Keras 1 is dilated but the two that are named for it.
    undilated = [1] * len(sizes)
    dilation = integers(config.get("dilation_rate", undilated), len(sizes))
    if "filters" in config:
        channels = integer(config["filters"])
    elif channels is not None:
        channels *= integer(config.get("depth_multiplier"))
    return _spatial(config, shape, _windows(config, sizes, window, dilation), channels)


def conv_transpose(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a transposed convolution, as TensorFlow pads it. Raises Unknown."""
    sizes, _ = _parts(config, shape)
    rank, padding = len(sizes), config.get("padding")
    if padding not in {"valid", "same"}:
        raise Unknown(f"the padding {padding}")
    strides, window, dilation = (
        integers(config.get(k), rank) for k in ("strides", "kernel_size", "dilation_rate")
    )
    extra = (
        None if config.get("output_padding") is None else integers(config["output_padding"], rank)
    )

    def grown(at: int, size: int) -> int:
        step, reach = strides[at], (window[at] - 1) * dilation[at] + 1
        if padding == "valid":
            return (size - 1) * step + (max(reach, step) if extra is None else reach + extra[at])
        return size * step if extra is None else (size - 1) * step + reach % 2 + extra[at]

    new = [None if size is None else grown(at, size) for at, size in enumerate(sizes)]
    return _spatial(config, shape, new, integer(config.get("filters")))


def pooling(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a pooling: window positions, channels unchanged."""
    sizes, channels = _parts(config, shape)
    window = integers(config.get("pool_size"), len(sizes))
    return _spatial(config, shape, _windows(config, sizes, window, [1] * len(sizes)), channels)


def global_pooling(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a global pooling: (batch, channels), spatial sizes of 1 with `keepdims`."""
    sizes, channels = _parts(config, shape)
    return (
        _spatial(config, shape, [1] * len(sizes), channels)
        if config.get("keepdims")
        else (shape[0], channels)
    )


def _edges(key: str, sign: int) -> Callable[[JsonObject, Shape], Shape]:
    """Rule for padding (`sign` 1) and cropping (-1): each end of a spatial axis longer or shorter. Raises Unknown."""

    def changed(config: JsonObject, shape: Shape) -> Shape:
        sizes, channels = _parts(config, shape)
        ends = config.get(key)
        pairs = [ends] if len(sizes) == 1 else ends
        if not isinstance(pairs, Sequence) or len(pairs) != len(sizes):
            raise Unknown(f"{key} for each axis")
        both = [sum(integers(pair, 2)) for pair in pairs]
        new = [None if s is None else s + sign * more for s, more in zip(sizes, both, strict=True)]
        return _spatial(config, shape, new, channels)

    return changed


padding, cropping = _edges("padding", 1), _edges("cropping", -1)


def upsampling(config: JsonObject, shape: Shape) -> Shape:
    """Shape after UpSampling: each spatial size times its factor. `shape` includes the batch."""
    sizes, channels = _parts(config, shape)
    factors = integers(config.get("size"), len(sizes))
    new = [None if s is None else s * f for s, f in zip(sizes, factors, strict=True)]
    return _spatial(config, shape, new, channels)


def dense(config: JsonObject, shape: Shape) -> Shape:
    """Return the input's shape with `units` as last axis."""
    return (*shape[:-1], integer(config.get("units")))


def embedding(config: JsonObject, shape: Shape) -> Shape:
    """Shape of an Embedding: the input's with a last axis of `output_dim`. Raises Unknown."""
    return (*shape, integer(config.get("output_dim")))


def flatten(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a Flatten: (batch, product of all other sizes)."""
    del config
    return (shape[0], _product(shape[1:]))


def _product(shape: Shape) -> int | None:
    known = [size for size in shape if size is not None]
    return prod(known) if len(known) == len(shape) else None


def reshape(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a Reshape: (batch, *target_shape), with -1 worked out. Raises Unknown."""
    target = integers(config.get("target_shape"))
    whole, known = _product(shape[1:]), prod(size for size in target if size != -1)
    if target.count(-1) > 1 or (whole is not None and whole % known):
        raise Unknown("a target_shape of another number of entries")
    rest = None if whole is None else whole // known
    return (shape[0], *(rest if size == -1 else size for size in target))


def permute(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a Permute: (batch, other sizes in the order of `dims`)."""
    return (shape[0], *(shape[at] for at in integers(config.get("dims"), len(shape) - 1)))


def repeat(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a RepeatVector: (batch, n, features) for (batch, features). Raises Unknown."""
    batch, size = shape if len(shape) == 2 else (None, None)  # noqa: PLR2004 - rows and features
    if size is None:
        raise Unknown("the number of features")
    return (batch, integer(config.get("n")), size)


def recurrent(config: JsonObject, shape: Shape) -> Shape:
    """Shape for input (batch, steps, features): (batch, units), with `return_sequences` (batch, steps, units).

    Raises Unknown.
    """
    if config.get("return_state") or len(shape) != 3:  # noqa: PLR2004 - rows, steps and features
        raise Unknown("the shape of states or of steps")
    return (*shape[: 2 if config.get("return_sequences") else 1], integer(config.get("units")))


def conv_lstm(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a ConvLSTM: a convolution of one step, with the axis of the steps if `return_sequences`.

    Raises Unknown.
    """
    if config.get("return_state"):
        raise Unknown("the shape of states")
    step = conv(config, (shape[0], *shape[2:]))
    return (shape[0], shape[1], *step[1:]) if config.get("return_sequences") else step


def bidirectional(config: JsonObject, shape: Shape) -> Shape:
    """Shape of a Bidirectional: its recurrent layer's, with twice the features if the directions are concatenated.

    Raises Unknown.
    """
    inner, merge = config.get("layer"), config.get("merge_mode")
    if not isinstance(inner, Mapping) or inner.get("class_name") not in {
        "LSTM",
        "GRU",
        "SimpleRNN",
    }:
        raise Unknown("the output of a custom recurrent layer")
    if merge not in {"concat", "sum", "mul", "ave"}:
        raise Unknown(f"the merge_mode {merge}")
    *front, units = recurrent(settings(inner), shape)
    return (*front, units * (2 if merge == "concat" else 1)) if units is not None else shape
