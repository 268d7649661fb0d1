"""The converted model in Keras 3's own terms, checked before anything of it is written.

Classes and functions that Keras 3 has or the load line names, dtypes that a layer takes, sizes that weights need,
and every weight of every layer. (Source: the constructors and `build` methods of Keras 3.15.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from unnest.core import json_tree
from unnest.core.architecture import entry_name, is_input, is_model, read
from unnest.core.architecture.graph import Layer
from unnest.core.architecture.nested_models import by_owner, layer_entries
from unnest.core.architecture.tensor_refs import KERAS_3_TENSOR
from unnest.core.keras3.conversion_context import misfit, refused
from unnest.core.keras3.convert_config_values import CONSTRAINTS, INITIALIZERS, REGULARIZERS
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.custom_objects_needed_to_load import needs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.keras_facts.keras3_op_modules import MODULE_BY_CLASS, ROOT
from unnest.core.keras_facts.stored_class_names import record_of
from unnest.core.keras_facts.weight_shape_check import contradiction_by_input, shape_contradiction
from unnest.core.keras_facts.weights_of_wrapped_layers import expected_weight_total
from unnest.core.layers.catalog import LAYER_RECORDS, built_axes, layer_record, takes
from unnest.core.layers.read_config_values import policy_name, settings
from unnest.core.model import Json, JsonObject, Shape, Stored, Tensor

#: What the report calls these checks.
CHECKED = "Keras 3's terms"

#: Modules of Keras 3 -> what the output may name of each.
NAMES_BY_MODULE: Mapping[str, frozenset[str]] = {
    "keras.layers": frozenset(
        name for name, layer in LAYER_RECORDS.items() if layer.arguments is not None
    )
    | {"InputLayer", "Lambda"},
    "keras.initializers": frozenset(INITIALIZERS),
    "keras.regularizers": frozenset(REGULARIZERS),
    "keras.constraints": frozenset(CONSTRAINTS),
    "keras.src.models.functional": frozenset({"Functional"}),
    "keras": frozenset({"Sequential"}),
}
#: Objects that stand for values.
VALUE_CLASSES = frozenset(
    {"__keras_tensor__", "__numpy__", "__slice__", "__ellipsis__", "__tuple__"}
)

FLOAT_POLICIES = frozenset(
    {"float16", "bfloat16", "float32", "float64", "mixed_float16", "mixed_bfloat16"}
)
#: (Source: Keras 3.15, keras/src/backend/common/dtypes.py and keras/src/dtype_policies.)
KERAS_3_DTYPES = FLOAT_POLICIES | {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string", "complex64",
    "complex128",
}  # fmt: skip


class _Layer(NamedTuple):
    """A layer of the output, its weights, and the shapes that its calls read, None where one is not known."""

    entry: JsonObject
    weights: tuple[Tensor, ...]
    inputs: tuple[Shape | None, ...]

    @property
    def name(self) -> str:
        """Name in the output."""
        return str(settings(self.entry).get("name"))

    @property
    def class_name(self) -> str:
        """The class name in the output."""
        return str(self.entry.get("class_name"))


def check_output(model: Stored) -> None:
    """Raise CannotConvert, naming the layer, for what Keras 3 would refuse to load."""
    architecture = model.architecture
    assert architecture is not None
    if model.contents != "architecture":
        _check_adapted(architecture)
    wanted = needs(model)
    for entry in layer_entries(architecture):
        if is_model(entry):
            _check_calls(entry)
        _check_names(entry, {*wanted.classes, *wanted.functions})
        if entry.get("module") == "keras.layers":
            _check_arguments(entry)
    groups = {group.name: group.tensors for group in model.groups}
    has_weights = any(groups.values())  # a file without any is refused by what reads it
    for layer in _layers(architecture, groups):
        if layer.entry.get("module") == "keras.layers":
            if has_weights:
                _check_weights(layer)
            _check_sizes(layer)


def _check_calls(model: JsonObject) -> None:
    """Raise CannotConvert for a call that reads a layer, or a call of one, which the model does not have."""
    # An input has one tensor.
    calls = {layer.name: max(1, len(layer.calls)) for layer in read(model).layers.values()}
    for layer in read(model).layers.values():
        for value in json_tree.objects(layer.stored.get("inbound_nodes")):
            if value.get("class_name") != KERAS_3_TENSOR:
                continue
            name, call_index, _ = cast("list[Any]", settings(value)["keras_history"])
            if call_index >= calls.get(name, 0):
                raise refused(
                    layer.name, layer.class_name, f"reads {name!r}, which is not in the model"
                )


def _check_adapted(architecture: JsonObject) -> None:
    """Raise CannotConvert for a layer of which a table that `adapt` filled is not in the config."""
    for entry in layer_entries(architecture):
        key = record_of(str(entry.get("class_name")), settings(entry)).adapted_argument
        if key and settings(entry).get(key) is None:
            why = f"keeps what adapt() found outside of its config, and a .keras holds it as {key!r} alone"
            way = f"give {key!r} to the layer in code, or use fix without --keras 3"
            raise refused(_name(entry), str(entry["class_name"]), f"{why}: {way}")


# ---- classes and functions ----


def _check_names(entry: JsonObject, given: set[str]) -> None:
    """Raise CannotConvert for a class that is neither Keras 3's nor in the load line."""
    for part in json_tree.objects({k: v for k, v in entry.items() if k != "inbound_nodes"}):
        kind, module = part.get("class_name"), part.get("module", "")
        if (
            not isinstance(kind, str)
            or kind in VALUE_CLASSES
            or part.get("registered_name") in given
            or kind in given
        ):
            continue
        named = part.get("config") if kind == "function" else kind
        known = NAMES_BY_MODULE.get(str(module), frozenset())
        if str(module).startswith(ROOT):
            known = frozenset({kind} if MODULE_BY_CLASS.get(kind) == module else ())
        if (
            named in given
            or named in known
            or str(module).startswith(("keras.ops", "keras.activations"))
        ):
            continue
        if "module" not in part and (
            layer_record(str(named)).is_in_keras_3 or named in NAMES_BY_MODULE["keras.initializers"]
        ):
            continue  # in the config of a custom class, which hands it to Keras itself
        raise refused(
            _name(entry),
            str(entry.get("class_name")),
            f"names {named!r}, which Keras 3 does not have",
        )


