"""What a Keras 3 layer makes of a tensor, told from its class and config alone.

A functional model of Keras 3 notes the shape and dtype of every tensor that a call reads, and the arguments
that Keras filled in; a Sequential notes neither. Both follow from the layers' `call` and `compute_output_shape`
(source: Keras 3.15, where every rule here was compared with what Keras itself says). Whatever is not in the
tables, may carry a mask, or contradicts what the file does note is unknown: None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple, TypeAlias

from unnest.core.model import Json, JsonObject

Shape: TypeAlias = "tuple[int | None, ...]"
Rule: TypeAlias = Callable[[JsonObject, Shape], Shape]

TENSOR = "__keras_tensor__"


class Spec(NamedTuple):
    """What is noted of one tensor."""

    shape: Shape
    dtype: str


class Called(NamedTuple):
    """A layer called on one tensor: the arguments that Keras fills in, and what comes out."""

    kwargs: JsonObject
    output: Spec


class _Unknown(Exception):
    """Nothing that can be told for certain."""


def of_input(entry: JsonObject) -> Spec | None:
    """The tensor of an input layer."""
    config = _settings(entry)
    dtype = config.get("dtype")
    if entry.get("class_name") != "InputLayer" or config.get("sparse") or config.get("ragged"):
        return None
    try:
        return Spec(_shape(config.get("batch_shape")), dtype) if isinstance(dtype, str) else None
    except _Unknown:
        return None


def called(entry: JsonObject, given: Spec) -> Called | None:
    """What a call of this layer on that tensor stores and yields."""
    try:
        return Called(_filled_in(entry, given), _output(entry, given))
    except (_Unknown, ArithmeticError, LookupError):
        return None


def converts(entry: JsonObject, given: Spec) -> bool:
    """Whether the layer casts a floating tensor to its own dtype first.

    From Keras 3.10 on the call notes the tensor as it was given; before, a cast stands between the two.
    """
    try:
        return _is_float(given.dtype) and given.dtype != _takes(entry, given)
    except _Unknown:
        return False


def noted(node: Json) -> Iterator[Spec]:
    """The tensors that a stored call reads, as it notes them."""
    if isinstance(node, Mapping):
        config = node.get("config")
        if node.get("class_name") == TENSOR and isinstance(config, Mapping):
            try:
                yield Spec(_shape(config.get("shape")), str(config.get("dtype")))
            except _Unknown:
                return
        else:
            for part in node.values():
                yield from noted(part)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for part in node:
            yield from noted(part)


# ---- a call ----

TRAINING = frozenset({
    "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout",
    "GaussianNoise", "LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D",
})  # fmt: skip
"""The layers whose call has `training=False`: a default that is not None is noted."""

MASK = frozenset({
    "BatchNormalization", "Softmax", "GlobalAveragePooling1D", "LSTM", "GRU", "SimpleRNN", "ConvLSTM1D",
    "ConvLSTM2D", "ConvLSTM3D", "Bidirectional", "TimeDistributed", "Sequential", "Functional", "Model",
})  # fmt: skip
"""The layers whose call has a `mask`: the input's is noted, and is None where nothing before makes masks."""


def _filled_in(entry: JsonObject, given: Spec) -> JsonObject:
    """The arguments that the call notes beside its tensor.

    Keras fills them into a copy where it has to convert the tensor, and they are lost (from 3.10 on).
    """
    name = entry.get("class_name")
    filled: dict[str, Json] = {}
    if name in TRAINING:
        filled["training"] = False
    if name in MASK:
        filled["mask"] = None
    if given.dtype == _takes(entry, given):
        return filled
    if filled and not _is_float(given.dtype):
        raise _Unknown  # no cast tells which Keras it was
    return {}


def _takes(entry: JsonObject, given: Spec) -> str:
    """The dtype that a layer wants its tensor in."""
    config = _settings(entry)
    if "output_layers" in config:
        return given.dtype  # a functional model takes what it gets
    if entry.get("class_name") == "Sequential":
        first = of_input(_layers(config)[0])
        if first is None:
            raise _Unknown
        return first.dtype
    return _compute_dtype(config)


def _compute_dtype(config: JsonObject) -> str:
    """The dtype that a layer computes in, by the name of its policy."""
    policy = config.get("dtype")
    if isinstance(policy, Mapping):
        inner = policy.get("config")
        policy = inner.get("name") if policy.get("class_name") == "DTypePolicy" and isinstance(inner, Mapping) else None
    if not isinstance(policy, str):
        raise _Unknown
    return policy.removeprefix("mixed_")


