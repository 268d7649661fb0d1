"""One layer of an older model, with its weights, as Keras 3's: which rule serves which class."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from unnest.core.architecture import is_model
from unnest.core.keras3 import arguments, config_values, expressed, keras_1, operations, stored_functions, tensors
from unnest.core.keras3.config_values import built_in, named, plain
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.expressed import CONVOLUTIONS
from unnest.core.keras3.op_nodes import OpNode
from unnest.core.keras3.pieces import Arguments, Choice, Expansion, LayerCall, NewLayer, Piece, Tree, chain
from unnest.core.keras3.signatures import SIGNATURES
from unnest.core.keras_facts.layer_classes import OWN, is_keras_class, is_namesake
from unnest.core.keras_facts.own_functions import ACTIVATIONS, HARD_SIGMOID, WELL_KNOWN, is_somebodys
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.model import Json, JsonObject, Tensor

Config: TypeAlias = Mapping[str, Json]
Weights: TypeAlias = tuple[Tensor, ...]
Rule: TypeAlias = Callable[[str, Config, str, Weights, Context], Piece]

#: What feeds a hard_sigmoid of then, times this, gives the same from today's.
HARD_SIGMOID_FACTOR = 1.2

ALIASES = {
    "SyncBatchNormalization": "BatchNormalization", "AvgPool1D": "AveragePooling1D", "AvgPool2D": "AveragePooling2D",
    "AvgPool3D": "AveragePooling3D", "MaxPool1D": "MaxPooling1D", "MaxPool2D": "MaxPooling2D",
    "MaxPool3D": "MaxPooling3D", "Convolution2DTranspose": "Conv2DTranspose",
}  # fmt: skip


def piece(entry: JsonObject, name: str, weights: Weights, context: Context) -> Piece:
    """What a layer entry becomes. Raises CannotConvert."""
    config = entry.get("config")
    made = _piece(entry, name, weights, context)
    if isinstance(made, NewLayer) and made.weights and not is_model(made.entry):
        frozen = isinstance(config, Mapping) and config.get("trainable") is False
        return replace(made, weights=tuple(_flagged(made, frozen=frozen)))
    return made


def _flagged(layer: NewLayer, *, frozen: bool) -> Iterator[Tensor]:
    """The weights, each told whether it is trained; what a wrapped layer's are, it was told before."""
    trained = len(layer.weights)
    if layer.class_name == "BatchNormalization":
        trained = bool(layer.config.get("scale", True)) + bool(layer.config.get("center", True))
    elif layer.class_name == "Normalization":
        trained = 0
    for k, weight in enumerate(layer.weights):
        yield weight._replace(trained=weight.trained and k < trained and not frozen)


def _piece(entry: JsonObject, name: str, weights: Weights, context: Context) -> Piece:
    weights = tuple(w._replace(trained=True) for w in weights) if not is_model(entry) else weights
    if is_model(entry):
        from unnest.core.keras3.models import nested

        return nested(entry, name, weights, context)
    kind, config = str(entry.get("class_name")), plain(entry.get("config"))
    settings: Config = config if isinstance(config, Mapping) else {}
    registered = entry.get("registered_name")
    if isinstance(registered, str) and ">" in registered:
        kind = registered
    if kind in OWN and _is_somebodys(kind, entry, settings, context):
        return _kept(kind, settings, name, weights, context)
    bare = re.sub(r"V[12]$", "", kind)
    known = bare in SIGNATURES or bare in RULES or bare in ALIASES
    if bare != kind and known:
        context.note("class-name", name, f"{kind} is {bare}")
        kind = bare
    keras_1s = keras_1.is_keras_1(settings, context)
    if keras_1s and kind != "Merge":
        kind, settings = keras_1.translated(kind, settings, name, context)
        weights = _keras_1_weights(kind, settings, name, weights, context)
    kind = ALIASES.get(kind, kind)
    weights = _correlating(kind, weights, name, context)
    rule = RULES.get(kind)
    if rule is not None:
        return rule(kind, settings, name, weights, context)
    if kind not in SIGNATURES:
        return _custom(kind, settings, name, weights, context)
    return _layer(kind, settings, name, weights, context)


def _is_somebodys(kind: str, entry: JsonObject, config: Config, context: Context) -> bool:
    """Whether a class that is called as one of Keras's is somebody's own."""
    if is_namesake(kind, config, context.release, in_tensorflow=context.is_tf):
        return True
    return isinstance(entry.get("module"), str) and not is_keras_class(kind, entry)