def _check_arguments(entry: JsonObject) -> None:
    """Raise CannotConvert for an argument or a dtype that the class does not take."""
    kind, config = str(entry["class_name"]), settings(entry)
    if layer_record(kind).is_in_keras_3:
        unknown = [key for key in config if not takes(kind, key) and key not in UNSIGNED]
        if unknown:
            raise refused(
                _name(entry), kind, f"its argument {unknown[0]!r} is not known in Keras 3"
            )
    dtype = policy_name(config.get("dtype"))
    wanted = FLOAT_POLICIES if _promised(entry) else KERAS_3_DTYPES
    if dtype is not None and dtype not in wanted:
        what = "floating-point numbers" if dtype in KERAS_3_DTYPES else "no such dtype"
        raise refused(_name(entry), kind, f"its dtype is {dtype!r}, and Keras 3 has {what} here")
    for part in json_tree.objects(config):
        if set(part) == {"type", "value"}:
            raise refused(_name(entry), kind, "an argument is stored as an array of Keras 2")


#: Arguments that any layer takes beside those of its signature.
UNSIGNED = frozenset({"activity_regularizer"})


# ---- weights and sizes ----


def _check_weights(layer: _Layer) -> None:
    """Raise CannotConvert where a layer has not as many weights as its class makes."""
    promised = _promised(layer.entry)
    if promised is not None and promised != len(layer.weights):
        why = f"has {len(layer.weights)} weights in the file, and Keras 3 makes {promised}"
        raise refused(layer.name, layer.class_name, why)
    as_layer = Layer(layer.name, layer.class_name, settings(layer.entry), layer.entry, ())
    shapes = [tensor.shape for tensor in layer.weights]
    if why_not := shape_contradiction(as_layer, shapes, takes_cudnn=False):
        raise misfit(layer.name, layer.class_name, why_not)


