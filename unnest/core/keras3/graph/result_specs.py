"""Shape and dtype of what a layer or operation of Keras 3 gives, from its entry and those of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from unnest.core import json_tree
from unnest.core.json_tree import is_list
from unnest.core.keras3.layer_replacements import FLOAT, MODEL_MODULES, NodeTree
from unnest.core.keras3_op_node import UNKNOWN_DTYPE, GraphTensor
from unnest.core.keras_facts import keras3_layer_output_specs
from unnest.core.keras_facts.keras3_layer_output_specs import Spec
from unnest.core.layers.catalog import layer_record
from unnest.core.layers.read_config_values import settings
from unnest.core.model import JsonObject, Shape


def layer_spec(entry: JsonObject, given: Sequence[Spec | None]) -> Spec | None:
    """Return shape and dtype of a layer's output, for inputs of which these may be unknown (None)."""
    if entry["class_name"] == "Reshape" and given == [None]:
        target = settings(entry).get("target_shape")
        whole = (
            [size for size in target if isinstance(size, int) and size > 0]
            if isinstance(target, Sequence)
            else []
        )
        return Spec((None, *whole), FLOAT) if whole and target == whole else None
    if any(s is None for s in given):
        return None
    return keras3_layer_output_specs.output_spec(entry, [s for s in given if s is not None])


def operation_shape(
    entry: JsonObject, args: Sequence[NodeTree], specs: Mapping[GraphTensor, Spec | None]
) -> Shape | None:
    """Return the shape of an operation's result; None if it is unknown."""
    from unnest.core.frontends.operation_layers_as_op_calls import keras3_call
    from unnest.core.interpreters.op_shapes import result_shape

    call = keras3_call(str(entry["class_name"]), shapes_for_tensors(args, specs), settings(entry))
    return result_shape(call)


def operation_rows(
    entry: JsonObject,
    args: Sequence[NodeTree],
    specs: Mapping[GraphTensor, Spec | None],
    rows: Mapping[GraphTensor, int],
) -> int | None:
    """Return the number in `rows` of the tensors with as many rows as an operation's result; None if unknown."""
    from unnest.core.frontends.operation_layers_as_op_calls import keras3_call
    from unnest.core.interpreters.batch_size_trials import result_rows

    sized = shapes_for_tensors(args, specs, rows)
    return result_rows(keras3_call(str(entry["class_name"]), sized, settings(entry)))


def layer_rows(entry: JsonObject, given: Sequence[tuple[Spec | None, int]]) -> int | None:
    """Return the number of the tensors with as many rows as a layer's output, by those of its inputs."""
    if not given:
        return None
    numbers = {rows for _, rows in given}
    if len(numbers) == 1 and _keeps_rows(entry):
        return numbers.pop()
    specs = [spec for spec, _ in given if spec is not None]
    if len(specs) < len(given):
        return None
    from unnest.core.interpreters.batch_size_trials import BatchSizeTrial, rows_in_trials
    from unnest.core.ops.shape_arithmetic import Sized

    def shape_in(trial: BatchSizeTrial) -> Shape | None:
        tried = [
            spec._replace(shape=trial.shape(Sized(spec.shape, rows)) or ())
            for spec, (_, rows) in zip(specs, given, strict=True)
        ]
        spec = layer_spec(entry, tried)
        return None if spec is None else spec.shape

    return rows_in_trials(shape_in)


def _keeps_rows(entry: JsonObject) -> bool:
    """Return True if a layer, or each in a model of one input, is Keras's and has a row for each that it reads."""
    kind = str(entry["class_name"])
    layers = settings(entry).get("layers")
    if kind in MODEL_MODULES and is_list(layers):
        inner = [layer for layer in layers if isinstance(layer, Mapping)]
        inputs = [layer for layer in inner if layer.get("class_name") == "InputLayer"]
        return len(inputs) <= 1 and all(
            layer in inputs or (not is_operation(layer) and _keeps_rows(layer)) for layer in inner
        )
    record = layer_record(kind)
    # A Concatenate may line rows up; a CategoryEncoding takes numbers without an axis of features for one row.
    is_joining = record.concatenates or settings(entry).get("output_mode") is not None
    runs_code = kind == "Lambda" or any(
        part.get("class_name") == "Lambda" or part.get("module", "") is None
        for key in record.holds
        for part in json_tree.objects(settings(entry).get(key))
    )
    is_of_keras = entry.get("module") == "keras.layers" and record.exported
    return is_of_keras and not is_joining and not runs_code


def shapes_for_tensors(
    args: Sequence[NodeTree],
    specs: Mapping[GraphTensor, Spec | None],
    rows: Mapping[GraphTensor, int] = MappingProxyType({}),
) -> list[object]:
    """Return the arguments with shapes in place of tensors, and with their numbers in `rows`."""
    from unnest.core.frontends.operation_layers_as_op_calls import plain_argument
    from unnest.core.ops.shape_arithmetic import Sized

    sized: list[object] = []
    for arg in args:
        if isinstance(arg, GraphTensor):
            spec = specs.get(arg)
            sized.append(Sized(None if spec is None else spec.shape, rows.get(arg)))
        elif isinstance(arg, list | tuple):
            sized.append(shapes_for_tensors(arg, specs, rows))
        else:
            sized.append(plain_argument(arg))  # type: ignore[arg-type]  # what is no tensor and no list is JSON
    return sized


def dtype_of(entry: JsonObject, spec: Spec | None, given: Sequence[str]) -> str:
    """Return the dtype of a layer's or operation's result; arithmetic on integers differs from that on floats."""
    kind, config = str(entry["class_name"]), entry.get("config")
    if not is_operation(entry):
        if spec is not None:
            return spec.dtype
        if kind == "Lambda" or entry.get("module") is None:
            return UNKNOWN_DTYPE
        if layer_record(kind).index_dtype and settings(entry).get("output_mode", "int") == "int":
            is_text = kind == "StringLookup" and settings(entry).get("invert") is True
            return "string" if is_text else layer_record(kind).index_dtype
        return given[0] if given and layer_record(kind).keeps_dtype else FLOAT
    from unnest.core.ops.registry import BY_LAYER_CLASS

    operation = BY_LAYER_CLASS.get(kind)
    if operation is not None and operation.result_dtype:
        return operation.result_dtype
    told = config.get("dtype") if isinstance(config, Mapping) else None
    values = given[1:] if operation is not None and operation.chooses_by_mask else given
    return told if isinstance(told, str) else values[0] if values else FLOAT


def is_operation(entry: JsonObject) -> bool:
    """Return True if an entry is an operation of Keras 3 and not a layer, by its module."""
    return str(entry["module"]).startswith("keras.src.ops")