def _layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that Keras 3 has too."""
    promised = expected(config)
    if promised is not None and weights and promised.total != len(weights) and kind not in HOLDERS:
        raise refused(name, kind, f"has {len(weights)} weights, and its config promises {promised.total}")
    new = arguments.written(kind, config, name, context)
    if not config.get("dtype") and any(w.dtype[1:] == "f8" for w in weights):
        new["dtype"] = "float64"
    layer = NewLayer(name, kind, new, weights)
    made = activated(layer, context) if "activation" in new else layer
    biased = new.get("data_format") == "channels_first" and new.get("use_bias", True)
    return (
        expressed.channels_first(made, context)
        if biased and kind in CONVOLUTIONS and isinstance(made, NewLayer)
        else made
    )


# ---- activations ----


def activation(value: Json, name: str, kind: str, context: Context) -> str | JsonObject:
    """An activation by its name of today, a layer that stands for one, or a function of somebody's own by name."""
    if value is None:
        return "linear"
    word, config = named(value)
    if isinstance(value, Mapping) and word == "Activation":
        return activation(config.get("activation"), name, kind, context)
    if isinstance(value, Mapping) and word in SIGNATURES:
        return {"class_name": word, "config": config}
    if word in (HARD_SIGMOID, "hard_sigmoid_v1"):
        return HARD_SIGMOID
    if word not in ACTIVATIONS or (is_somebodys(word, context.release) and word not in WELL_KNOWN):
        context.custom[config_values.without_package(word)] = f"activation of {name!r}"
        return config_values.function(word)
    if is_somebodys(word, context.release):
        context.note("known-function", name, f"{word} = {WELL_KNOWN[word]}")
    return word


def _is_layer(found: str | JsonObject) -> TypeGuard[JsonObject]:
    """Whether an activation is a layer of its own: neither a name nor somebody's function."""
    return not isinstance(found, str) and found.get("class_name") != "function"


def activated(layer: NewLayer, context: Context) -> Piece:
    """The layer with its activation as today's, its weights scaled where that takes it."""
    found = activation(layer.config["activation"], layer.name, layer.class_name, context)
    if _is_layer(found):
        promised = expected({k: v for k, v in layer.config.items() if k != "activation"})
        own = len(layer.weights) if promised is None else promised.total
        inner = replace(layer.renamed(f"{layer.name}_linear"), weights=layer.weights[:own])
        inner = replace(inner, config={**inner.config, "activation": "linear"})
        context.note("activation-layer", layer.name)
        behind = piece(found, layer.name, layer.weights[own:], context)
        if not isinstance(behind, NewLayer):
            raise refused(layer.name, layer.class_name, f"its activation {found['class_name']} is several layers today")
        return chain(inner, behind.renamed(layer.name))
    new = replace(layer, config={**layer.config, "activation": found})
    if found != HARD_SIGMOID:
        return new
    context.note("hard-sigmoid", layer.name)
    if layer.weights:
        return replace(new, weights=scaled_all(new, context))
    factor = _rescaling(f"{layer.name}_rescaled", layer.config.get("dtype"))
    return chain(factor, new)


def scaled_all(layer: NewLayer, context: Context) -> Weights:
    """Kernel and bias times 1.2; of a separable convolution the last kernel."""
    del context
    if layer.class_name.startswith("Separable"):
        first, *rest = layer.weights
        return (first, *(tensors.scaled(w, HARD_SIGMOID_FACTOR) for w in rest))
    return tuple(tensors.scaled(w, HARD_SIGMOID_FACTOR) for w in layer.weights)


def _rescaling(name: str, dtype: Json) -> NewLayer:
    config: Config = {"name": name, "trainable": True, "dtype": dtype, "scale": HARD_SIGMOID_FACTOR, "offset": 0.0}
    return NewLayer(name, "Rescaling", config)


# ---- recurrent layers ----

#: Gates in the order of the kernels' last axis.
GATES = {"LSTM": "ifco", "GRU": "zrh", "ConvLSTM1D": "ifco", "ConvLSTM2D": "ifco", "ConvLSTM3D": "ifco"}


