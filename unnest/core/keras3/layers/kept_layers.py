"""Layers that Keras 3 has too, with their arguments of today: as they are, or with one thing that changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unnest.core.json_tree import is_list
from unnest.core.keras3 import convert_config_values, convert_constructor_arguments
from unnest.core.keras3.conversion_context import OldLayer, refused
from unnest.core.keras3.graph.sums_mistaken_for_bias_adds import is_taken_for_bias, sums_with_biases
from unnest.core.keras3.layer_replacements import FLOAT, Choice, NewLayer, Piece, chain
from unnest.core.keras3.layers import removed_layers
from unnest.core.keras3.layers.convert_activation_argument import (
    convert_activation,
    is_layer_entry,
    with_converted_activation,
)
from unnest.core.keras3.masks.keep_old_masks import without_output_mask
from unnest.core.keras3.masks.layer_mask_behaviour import drops_mask
from unnest.core.keras_facts.weight_counts_by_config import initialized_weight_counts
from unnest.core.layers.catalog import layer_record
from unnest.core.model import Json


def plain_layer(old: OldLayer) -> Piece:
    """Convert a layer that Keras 3 has too, by its arguments alone."""
    promised = initialized_weight_counts(old.config)
    if (
        promised is not None
        and old.weights
        and promised.total != len(old.weights)
        and not layer_record(old.kind).weight_count
    ):
        raise old.refused(
            f"has {len(old.weights)} weights, and its config promises {promised.total}"
        )
    if any(is_taken_for_bias(*sum_) for sum_ in sums_with_biases(old.kind, old.config)):
        raise old.refused("Keras 3 may add its bias along another axis")
    new = convert_constructor_arguments.converted_arguments(old)
    if not old.config.get("dtype") and any(w.dtype[1:] == "f8" for w in old.weights):
        new["dtype"] = "float64"
    layer = old.as_new(new)
    made = with_converted_activation(layer, old.context) if "activation" in new else layer
    biased = new.get("data_format") == "channels_first" and new.get("use_bias", True)
    return (
        removed_layers.with_bias_on_last_axis(made, old.context)
        if biased and "kernel_size" in new and isinstance(made, NewLayer)
        else made
    )


def passing_layer(old: OldLayer) -> Piece:
    """Convert a layer that hands on its mask today, and did not before."""
    write = maskless_layer if drops_mask(old.kind, old.config, old.context) else plain_layer
    return write(old)


def maskless_layer(old: OldLayer) -> Piece:
    """Convert a layer that hands on a mask only today; if there are masks, an operation behind it drops them."""
    made = plain_layer(old)
    if not old.context.masks or not isinstance(made, NewLayer):
        return made
    old.note("no-mask")
    return without_output_mask(made)


def attention(old: OldLayer) -> Piece:
    """Convert Attention and AdditiveAttention, which took `causal` when they were made: each call takes it today."""
    if old.config.get("causal") is not True:
        return plain_layer(old)
    made = plain_layer(old.without("causal"))
    assert isinstance(made, NewLayer)
    old.note("causal-attention")
    return made._replace(call_arguments={"use_causal_mask": True})


def activation_layer(old: OldLayer) -> Piece:
    """Convert Activation; an activation that is a layer today becomes that layer."""
    found = convert_activation(old.config.get("activation"), old.name, old.context)
    if not is_layer_entry(found):
        return passing_layer(old)
    old.note("activation-layer")
    made = old.context.convert_layer(found, old.name, ())
    return made.renamed(old.name) if isinstance(made, NewLayer) else made


def softmax(old: OldLayer) -> Piece:
    """Convert Softmax; before tf.keras 2.4 it ignored masks, as the activation does."""
    if not old.context.masks or old.context.release >= (2, 4):
        return plain_layer(old)
    if old.config.get("axis", -1) != -1:
        raise old.refused("heeds a mask in Keras 3, along another axis than the last")
    old.note("mask")
    own = old.without("axis").with_changed_arguments({"activation": "softmax"})
    return plain_layer(own._replace(kind="Activation"))


def prelu(old: OldLayer) -> Piece:
    """Convert PReLU; Keras 1 does not store the shared axes, but the weight's shape shows them."""
    if "alpha_initializer" in old.config and "shared_axes" not in old.config and old.weights:
        axes = [k + 1 for k, size in enumerate(old.weights[0].shape) if size == 1]
        old = old.with_changed_arguments({"shared_axes": axes or None})
    return plain_layer(old)


