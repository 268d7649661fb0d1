"""A model of an older Keras in, the same model as Keras 3 has it out: pure, and by named rules alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from unnest.core import json_tree
from unnest.core.architecture import is_model, model_name, read
from unnest.core.architecture.nested_models import by_owner
from unnest.core.keras3.check_converted_model import check_output
from unnest.core.keras3.conversion_context import (
    CannotConvert,
    Context,
    Conversion,
    Notes,
    WeightsDoNotFit,
    refused,
)
from unnest.core.keras3.convert_model_graph import convert_graph
from unnest.core.keras3.layer_replacements import FUNCTIONAL, SEQUENTIAL, NewLayer
from unnest.core.keras3.layers.dispatch import convert_layer
from unnest.core.keras3.training import convert_compile_settings
from unnest.core.keras_facts.custom_objects_needed_to_load import python_identifier
from unnest.core.layers.keras_1_arguments import DATA_FORMAT_BY_ORDERING
from unnest.core.model import Group, Json, JsonObject, Stored
from unnest.core.plan import Refusal
from unnest.core.weight_assignment.layer_groups.match_layer_groups import group_names
from unnest.findings import Code, Finding, listed

#: What the output says of its writer: the first Keras that reads it.
KERAS_3 = "3.0.0"

CONVERTED_MODEL_CLASSES = frozenset({FUNCTIONAL, SEQUENTIAL, "Model", "Network"})


class Converted(NamedTuple):
    """The result of a conversion: either `model` or `refusal` is set."""

    model: Stored | None
    conversions: tuple[Conversion, ...] = ()
    findings: tuple[Finding, ...] = ()
    refusal: Refusal | None = None
    misfit: str | None = None
    """The layer whose weights have other shapes than every Keras makes for it, with the shapes."""


def convert(stored: Stored) -> Converted:
    """Convert a model for Keras 3. Raises NotAGraph for a graph that is not consistent."""
    architecture = stored.architecture
    if architecture is None or not is_model(architecture):
        what = (
            "its layers are kept in code"
            if architecture
            else "holds no architecture; pass --architecture MODEL.json"
        )
        return Converted(
            None, refusal=Refusal("no-architecture", f"--keras 3 needs the graph of layers: {what}")
        )
    context = _context_of(stored, architecture)
    try:
        made = _converted(stored, architecture, context)
    except CannotConvert as e:
        return Converted(
            None,
            context.conversions(),
            tuple(context.notes.findings),
            Refusal("cannot-convert", f"{e}"),
            f"{e}" if isinstance(e, WeightsDoNotFit) else None,
        )
    context.notes.findings += _findings_of_notes(
        context.notes, is_compiled=stored.training is not None
    )
    return Converted(made, context.conversions(), tuple(context.notes.findings))


def _findings_of_notes(notes: Notes, *, is_compiled: bool) -> Iterator[Finding]:
    """Yield the findings on what rules noted layer by layer."""
    if notes.guessed:
        yield Code.ASSUMED_DATA_FORMAT(what=listed(notes.guessed))
    if notes.without_interpolation:
        yield Code.ASSUMED_INTERPOLATION(what=listed(notes.without_interpolation))
    if notes.assumed_functions:
        yield Code.ASSUMED_FUNCTION(what=listed(notes.assumed_functions))
    if is_compiled:
        yield from _findings_on_training(notes)
    if notes.added:
        yield Code.ADDED_LOSS(what=listed(notes.added))
    if notes.unscaled:
        yield Code.UNSCALED(what=listed(notes.unscaled))
    if notes.custom:
        yield Code.CUSTOM_OBJECTS(
            what=listed([f"{kind} ({where})" for kind, where in notes.custom.items()]),
            objects=", ".join(f"{kind!r}: {python_identifier(kind)}" for kind in notes.custom),
        )


def _findings_on_training(notes: Notes) -> Iterator[Finding]:
    if notes.frozen:
        yield Code.FROZEN_NORMALIZATION(what=listed(notes.frozen))
    if notes.summed_penalties:
        yield Code.SUMMED_PENALTY(what=listed([*dict.fromkeys(notes.summed_penalties)]))
    if notes.masked_norms:
        yield Code.MASKED_NORMALIZATION(what=listed(notes.masked_norms))
    if notes.called_at_inference:
        yield Code.TRAINING_OVERRIDDEN(what=listed([*dict.fromkeys(notes.called_at_inference)]))


def _context_of(stored: Stored, architecture: JsonObject) -> Context:
    """Return the facts on writer and model, before any layer is converted."""
    formats = Counter(_data_formats(architecture))
    return replace(
        Context.of_writer(stored, architecture),
        data_format=formats.most_common(1)[0][0] if formats else "channels_last",
        is_format_told=bool(formats),
        layer_converter=convert_layer,
    )


def _converted(stored: Stored, architecture: JsonObject, context: Context) -> Stored:
    """Convert the model: layers, weights, compile settings and optimizer state; the result is checked."""
    graph = read(architecture)
    kind = str(architecture.get("class_name"))
    if kind.rpartition(">")[2] not in CONVERTED_MODEL_CLASSES:
        context.note("functional-subclass", model_name(architecture), kind)
        context.notes.findings.append(Code.FUNCTIONAL_SUBCLASS(what=kind))
    shares = {g.name: g.tensors for g in _by_layer(stored, architecture)}
    model = convert_graph(graph, shares, context)
    _check_input_shape(model)
    result = stored._replace(
        architecture=_architecture(model),
        groups=_groups(model) if stored.groups else (),
        training=None,
        optimizer=None,
        keras_version=KERAS_3,
        backend=None,
    )
    check_output(result)
    return convert_compile_settings.with_compile_settings(stored, model, result, context)


def _check_input_shape(model: NewLayer) -> None:
    """Raise CannotConvert for a Sequential with weights but no stored input shape: Keras 3 builds none of them.

    (Source: Keras 2.2.4 to 2.3.1 and tf.keras 1.13 leave a Sequential's InputLayer out of the file.)
    """
    if model.class_name != SEQUENTIAL or not model.weights or "build_input_shape" in model.config:
        return
    layers = model.config["layers"]
    assert isinstance(layers, Sequence)
    first = layers[0]
    if isinstance(first, Mapping) and first["class_name"] != "InputLayer":
        raise refused(model.name, SEQUENTIAL, NO_INPUT_SHAPE)


NO_INPUT_SHAPE = (
    "its input shape is not in the file, and without it no Keras can hold the weights: build the model in code, with "
    "the shape, and call its load_weights on this file"
)


def _by_layer(stored: Stored, architecture: JsonObject) -> Sequence[Group]:
    """Return the groups by layer name; an old nested Sequential has one under a name that is not in the JSON."""
    graph = read(architecture)
    names = group_names(architecture)
    if graph.sequential and len(names) == len(stored.groups):
        return [Group(name, g.tensors) for name, g in zip(names, stored.groups, strict=True)]
    return stored.groups


def _architecture(model: NewLayer) -> JsonObject:
    return (
        {**model.entry, "build_config": {"input_shape": None}}
        if model.class_name == FUNCTIONAL
        else model.entry
    )


def _groups(model: NewLayer) -> tuple[Group, ...]:
    """Return a group for each layer that can hold weights."""
    layers = model.config["layers"]
    assert isinstance(layers, Sequence)
    own = by_owner(model.weights)
    names = [_name(entry) for entry in layers if isinstance(entry, Mapping)]
    return tuple(Group(name, own.get(name, ())) for name in names)


def _name(entry: JsonObject) -> str:
    config = entry.get("config")
    assert isinstance(config, Mapping)
    return str(config["name"])


def _data_formats(value: Json) -> Iterator[str]:
    """Return the orders of axes in the layers that store one; Keras 1's ZeroPadding and UpSampling do not."""
    for part in json_tree.objects(value):
        of_keras_1 = DATA_FORMAT_BY_ORDERING.get(str(part.get("dim_ordering")))
        data_format = part.get("data_format", of_keras_1)
        if data_format in ("channels_first", "channels_last"):
            yield str(data_format)
