"""Layers that Keras 3 has too, with their arguments of today: as they are, or with one thing that changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unnest.core.keras3 import config_values, constructor_arguments, removed_layers
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layers.activations import activated, activation, is_layer
from unnest.core.keras3.mask_propagation import drops_mask
from unnest.core.keras3.masks import stopped
from unnest.core.keras3.replacements import (
    FLOAT,
    Choice,
    Config,
    NewLayer,
    Piece,
    Weights,
    chain,
)
from unnest.core.keras_facts.weight_specs import expected
from unnest.core.layers.catalog import MERGE_MODES, layer_record
from unnest.core.model import Json


def plain_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A layer that Keras 3 has too."""
    promised = expected(config)
    if (
        promised is not None
        and weights
        and promised.total != len(weights)
        and not layer_record(kind).weight_count
    ):
        raise refused(
            name, kind, f"has {len(weights)} weights, and its config promises {promised.total}"
        )
    new = constructor_arguments.written(kind, config, name, context)
    if not config.get("dtype") and any(w.dtype[1:] == "f8" for w in weights):
        new["dtype"] = "float64"
    layer = NewLayer(name, kind, new, weights)
    made = activated(layer, context) if "activation" in new else layer
    biased = new.get("data_format") == "channels_first" and new.get("use_bias", True)
    return (
        removed_layers.channels_first(made, context)
        if biased and "kernel_size" in new and isinstance(made, NewLayer)
        else made
    )