def _recurrent(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """LSTM, GRU, SimpleRNN, ConvLSTM and their cells."""
    if not {"units", "filters"} & set(config):
        raise refused(name, kind, "its arguments are not in the file: Keras 2.0.9 stored none of a cell's")
    if config.get("time_major"):
        made = _recurrent(kind, {**config, "time_major": False}, name, weights, context)
        return expressed.time_major(made, name, kind, sequences=bool(config.get("return_sequences")), context=context)
    new = arguments.written(kind, config, name, context)
    base = kind.removesuffix("Cell")
    gates = GATES.get(base, "h")
    recurrent = activation(new.get("recurrent_activation", "linear"), name, kind, context)
    act = activation(new.get("activation"), name, kind, context)
    if _is_layer(recurrent) or _is_layer(act):
        raise refused(name, kind, "an activation that is a layer has no place inside a recurrent layer")
    if act == HARD_SIGMOID and len(gates) == len("ifco"):
        raise refused(
            name, kind, "hard_sigmoid as the activation acts on the cell state too, and is another function today"
        )
    new["activation"] = act
    if "recurrent_activation" in new:
        new["recurrent_activation"] = recurrent
    sized = len(weights) in (0, 2, 3)
    if not sized or (weights and len(weights) != 2 + bool(new.get("use_bias", True))):
        raise refused(name, kind, f"has {len(weights)} weights, and its config promises others")
    inner = {"i", "f", "o", "z", "r"} if recurrent == HARD_SIGMOID else set()
    outer = {"h"} if act == HARD_SIGMOID else set()
    factors = [HARD_SIGMOID_FACTOR if gate in inner | outer else 1.0 for gate in gates]
    if inner or outer:
        context.note("hard-sigmoid", name)
        weights = tuple(tensors.scaled(w, *factors) for w in weights)
    if base == "GRU" and len(weights) > 2:  # noqa: PLR2004 - with a bias
        two = len(weights[2].shape) == 2  # noqa: PLR2004
        if two is not bool(new.get("reset_after")):
            raise refused(name, kind, f"its bias has the shape {weights[2].shape}, and reset_after is not {two}")
    return NewLayer(name, kind, new, weights)


def _cudnn(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """CuDNNLSTM and CuDNNGRU: what they compute is LSTM's and GRU's with sigmoid, tanh and (GRU) reset_after."""
    context.note("cudnn-rnn", name)
    base = kind.removeprefix("CuDNN")
    settings = {
        **config, "activation": "tanh", "recurrent_activation": "sigmoid", "use_bias": True,
        **({"reset_after": True} if base == "GRU" else {}),
    }  # fmt: skip
    if weights:
        if len(weights) != 3:  # noqa: PLR2004 - kernel, recurrent kernel, bias
            raise refused(name, kind, f"has {len(weights)} weights in place of 3")
        kernel, recurrent, bias = weights
        count = len(GATES[base])
        rows, units = kernel.shape[0], kernel.shape[1] // count
        parts = [tensors.transposed(tensors.reshaped(k, units, rows), 1, 0) for k in tensors.blocks(kernel, 1, count)]
        across = [tensors.transposed(k, 1, 0) for k in tensors.blocks(recurrent, 1, count)]
        both = (
            tensors.added(*tensors.blocks(bias, 0, 2)) if base == "LSTM" else tensors.reshaped(bias, 2, count * units)
        )
        weights = (tensors.concatenated(parts, 1), tensors.concatenated(across, 1), both)
    return _recurrent(base, settings, name, weights, context)


def _rnn(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """RNN over a cell."""
    if config.get("time_major"):
        made = _rnn(kind, {**config, "time_major": False}, name, weights, context)
        return expressed.time_major(made, name, kind, sequences=bool(config.get("return_sequences")), context=context)
    cell = _inner(config.get("cell"), name, kind, weights, context)
    new = arguments.written(kind, {**config, "cell": None}, name, context)
    return NewLayer(name, kind, {**new, "cell": cell.entry}, cell.weights)


def _stacked(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """StackedRNNCells: each cell has the next of the weights."""
    cells, made, rest = config.get("cells"), [], weights
    if not isinstance(cells, Sequence):
        raise refused(name, kind, "holds no list of cells")
    if config.get("reverse_state_order"):
        raise refused(name, kind, "reverse_state_order has no counterpart in Keras 3")
    for cell in cells:
        told = expected(cell.get("config")) if isinstance(cell, Mapping) else None
        count = 0 if told is None or not weights else told.total
        made.append(_inner(cell, name, kind, rest[:count], context))
        rest = rest[count:]
    if rest:
        raise refused(name, kind, "its cells promise other weights than it has")
    left = {k: v for k, v in config.items() if k not in ("cells", "reverse_state_order")}
    new = arguments.written(kind, left, name, context)
    return NewLayer(name, kind, {**new, "cells": [c.entry for c in made]}, tuple(w for c in made for w in c.weights))


# ---- layers that hold a layer ----


def _inner(entry: Json, name: str, kind: str, weights: Weights, context: Context) -> NewLayer:
    """The layer inside another. Raises CannotConvert where it would be several."""
    made = _held(entry, name, kind, weights, context)
    if not isinstance(made, NewLayer):
        inner = entry.get("class_name") if isinstance(entry, Mapping) else "layer"
        raise refused(name, kind, f"the {inner} in it is several layers today")
    return made


def _held(entry: Json, name: str, kind: str, weights: Weights, context: Context) -> Piece:
    if not isinstance(entry, Mapping):
        raise refused(name, kind, "holds no layer")
    config = entry.get("config")
    called = config.get("name") if isinstance(config, Mapping) else None
    called = called if isinstance(called, str) else entry.get("name")
    default = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(entry.get("class_name"))).lower()
    made = piece(entry, called if isinstance(called, str) else default, weights, context)
    return made.resolved([None]) if isinstance(made, Choice) else made


def _time_distributed(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """TimeDistributed; over a chain of layers it is a chain of its own kind."""
    held = _held(config.get("layer"), name, kind, weights, context)
    new = arguments.written(kind, {**config, "layer": None}, name, context)
    if isinstance(held, NewLayer):
        return NewLayer(name, kind, {**new, "layer": held.entry}, held.weights)
    if not isinstance(held, Expansion) or held.chain is None:
        raise refused(name, kind, "the layer in it is several operations today")
    parts = []
    for k, inner in enumerate(held.chain):
        called = name if k == len(held.chain) - 1 else f"{name}_{inner.name}"
        parts.append(NewLayer(called, kind, {**new, "name": called, "layer": inner.entry}, inner.weights))
    return chain(*parts)


def _bidirectional(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Both directions have half of the weights."""
    half = len(weights) // 2
    held = config.get("layer")
    if config.get("backward_layer") is None and isinstance(held, Mapping) and isinstance(held.get("config"), Mapping):
        settings = held["config"]
        if settings.get("go_backwards"):  # type: ignore[union-attr]  # a mapping, as asked
            # Keras 3 makes the other direction go backwards whichever way this one goes.
            config = {**config, "backward_layer": {**held, "config": {**settings, "go_backwards": False}}}  # type: ignore[dict-item]
            context.note("defaults-of-then", name, "the direction of backward_layer")
    forward = _inner(config.get("layer"), name, kind, weights[:half], context)
    other = config.get("backward_layer")
    if other is not None:
        backward = _inner(other, name, kind, weights[half:], context)
    else:
        backward = _inner(config.get("layer"), name, kind, weights[half:], context)
    new = arguments.written(kind, {**config, "layer": None, "backward_layer": None}, name, context)
    new["layer"] = forward.entry
    if other is not None:
        new["backward_layer"] = backward.entry
    else:
        new.pop("backward_layer", None)
    return NewLayer(name, kind, new, (*forward.weights, *backward.weights))


#: Layers whose own config promises nothing of all their weights.
HOLDERS = frozenset(
    {
        "MultiHeadAttention",
        "EinsumDense",
        "SpectralNormalization",
        "Normalization",
        "PReLU",
        "Attention",
        "AdditiveAttention",
    }
)

# ---- one class each ----


def _input(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    del kind, weights
    shape = config.get("batch_input_shape", config.get("batch_shape"))
    if shape is None and isinstance(config.get("input_shape"), Sequence):
        shape = [config.get("batch_size"), *config["input_shape"]]  # type: ignore[misc]  # a sequence, as asked
    dtype = config_values.dtype(config.get("dtype", config.get("input_dtype")), name, context) or "float32"
    for key, meant in (("sparse", False), ("ragged", False)):
        if config.get(key) not in (None, meant):
            raise refused(name, "InputLayer", f"Keras 3 takes no {key} input here")
    if not isinstance(shape, Sequence):
        raise refused(name, "InputLayer", "its shape is not stored")
    return NewLayer(name, "InputLayer", {"batch_shape": list(shape), "dtype": dtype, "sparse": False, "name": name})


def _activation(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    found = activation(config.get("activation"), name, kind, context)
    if not _is_layer(found):
        return _layer(kind, config, name, weights, context)
    context.note("activation-layer", name)
    made = piece(found, name, (), context)
    return made.renamed(name) if isinstance(made, NewLayer) else made


def _noise(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """GaussianNoise; of more than 1, which Keras 3 refuses, as the noise of a smaller tensor."""
    deviation = config.get("stddev")
    if not isinstance(deviation, int | float) or deviation <= 1:
        return _layer(kind, config, name, weights, context)
    context.note("large-noise", name)
    factor = 2.0 ** math.ceil(math.log2(deviation))  # a power of two: nothing is rounded
    smaller = _layer(kind, {**config, "stddev": deviation / factor}, f"{name}_noise", weights, context)
    assert isinstance(smaller, NewLayer)
    before, behind = (expressed.layer("Rescaling", n, {"scale": s, "offset": 0.0})
                      for n, s in ((f"{name}_smaller", 1 / factor), (name, factor)))  # fmt: skip
    return chain(before, smaller, behind)


def _prelu(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """PReLU; Keras 1 does not store along which axes its weight is shared, but the weight shows it."""
    if "alpha_initializer" in config and "shared_axes" not in config and weights:
        config = {**config, "shared_axes": [k + 1 for k, size in enumerate(weights[0].shape) if size == 1] or None}
    return _layer(kind, config, name, weights, context)


def _separable_1d(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """SeparableConv1D; `causal`, which Keras 3 refuses, is zeros before and `valid`."""
    if config.get("padding") != "causal":
        return _layer(kind, config, name, weights, context)
    size, dilation = (_first(config.get(k, 1)) for k in ("kernel_size", "dilation_rate"))
    context.note("causal", name)
    made = _layer(kind, {**config, "padding": "valid"}, name, weights, context)
    if not isinstance(made, NewLayer):
        raise refused(name, kind, "causal padding with such an activation is not expressed")
    padding = {"padding": [dilation * (size - 1), 0], "data_format": config.get("data_format", "channels_last")}
    return chain(expressed.layer("ZeroPadding1D", f"{name}_padding", padding), made)


def _first(value: Json) -> int:
    number = value[0] if isinstance(value, Sequence) and not isinstance(value, str) else value
    assert isinstance(number, int)
    return number


def _upsampling(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """UpSampling2D; bilinear had other pixel centres before TensorFlow 1.15."""
    how = config.get("interpolation", "nearest")
    if how not in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area"):
        raise refused(name, kind, f"Keras 3 has no interpolation {how!r}")
    if how != "bilinear" or context.half_pixels:
        return _layer(kind, config, name, weights, context)
    if context.half_pixels is None or context.backend == "theano":
        raise refused(name, kind, "which pixel centres its bilinear interpolation had does not follow from the file")
    context.note("bilinear", name)
    made = _layer(kind, config, name, weights, context)
    assert isinstance(made, NewLayer)
    return Choice(lambda specs: expressed.bilinear(made, specs[0]))


def _softmax(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Softmax; before tf.keras 2.4 it heeded no mask, as the activation of that name does not."""
    if not context.masks or context.release >= (2, 4):
        return _layer(kind, config, name, weights, context)
    if config.get("axis", -1) != -1:
        raise refused(name, kind, "heeds a mask in Keras 3, along another axis than the last")
    context.note("mask", name)
    own = {k: v for k, v in config.items() if k != "axis"}
    return _layer("Activation", {**own, "activation": "softmax"}, name, weights, context)


def _rescaling_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Rescaling; where there are masks, as operations, which pass none on, as it did not."""
    scale, offset = config.get("scale", 1.0), config.get("offset", 0.0)
    if not context.masks or not isinstance(scale, int | float) or not isinstance(offset, int | float):
        return _layer(kind, config, name, weights, context)
    context.note("mask", name)

    def outputs(call: Arguments) -> Sequence[Tree]:
        return (expressed.operation("Add", expressed.operation("Multiply", call.args[0], scale), offset),)

    return Expansion(outputs)


def _resizing(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    if config.get("interpolation", "bilinear") in ("gaussian", "mitchellcubic"):
        raise refused(name, kind, f"Keras 3 has no interpolation {config['interpolation']!r}")
    return _layer(kind, config, name, weights, context)


def _conv_lstm(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """ConvLSTM takes time_major, and does not heed it (seen with tf.keras 2.15)."""
    return _recurrent(kind, {k: v for k, v in config.items() if k != "time_major"}, name, weights, context)


def _thresholded(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    del kind
    context.note("thresholded-relu", name)
    new = {**{k: v for k, v in config.items() if k != "theta"}, "threshold": config.get("theta", 1.0)}
    return _layer("ReLU", {**new, "max_value": None, "negative_slope": 0.0}, name, weights, context)


MERGES = {"sum": "Add", "mul": "Multiply", "ave": "Average", "max": "Maximum", "concat": "Concatenate", "dot": "Dot"}


def _merge(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Keras 1's Merge, by its mode."""
    mode = config.get("mode")
    if config.get("layers"):
        raise refused(name, kind, "holds its branches, models of their own, as a Sequential's first layer")
    if config.get("mode_type", "raw") != "raw" or mode not in MERGES:
        raise refused(name, kind, f"mode {mode!r} is code, or has no counterpart in Keras 3")
    context.note("merge", name)
    new: dict[str, Json] = {"name": name, "trainable": True}
    if mode == "concat":
        new["axis"] = config.get("concat_axis", -1)
    if mode == "dot":
        new["axes"] = config.get("dot_axes", -1)
        new["normalize"] = False
    return _layer(MERGES[str(mode)], new, name, weights, context)


def _batch_normalization(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    mode = config.get("mode", 0)
    axis = config.get("axis")
    if isinstance(axis, Sequence) and len(axis) != 1:
        raise refused(name, kind, f"Keras 3 normalizes along one axis, and this one along {axis!r}")
    if mode == 0:
        # Keras 1's config speaks of no initializers, and its layer has all four weights.
        if "gamma_initializer" not in config and len(weights) not in (0, 4):
            raise refused(name, kind, f"has {len(weights)} weights in place of 4")
        return _layer(kind, config, name, weights, context)
    raise refused(name, kind, f"mode {mode!r} of Keras 1 normalizes by the batch at hand, which Keras 3 does not")


def _dense_features(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    del config, weights, context
    raise refused(name, kind, "feature columns are no layers of Keras 3")


def _custom(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that Keras 3 has not: of Keras's own, which is refused, or of somebody's."""
    if kind in GONE:
        raise refused(name, kind, GONE[kind])
    if kind in OWN:
        raise refused(name, kind, "how this layer is written for Keras 3 is not known")
    return _kept(kind, config, name, weights, context)


def _kept(kind: str, config: Config, name: str, weights: Weights, context: Context) -> NewLayer:
    """A layer of somebody's own class: carried as it is."""
    bare = kind.rpartition(">")[2]
    context.custom[bare] = f"layer {name!r}"
    base = {k: v for k, v in config.items() if k not in ("batch_input_shape", "input_shape", "input_dtype")}
    if isinstance(base.get("dtype"), Mapping):
        base["dtype"] = config_values.dtype(base["dtype"], name, context) or "float32"
    return NewLayer(name, bare, {**base, "name": name}, weights, None, kind)


#: Classes of Keras that nobody but their own code can compute.
GONE = {
    "DenseFeatures": "feature columns are no layers of Keras 3",
    "SequenceFeatures": "feature columns are no layers of Keras 3",
    "ConvRNN2D": "a cell of convolutions has no layer of its own in Keras 3",
    "RandomHeight": "Keras 3 has no RandomHeight: take the layer out of the model, it works in training alone",
    "RandomWidth": "Keras 3 has no RandomWidth: take the layer out of the model, it works in training alone",
    "RandomCrop": "Keras 3's RandomCrop does not crop at inference, as this one did",
    "ParametricSoftplus": "Keras 3 has no layer for it",
    "SReLU": "Keras 3 has no layer for it",
    "KernelLSHLayer": "Keras 3 has no such layer",
    "RandomFourierFeatures": "Keras 3 has no such layer",
}


# ---- weights of older layouts ----


def _keras_1_weights(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Weights:
    """Keras 1's arrays in the form that Keras 2 has them in (source: Keras 2.2.4, preprocess_weights_for_loading)."""
    gates = KERAS_1_GATES.get(kind)
    if gates and len(weights) == 3 * len(gates):
        context.note("keras-1-gates", name)
        order = [gates.index(gate) for gate in GATES[kind]]
        if kind == "ConvLSTM2D" and config.get("data_format") == "channels_first":
            weights = tuple(tensors.transposed(w, 2, 3, 1, 0) if len(w.shape) == 4 else w for w in weights)  # noqa: PLR2004
        return tuple(
            tensors.concatenated([weights[3 * g + k] for g in order], len(weights[k].shape) - 1) for k in range(3)
        )
    if not weights:
        return weights
    kernel, *rest = weights
    axes: tuple[int, ...] = ()
    if kind == "Conv1D":
        context.note("keras-1-kernel", name)
        size = config.get("kernel_size")
        if kernel.shape[:2] != (size, 1) or kernel.shape[3] != config.get("filters"):
            kernel = tensors.transposed(kernel, 2, 3, 1, 0)
        return (tensors.reshaped(kernel, kernel.shape[0], *kernel.shape[2:]), *rest)
    first = config.get("data_format") == "channels_first"
    if kind in ("Conv2D", "Conv3D") and first:
        axes = (2, 3, 1, 0) if kind == "Conv2D" else (2, 3, 4, 1, 0)
    if kind == "Conv2DTranspose":
        axes = (2, 3, 0, 1) if first else (0, 1, 3, 2)
    if kind == "SeparableConv2D" and first:
        context.note("keras-1-kernel", name)
        return (*(tensors.transposed(w, 2, 3, 1, 0) for w in weights[:2]), *weights[2:])
    if axes:
        context.note("keras-1-kernel", name)
        kernel = tensors.transposed(kernel, *axes)
    return (kernel, *rest)


#: The gates of Keras 1's arrays, three for each (source: Keras 1.2.2, keras/layers/recurrent.py).
KERAS_1_GATES = {"LSTM": "icfo", "GRU": "zrh", "ConvLSTM2D": "icfo"}

#: Layers whose kernels the Theano backend convolves with.
CONVOLVING = {"Conv1D": 1, "Conv2D": 2, "Conv3D": 3, "Conv2DTranspose": 2, "ConvLSTM2D": 2}


def _correlating(kind: str, weights: Weights, name: str, context: Context) -> Weights:
    """Kernels for a backend that correlates."""
    if context.backend != "theano" or not weights:
        return weights
    if kind.startswith(("Separable", "Depthwise", "Conv3DTranspose", "LocallyConnected")):
        raise refused(name, kind, "how the Theano backend laid out its kernel was not measured")
    rank = CONVOLVING.get(kind)
    if rank is None:
        return weights
    context.note("theano-kernel", name)
    kernels = 2 if kind == "ConvLSTM2D" else 1
    return (*(tensors.flipped(w, *range(rank)) for w in weights[:kernels]), *weights[kernels:])


RULES: dict[str, Rule] = {
    "InputLayer": _input,
    "Activation": _activation,
    "ThresholdedReLU": _thresholded,
    "Merge": _merge,
    "BatchNormalization": _batch_normalization,
    **dict.fromkeys(
        ("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "LSTMCell", "GRUCell", "SimpleRNNCell"),
        _recurrent,
    ),
    "CuDNNLSTM": _cudnn,
    "CuDNNGRU": _cudnn,
    "ConvLSTM1D": _conv_lstm,
    "ConvLSTM2D": _conv_lstm,
    "ConvLSTM3D": _conv_lstm,
    "GaussianNoise": _noise,
    "PReLU": _prelu,
    "SeparableConv1D": _separable_1d,
    "Resizing": _resizing,
    "Rescaling": _rescaling_layer,
    "Softmax": _softmax,
    "UpSampling2D": _upsampling,
    "RNN": _rnn,
    "Lambda": stored_functions.rule,
    **dict.fromkeys(("TFOpLambda", "SlicingOpLambda", "TensorFlowOpLayer"), operations.rule),
    "LocallyConnected1D": expressed.locally_connected,
    "LocallyConnected2D": expressed.locally_connected,
    "MaxoutDense": expressed.maxout,
    "Highway": expressed.highway,
    "StackedRNNCells": _stacked,
    "TimeDistributed": _time_distributed,
    "Bidirectional": _bidirectional,
}

__all__ = ["Arguments", "Expansion", "LayerCall", "OpNode", "Tree", "built_in", "piece"]
