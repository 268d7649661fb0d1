"""A Sequential as Keras 3's: a chain of layers, or a functional model where one of them became operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import is_input, is_model, read
from unnest.core.architecture.graph import Graph
from unnest.core.architecture.nested_models import with_owner
from unnest.core.json_tree import is_list
from unnest.core.keras3 import convert_config_values
from unnest.core.keras3.conversion_context import CannotConvert, Context, listed, refused
from unnest.core.keras3.convert_config_values import plain_json
from unnest.core.keras3.graph.graph_builder import Builder, place_chain
from unnest.core.keras3.graph.rename_layers_for_keras3 import keras_3_names
from unnest.core.keras3.graph.result_specs import dtype_of
from unnest.core.keras3.layer_replacements import (
    FLOAT,
    SEQUENTIAL,
    Choice,
    Expansion,
    NewLayer,
    Piece,
    Shares,
)
from unnest.core.keras3.masks.keep_old_masks import check_chain
from unnest.core.keras3.sequential_input_shape_from_weights import shape_of_input
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.model import Json, JsonObject


def convert_sequential(graph: Graph, shares: Shares, context: Context) -> NewLayer:
    """Convert a Sequential, to a functional model if a layer became operations. Raises CannotConvert."""
    check_chain([layer.stored for layer in graph.layers.values()], context)
    names = keras_3_names(graph.layers, context)
    pieces: list[Piece] = [
        context.convert_layer(layer.stored, names[layer.name], shares.get(layer.name, ()))
        for layer in graph.layers.values()
    ]
    if graph.outputs:
        last = graph.outputs[0].layer
        context.graph.output_names[last] = names[last]
    first = _input_of(graph, names, context) or _input_from_weights(graph, shares, names, context)
    if first is not None:
        pieces.insert(0, first)
    pieces = _resolve_choices(pieces)
    layers: list[NewLayer] = []
    for made in pieces:
        if not isinstance(made, NewLayer) and (
            not isinstance(made, Expansion) or made.chain is None
        ):
            called = [*([first.name] if first else []), *names.values()]
            return _functional_with_operations(graph, pieces, called, context)
        layers += (made.chain or ()) if isinstance(made, Expansion) else (made,)
    for layer in layers:
        if layer.call_arguments:
            why = f"a Sequential calls it without {listed(layer.call_arguments)}"
            raise refused(layer.name, layer.class_name, why)
    config: dict[str, Json] = {
        "name": graph.name,
        "trainable": True,
        "layers": [layer.entry for layer in layers],
    }
    shape = build_shape(graph.model)
    if (
        first is None
        and shape is not None
        and not (layers and layers[0].class_name == "InputLayer")
    ):
        config["build_input_shape"] = shape
    weights = tuple(w for layer in layers for w in with_owner(layer.name, layer.weights))
    return NewLayer(graph.name, SEQUENTIAL, config, weights, "keras")


def _resolve_choices(pieces: Sequence[Piece]) -> list[Piece]:
    """Resolve the pieces of a chain that depend on their input's shape and dtype, as far as these are known.

    Behind operations they stay as they are: the model will be a functional one, whose builder knows more.
    """
    resolved: list[Piece] = []
    spec: Spec | None = None
    dtype = FLOAT
    for k, made in enumerate(pieces):
        new = made.resolved([spec], [dtype]) if isinstance(made, Choice) else made
        steps = (
            new.chain
            if isinstance(new, Expansion)
            else (new,)
            if isinstance(new, NewLayer)
            else None
        )
        resolved.append(new)
        if steps is None:
            return [*resolved, *pieces[k + 1 :]]
        for step in steps:
            if step.class_name == "InputLayer":
                spec = keras3_layer_output_specs.input_spec(step.entry)
            else:
                spec = (
                    None
                    if spec is None
                    else keras3_layer_output_specs.output_spec(step.entry, [spec])
                )
            dtype = dtype_of(step.entry, spec, [dtype])
    return resolved


def _input_of(graph: Graph, names: Mapping[str, str], context: Context) -> NewLayer | None:
    """Return an input layer for a Sequential whose first layer stores its shape; None if there is one, or no shape."""
    layer = next(iter(graph.layers.values()), None)
    if layer is None or is_input(layer.stored):
        return None
    shape, dtype = _first_shape(layer.stored)
    if shape is None:
        return None
    context.note("input-layer", names[layer.name])
    name = f"{names[layer.name]}_input"
    while name in names.values():
        name += "_"
    return NewLayer(
        name, "InputLayer", {"batch_shape": shape, "dtype": dtype, "sparse": False, "name": name}
    )


def _input_from_weights(
    graph: Graph, shares: Shares, names: Mapping[str, str], context: Context
) -> NewLayer | None:
    """Make the input layer of a Sequential without a stored input shape, if the shapes of its weights show one."""
    layers = [*graph.layers.values()]
    if (
        context.is_nested
        or not layers
        or is_input(layers[0].stored)
        or build_shape(graph.model) is not None
    ):
        return None
    shape = None if layers[0].is_model else shape_of_input(layers, shares)
    if shape is None:
        return None
    context.note("shape-of-weights", graph.name, str(shape).replace("None", "?"))
    name = f"{names[layers[0].name]}_input"
    while name in names.values():
        name += "_"
    return NewLayer(
        name,
        "InputLayer",
        {"batch_shape": list(shape), "dtype": FLOAT, "sparse": False, "name": name},
    )


def _first_shape(entry: JsonObject) -> tuple[list[Json] | None, str]:
    """Return the input shape and dtype that a first layer stores; of a nested model those of its first layer."""
    if is_model(entry):
        graph = read(entry)
        if graph.sequential and graph.layers:
            return _first_shape(next(iter(graph.layers.values())).stored)
        if len(graph.inputs) == 1:
            return _first_shape(graph.layers[graph.inputs[0].layer].stored)
        return None, "float32"
    config = convert_config_values.plain_json(entry.get("config"))
    if not isinstance(config, Mapping):
        return None, "float32"
    shape = config.get("batch_input_shape", config.get("batch_shape"))
    kind = str(entry.get("class_name"))
    if shape is None:
        inner = config.get("layer")
        return (
            (None, "float32")
            if not isinstance(inner, Mapping) or kind != "Bidirectional"
            else _first_shape(inner)
        )
    dtype = (
        convert_config_values.dtype(config.get("dtype", config.get("input_dtype")), kind, Context())
        or "float32"
    )
    if kind == "Embedding":
        dtype = "float32"  # as Keras 3 has a Sequential's input without a stored dtype; ids are cast to int
    return (
        (list(shape), dtype.removeprefix("mixed_"))
        if isinstance(shape, Sequence)
        else (None, dtype)
    )


def functional_equivalent(graph: Graph, context: Context) -> JsonObject | None:
    """Return the functional model of the same release that equals a Sequential; None if its input is unknown."""
    entries = [layer.stored for layer in graph.layers.values()]
    names = list(graph.layers)
    if not is_input(entries[0]):
        first = _input_of(graph, {name: name for name in names}, context)
        if first is None:
            return None
        config = {
            "batch_input_shape": first.config["batch_shape"],
            "dtype": first.config["dtype"],
            "name": first.name,
        }
        entries, names = (
            [{"class_name": "InputLayer", "config": config}, *entries],
            [first.name, *names],
        )
    context.note("sequential-graph", graph.name)
    layers: list[Json] = []
    for k, (entry, name) in enumerate(zip(entries, names, strict=True)):
        calls: list[Json] = [[[names[k - 1], 0, 0, {}]]] if k else []
        layers.append({**entry, "name": name, "inbound_nodes": calls})
    ends: list[Json] = [[[name, 0, 0]] for name in (names[0], names[-1])]
    config = {
        "name": graph.name,
        "layers": layers,
        "input_layers": ends[0],
        "output_layers": ends[1],
    }
    return {"class_name": "Model", "config": config}


def _functional_with_operations(
    graph: Graph, pieces: Sequence[Piece], names: Sequence[str], context: Context
) -> NewLayer:
    """Return a chain with operations in it as a functional model, as a Sequential holds layers only.

    Raises CannotConvert.
    """
    name = graph.name
    context.note("sequential-graph", name)
    builder = Builder(reserved=set(names))
    first, shape = pieces[0], build_shape(graph.model)
    if not (isinstance(first, NewLayer) and first.class_name == "InputLayer") and shape is not None:
        config: JsonObject = {
            "batch_shape": shape,
            "dtype": "float32",
            "sparse": False,
            "name": f"{names[0]}_input",
        }
        first = NewLayer(f"{names[0]}_input", "InputLayer", config)
        pieces, names = [first, *pieces], [first.name, *names]
    if not isinstance(first, NewLayer) or first.class_name != "InputLayer":
        raise CannotConvert(
            f"{name!r} (Sequential): its input shape is not stored, which operations need"
        )
    start = builder.input(first)
    return builder.model(
        name, [start], [place_chain(builder, start, pieces[1:], names[1:])], {"trainable": True}
    )


def build_shape(model: JsonObject) -> list[Json] | None:
    """Return the stored shape that a Sequential without an input layer was built on; None without one."""
    config = plain_json(model.get("config"))
    build = plain_json(model.get("build_config"))
    for stored, key in ((config, "build_input_shape"), (build, "input_shape")):
        shape = stored.get(key) if isinstance(stored, Mapping) else None
        if is_list(shape) and all(d is None or isinstance(d, int) for d in shape):
            return list(shape)
    return None