def passing_layer(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """A layer that hands on its mask today, where it did not then."""
    write = maskless_layer if drops_mask(kind, config, context) else plain_layer
    return write(kind, config, name, weights, context)


def maskless_layer(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """A layer that hands on a mask today, and did not then; where there are masks, an operation behind it has none."""
    made = plain_layer(kind, config, name, weights, context)
    if not context.masks or not isinstance(made, NewLayer):
        return made
    context.note("no-mask", name)
    return stopped(made)


def activation_layer(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """Activation; of a function that is a layer today, that layer."""
    found = activation(config.get("activation"), name, kind, context)
    if not is_layer(found):
        return passing_layer(kind, config, name, weights, context)
    context.note("activation-layer", name)
    made = context.convert_layer(found, name, ())
    return made.renamed(name) if isinstance(made, NewLayer) else made


def softmax(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Softmax; before tf.keras 2.4 it heeded no mask, as the activation of that name does not."""
    if not context.masks or context.release >= (2, 4):
        return plain_layer(kind, config, name, weights, context)
    if config.get("axis", -1) != -1:
        raise refused(name, kind, "heeds a mask in Keras 3, along another axis than the last")
    context.note("mask", name)
    own = {k: v for k, v in config.items() if k != "axis"}
    return plain_layer("Activation", {**own, "activation": "softmax"}, name, weights, context)


def prelu(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """PReLU; Keras 1 does not store along which axes its weight is shared, but the weight shows it."""
    if "alpha_initializer" in config and "shared_axes" not in config and weights:
        config = {
            **config,
            "shared_axes": [k + 1 for k, size in enumerate(weights[0].shape) if size == 1] or None,
        }
    return plain_layer(kind, config, name, weights, context)


def thresholded_relu(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """ThresholdedReLU: ReLU with that threshold."""
    del kind
    context.note("thresholded-relu", name)
    new = {
        **{k: v for k, v in config.items() if k != "theta"},
        "threshold": config.get("theta", 1.0),
    }
    return plain_layer(
        "ReLU", {**new, "max_value": None, "negative_slope": 0.0}, name, weights, context
    )


def separable_1d(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """SeparableConv1D; `causal`, which Keras 3 refuses, is zeros before and `valid`."""
    if config.get("padding") != "causal":
        return plain_layer(kind, config, name, weights, context)
    size, dilation = (_first(config.get(k, 1)) for k in ("kernel_size", "dilation_rate"))
    context.note("causal", name)
    made = plain_layer(kind, {**config, "padding": "valid"}, name, weights, context)
    if not isinstance(made, NewLayer):
        raise refused(name, kind, "causal padding with such an activation is not expressed")
    padding = {
        "padding": [dilation * (size - 1), 0],
        "data_format": config.get("data_format", "channels_last"),
    }
    return chain(removed_layers.layer("ZeroPadding1D", f"{name}_padding", padding), made)


def _first(value: Json) -> int:
    number = value[0] if isinstance(value, Sequence) and not isinstance(value, str) else value
    assert isinstance(number, int)
    return number


#: The first Keras 2 in which an Embedding's dtype is that of its weights.
DTYPE_OF_WEIGHTS = (2, 0, 5)


def embedding(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Embedding, which stored the dtype of its ids before Keras 2.0.5.

    (Source: Keras 2.0.4, keras/layers/embeddings.py: `kwargs['dtype'] = 'int32'`; its weights are float32.)
    """
    if config.get("dtype") == "int32" and () < context.release < DTYPE_OF_WEIGHTS:
        context.note("embedding-dtype", name)
        config = {**config, "dtype": FLOAT}
    return plain_layer(kind, config, name, weights, context)


def input_layer(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """InputLayer, with the shape and dtype of whichever release. Raises CannotConvert for sparse and ragged inputs."""
    del kind, weights
    shape = config.get("batch_input_shape", config.get("batch_shape"))
    if shape is None and isinstance(config.get("input_shape"), Sequence):
        shape = [config.get("batch_size"), *config["input_shape"]]  # type: ignore[misc]  # a sequence, as asked
    dtype = (
        config_values.dtype(config.get("dtype", config.get("input_dtype")), name, context)
        or "float32"
    )
    for key, meant in (("sparse", False), ("ragged", False)):
        if config.get(key) not in (None, meant):
            raise refused(name, "InputLayer", f"Keras 3 takes no {key} input here")
    if not isinstance(shape, Sequence):
        raise refused(name, "InputLayer", "its shape is not stored")
    return NewLayer(
        name,
        "InputLayer",
        {"batch_shape": list(shape), "dtype": dtype, "sparse": False, "name": name},
    )


def merge(kind: str, config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """Keras 1's Merge, by its mode."""
    mode = config.get("mode")
    if config.get("layers"):
        raise refused(
            name, kind, "holds its branches, models of their own, as a Sequential's first layer"
        )
    if config.get("mode_type", "raw") != "raw":
        return _of_code(config, name, weights, context)
    if str(mode) not in MERGE_MODES:
        raise refused(name, kind, f"mode {str(mode)[:20]!r} has no counterpart in Keras 3")
    context.note("merge", name)
    new: dict[str, Json] = {"name": name, "trainable": True}
    if mode == "concat":
        new["axis"] = config.get("concat_axis", -1)
    if mode == "dot":
        new["axes"] = config.get("dot_axes", -1)
        new["normalize"] = False
    return plain_layer(MERGE_MODES[str(mode)].name, new, name, weights, context)


def _of_code(config: Config, name: str, weights: Weights, context: Context) -> Piece:
    """A mode that is a function: stored as a Lambda's is, under names of its own.

    (Source: files of Keras 1.2.2.)
    """
    from unnest.core.keras3 import (
        lambda_layers,
    )  # all that reads stored code, for models that hold some

    named = {"function": config.get("mode"), "function_type": config["mode_type"]}
    kept = {
        key: config[key]
        for key in ("arguments", "output_shape", "output_shape_type")
        if key in config
    }
    return lambda_layers.rule("Lambda", {"name": name, **named, **kept}, name, weights, context)


def gaussian_noise(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """GaussianNoise; of more than 1, which Keras 3 refuses, as the noise of a smaller tensor."""
    deviation = config.get("stddev")
    if not isinstance(deviation, int | float) or deviation <= 1:
        return plain_layer(kind, config, name, weights, context)
    context.note("large-noise", name)
    factor = 2.0 ** math.ceil(math.log2(deviation))  # a power of two: nothing is rounded
    smaller = plain_layer(
        kind, {**config, "stddev": deviation / factor}, f"{name}gaussian_noise", weights, context
    )
    assert isinstance(smaller, NewLayer)
    before, behind = (removed_layers.layer("Rescaling", n, {"scale": s, "offset": 0.0})
                      for n, s in ((f"{name}_smaller", 1 / factor), (name, factor)))  # fmt: skip
    return chain(before, smaller, behind)


def upsampling_2d(
    kind: str, config: Config, name: str, weights: Weights, context: Context
) -> Piece:
    """UpSampling2D; bilinear had other pixel centres before TensorFlow 1.15."""
    how = config.get("interpolation", "nearest")
    if how not in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area"):
        raise refused(name, kind, f"Keras 3 has no interpolation {how!r}")
    if how != "bilinear" or context.half_pixels:
        return plain_layer(kind, config, name, weights, context)
    if context.half_pixels is None or context.backend == "theano":
        raise refused(
            name,
            kind,
            "which pixel centres its bilinear interpolation had does not follow from the file",
        )
    context.note("bilinear", name)
    made = plain_layer(kind, config, name, weights, context)
    assert isinstance(made, NewLayer)
    return Choice(lambda specs, _: removed_layers.bilinear(made, specs[0]))
