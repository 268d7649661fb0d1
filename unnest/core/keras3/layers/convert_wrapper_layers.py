"""Layers that hold a layer: TimeDistributed, Bidirectional and SpectralNormalization."""

from __future__ import annotations

from collections.abc import Mapping

from unnest.core.architecture import entry_name, read, snake_case
from unnest.core.architecture.graph import Graph
from unnest.core.json_tree import is_list, is_object
from unnest.core.keras3 import convert_constructor_arguments
from unnest.core.keras3.conversion_context import OldLayer, listed
from unnest.core.keras3.layer_replacements import (
    FLOAT,
    Choice,
    Expansion,
    NewLayer,
    Piece,
    Weights,
    chain,
)
from unnest.core.keras_facts.custom_functions_in_configs import HARD_SIGMOID
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Json, JsonObject


def inner_layer(entry: Json, outer: OldLayer, weights: Weights) -> NewLayer:
    """Convert the layer inside another, which owns `weights`. Raises CannotConvert if it would become several."""
    made = _inner_piece(entry, outer, weights)
    if not isinstance(made, NewLayer):
        inner = entry.get("class_name") if isinstance(entry, Mapping) else "layer"
        raise outer.refused(f"the {inner} in it is several layers today")
    return made


def _inner_piece(entry: Json, outer: OldLayer, weights: Weights) -> Piece:
    if not isinstance(entry, Mapping):
        raise outer.refused("holds no layer")
    called = entry_name(entry) or snake_case(str(entry.get("class_name")))
    made = outer.context.convert_layer(entry, called, weights)
    if isinstance(made, NewLayer) and made.call_arguments:
        raise outer.refused(f"calls the layer in it without {listed(made.call_arguments)}")
    return made.resolved([None], [FLOAT]) if isinstance(made, Choice) else made


def time_distributed(old: OldLayer) -> Piece:
    """Convert TimeDistributed; over a chain of layers it becomes a chain of TimeDistributed."""
    held = old.config.get("layer")
    if isinstance(held, Mapping) and held.get("class_name") == "Lambda":
        return Choice(lambda specs, dtypes: _lambda_at_each_step(old, held, specs[0], dtypes[0]))
    return _time_distributed(old, _inner_piece(held, old, old.weights))


def _lambda_at_each_step(old: OldLayer, held: JsonObject, spec: Spec | None, dtype: str) -> Piece:
    """Convert a Lambda in a TimeDistributed, as the one layer of a model that takes a step; kept, it stays alone.

    Raises CannotConvert if its code may compute a row from others: before Keras 3 it was given the steps of all rows at
    once, one below the other.
    """
    if spec is None:
        return _time_distributed(old, _inner_piece(held, old, old.weights))
    name = entry_name(held) or "lambda"
    model = _model_of_a_step(held, name, [None, *spec.shape[2:]], dtype)
    step = inner_layer(model, old, old.weights)
    layers = step.config["layers"]
    assert is_list(layers)
    kept = [entry for entry in layers if is_object(entry) and entry["class_name"] == "Lambda"]
    if not kept and not _keeps_rows(read(model)):
        raise old.refused(
            "the code of its Lambda may mix rows, and Keras 3 gives it one step at a time"
        )
    new = convert_constructor_arguments.converted_arguments(
        old.with_changed_arguments({"layer": None})
    )
    entry = (
        {k: v for k, v in kept[0].items() if k not in ("name", "inbound_nodes")}
        if kept
        else step.entry
    )
    return old.as_new({**new, "layer": entry}, ())


def _keeps_rows(model: Graph) -> bool:
    """Return True if the model of a step is known to compute each row of its output from the same row."""
    from unnest.core.wrappers.layer_graph.layer_tensor_graph import LayerTensors

    # Loaded for a model with such code alone.
    from unnest.core.wrappers.search.row_mixing_trials import rows_kept

    return rows_kept(LayerTensors(model), model.outputs, dict.fromkeys(model.inputs)).are_kept


def _model_of_a_step(
    held: JsonObject, name: str, shape: list[int | None], dtype: str
) -> JsonObject:
    """Return a Lambda as the one layer of a model, as Keras 2 stores models."""
    source = f"{name}_input"
    taken: JsonObject = {
        "class_name": "InputLayer",
        "name": source,
        "config": {"name": source, "batch_input_shape": [*shape], "dtype": dtype, "sparse": False},
        "inbound_nodes": [],
    }
    called: JsonObject = {**held, "name": name, "inbound_nodes": [[[source, 0, 0, {}]]]}
    ends: JsonObject = {"input_layers": [[source, 0, 0]], "output_layers": [[name, 0, 0]]}
    return {
        "class_name": "Functional",
        "config": {"name": f"{name}_of_a_step", "layers": [taken, called], **ends},
    }


