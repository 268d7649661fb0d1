"""Table of the rule for each class of layer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from unnest.core.architecture import is_model
from unnest.core.keras3.conversion_context import Context, OldLayer, refused
from unnest.core.keras3.convert_config_values import plain_json
from unnest.core.keras3.convert_model_graph import convert_nested
from unnest.core.keras3.keras1 import keras1_to_keras2_arguments, legacy_weight_layouts
from unnest.core.keras3.layer_replacements import Choice, Config, NewLayer, Piece, Weights
from unnest.core.keras3.layers import (
    convert_normalization,
    convert_preprocessing,
    convert_recurrent,
    convert_thresholded_relu_and_merge,
    convert_wrapper_layers,
    kept_layers,
    removed_layers,
)
from unnest.core.keras3.layers.custom_layers import custom_layer, is_custom_class, without_rule
from unnest.core.keras3.layers.kept_layers import passing_layer, plain_layer
from unnest.core.layers.catalog import RENAMED, layer_record
from unnest.core.model import JsonObject, Tensor

LayerRule: TypeAlias = Callable[[OldLayer], Piece]
"""A layer -> what it becomes; raises CannotConvert."""


def convert_layer(entry: JsonObject, name: str, weights: Weights, context: Context) -> Piece:
    """Return the replacement of a layer entry. Raises CannotConvert."""
    config = entry.get("config")
    try:
        made = _replacement(entry, name, weights, context)
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as e:
        why = f"its arguments and weights are not as its Keras wrote them ({type(e).__name__}: {e})"
        raise refused(name, str(entry.get("class_name")), why) from e
    return _with_trained_marked(
        made, frozen=isinstance(config, Mapping) and config.get("trainable") is False
    )


def _with_trained_marked(made: Piece, *, frozen: bool) -> Piece:
    """Return a replacement with its weights marked as trained or not, when its inputs are known."""
    if isinstance(made, Choice):
        return Choice(
            lambda specs, dtypes: _with_trained_marked(made.resolved(specs, dtypes), frozen=frozen)
        )
    if isinstance(made, NewLayer) and made.weights and not is_model(made.entry):
        return made._replace(weights=tuple(_marked_as_trained(made, frozen=frozen)))
    return made


def _marked_as_trained(layer: NewLayer, *, frozen: bool) -> Iterator[Tensor]:
    """Yield the weights, each marked as trained or not; those of a wrapped layer are marked already."""
    record = layer_record(layer.class_name)
    trained = len(layer.weights)
    if record.is_plain and any(not weight.trained for weight in record.weights or ()):
        trained = sum(
            weight.trained and bool(layer.config.get(weight.switch, True))
            for weight in record.weights or ()
        )
    for k, weight in enumerate(layer.weights):
        yield weight._replace(trained=weight.trained and k < trained and not frozen)


def _replacement(entry: JsonObject, name: str, weights: Weights, context: Context) -> Piece:
    """Convert one layer by the rule of its class, a model by its layers."""
    weights = tuple(w._replace(trained=True) for w in weights) if not is_model(entry) else weights
    if is_model(entry):
        return convert_nested(entry, name, weights, context)
    kind, config = str(entry.get("class_name")), plain_json(entry.get("config"))
    settings: Config = config if isinstance(config, Mapping) else {}
    registered = entry.get("registered_name")
    if isinstance(registered, str) and ">" in registered:
        kind = registered
    if layer_record(kind).exported and is_custom_class(kind, entry, settings, context):
        return custom_layer(OldLayer(kind, settings, name, weights, context))
    bare = re.sub(r"V[12]$", "", kind)
    known = layer_record(bare).is_in_keras_3 or bare in LAYER_RULES or bare in RENAMED
    if bare != kind and known:
        context.note("class-name", name, f"{kind} is {bare}")
        kind = bare
    keras_1s = keras1_to_keras2_arguments.is_keras_1(settings, context)
    if keras_1s and kind != "Merge":
        kind, settings = keras1_to_keras2_arguments.renamed_class_and_arguments(
            kind, settings, name, context
        )
        weights = legacy_weight_layouts.convert_keras_1_weights(
            kind, settings, name, weights, context
        )
    kind = RENAMED.get(kind, kind)
    weights = legacy_weight_layouts.flip_theano_kernels(kind, weights, name, context)
    rule = LAYER_RULES.get(kind)
    if rule is None:
        rule = plain_layer if layer_record(kind).is_in_keras_3 else without_rule
    return rule(OldLayer(kind, settings, name, weights, context))


def _check_weightless(old: OldLayer) -> None:
    """Raise CannotConvert for a Lambda or an operation with weights.

    (Source: TensorFlow 2.0, keras/layers/core.py: a Lambda tracks the variables that its function makes, K.ones's too.)
    """
    if old.weights:
        raise old.refused(
            f"its code made weights ({len(old.weights)}), which may have been trained, "
            "and no Lambda of Keras 3 has any"
        )


def _stored_function(old: OldLayer) -> Piece:
    _check_weightless(old)
    from unnest.core.keras3.lambdas import (
        lambda_layer_rule,  # it, and all that reads stored code, for models that hold some
    )

    return lambda_layer_rule.rule(old)


def _operation(old: OldLayer) -> Piece:
    _check_weightless(old)
    from unnest.core.keras3.operations import (
        operation_layer_rule,  # it reads calls as stored code is read
    )

    return operation_layer_rule.rule(old)


#: Class -> its rule; a class of Keras 3 without one is a plain layer.
LAYER_RULES: dict[str, LayerRule] = {
    "InputLayer": kept_layers.input_layer,
    "Activation": kept_layers.activation_layer,
    "ThresholdedReLU": convert_thresholded_relu_and_merge.thresholded_relu,
    "Merge": convert_thresholded_relu_and_merge.merge,
    "BatchNormalization": convert_normalization.batch_normalization,
    "Normalization": convert_normalization.normalization,
    **dict.fromkeys(
        (
            "LSTM",
            "GRU",
            "SimpleRNN",
            "LSTMCell",
            "GRUCell",
            "SimpleRNNCell",
        ),
        convert_recurrent.recurrent_layer,
    ),
    "CuDNNLSTM": convert_recurrent.cudnn,
    "CuDNNGRU": convert_recurrent.cudnn,
    "ConvLSTM1D": convert_recurrent.conv_lstm,
    "ConvLSTM2D": convert_recurrent.conv_lstm,
    "ConvLSTM3D": convert_recurrent.conv_lstm,
    "Embedding": kept_layers.embedding,
    "GaussianNoise": kept_layers.gaussian_noise,
    "PReLU": kept_layers.prelu,
    **dict.fromkeys(("Attention", "AdditiveAttention"), kept_layers.attention),
    "SeparableConv1D": kept_layers.separable_1d,
    "Discretization": convert_preprocessing.discretization,
    "Hashing": convert_preprocessing.hashing,
    "Resizing": convert_preprocessing.resizing,
    "TextVectorization": convert_preprocessing.text_vectorization,
    **dict.fromkeys(("IntegerLookup", "StringLookup"), convert_preprocessing.lookup),
    "Rescaling": convert_preprocessing.rescaling,
    "Softmax": kept_layers.softmax,
    **dict.fromkeys(("ActivityRegularization", "Identity", "ReLU"), passing_layer),
    "UpSampling2D": kept_layers.upsampling_2d,
    "RNN": convert_recurrent.rnn,
    "Lambda": _stored_function,
    **dict.fromkeys(("SlicingOpLambda", "TFOpLambda", "TensorFlowOpLayer"), _operation),
    "LocallyConnected1D": removed_layers.locally_connected,
    "LocallyConnected2D": removed_layers.locally_connected,
    "MaxoutDense": removed_layers.maxout,
    "Highway": removed_layers.highway,
    "StackedRNNCells": convert_recurrent.stacked_cells,
    "TimeDistributed": convert_wrapper_layers.time_distributed,
    "Bidirectional": convert_wrapper_layers.bidirectional,
    "SpectralNormalization": convert_wrapper_layers.spectral_normalization,
}
