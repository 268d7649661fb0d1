"""Weights of Keras 1 and 2 as a layer of Keras 3 takes them, by the rules of --keras 3.

What the file's own layer was follows from its weights: eight blocks of a bias are those of a CuDNNLSTM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from unnest.core.architecture import children
from unnest.core.architecture.nested_models import Leaf
from unnest.core.keras3.conversion_context import CannotConvert, Context, refused
from unnest.core.keras3.keras1.legacy_weight_layouts import (
    convert_keras_1_weights,
    flip_theano_kernels,
)
from unnest.core.keras3.layer_replacements import NewLayer
from unnest.core.keras3.layers.convert_activation_argument import (
    hard_sigmoid_factors,
    scale_weights,
)
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.keras_facts.custom_functions_in_configs import HARD_SIGMOID
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_layer,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.record import Parts
from unnest.core.model import Json, JsonObject, Tensor

#: Blocks of a bias of CuDNN, which has one for each gate of either kernel.
CUDNN_BLOCKS = {"LSTM": 8, "GRU": 6}

#: Arguments that the rules read.
ARGUMENTS_READ = frozenset({
    "activation", "backward_layer", "cell", "cells", "data_format", "filters", "go_backwards", "kernel_size", "layer",
    "name", "recurrent_activation", "reset_after", "units", "use_bias",
})  # fmt: skip


def weights_for_keras_3(
    leaf: Leaf, tensors: Sequence[Tensor], context: Context
) -> tuple[Tensor, ...]:
    """Return the weights of a leaf layer of the target, in the order of its class.

    Raises:
        CannotConvert: no rule makes them those of that layer.

    """
    layer, weights, name = leaf.layer, tuple(tensors), leaf.name
    kind = current_class_name(layer.class_name)
    if not weights or not is_keras_layer(layer):
        return weights
    record = layer_record(kind)
    if record.applies_activation:
        if context.release[:1] == (1,):
            weights = convert_keras_1_weights(kind, layer.settings, name, weights, context)
        weights = flip_theano_kernels(kind, weights, name, context)
        if layer.settings.get("activation") != HARD_SIGMOID:
            return weights
        return scale_weights(
            weights,
            hard_sigmoid_factors(NewLayer(name, kind, layer.settings, weights)),
            name,
            context,
        )
    if not (record.holds or record.parts is Parts.CELL or record.states):
        return weights
    if any(True for _ in children(layer.stored)):
        if (
            context.release[:1] == (1,)
            or context.backend == "theano"
            or HARD_SIGMOID in str(layer.config)
        ):
            raise refused(
                name,
                kind,
                "holds a model whose weights need rules; pass architecture=, the JSON of its model",
            )
        return weights
    stored = _as_stored(layer.stored, [t.shape for t in weights])
    with_layers = replace(context, layer_converter=convert_layer)  # for layers that hold layers
    piece = convert_layer(stored, name, weights, with_layers)
    if not isinstance(piece, NewLayer):
        raise refused(
            name, kind, "is several layers by the rules for its weights; pass architecture="
        )
    return piece.weights


def _as_stored(entry: JsonObject, shapes: Sequence[tuple[int, ...]]) -> JsonObject:
    """Return the layer with the arguments that the rules read, given the shapes of its weights.

    Raises CannotConvert.
    """
    kind, config = str(entry.get("class_name")), entry.get("config")
    settings = config if isinstance(config, Mapping) else {}
    given: dict[str, Json] = {k: v for k, v in settings.items() if k in ARGUMENTS_READ}
    given |= dict.fromkeys((k for k in settings if k.endswith("_initializer")), "zeros")
    for key in ("layer", "backward_layer", "cell"):
        if isinstance(held := given.get(key), Mapping):
            half = len(shapes) // 2 if kind == "Bidirectional" else len(shapes)
            given[key] = _as_stored(held, shapes[:half])
    if isinstance(cells := given.get("cells"), Sequence):
        given["cells"] = [_as_stored(cell, ()) for cell in cells if isinstance(cell, Mapping)]
    units = settings.get("units")
    if (
        kind in CUDNN_BLOCKS
        and isinstance(units, int)
        and [*shapes[2:]] == [(CUDNN_BLOCKS[kind] * units,)]
    ):
        kind = f"CuDNN{kind}"
        if (
            settings.get("recurrent_activation") != "sigmoid"
            or settings.get("activation") != "tanh"
        ):
            raise CannotConvert(
                f"{settings.get('name')!r}: its weights are those of CuDNN, which computes sigmoid and tanh alone"
            )
    return {"class_name": kind, "config": given}