def _time_distributed(old: OldLayer, held: Piece) -> Piece:
    new = convert_constructor_arguments.converted_arguments(
        old.with_changed_arguments({"layer": None})
    )
    if isinstance(held, NewLayer):
        return old.as_new({**new, "layer": held.entry}, held.weights)
    if not isinstance(held, Expansion) or held.chain is None:
        raise old.refused(
            "the layer in it is several operations today, for which the shape of its input must be known"
        )
    parts = []
    for k, inner in enumerate(held.chain):
        called = old.name if k == len(held.chain) - 1 else f"{old.name}_{inner.name}"
        parts.append(
            NewLayer(called, old.kind, {**new, "name": called, "layer": inner.entry}, inner.weights)
        )
    return chain(*parts)


def _without_zeroing(entry: Json, outer: OldLayer) -> Json:
    """Return a direction without `zero_output_for_mask`: Bidirectional itself zeroes masked steps of sequences.

    (Source: force_zero_output_for_mask of TensorFlow 1.15 to Keras 3.15; in 1.13 a last output was zeroed, too.)
    Raises CannotConvert for such a last output.
    """
    settings = entry.get("config") if isinstance(entry, Mapping) else None
    if (
        not isinstance(entry, Mapping)
        or not isinstance(settings, Mapping)
        or "zero_output_for_mask" not in settings
    ):
        return entry
    zeroes_last = settings["zero_output_for_mask"] and not settings.get("return_sequences")
    if zeroes_last and outer.context.masks and not outer.context.half_pixels:
        raise outer.refused(
            "gives zeros where its last step is masked, and its last output in Keras 3"
        )
    return {**entry, "config": {k: v for k, v in settings.items() if k != "zero_output_for_mask"}}


def bidirectional(old: OldLayer) -> Piece:
    """Convert a Bidirectional: each direction owns half of its weights."""
    half = len(old.weights) // 2
    directions = {
        key: _without_zeroing(old.config[key], old)
        for key in ("layer", "backward_layer") if old.config.get(key)
    }  # fmt: skip
    old = old.with_changed_arguments(directions)
    held = old.config.get("layer")
    if (
        old.config.get("backward_layer") is None
        and isinstance(held, Mapping)
        and isinstance(held.get("config"), Mapping)
    ):
        settings = held["config"]
        if settings.get("go_backwards"):  # type: ignore[union-attr]  # a mapping, as asked
            # Keras 3 makes the other direction go backwards whichever way this one goes.
            forwards = {**settings, "go_backwards": False}  # type: ignore[dict-item]  # as above
            old = old.with_changed_arguments({"backward_layer": {**held, "config": forwards}})
            old.note("defaults-of-then", "the direction of backward_layer")
    forward = inner_layer(old.config.get("layer"), old, old.weights[:half])
    other = old.config.get("backward_layer")
    opposite = old.config.get("layer") if other is None else other
    backward = inner_layer(opposite, old, old.weights[half:])
    new = convert_constructor_arguments.converted_arguments(
        old.with_changed_arguments({"layer": None, "backward_layer": None})
    )
    new["layer"], new["backward_layer"] = forward.entry, backward.entry
    if other is None:
        del new["backward_layer"]

    return old.as_new(new, (*forward.weights, *backward.weights))


def spectral_normalization(old: OldLayer) -> Piece:
    """Convert SpectralNormalization: the inner layer's weights, then the vector, which is not trained.

    Raises CannotConvert where a kernel would be multiplied: each step of training divides it by its own norm. And for
    an Embedding. (Source: Keras 3.15, keras/src/layers/normalization/spectral_normalization.py: call.)
    """
    held = inner_layer(old.config.get("layer"), old, old.weights[:-1])
    if HARD_SIGMOID in (held.config.get("activation"), held.config.get("recurrent_activation")):
        raise old.refused("its layer ends in hard_sigmoid, which is another function today")
    if held.class_name == "Embedding":
        raise old.refused("Keras 3 casts what comes out of its layer to the integers that went in")
    new = convert_constructor_arguments.converted_arguments(
        old.with_changed_arguments({"layer": None})
    )
    vector = tuple(w._replace(trained=False) for w in old.weights[-1:])
    return old.as_new({**new, "layer": held.entry}, (*held.weights, *vector))