def _is_float(dtype: str) -> bool:
    return "float" in dtype


def hides_policy(entry: JsonObject) -> bool:
    """Whether the layer stores the dtype of its (absent) weights in place of the policy that it computes with."""
    return str(entry.get("class_name")).startswith("SpatialDropout")


KEEPS_DTYPE = frozenset({"Flatten", "Reshape", "Permute", "Identity"})
"""The layers that say of their output what they know of their input; all others promise their own dtype."""


def _output(entry: JsonObject, given: Spec) -> Spec:
    config = _settings(entry)
    name = str(entry.get("class_name"))
    if str(entry.get("module", "keras")).partition(".")[0] != "keras":
        raise _Unknown
    _agrees_with_build(entry, given.shape)
    if name in {"Sequential", "Functional", "Model"}:
        return _of_functional(config, given) if "output_layers" in config else _of_sequential(config, given)
    own = _compute_dtype(config)
    if hides_policy(entry) and own != given.dtype:
        raise _Unknown
    shape = _rule(name)(config, given.shape)
    return Spec(shape, given.dtype if name in KEEPS_DTYPE and not _is_float(given.dtype) else own)


def _agrees_with_build(entry: JsonObject, shape: Shape) -> None:
    """A .keras file stores the shape that most layers were built for: a second witness."""
    build = entry.get("build_config")
    stored = build.get("input_shape") if isinstance(build, Mapping) else None
    if stored is not None and _shape(stored) != shape:
        raise _Unknown


# ---- models ----


def _of_sequential(config: JsonObject, given: Spec) -> Spec:
    """A model called on the shape that it was built for repeats what it knows of its own output."""
    first, *rest = _layers(config)
    spec = of_input(first)
    if spec is None or spec.shape != given.shape:
        raise _Unknown
    for layer in rest:
        spec = _output(layer, spec)
    return spec


def _of_functional(config: JsonObject, given: Spec) -> Spec:
    named = {str(_settings(layer).get("name")): layer for layer in _layers(config)}
    spec = of_input(named[_only(config["input_layers"])])
    last = named[_only(config["output_layers"])]
    if spec is None or spec.shape != given.shape:
        raise _Unknown
    calls = last.get("inbound_nodes")
    if not isinstance(calls, Sequence) or len(calls) != 1:
        raise _Unknown
    return _joined(last, list(noted(calls[0])))


def _only(ends: Json) -> str:
    """The name of the one layer in a list of inputs or outputs, `["a", 0, 0]` or `[["a", 0, 0]]`."""
    end = ends[0] if isinstance(ends, Sequence) and len(ends) == 1 else ends
    if not isinstance(end, Sequence) or isinstance(end, str) or not isinstance(end[0], str):
        raise _Unknown
    return end[0]


ELEMENTWISE = frozenset({"Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"})


def _joined(entry: JsonObject, given: Sequence[Spec]) -> Spec:
    """The output of a layer that may read several tensors."""
    config, shapes = _settings(entry), [spec.shape for spec in given]
    name = entry.get("class_name")
    if name in ELEMENTWISE and len(set(shapes)) == 1:
        return Spec(shapes[0], _compute_dtype(config))
    if name == "Concatenate" and shapes:
        axis = _int(config.get("axis"))
        whole = list(shapes[0])
        sizes = [shape[axis] for shape in shapes]
        whole[axis] = None if None in sizes else sum(size or 0 for size in sizes)
        return Spec(tuple(whole), _compute_dtype(config))
    if len(given) != 1:
        raise _Unknown
    return _output(entry, given[0])


# ---- shapes ----


def _rule(name: str) -> Rule:
    """How the layer's output shape follows from its config and its input's shape."""
    if name in RULES:
        return RULES[name]
    stem = name[:-2]
    if name[-2:] in {"1D", "2D", "3D"} and stem in SPATIAL:
        return _of_rank(int(name[-2]) + 2, SPATIAL[stem])
    if name in {"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"}:
        return _of_rank(int(name[4]) + 2, _conv_transpose)
    raise _Unknown


def _of_rank(rank: int, rule: Rule) -> Rule:
    def checked(config: JsonObject, shape: Shape) -> Shape:
        if len(shape) != rank:
            raise _Unknown
        return rule(config, shape)

    return checked


def _same(config: JsonObject, shape: Shape) -> Shape:
    del config
    return shape


