"""Mask behaviour of Keras layers (make, heed, hand on, drop), and of training, in an older release and today."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from unnest.budget import charge_steps, memoize
from unnest.core import json_tree
from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Graph, Layer, in_order
from unnest.core.keras3.conversion_context import Context
from unnest.core.layers.catalog import layer_record, makes_own_mask
from unnest.core.layers.read_config_values import gives_sequences, settings
from unnest.core.layers.record import MaskUse
from unnest.core.model import CallId, JsonObject

HANDING_ON = (MaskUse.PASSES, MaskUse.HEEDS_AND_PASSES)
#: What becomes of a model in a model.
NESTED_MODELS = frozenset({"Functional", "Sequential"})
#: TensorFlow 2.3 and 2.4 both call themselves so, and the file does not tell them apart.
AMBIGUOUS = (2, 4, 0)
#: Layers that did something else with a mask in TensorFlow 2.3: Softmax did not heed it, ReLU did not hand it on.
OTHER_IN_TF_23 = frozenset({"Softmax", "ReLU"})
#: The first release whose TimeDistributed gives the layer in it the mask of each step, and hands on its masks.
STEP_MASKS = (2, 2)
NOT_TOLD = (
    "what became of its mask is not told: TensorFlow 2.3 and 2.4 both call themselves Keras 2.4.0, "
    "and differ in this"
)


def is_known(kind: str) -> bool:
    """Return True if a layer is one of Keras's own, of which it is known what becomes of a mask."""
    return layer_record(bare_name(kind)).mask is not MaskUse.UNKNOWN


def may_pass_unknown_mask(kind: str, config: JsonObject) -> bool:
    """Return True if the file does not say whether a mask comes out of a layer: of a custom one, or a Lambda's `mask`.

    (Source: compute_mask of Lambda in Keras 1.2.2 to 3.15: the mask is what its argument `mask` gives, else none.)
    """
    return not is_known(kind) and not (kind == "Lambda" and config.get("mask") is None)


def bare_name(kind: str) -> str:
    """Return a class name as Keras exports it: TensorFlow has BatchNormalizationV1 and V2 inside."""
    return re.sub(r"V[12]$", "", kind)


def passes_mask(kind: str, config: JsonObject, context: Context) -> bool:
    """Return True if the mask of a layer's input was that of its output."""
    if layer_record(kind).mask is MaskUse.HEEDS:
        return gives_sequences(config)
    return layer_record(bare_name(kind)).mask in HANDING_ON and not drops_mask(
        kind, config, context
    )


def all_pass(model: JsonObject, context: Context) -> bool:
    """Return True if every layer of a model in a model hands on the mask of its input; false for what is no model."""
    layers = model.get("layers")
    entries = [e for e in layers if isinstance(e, Mapping)] if isinstance(layers, Sequence) else []
    return bool(entries) and all(
        e.get("class_name") == "InputLayer"
        or passes_mask(str(e.get("class_name")), settings(e), context)
        for e in entries
    )


def makes_mask(entry: JsonObject, context: Context) -> bool:
    """Return True if a model in a model gives its first output a mask that a layer in it makes."""
    return is_model(entry) and memoize(_model_makes_mask, entry, context)


def _model_makes_mask(model: JsonObject, context: Context) -> bool:
    return model_gives_mask(model, context, is_masked=False)


def model_gives_mask(model: JsonObject, context: Context, *, is_masked: bool) -> bool:
    """Return True if the first output of a model has a mask; `is_masked`: its inputs have one."""
    graph = read(model)
    has_mask = {at: given for at, _, _, given in masked_calls(graph, context, is_masked=is_masked)}
    if graph.sequential:
        return [is_masked, *has_mask.values()][-1]
    return bool(graph.outputs) and has_mask.get(graph.outputs[0].call, False)


def masked_calls(
    graph: Graph, context: Context, *, is_masked: bool
) -> Iterator[tuple[CallId, Layer, bool, bool]]:
    """Yield each call of a layer, in order, with whether a mask came in and whether one came out.

    `is_masked`: the model's inputs have one. Of a Sequential each layer is called once.
    """
    charge_steps(len(graph.layers))
    if graph.sequential:
        for name, layer in graph.layers.items():
            hands_on = is_masked and (
                is_input(layer.stored) or passes_mask(layer.class_name, layer.settings, context)
            )
            came_in, is_masked = is_masked, hands_on or masks_itself(layer.stored, context)
            yield CallId(name, 0), layer, came_in, is_masked
        return
    has_mask: dict[CallId, bool] = {}
    for at, call in in_order(graph):
        layer = graph.layers[at.layer]
        are_masked = [has_mask.get(source.call, False) for source in call.reads]
        if is_input(layer.stored):
            hands_on = is_masked
        elif layer_record(layer.class_name).mask is MaskUse.MERGES:
            hands_on = any(are_masked)
        else:
            hands_on = are_masked[:1] == [True] and passes_mask(
                layer.class_name, layer.settings, context
            )
        has_mask[at] = hands_on or masks_itself(layer.stored, context)
        yield at, layer, any(are_masked), has_mask[at]


