"""Recurrent layers and their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.keras3 import convert_constructor_arguments, derived_weights
from unnest.core.keras3.conversion_context import Context, OldLayer
from unnest.core.keras3.layer_replacements import Config, Piece, Weights
from unnest.core.keras3.layers import removed_layers
from unnest.core.keras3.layers.convert_activation_argument import (
    HARD_SIGMOID_FACTOR,
    convert_activation,
    is_layer_entry,
    scale_weights,
)
from unnest.core.keras3.layers.convert_wrapper_layers import inner_layer
from unnest.core.keras3.masks.outputs_at_masked_steps import gave_initial_state
from unnest.core.keras_facts.custom_functions_in_configs import HARD_SIGMOID
from unnest.core.keras_facts.stored_class_names import is_keras_class
from unnest.core.keras_facts.weight_counts_by_config import cell_weight_counts
from unnest.core.keras_facts.weight_shape_check import fits_shape
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import settings
from unnest.core.model import Json

#: (Seen with LSTM, GRU and SimpleRNN of Keras 2.0.9 and 2.2.4: 0.2 to 0.7 off from the second batch on.)
STATE_AT_MASKED_START = (
    "is stateful in a model with masks: at masked steps that begin a row it gave the state of the batch before, and "
    "gives zeros in Keras 3"
)


def recurrent_layer(old: OldLayer) -> Piece:
    """Convert LSTM, GRU, SimpleRNN and their cells."""
    if not {"units", "filters"} & set(old.config):
        raise old.refused("its arguments are not in the file: Keras 2.0.9 stored none of a cell's")
    if (
        old.context.masks
        and old.config.get("stateful")
        and gave_initial_state(old.kind, old.config, old.context)
    ):
        raise old.refused(STATE_AT_MASKED_START)
    if old.config.get("time_major"):
        made = recurrent_layer(old.with_changed_arguments({"time_major": False}))
        return removed_layers.with_time_and_batch_swapped(made, old)
    if (
        old.config.get("zero_output_for_mask")
        and old.kind in ("LSTM", "GRU")
        and _may_not_zero(old.context)
    ):
        raise old.refused(NOT_ZEROED)
    new = convert_constructor_arguments.converted_arguments(old)
    gates = layer_record(old.kind.removesuffix("Cell")).gates or "h"
    recurrent = convert_activation(new.get("recurrent_activation", "linear"), old.name, old.context)
    act = convert_activation(new.get("activation"), old.name, old.context)
    if is_layer_entry(recurrent) or is_layer_entry(act):
        raise old.refused("an activation that is a layer has no place inside a recurrent layer")
    if act == HARD_SIGMOID and len(gates) == len("ifco"):
        raise old.refused(
            "hard_sigmoid as the activation acts on the cell state too, and is another function today",
        )
    new["activation"] = act
    if "recurrent_activation" in new:
        new["recurrent_activation"] = recurrent
    inner = {"i", "f", "o", "z", "r"} if recurrent == HARD_SIGMOID else set()
    outer = {"h"} if act == HARD_SIGMOID else set()
    return old.as_new(new, _gate_weights(old, new, gates, inner | outer))


def _gate_weights(old: OldLayer, new: Config, gates: str, hard: set[str]) -> Weights:
    """Return the weights of a recurrent layer, those of the gates `hard` scaled for today's hard_sigmoid.

    `gates` are the letters of its gates, in the order in which the last axis of each weight holds them.

    Raises:
        Refused: they are not as many as the config `new` promises, or the bias is not of its form.

    """
    weights = _plain_weights(old, new)
    if hard:
        factors = tuple(HARD_SIGMOID_FACTOR if gate in hard else 1.0 for gate in gates)
        weights = scale_weights(weights, [factors] * len(weights), old.name, old.context)
    if old.kind.removesuffix("Cell") == "GRU" and len(weights) > 2:  # noqa: PLR2004 - with a bias
        has_two_rows = len(weights[2].shape) == 2  # noqa: PLR2004 - input and recurrent bias, one each
        if has_two_rows is not bool(new.get("reset_after")):
            raise old.refused(
                f"its bias has the shape {weights[2].shape}, and reset_after is not {has_two_rows}",
            )
    return weights


def _plain_weights(old: OldLayer, new: Config) -> Weights:
    """Return the weights as plain recurrent layers have them; refuse a number that its new arguments do not promise."""
    weights = old.weights
    if _is_of_cudnn(old):
        if {key: new.get(key) for key in CUDNN_ACTIVATIONS} != CUDNN_ACTIVATIONS:
            raise old.refused(
                "its weights are those of CuDNN, which computes sigmoid and tanh alone"
            )
        old.note("cudnn-rnn")
        weights = _without_cudnn_layout(old.kind, weights)
    if weights and len(weights) != 2 + bool(new.get("use_bias", True)):
        raise old.refused(f"has {len(weights)} weights, and its config promises others")
    return weights


def _may_not_zero(context: Context) -> bool:
    """Return True if LSTM and GRU may have left masked steps as they were, whatever `zero_output_for_mask` said.

    (Source: TensorFlow 2.0, keras/layers/recurrent_v2.py: standard_lstm and standard_gru are not told of it; those of
    TensorFlow 1.13 and 1.15, and of 2.2 on, heed it.)
    """
    return context.masks and context.is_tf and context.release == (2, 2, 4)


NOT_ZEROED = (
    "whether it heeded zero_output_for_mask is not told: TensorFlow 1.13 did and 2.0 did not, and both call themselves "
    "Keras 2.2.4-tf"
)


def cudnn(old: OldLayer) -> Piece:
    """Convert CuDNNLSTM and CuDNNGRU to LSTM and GRU with sigmoid, tanh and (GRU) reset_after."""
    old.note("cudnn-rnn")
    base = old.kind.removeprefix("CuDNN")
    if len(old.weights) not in (0, 3):  # kernel, recurrent kernel, bias
        raise old.refused(f"has {len(old.weights)} weights in place of 3")
    settings: Config = {**CUDNN_ACTIVATIONS, "use_bias": True}
    if base == "GRU":
        settings = {**settings, "reset_after": True}
    return recurrent_layer(old._replace(kind=base).with_changed_arguments(settings))


#: The only activations that CuDNN computes.
CUDNN_ACTIVATIONS: Config = {"activation": "tanh", "recurrent_activation": "sigmoid"}


def _is_of_cudnn(old: OldLayer) -> bool:
    """Return True if weights lie as CuDNN has them: their bias is a vector with a block for each gate of either kernel.

    Keras 2 stores so the weights of the CuDNN classes, and tells by the bias when it loads an `.h5` into a layer of
    either class. (Source: Keras 2.3.1, keras/engine/saving.py, _convert_rnn_weights.)
    """
    if old.kind not in ("LSTM", "GRU") or len(old.weights) != 3:  # noqa: PLR2004 - with a bias
        return False
    return old.weights[2].shape == (2 * old.weights[1].shape[-1],)


def _without_cudnn_layout(base: str, weights: Weights) -> Weights:
    """Return the weights of a CuDNN layer as LSTM and GRU have them."""
    kernel, recurrent, bias = weights
    count = len(layer_record(base).gates)
    rows, units = kernel.shape[0], kernel.shape[1] // count
    parts = [
        derived_weights.transposed(derived_weights.reshaped(k, units, rows), 1, 0)
        for k in derived_weights.blocks(kernel, 1, count)
    ]
    across = [
        derived_weights.transposed(k, 1, 0) for k in derived_weights.blocks(recurrent, 1, count)
    ]
    both = (
        derived_weights.added(*derived_weights.blocks(bias, 0, 2))
        if base == "LSTM"
        else derived_weights.reshaped(bias, 2, count * units)
    )
    return (
        derived_weights.concatenated(parts, 1),
        derived_weights.concatenated(across, 1),
        both,
    )


def rnn(old: OldLayer) -> Piece:
    """Return an RNN over a cell, by the cell's class."""
    if old.config.get("time_major"):
        made = rnn(old.with_changed_arguments({"time_major": False}))
        return removed_layers.with_time_and_batch_swapped(made, old)
    cell = inner_layer(old.config.get("cell"), old, old.weights)
    new = convert_constructor_arguments.converted_arguments(
        old.with_changed_arguments({"cell": None})
    )
    return old.as_new({**new, "cell": cell.entry}, cell.weights)


