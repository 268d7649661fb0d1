"""Conditions on a model that is written to another container, each with its refusal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from unnest.core.architecture import entry_name, is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.model_json_as_saved_alone import SHARED_OBJECT_ID
from unnest.core.architecture.nested_models import by_owner, leaf_entries
from unnest.core.keras_facts.stored_class_names import is_keras_layer
from unnest.core.keras_facts.unloadable_models import wrappers_by_shared_id
from unnest.core.keras_facts.vocabularies_and_bin_boundaries import weighted_lookups
from unnest.core.keras_facts.weight_counts_by_config import (
    expected_weight_counts,
    is_quantized,
    must_have_weights,
)
from unnest.core.keras_facts.weights_of_wrapped_layers import (
    expected_weight_total,
    partly_frozen_layer,
    wrapped_layer,
)
from unnest.core.model import JsonObject, Stored, Tensor
from unnest.core.plan import Plan
from unnest.core.weight_assignment.check_weights_fit_architecture import misshapen_layer
from unnest.core.weight_assignment.layer_groups.match_layer_groups import layer_name_by_group
from unnest.errors import Refused
from unnest.formats.container_interface import Source
from unnest.formats.keras3.weights_to_paths import WEIGHED_WORDS


@contextmanager
def naming_file(source: Source) -> Iterator[None]:
    """Put the path of the file before the message of any refusal within."""
    try:
        yield
    except Refused as e:
        message = (
            e.message if e.message.startswith(f"{source.path}: ") else f"{source.path}: {e.message}"
        )
        raise Refused(e.code, message) from e


def no_architecture(source: Source) -> Refused:
    """Return the refusal of weights, or of a serving graph, for which no architecture is known."""
    if source.container == "saved_model":
        shown = (
            f"is a subclassed model: only the code of {source.subclassed!r} says how its layers are called"
            if source.subclassed is not None
            else "is a serving graph without Keras's layers"
            if source.stored.architecture is None
            else "shows the wrapper in its serving graph, not in its Keras layers"
        )
        what = f"{shown}; only --to saved_model can hold that{_way_by_the_callers_word(source)}"
        return Refused("no-architecture", f"{source.path}: {what}")
    what = "holds weights alone; pass --architecture MODEL.json, or, if your code builds the model, --like MODULE:FN"
    return Refused("needs-architecture", f"{source.path}: {what}")


def _way_by_the_callers_word(source: Source) -> str:
    """Return the end of a sentence: the option that lets a custom class of the layers cut; "" without such a class.

    One that reads several tensors may combine them, and is taken for no slice.
    """
    architecture = source.stored.architecture
    if architecture is None:
        return ""
    layers = read(architecture).layers.values()
    custom = [
        each.class_name
        for each in layers
        if not each.is_model
        and not is_keras_layer(each)
        and all(len(call.reads) <= 1 for call in each.calls)
    ]
    return f"; if {custom[0]} cuts the batch, pass --slice-layer {custom[0]}" if custom else ""


def check_readable(source: Source, plan: Plan, model: Stored) -> None:
    """Check that the owner of each weight is known, and that HDF5 has its type.

    Raises:
        Refused: an owner is in doubt, or HDF5 lacks the type.

    """
    is_saved_model = source.container == "saved_model"
    if is_saved_model and model.architecture is None:
        raise no_architecture(source)
    check_owners_known(plan)
    if is_saved_model and not any(g.tensors for g in model.groups) and plan.stored.parameters:
        raise Refused("no-weights", f"{source.path}: which layer owns which variable is not stored")
    check_dtypes(source, model)


def check_owners_known(plan: Plan) -> None:
    """Check that the owner of each weight is known.

    Raises:
        Refused: it is in doubt.

    """
    if plan.conversion_refusal is not None:
        raise Refused(plan.conversion_refusal.code, plan.conversion_refusal.message)


def check_dtypes(source: Source, model: Stored) -> None:
    """Raise Refused for types that NumPy lacks: Keras notes those nowhere but in the weights of `.keras`."""
    for tensor in model.tensors:
        if tensor.dtype[:1] not in "<>|=":
            raise Refused(
                "dtype",
                f"{source.path}: {tensor.name!r} is {tensor.dtype}, which no .h5 of Keras can hold",
            )


def check_frozen_parts(source: Source, model: Stored) -> None:
    """Raise Refused for weights of a layer that another container has in another order."""
    name = None if model.contents == "architecture" else partly_frozen_layer(model.architecture)
    if name is not None:
        what = f"{name!r} holds layers of which some are frozen, whose weights each container has in its own order"
        raise Refused(
            "cannot-convert",
            f"{source.path}: {what}; without --to and --keras fix keeps the container",
        )


def check_words_unweighted(source: Source, plan: Plan, model: Stored) -> None:
    """Raise Refused for a lookup layer that weighs words, since TensorFlow 2.6.

    An adapted one no Keras 2 writes to `.h5`. (Source: Keras 2.13 and 2.15: "Save or restore weights that is not an
    instance of `tf.Variable`".)
    """
    del plan
    for entry in weighted_lookups(model.architecture):
        raise Refused("cannot-convert", f"{source.path}: {entry_name(entry)!r}: {WEIGHED_WORDS}")


def check_listed_once(source: Source, model: Stored) -> None:
    """Raise Refused if a nested model's list in `.h5` would name a weight twice.

    Layers in it share that weight; no Keras finds it for the second of them in its own `.h5`.
    """
    for group in model.groups:
        refs = [t.ref for t in group.tensors if t.recipe is None]
        if len(refs) > len(set(refs)):
            what = f"layers in {group.name!r} share weights, which .h5 has once, and which no Keras finds again there"
            raise Refused("cannot-convert", f"{source.path}: {what}; write --to keras")


def check_weights(
    source: Source, model: Stored, *, is_moved: bool, takes_cudnn: bool = True
) -> None:
    """Check that each layer has all its weights, in its shapes: without them Keras refuses the file, or makes them up.

    `is_moved`: the model goes into another container, whose loader does not find weights that are stored at another
    layer. `takes_cudnn`: whatever takes the output converts weights of a CuDNN layer under its plain kin.

    Raises:
        Refused: a weight is missing, or cannot be that layer's.

    """
    if (
        model.architecture is None
        or not is_model(model.architecture)
        or model.contents == "architecture"
    ):
        return
    layers, layer_names = (
        read(model.architecture).layers,
        layer_name_by_group(model.architecture, model.groups),
    )
    tensors_by_layer = {
        layer_names.get(group.name, group.name): group.tensors for group in model.groups
    }
    for name, layer in layers.items():
        tensors = tensors_by_layer.get(name, ())
        if not tensors and _must_have_weights(layer.stored):
            _check_stored_elsewhere(source, layer, model.architecture, is_moved=is_moved)
        _check_complete(source, layer, tensors, may_have_none=True, is_moved=is_moved)
    if misshapen := misshapen_layer(model.architecture, tensors_by_layer, takes_cudnn=takes_cudnn):
        why = ": ".join(misshapen)
        if source.stored.contents == "weights":
            raise other_architecture(source, why)
        advice = "the file is damaged, or its weights are another model's"
        raise Refused("weights-unplaced", f"{source.path}: {why}; {advice}")


def check_shapes_by_input(source: Source, model: Stored) -> None:
    """Check weights that were stored alone against the shapes that follow from the layers' inputs.

    The conversion to Keras 3 works these out for every layer; what else it refuses says nothing of the weights.

    Raises:
        Refused: weights have other shapes than any Keras makes for their layer.

    """
    is_given = source.stored.contents == "weights" and model.contents == "model"
    if not is_given or model.is_keras_3 or model.architecture is None:
        return
    from unnest.core.keras3.convert_stored_model import convert  # a third of all modules

    if misfit := convert(model).misfit:
        raise other_architecture(source, misfit)


def other_architecture(source: Source, why: str) -> Refused:
    """Return the refusal of weights that are not those of the model whose architecture was given."""
    advice = "pass the JSON of the model that was saved"
    return Refused("architecture-mismatch", f"{source.path}: {why}; {advice}")


def _check_stored_elsewhere(
    source: Source, layer: Layer, architecture: JsonObject, *, is_moved: bool
) -> None:
    """Raise Refused for a layer without weights, unless Keras finds them with another that applies the same layer."""
    shared = (wrapped_layer(layer.stored) or {}).get(SHARED_OBJECT_ID)
    if shared is not None and not is_moved and wrappers_by_shared_id(architecture)[shared] > 1:
        return
    why = "which are not in the file or not found; please report it if they are"
    if shared is not None:
        why = "which stand with another that applies the same layer; Keras does not find these there: save an .h5"
    raise Refused(
        "weights-missing", f"{source.path}: {layer.name!r} would come without its weights, {why}"
    )


def _check_complete(
    source: Source, layer: Layer, tensors: Sequence[Tensor], *, may_have_none: bool, is_moved: bool
) -> None:
    """Raise Refused if one of Keras's own layers, in a nested model too, has too few of its weights, or too many."""
    if layer.is_model:
        may_have_none = not (is_moved and tensors and all(t.owner for t in tensors))
        owned = by_owner(tensors)
        for name, inner in read(layer.stored).layers.items():
            own = owned.get(name, ())
            _check_complete(source, inner, own, may_have_none=may_have_none, is_moved=is_moved)
        return
    promised, weights = (
        expected_weight_total(layer.stored),
        [t for t in tensors if "seed_generator" not in t.ref.split("/")],
    )
    is_apart = source.stored.contents == "weights" and not is_quantized(layer.config)
    if promised is not None and is_apart and len(weights) > promised:
        what = f"{layer.name} has {len(weights)} weights in the file, and {promised} by the architecture"
        raise other_architecture(source, what)
    if promised is not None and len(weights) < promised and (weights or not may_have_none):
        have = (
            f"{len(weights)} of {promised} weights"
            if weights
            else f"none of its {promised} weights"
        )
        advice = (
            "either the JSON is not that of the model that was saved, or the file lacks a weight"
            if weights and is_apart
            else "a weight is missing from the file: look for another copy"
            if weights
            else "if another layer shares them, keep the container (without --to and --keras); else look for a copy"
        )
        raise Refused("weights-missing", f"{source.path}: {layer.name!r} has {have}; {advice}")


def _must_have_weights(entry: JsonObject) -> bool:
    for leaf in leaf_entries(entry):
        told = expected_weight_counts(str(leaf.get("class_name")), leaf.get("config"))
        if must_have_weights(leaf.get("config")) or (told is not None and told.total > 0):
            return True
    return False


def no_weights(source: Source) -> Refused:
    """Return the refusal of an architecture without weights, which only JSON can hold."""
    return Refused(
        "no-weights",
        f"{source.path}: holds an architecture and no weights; only --to json can hold that. If you have its weights, "
        f"run: unnest fix WEIGHTS.h5 --architecture {source.path}",
    )