def _spatial(config: JsonObject, shape: Shape, sizes: Sequence[int | None], channels: int | None) -> Shape:
    """The shape with other sizes between batch and channels, or after both."""
    if any(size is not None and size <= 0 for size in sizes):
        raise _Unknown
    if config.get("data_format") == "channels_first":
        return (shape[0], channels, *sizes)
    return (shape[0], *sizes, channels)


def _parts(config: JsonObject, shape: Shape) -> tuple[Shape, int | None]:
    """The sizes in between, and the channels."""
    if config.get("data_format") == "channels_first":
        return shape[2:], shape[1]
    return shape[1:-1], shape[-1]


def _windows(config: JsonObject, sizes: Shape, window: Sequence[int], dilation: Sequence[int]) -> list[int | None]:
    """How often a window fits."""
    padding = config.get("padding")
    if padding not in {"valid", "same", "causal"}:
        raise _Unknown
    strides = _ints(config.get("strides"), len(sizes))
    reach = [d * (w - 1) if padding == "valid" else 0 for w, d in zip(window, dilation, strict=True)]
    return [
        None if size is None else (size - over - 1) // step + 1
        for size, over, step in zip(sizes, reach, strides, strict=True)
    ]


def _conv(config: JsonObject, shape: Shape) -> Shape:
    sizes, channels = _parts(config, shape)
    window, dilation = (_ints(config.get(key), len(sizes)) for key in ("kernel_size", "dilation_rate"))
    if "filters" in config:
        channels = _int(config["filters"])
    elif channels is not None:
        channels *= _int(config.get("depth_multiplier"))
    return _spatial(config, shape, _windows(config, sizes, window, dilation), channels)


def _conv_transpose(config: JsonObject, shape: Shape) -> Shape:
    """A convolution backwards, as TensorFlow pads it."""
    sizes, _ = _parts(config, shape)
    rank, padding = len(sizes), config.get("padding")
    if padding not in {"valid", "same"}:
        raise _Unknown
    strides, window, dilation = (_ints(config.get(k), rank) for k in ("strides", "kernel_size", "dilation_rate"))
    extra = None if config.get("output_padding") is None else _ints(config["output_padding"], rank)

    def grown(at: int, size: int) -> int:
        step, reach = strides[at], (window[at] - 1) * dilation[at] + 1
        if padding == "valid":
            return (size - 1) * step + (max(reach, step) if extra is None else reach + extra[at])
        return size * step if extra is None else (size - 1) * step + reach % 2 + extra[at]

    new = [None if size is None else grown(at, size) for at, size in enumerate(sizes)]
    return _spatial(config, shape, new, _int(config.get("filters")))


def _pooling(config: JsonObject, shape: Shape) -> Shape:
    sizes, channels = _parts(config, shape)
    window = _ints(config.get("pool_size"), len(sizes))
    return _spatial(config, shape, _windows(config, sizes, window, [1] * len(sizes)), channels)


def _global_pooling(config: JsonObject, shape: Shape) -> Shape:
    sizes, channels = _parts(config, shape)
    return _spatial(config, shape, [1] * len(sizes), channels) if config.get("keepdims") else (shape[0], channels)


def _at_edges(key: str, sign: int) -> Rule:
    """Padding and cropping: so much more or less at each end."""

    def changed(config: JsonObject, shape: Shape) -> Shape:
        sizes, channels = _parts(config, shape)
        ends = config.get(key)
        pairs = [ends] if len(sizes) == 1 else ends
        if not isinstance(pairs, Sequence) or len(pairs) != len(sizes):
            raise _Unknown
        both = [sum(_ints(pair, 2)) for pair in pairs]
        new = [None if s is None else s + sign * more for s, more in zip(sizes, both, strict=True)]
        return _spatial(config, shape, new, channels)

    return changed


def _upsampling(config: JsonObject, shape: Shape) -> Shape:
    sizes, channels = _parts(config, shape)
    factors = _ints(config.get("size"), len(sizes))
    new = [None if s is None else s * f for s, f in zip(sizes, factors, strict=True)]
    return _spatial(config, shape, new, channels)


def _dense(config: JsonObject, shape: Shape) -> Shape:
    return (*shape[:-1], _int(config.get("units")))


def _embedding(config: JsonObject, shape: Shape) -> Shape:
    if config.get("mask_zero"):
        raise _Unknown  # the mask becomes operations of their own
    return (*shape, _int(config.get("output_dim")))


def _flatten(config: JsonObject, shape: Shape) -> Shape:
    del config
    return (shape[0], _product(shape[1:]))


def _product(shape: Shape) -> int | None:
    known = [size for size in shape if size is not None]
    return prod(known) if len(known) == len(shape) else None