def separable_1d(old: OldLayer) -> Piece:
    """Convert SeparableConv1D; `causal`, which Keras 3 refuses, becomes zeros in front and `valid`."""
    if old.config.get("padding") != "causal":
        return plain_layer(old)
    size, dilation = (_first_number(old.config.get(k, 1)) for k in ("kernel_size", "dilation_rate"))
    old.note("causal")
    made = plain_layer(old.with_changed_arguments({"padding": "valid"}))
    if not isinstance(made, NewLayer):
        raise old.refused("causal padding with such an activation is not expressed")
    padding = {
        "padding": [dilation * (size - 1), 0],
        "data_format": old.config.get("data_format", "channels_last"),
    }
    return chain(removed_layers.keras_layer("ZeroPadding1D", f"{old.name}_padding", padding), made)


def _first_number(value: Json) -> int:
    number = value[0] if is_list(value) else value
    assert isinstance(number, int)
    return number


#: The first Keras 2 in which an Embedding's dtype is that of its weights.
DTYPE_OF_WEIGHTS = (2, 0, 5)


def embedding(old: OldLayer) -> Piece:
    """Convert Embedding, which stored the dtype of its ids before Keras 2.0.5.

    (Source: Keras 2.0.4, keras/layers/embeddings.py: `kwargs['dtype'] = 'int32'`; its weights are float32.)
    """
    if old.config.get("dtype") == "int32" and () < old.context.release < DTYPE_OF_WEIGHTS:
        old.note("embedding-dtype")
        old = old.with_changed_arguments({"dtype": FLOAT})
    return plain_layer(old)


def input_layer(old: OldLayer) -> Piece:
    """Convert InputLayer, with shape and dtype as any release stores them. Raises CannotConvert (sparse, ragged)."""
    shape = old.config.get("batch_input_shape", old.config.get("batch_shape"))
    if shape is None and isinstance(old.config.get("input_shape"), Sequence):
        shape = [old.config.get("batch_size"), *old.config["input_shape"]]  # type: ignore[misc]  # a sequence, as asked
    dtype = (
        convert_config_values.dtype(
            old.config.get("dtype", old.config.get("input_dtype")), old.name, old.context
        )
        or "float32"
    )
    for key in ("sparse", "ragged"):
        if old.config.get(key) not in (None, False):
            why = f"a {key} input is not converted: which layers of Keras 3 take one depends on the backend"
            raise refused(old.name, "InputLayer", why)
    if not isinstance(shape, Sequence):
        raise refused(old.name, "InputLayer", "its shape is not stored")
    return NewLayer(
        old.name,
        "InputLayer",
        {"batch_shape": list(shape), "dtype": dtype, "sparse": False, "name": old.name},
    )


def gaussian_noise(old: OldLayer) -> Piece:
    """Convert GaussianNoise; a deviation above 1, which Keras 3 refuses, becomes the noise of a smaller tensor."""
    deviation = old.config.get("stddev")
    if not isinstance(deviation, int | float) or deviation <= 1:
        return plain_layer(old)
    old.note("large-noise")
    factor = 2.0 ** math.ceil(math.log2(deviation))  # a power of two: nothing is rounded
    smaller = plain_layer(
        old._replace(name=f"{old.name}gaussian_noise").with_changed_arguments(
            {"stddev": deviation / factor}
        )
    )
    assert isinstance(smaller, NewLayer)
    before, behind = (removed_layers.keras_layer("Rescaling", n, {"scale": s, "offset": 0.0})
                      for n, s in ((f"{old.name}_smaller", 1 / factor), (old.name, factor)))  # fmt: skip
    return chain(before, smaller, behind)


def upsampling_2d(old: OldLayer) -> Piece:
    """Convert UpSampling2D; bilinear had other pixel centres before TensorFlow 1.15.

    (Source: get_config in tf.keras of TensorFlow 1.13, without `interpolation`; 1.15 and Keras 2.2.4 store it.)
    """
    if "interpolation" not in old.config and old.context.is_tf:
        old.context.notes.without_interpolation.append(old.name)
    how = old.config.get("interpolation", "nearest")
    if how not in ("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5", "area"):
        raise old.refused(f"Keras 3 has no interpolation {how!r}")
    if how != "bilinear" or old.context.half_pixels:
        return plain_layer(old)
    if old.context.half_pixels is None or old.context.backend == "theano":
        raise old.refused(
            "which pixel centres its bilinear interpolation had does not follow from the file",
        )
    old.note("bilinear")
    made = plain_layer(old)
    assert isinstance(made, NewLayer)
    return Choice(lambda specs, _: removed_layers.old_bilinear_upsampling(made, specs[0]))