def stacked_cells(old: OldLayer) -> Piece:
    """Convert StackedRNNCells: each cell owns the next of the weights."""
    cells, made, rest = old.config.get("cells"), [], old.weights
    if not isinstance(cells, Sequence):
        raise old.refused("holds no list of cells")
    if old.config.get("reverse_state_order"):
        raise old.refused("reverse_state_order has no counterpart in Keras 3")
    counts = cell_weight_counts(cells, len(old.weights))
    if counts is None:
        raise old.refused(CELLS_IN_DOUBT)
    for cell, count in zip(cells, counts, strict=True):
        made.append(inner_layer(cell, old, rest[:count]))
        if not _fits_cell(cell, rest[:count]):
            raise old.refused(CELLS_IN_DOUBT)
        rest = rest[count:]
    new = convert_constructor_arguments.converted_arguments(
        old.without("cells", "reverse_state_order")
    )
    cell_weights = tuple(w for c in made for w in c.weights)
    return old.as_new({**new, "cells": [c.entry for c in made]}, cell_weights)


def conv_lstm(old: OldLayer) -> Piece:
    """Convert ConvLSTM, dropping time_major and zero_output_for_mask, which it ignored (seen: tf.keras 2.0 to 2.15)."""
    return recurrent_layer(old.without("time_major", "zero_output_for_mask"))


CELLS_IN_DOUBT = "which of its weights each cell has does not follow from their configs"


def _fits_cell(cell: Json, weights: Weights) -> bool:
    """Return False if weights are not of the shapes that one of Keras's cells has; those beside it own them, then."""
    kind = str(cell.get("class_name")) if isinstance(cell, Mapping) else ""
    shapes_of = layer_record(kind).weight_shapes
    if not isinstance(cell, Mapping) or shapes_of is None or not is_keras_class(kind, cell):
        return True
    wanted = shapes_of(settings(cell)) or ()
    return all(
        fits_shape(weight.shape, shape) for weight, shape in zip(weights, wanted, strict=False)
    )