def _reshape(config: JsonObject, shape: Shape) -> Shape:
    target = _ints(config.get("target_shape"))
    whole, known = _product(shape[1:]), prod(size for size in target if size != -1)
    if target.count(-1) > 1 or (whole is not None and whole % known):
        raise _Unknown
    rest = None if whole is None else whole // known
    return (shape[0], *(rest if size == -1 else size for size in target))


def _permute(config: JsonObject, shape: Shape) -> Shape:
    return (shape[0], *(shape[at] for at in _ints(config.get("dims"), len(shape) - 1)))


def _repeat(config: JsonObject, shape: Shape) -> Shape:
    batch, size = shape if len(shape) == 2 else (None, None)  # noqa: PLR2004 - rows and features
    if size is None:
        raise _Unknown
    return (batch, _int(config.get("n")), size)


def _rnn(config: JsonObject, shape: Shape) -> Shape:
    if config.get("return_state") or len(shape) != 3:  # noqa: PLR2004 - rows, steps and features
        raise _Unknown
    return (*shape[: 2 if config.get("return_sequences") else 1], _int(config.get("units")))


def _conv_lstm(config: JsonObject, shape: Shape) -> Shape:
    if config.get("return_state"):
        raise _Unknown
    step = _conv(config, (shape[0], *shape[2:]))
    return (shape[0], shape[1], *step[1:]) if config.get("return_sequences") else step


def _bidirectional(config: JsonObject, shape: Shape) -> Shape:
    inner, merge = config.get("layer"), config.get("merge_mode")
    if not isinstance(inner, Mapping) or inner.get("class_name") not in {"LSTM", "GRU", "SimpleRNN"}:
        raise _Unknown
    if merge not in {"concat", "sum", "mul", "ave"}:
        raise _Unknown
    *front, units = _rnn(_settings(inner), shape)
    return (*front, units * (2 if merge == "concat" else 1)) if units is not None else shape


def _time_distributed(config: JsonObject, shape: Shape) -> Shape:
    inner = config.get("layer")
    if not isinstance(inner, Mapping) or "layers" in _settings(inner):
        raise _Unknown
    step = _output(inner, Spec((shape[0], *shape[2:]), _compute_dtype(_settings(inner)))).shape
    return (step[0], shape[1], *step[1:])


SPATIAL: Mapping[str, Rule] = {
    "Conv": _conv,
    "SeparableConv": _conv,
    "DepthwiseConv": _conv,
    "MaxPooling": _pooling,
    "AveragePooling": _pooling,
    "GlobalMaxPooling": _global_pooling,
    "GlobalAveragePooling": _global_pooling,
    "ZeroPadding": _at_edges("padding", 1),
    "Cropping": _at_edges("cropping", -1),
    "UpSampling": _upsampling,
    "SpatialDropout": _same,
}
"""The layers that there are for one, two and three dimensions, without the number in their names."""

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            "Activation", "ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax",
            "BatchNormalization", "LayerNormalization", "GroupNormalization", "UnitNormalization", "RMSNormalization",
            "Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise", "ActivityRegularization",
            "Identity", "Rescaling",
        ),
        _same,
    ),
    "Dense": _dense,
    "Embedding": _embedding,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Permute": _permute,
    "RepeatVector": _repeat,
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), _rnn),
    **{f"ConvLSTM{rank}D": _of_rank(rank + 3, _conv_lstm) for rank in (1, 2, 3)},
    "Bidirectional": _bidirectional,
    "TimeDistributed": _time_distributed,
}  # fmt: skip


# ---- reading JSON ----


def _settings(entry: JsonObject) -> JsonObject:
    config = entry.get("config")
    return config if isinstance(config, Mapping) else {}


def _layers(config: JsonObject) -> list[JsonObject]:
    layers = config.get("layers")
    found = [entry for entry in layers if isinstance(entry, Mapping)] if isinstance(layers, Sequence) else []
    if not found:
        raise _Unknown
    return found


def _int(value: Json) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Unknown
    return value


def _ints(value: Json, count: int | None = None) -> list[int]:
    """The integers of a list, or one integer as often as asked for (old files store `size` so)."""
    if isinstance(value, int) and count is not None:
        return [_int(value)] * count
    if not isinstance(value, Sequence) or isinstance(value, str) or (count is not None and len(value) != count):
        raise _Unknown
    return [_int(part) for part in value]


def _shape(value: Json) -> Shape:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise _Unknown
    return tuple(None if size is None else _int(size) for size in value)
