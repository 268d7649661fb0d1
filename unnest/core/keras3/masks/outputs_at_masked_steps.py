"""Outputs of recurrent layers at masked steps before Keras 3, which gives zeros there.

Keras of its own gave back the last output, at first the initial state, as TensorFlow's did from 1.13 on with zeros at
first; Keras 3 gives zeros at first, and from a Bidirectional at every masked step.
(Source: K.rnn of Keras 2.2.4 and of TensorFlow 1.13 to 2.2; zero_output_for_mask of Keras 3's Bidirectional.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core import json_tree
from unnest.core.architecture.graph import Graph
from unnest.core.keras3.conversion_context import CannotConvert, Context, refused
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer, NodeTree, numpy_operation
from unnest.core.keras3_op_node import GraphTensor
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import gives_sequences, settings
from unnest.core.layers.record import MaskUse
from unnest.core.model import JsonObject


def check_masked_steps(
    kind: str, layer: NewLayer, kwargs: Mapping[str, NodeTree], context: Context
) -> None:
    """Raise CannotConvert if the output at masked steps differed from today's."""
    if repeats_last_output(layer.entry, context) and not _can_be_split(layer, kwargs, context):
        raise last_output_refusal(layer.name, kind)
    is_known = (
        layer_record(kind).is_recurrent and not context.is_tf and context.backend == "tensorflow"
    )
    if _gave_given_state(kind, layer, kwargs, context) and not is_known:
        why = "at masked first steps it gave back its initial state, and gives zeros in Keras 3"
        raise refused(layer.name, kind, why)


def repeats_last_output(entry: JsonObject, context: Context) -> bool:
    """Return True if a layer, or one in it, is a Bidirectional that gave back its last output at masked steps."""
    return not context.zeroes_masked and any(
        map(_is_bidirectional_over_steps, json_tree.objects(entry))
    )


def last_output_refusal(name: str, kind: str) -> CannotConvert:
    """Return the exception that refuses a layer whose masked steps repeat the last output."""
    return refused(
        name, kind, "at masked steps it gave back its last output, and gives zeros in Keras 3"
    )


# A Bidirectional as two layers


def may_be_split_in_two(graph: Graph, context: Context) -> bool:
    """True if a Sequential holds a Bidirectional that may be written as two layers, because of the mask it heeds."""
    stored = [layer.stored for layer in graph.layers.values()]
    return (
        context.masks
        and _is_known_to_repeat(context)
        and any(map(_is_bidirectional_over_steps, stored))
    )


def is_split_in_two(layer: NewLayer, kwargs: Mapping[str, NodeTree], context: Context) -> bool:
    """True if a Bidirectional behind a mask is written as two layers, because of what it gave at masked steps."""
    return _is_bidirectional_over_steps(layer.entry) and _can_be_split(layer, kwargs, context)


def _is_known_to_repeat(context: Context) -> bool:
    """Return True if it is known that a Bidirectional gave its last output at masked steps.

    (Seen with Keras 1.2.2 to 2.3.1. TensorFlow 1.13 gave zeros, 2.0 what its layers' arguments made of it; files of
    1.14 and 2.1 may say the same as theirs.)
    """
    return (
        not context.zeroes_masked and not context.is_tf and context.backend in (None, "tensorflow")
    )


def _can_be_split(layer: NewLayer, kwargs: Mapping[str, NodeTree], context: Context) -> bool:
    """True if a Bidirectional that repeated its last output may be two layers that give sequences, joined to one."""
    if not _is_known_to_repeat(context):
        return False
    if (
        layer.class_name != "Bidirectional"
        or "initial_state" in kwargs
        or layer.config.get("merge_mode") is None
    ):
        return False
    directions = [layer.config[key] for key in ("layer", "backward_layer") if layer.config.get(key)]
    configs = [
        d["config"]
        for d in directions
        if isinstance(d, Mapping) and layer_record(str(d.get("class_name"))).is_recurrent
    ]
    return len(configs) == len(directions) and all(
        isinstance(c, Mapping)
        and c.get("return_sequences")
        and not c.get("return_state")
        and not c.get("stateful")
        for c in configs
    )


