"""Arguments of a stored call before Keras 3, in the form that Keras 3's classes take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.architecture import tensor_refs
from unnest.core.architecture.graph import Graph, Layer
from unnest.core.architecture.nested_models import layer_entries
from unnest.core.json_tree import is_list
from unnest.core.keras3.conversion_context import Context, refused
from unnest.core.keras3.layer_replacements import LayerArguments, NewLayer, NodeTree
from unnest.core.keras_facts.unloadable_models import takes_list
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.merging import TAKE_TWO
from unnest.core.layers.read_config_values import settings
from unnest.core.model import Json, JsonObject, Ref

#: Why a layer that takes a list is not converted.
ONE_TENSOR = "is called with one tensor, where it takes a list of them: no Keras loads it"


def keras_3_arguments(
    layer: NewLayer, given: LayerArguments, context: Context
) -> tuple[tuple[NodeTree, ...], Mapping[str, NodeTree]]:
    """Return a call's positional and named arguments as Keras 3's class takes them. Raises CannotConvert."""
    args, kwargs = list(given.args), dict(given.kwargs)
    if kwargs.get("training"):
        why = "was called with training=True, which Keras 3 overrides at inference"
        raise refused(layer.name, layer.class_name, why)
    if kwargs.get("training") in (False, 0) and acts_in_training(layer.entry):
        context.notes.called_at_inference.append(layer.name)
    if takes_list(layer.class_name, layer.entry) and args and not isinstance(args[0], list):
        if layer.class_name in TAKE_TWO:
            raise refused(layer.name, layer.class_name, ONE_TENSOR)
        args[0] = [args[0]]
    if (
        layer_record(layer.class_name).takes_states
        and args
        and isinstance(args[0], list)
        and len(args[0]) > 1
    ):
        if kwargs.get("constants") or layer.config.get("num_constants"):
            raise refused(
                layer.name, layer.class_name, "constants of a cell have no counterpart in Keras 3"
            )
        context.note("initial-state", layer.name)
        kwargs["initial_state"] = _states_by_cell(layer, args[0][1:], context)
        args[0] = args[0][0]
    for key in ("mask", "training", "initial_state", "constants", "attention_mask"):
        value = kwargs.get(key, ...)
        if value is None or (isinstance(value, list) and all(part is None for part in value)):
            del kwargs[key]
    return tuple(args), {**kwargs, **layer.call_arguments}


def acts_in_training(entry: JsonObject) -> bool:
    """Return True if a layer of Keras, or one within it, computes otherwise in training: it drops, or takes means."""
    return any(_acts_in_training(part) for part in (entry, *layer_entries(entry)))


def _acts_in_training(entry: JsonObject) -> bool:
    config = settings(entry)
    kind = str(entry.get("class_name"))
    if kind == "BatchNormalization":
        return config.get("trainable") is not False
    record = layer_record(kind)
    return record.training_argument and any(
        config.get(key) for key in ("rate", "stddev", "factor", "dropout", "recurrent_dropout")
    )


def _states_by_cell(
    layer: NewLayer, states: Sequence[NodeTree], context: Context
) -> list[NodeTree]:
    """Return the states of a layer over several cells grouped by cell; stored as one list. Raises CannotConvert.

    (Source: Keras 2.1.6 and 2.2.4, keras/layers/recurrent.py: StackedRNNCells, which had them last cell first once.)
    """
    cell = layer.config.get("cell")
    settings = cell.get("config") if isinstance(cell, Mapping) else None
    cells = settings.get("cells") if isinstance(settings, Mapping) else None
    if not isinstance(cells, Sequence) or len(states) == len(cells) == 1:
        return list(states)
    kinds = [str(entry.get("class_name")) for entry in cells if isinstance(entry, Mapping)]
    if context.release < (2, 2, 4) or sum(layer_record(kind).states for kind in kinds) != len(
        states
    ):
        raise refused(
            layer.name, layer.class_name, "whose of its cells an initial state is does not follow"
        )
    rest = iter(states)
    return [[next(rest) for _ in range(layer_record(kind).states)] for kind in kinds]


def is_ref(value: Json, graph: Graph) -> bool:
    """True if a value is a reference to a tensor of the graph: `["layer", node, tensor]`, keyword arguments behind."""
    return tensor_refs.is_ref(value, graph.layers)


def graph_tensor(value: Sequence[Json], graph: Graph) -> Ref:
    """Return the tensor that a stored reference names."""
    name, number, tensor = str(value[0]), value[1], value[2]
    assert isinstance(number, int)
    assert isinstance(tensor, int)
    return Ref(name, number - graph.layers[name].first, tensor)


def parse_call(node: Json, graph: Graph, layer: Layer) -> tuple[list[Json], dict[str, Json]]:
    """Return the positional and named arguments of a call that was stored before Keras 3.

    The named ones stand behind the (first) tensor; a first argument that is no tensor is `_CONSTANT_VALUE`.
    """
    kwargs: dict[str, Json] = {}

    def stripped(value: Json) -> Json:
        if is_ref(value, graph) or _is_constant(value):
            assert isinstance(value, Sequence)
            for extra in value[3:]:
                if isinstance(extra, Mapping):
                    kwargs.update({k: v for k, v in extra.items() if k not in kwargs})
            return list(value[:3]) if not _is_constant(value) else value[2]
        if isinstance(value, Mapping):
            return {k: stripped(v) for k, v in value.items()}
        if is_list(value):
            return [stripped(v) for v in value]
        return value

    if isinstance(node, Mapping):
        if "args" in node:
            raise refused(
                layer.name,
                layer.class_name,
                "is called as Keras 3 calls layers, in a file of before",
            )
        return [stripped(node)], kwargs
    first = stripped(node)
    is_constant = _is_constant(node)
    if isinstance(first, list) and len(first) == 1 and not (is_ref(first, graph) or is_constant):
        first = first[0]
    return [first], kwargs


CONSTANT = "_CONSTANT_VALUE"


def _is_constant(value: Json) -> bool:
    """Return True for a stored constant: `["_CONSTANT_VALUE", -1, value, named arguments]`."""
    return (
        is_list(value)
        and len(value) > 2  # noqa: PLR2004 - the mark, and a value
        and value[0] == CONSTANT
    )
