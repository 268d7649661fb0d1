"""Layers of an older model that tf_keras loads, and that compute otherwise there because of a mask.

(Source: models of Keras 1.2.2 to TensorFlow 2.15 with masks, and what tf_keras 2.21 predicts.)
"""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.masks.layer_mask_behaviour import (
    AMBIGUOUS,
    drops_mask,
    gives_masks_to_steps,
    heeds_mask,
    is_batch_reshaped,
    layer_at_each_step,
    masked_calls,
)
from unnest.core.keras3.masks.outputs_at_masked_steps import gave_initial_state
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import gives_sequences, settings
from unnest.core.layers.record import MaskUse
from unnest.core.model import CallId, JsonObject, Stored

#: tf_keras treats masks as Keras 2.15 does.
TF_KERAS = Context((2, 15), half_pixels=True)


def masked_otherwise(model: Stored) -> str | None:
    """Return the first layer that reads a mask otherwise in tf_keras than in its own Keras; None if none is known."""
    architecture = model.architecture
    if architecture is None or not () < model.release[:2] < (2, 10):
        return None
    context = Context.of_writer(model, architecture)
    if not context.masks:
        return None
    if not context.zeroes_masked:
        entries = (e for e in layer_entries(architecture) if e is not architecture)
        reasons = (_otherwise_before_2_1(entry, context) for entry in entries)
        if (reason := next((r for r in reasons if r is not None), None)) is not None:
            return reason
    return _otherwise(architecture, context, then=False, now=False)


def _otherwise_before_2_1(entry: JsonObject, context: Context) -> str | None:
    """Return how a layer, or a model in a model, treated masks otherwise until TensorFlow 2.0; None if it did not.

    Any mask in the model counts, as a custom layer may hand it on. Files since TensorFlow 2.1 have `ragged` for each
    input.
    (Source: files of Keras 2.0.9 to 2.3.1, TensorFlow 1.13 and 2.0, and what tf_keras 2.21 predicts.)
    """
    kind, config = entry["class_name"], settings(entry)
    which = f"the {kind} {config.get('name')!r}"
    if kind == "Bidirectional" and gives_sequences(config):
        return f"{which} gave its last output at masked steps, and gives zeros there"
    if not context.is_tf or context.half_pixels:
        return None
    if kind == "Bidirectional":
        return f"{which} gave zeros where its last step is masked, and gives its last output there"
    if is_model(entry):
        return f"{which}, a model in the model, treated masks otherwise in TensorFlow before 1.15"
    return None


def _otherwise(model: JsonObject, context: Context, *, then: bool, now: bool) -> str | None:
    """Return the first such layer of a model and of the models in it; `then`, `now`: its inputs have a mask."""
    graph = read(model)
    calls_then = masked_calls(graph, context, is_masked=then)
    calls_now = masked_calls(graph, TF_KERAS, is_masked=now)
    for (at, layer, was_masked, _), (_, _, is_masked, _) in zip(calls_then, calls_now, strict=True):
        if is_input(layer.stored):
            continue
        if layer.is_model:
            reason = _otherwise(layer.stored, context, then=was_masked, now=is_masked)
        else:
            what = _difference(graph, at, layer, context, then=was_masked, now=is_masked)
            reason = f"the {layer.class_name} {layer.name!r} {what}" if what is not None else None
        if reason is not None:
            return reason
    return None


def _difference(
    graph: Graph, at: CallId, layer: Layer, context: Context, *, then: bool, now: bool
) -> str | None:
    """Return what a layer did behind a mask and does not do in tf_keras; `then`, `now`: whether a mask comes in."""
    kind, entry = layer.class_name, layer.stored
    use = layer_record(kind).mask
    if then != now and (heeds_mask(entry) or use is MaskUse.STOPS):
        return "got no mask, and gets one there" if now else "got a mask, and gets none there"
    if not then:
        return None
    # Of what calls itself 2.4.0, TensorFlow 2.4 would have failed where the mask is not of the Softmax's own shape.
    is_heedless = kind == "Softmax" and context.release <= AMBIGUOUS
    if is_heedless or (kind == "MultiHeadAttention" and drops_mask(kind, {}, context)):
        return "did not heed its mask, and does there"
    held, _ = layer_at_each_step(entry)
    is_asked = gives_masks_to_steps(context) and (
        not _has_fixed_batch(graph) or is_batch_reshaped(held, context)
    )
    if kind == "TimeDistributed" and not is_asked:
        takes_none = layer_record(str(held.get("class_name"))).mask is MaskUse.STOPS
        if takes_none or heeds_mask(entry):
            return "gave the layer in it no mask, and does there"
    has_state = bool(layer.settings.get("stateful")) or (
        not graph.sequential and len(graph.call(at).reads) > 1
    )
    if has_state and gave_initial_state(kind, layer.settings, context):
        return "gave its initial state at masked first steps, and gives zeros there"
    return None


def _has_fixed_batch(graph: Graph) -> bool:
    """Return True if a model's first layer, its input or another, stores the size of the batch."""
    first = next(iter(graph.layers.values()), None)
    shape = None if first is None else first.settings.get("batch_input_shape")
    return isinstance(shape, Sequence) and shape[:1] not in ([], [None])