def _check_sizes(layer: _Layer) -> None:
    """Raise CannotConvert where an axis that weights are made for is unknown, or of another size than the weights."""
    if "build_config" in layer.entry:
        return
    for shape in layer.inputs:
        if shape is None:
            continue
        axes = built_axes(layer.class_name, settings(layer.entry), len(shape))
        unknown = [axis for axis in axes if shape[axis] is None]
        if unknown:
            why = f"reads the shape {_written(shape)}, and Keras 3 needs the size of axis {unknown[0]}"
            raise refused(
                layer.name, layer.class_name, f"{why}: build the model in code with that size"
            )
        weight_axis = layer_record(layer.class_name).features_axis
        if weight_axis is not None and layer.weights and len(shape) > 1 and len(axes) == 1:
            groups = settings(layer.entry).get("groups")
            times = groups if isinstance(groups, int) and layer.class_name.startswith("Conv") else 1
            found = times * layer.weights[0].shape[weight_axis]
            if found != shape[axes[-1]]:
                why = (
                    f"its first weight is for {found} features, and its input has {shape[axes[-1]]}"
                )
                raise misfit(layer.name, layer.class_name, why)
        why_not = contradiction_by_input(
            layer.class_name, settings(layer.entry), shape, [w.shape for w in layer.weights]
        )
        if why_not is not None:
            raise misfit(layer.name, layer.class_name, why_not)


def _promised(entry: JsonObject) -> int | None:
    """Return how many weights Keras 3 makes; None if a custom class or a model is involved."""
    kind = str(entry.get("class_name"))
    if kind == "Lambda" or layer_record(kind).is_weightless:
        return 0
    return expected_weight_total(_written_out(entry), untold=0)


def _written_out(entry: JsonObject) -> JsonObject:
    """Return the entry with every initializer that the classes of its Keras 3 layers use written out."""

    def completed(part: JsonObject, inner: dict[str, Json]) -> Json:
        config, arguments = inner.get("config"), layer_record(str(part.get("class_name"))).arguments
        if arguments is None or not isinstance(config, Mapping):
            return inner
        unsaid: dict[str, Json] = dict.fromkeys(
            k for k in arguments if k.endswith(("_initializer", "_constraint"))
        )
        return {**inner, "config": {**unsaid, **config}}

    made = json_tree.transform(entry, completed)
    assert isinstance(made, Mapping)
    return made


def _layers(model: JsonObject, groups: Mapping[str, Sequence[Tensor]]) -> Iterator[_Layer]:
    """Yield every layer of a model and its nested models, with its weights and the input shapes that are noted."""
    graph, spec = read(model), None
    for name, layer in graph.layers.items():
        weights = tuple(groups.get(name, ()))
        if layer.is_model:
            yield from _layers(layer.stored, by_owner(weights))
        if not graph.sequential:
            yield _Layer(layer.stored, weights, tuple(_noted(layer.stored)))
            continue
        yield _Layer(layer.stored, weights, (None if spec is None else spec.shape,))
        spec = _next(layer.stored, spec)


def _next(entry: JsonObject, spec: Spec | None) -> Spec | None:
    if is_input(entry):
        return keras3_layer_output_specs.input_spec(entry)
    return None if spec is None else keras3_layer_output_specs.output_spec(entry, [spec])


def _noted(entry: JsonObject) -> Iterator[Shape | None]:
    """Yield the shape of each call's first tensor, as the builder noted it."""
    calls = entry.get("inbound_nodes")
    for call in calls if isinstance(calls, Sequence) else ():
        args = call.get("args") if isinstance(call, Mapping) else None
        first = (
            next(keras3_layer_output_specs.noted_specs(args[0]), None)
            if isinstance(args, Sequence) and args
            else None
        )
        yield first.shape if first is not None else None


def _name(entry: JsonObject) -> str:
    return str(entry_name(entry))


def _written(shape: Shape) -> str:
    return str(shape).replace("None", "?")
