"""Layers of an older model that tf_keras loads, and that compute otherwise there because of a mask.

(Source: models of Keras 1.2.2 to TensorFlow 2.15 with masks, and what tf_keras 2.21 predicts.)
"""

from __future__ import annotations

from collections.abc import Sequence

from unnest.core.architecture import is_input, read
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.mask_propagation import (
    AMBIGUOUS,
    asks_each_step,
    distributed,
    drops_mask,
    heeds_mask,
    is_batch_reshaped,
    masked_calls,
)
from unnest.core.keras3.masked_steps import gave_initial_state
from unnest.core.keras_facts.tensorflow_releases import (
    is_tensorflow_1_15_or_later,
    makes_masks,
)
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.record import MaskUse
from unnest.core.model import CallId, JsonObject, Stored

#: tf_keras treats masks as TensorFlow 2.15 does.
TF_KERAS = Context((2, 15), is_tf=True, half_pixels=True)


def masked_otherwise(model: Stored) -> str | None:
    """Return the first layer that reads a mask otherwise in tf_keras than in its own Keras; None if none is known."""
    architecture = model.architecture
    if architecture is None or not () < model.release[:2] < (2, 10):
        return None
    if not makes_masks(architecture):
        return None
    writer = Context.of(model.keras_version, model.backend)
    half_pixels = is_tensorflow_1_15_or_later(
        architecture, writer.release, is_standalone=not writer.is_tf
    )
    context = Context(writer.release, writer.is_tf, half_pixels=half_pixels)
    return _otherwise(architecture, context, then=False, now=False)


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
    held, _ = distributed(entry)
    is_asked = asks_each_step(context) and (
        not _has_fixed_batch(graph) or is_batch_reshaped(held, context)
    )
    if kind == "TimeDistributed" and not is_asked:
        takes_none = layer_record(str(held.get("class_name"))).mask is MaskUse.STOPS
        if takes_none or heeds_mask(entry):
            return "gave the layer in it no mask, and does there"
    has_state = not graph.sequential and len(graph.call(at).reads) > 1
    if has_state and gave_initial_state(kind, layer.settings, context):
        return "gave its initial state at masked first steps, and gives zeros there"
    return None


def _has_fixed_batch(graph: Graph) -> bool:
    """Return True if a model's first layer, its input or another, stores the size of the batch."""
    first = next(iter(graph.layers.values()), None)
    shape = None if first is None else first.settings.get("batch_input_shape")
    return isinstance(shape, Sequence) and shape[:1] not in ([], [None])