def masks_itself(entry: JsonObject, context: Context) -> bool:
    """Return True if a layer's output has a mask whatever goes in."""
    if entry.get("class_name") == "TimeDistributed":
        held, _ = layer_at_each_step(entry)
        return gives_masks_to_steps(context) and held is not entry and masks_itself(held, context)
    return makes_own_mask(entry) or makes_mask(entry, context)


def layer_at_each_step(entry: JsonObject) -> tuple[JsonObject, int]:
    """Return the layer that a TimeDistributed applies at each step, and how many TimeDistributed hold it."""
    depth = 0
    while entry.get("class_name") == "TimeDistributed":
        held = settings(entry).get("layer")
        if not isinstance(held, Mapping):
            break
        entry, depth = held, depth + 1
    return entry, depth


def gives_masks_to_steps(context: Context) -> bool:
    """Return True if a TimeDistributed gave the layer in it the mask of each step, and asked it for one.

    (Source: layers/wrappers.py of Keras 2.1.6, which has none of it, 2.2.0 to 2.3.1, and TensorFlow 2.0 to 2.15.)
    """
    return not () < context.release < STEP_MASKS


def is_batch_reshaped(held: JsonObject, context: Context) -> bool:
    """Return True if a TimeDistributed asks the layer in it each step for a batch of a fixed size, too.

    (Source: _always_use_reshape in layers/wrappers.py of TensorFlow 1.15 to 2.15, which 1.13 and Keras 2.3.1 have not:
    Keras's own layers but stateful ones.)
    """
    is_own = is_model(held) or is_known(str(held.get("class_name")))
    is_stateful = any(settings(part).get("stateful") for part in json_tree.objects(held))
    return bool(context.half_pixels) and is_own and not is_stateful


def heeds_mask(entry: JsonObject) -> bool:
    """Return True if a layer, or one that it holds at each step or as a model, may compute otherwise with a mask."""
    held, _ = layer_at_each_step(entry)
    if is_model(held):
        layers = read(held).layers.values()
        return any(heeds_mask(layer.stored) for layer in layers if not is_input(layer.stored))
    use = layer_record(bare_name(str(held.get("class_name")))).mask
    return use in (MaskUse.HEEDS, MaskUse.HEEDS_AND_PASSES, MaskUse.UNKNOWN)


def drops_steps_mask(held: JsonObject, context: Context) -> bool | None:
    """Return True if a layer that has a mask in each step gives none there; None where that is unknown."""
    kind = str(held.get("class_name"))
    if is_model(held):
        are_known = all(
            is_input(layer.stored) or layer.is_model or is_known(layer.class_name)
            for layer in read(held).layers.values()
        )
        return not model_gives_mask(held, context, is_masked=True) if are_known else None
    return not passes_mask(kind, settings(held), context) if is_known(kind) else None


def drops_mask(kind: str, config: JsonObject, context: Context) -> bool:
    """Return True if a layer that hands on a mask today did not then.

    (Source: supports_masking of the classes in TensorFlow 1.13 to 2.15, of standalone Keras 2.2.4, and of Keras 3.15;
    TensorFlow 1.13, base_layer.py: where a layer gives back its very input, a copy takes its place, without the mask.)
    """
    if kind == "ReLU":
        return context.is_tf
    if kind == "MultiHeadAttention":
        return () < context.release < (2, 10)
    if kind == "ActivityRegularization" or (
        kind == "Activation" and config.get("activation") == "linear"
    ):
        return context.is_tf and not context.half_pixels
    return layer_record(kind).passes_mask_in_keras_3


def is_ambiguous(kind: str, context: Context) -> bool:
    """True if a layer did one thing with a mask in TensorFlow 2.3 and another in 2.4, and the file is of either."""
    return context.release == AMBIGUOUS and kind in OTHER_IN_TF_23


BY_ALL = "it was divided by the number of all steps, and is by that of the unmasked ones in Keras 3"


def note_masked_output(name: str, context: Context, *, today: bool = True) -> None:
    """Note that this output's loss saw a mask; `today`: whether it sees the same one in Keras 3.

    (Source: a step of each, recorded by its stack. The masked loss was divided by the number of all steps in
    Keras 2.3 and in tf.keras from 1.13 until 2.10, by that of the unmasked ones in Keras 1.2 to 2.2.4; Keras 2.11,
    losses.py: the first that asks for the mask of what was predicted.)
    """
    first = (2, 2, 4) if context.is_tf else (2, 3)
    if not today:
        context.graph.masked_ends[name] = "it sees another mask in Keras 3, or none"
    elif first <= context.release < (2, 11):
        context.graph.masked_ends[name] = BY_ALL


def note_normalization(entry: JsonObject, name: str, context: Context) -> None:
    """Note a BatchNormalization behind a mask, or in a layer there: in training it counted masked steps too.

    (Source: Keras 2.12, batch_normalization.py, the first whose call takes a mask.)
    """
    trained = (p for p in json_tree.objects(entry) if settings(p).get("trainable") is not False)
    if () < context.release < (2, 12) and any(
        p.get("class_name") == "BatchNormalization" for p in trained
    ):
        context.notes.masked_norms.append(name)