def _is_bidirectional_over_steps(entry: JsonObject) -> bool:
    return entry.get("class_name") == "Bidirectional" and gives_sequences(settings(entry))


def split_directions(layer: NewLayer, forward: str, backward: str) -> tuple[NewLayer, NewLayer]:
    """Return the two layers of a Bidirectional, each under a name of its own."""
    half = len(layer.weights) // 2
    entries = [layer.config["layer"], layer.config.get("backward_layer")]
    configs = [entry["config"] for entry in entries if isinstance(entry, Mapping)]
    ahead, back = configs[0], configs[-1]
    assert isinstance(ahead, Mapping)
    assert isinstance(back, Mapping)
    if len(configs) == 1:
        back = {**back, "go_backwards": not ahead.get("go_backwards")}
    kinds = [str(entry["class_name"]) for entry in entries if isinstance(entry, Mapping)]
    return (
        NewLayer(forward, kinds[0], {**ahead, "name": forward}, layer.weights[:half]),
        NewLayer(backward, kinds[-1], {**back, "name": backward}, layer.weights[half:]),
    )


def join_directions(
    layer: NewLayer,
    ways: tuple[NewLayer, NewLayer],
    args: tuple[NodeTree, ...],
    kwargs: Mapping[str, NodeTree],
) -> NodeTree:
    """Return a Bidirectional over sequences, by its two layers: the second one's steps come last first."""
    ahead, back = (LayerCall(way, args, kwargs) for way in ways)
    flipped = numpy_operation("Flip", back, axis=1)
    mode = layer.config["merge_mode"]
    if mode == "concat":
        return numpy_operation("Concatenate", [ahead, flipped], axis=-1)
    joined = numpy_operation("Multiply" if mode == "mul" else "Add", ahead, flipped)
    return numpy_operation("Multiply", joined, 0.5) if mode == "ave" else joined


# A layer whose first steps are masked


def gave_initial_state(kind: str, config: JsonObject, context: Context) -> bool:
    """Return True if a recurrent layer that is given an initial state gave it at masked first steps.

    (Source: K.rnn of Keras 2.0 to 2.2.4 and of TensorFlow before 1.13, which Keras 2.3 calls; zeros if unrolled.)
    """
    is_of_then = context.release < ((2, 2, 4) if context.is_tf else (2, 3))
    return is_of_then and layer_record(kind).mask is MaskUse.HEEDS and not config.get("unroll")


def _gave_given_state(
    kind: str, layer: NewLayer, kwargs: Mapping[str, NodeTree], context: Context
) -> bool:
    """Return True if masked first steps gave the initial state that a layer is given."""
    return "initial_state" in kwargs and gave_initial_state(kind, layer.config, context)


def with_initial_state_at_masked_start(
    kind: str,
    layer: NewLayer,
    kwargs: Mapping[str, NodeTree],
    output: GraphTensor,
    context: Context,
) -> NodeTree:
    """Return a recurrent layer's output as it was: its initial state, not zeros, at masked first steps.

    `output` is its own, (rows, units) or (rows, steps, units); it is returned itself where the layer did not begin so.
    `kwargs` have the mask that the layer was given.
    """
    mask = kwargs.get("mask")
    if mask is None or not _gave_given_state(kind, layer, kwargs, context):
        return output
    context.note("masked-first-steps", layer.name)
    states = kwargs["initial_state"]
    state = states[0] if isinstance(states, Sequence) and not isinstance(states, str) else states
    if gives_sequences(layer.config):
        in_order = (
            numpy_operation("Flip", mask, axis=1) if layer.config.get("go_backwards") else mask
        )
        unmasked = numpy_operation("Cumsum", in_order, axis=1, dtype="int32")
        state = numpy_operation("ExpandDims", state, axis=1)
    else:
        unmasked = numpy_operation("Sum", mask, axis=1, keepdims=False)
    has_begun = numpy_operation("ExpandDims", numpy_operation("Greater", unmasked, 0), axis=-1)
    return numpy_operation("Where", has_begun, output, state)
