"""Static facts on one layer: whether it cuts, joins or passes on the batch.

An answer may be "unknown" (None). A class name counts only for Keras's own classes (`is_keras_class`); that of a custom
class is no evidence. Of stored code that is not followed count the signs of `code_names_and_numbers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from unnest.budget import memoize
from unnest.core import json_tree
from unnest.core.architecture import is_model, read
from unnest.core.architecture.graph import Call, Graph, Layer
from unnest.core.json_tree import is_list
from unnest.core.keras_facts.custom_functions_in_configs import ROLE_SUFFIXES, custom_activations
from unnest.core.keras_facts.stored_class_names import (
    current_class_name,
    is_keras_class,
    is_keras_layer,
)
from unnest.core.keras_facts.weight_counts_by_config import (
    expected_weight_counts,
    has_initializers,
)
from unnest.core.layers.catalog import layer_record, merging_record
from unnest.core.layers.read_config_values import policy_name
from unnest.core.model import CallId, Json, JsonObject
from unnest.core.wrappers.stored_code.code_names_and_numbers import (
    code_facts,
    contains_word,
    is_function,
    stored_code,
    uses_word,
)

JOINING = ("concat",)
"""A part of the name of every operation that lines tensors up, on every stack."""

STACKING_ROWS = ("vstack", "rowstack")
"""Parts of the names of operations that line tensors up along axis 0 and know no other."""

STITCHING = ("stitch",)
"""A part of the name of an operation that puts rows to their numbers: sizes, not towers, are what Python's own
`sum` adds up beside it."""

COMBINING = frozenset({
    "mean", "add", "sum", "average", "max", "maximum", "min", "minimum", "multiply", "mul", "subtract", "dot", "matmul",
    "prod", "n",
})  # fmt: skip
"""The words that the names of operations that merge towers otherwise are made of (`reduce_mean`, `add_n`)."""

AVERAGING = frozenset({"mean", "average", "add", "sum", "n"})
"""The words of the operations that a mean is made of; code divides without a name."""

PASSING = ("identity",)
"""Operations that hand a tensor on as it is: not stop_gradient, which trains something else, nor a cast."""

OF_EVERY_LAYER = frozenset({
    "name", "trainable", "dtype", "input_dtype", "batch_input_shape", "batch_shape", "build_config", "shared_object_id",
})  # fmt: skip
"""What a layer's config may hold whatever it does. (A Dense of Keras 1 has `activation`, and speaks of no weights.)"""

MODULE_NAMES = ("k", "tf", "keras", "backend", "ops", "array_ops", "math_ops", "device")
"""Names of modules in a lambda, which lead to functions and are not functions."""


def is_in_training(call: Call) -> bool:
    """Return True if a call says that the layer is to work as in training, whatever the model does."""
    return any(part.get("training") in (True, 1) for part in json_tree.objects(call.stored))


def reads_mask(call: Call) -> bool:
    """Return True if a call is given a mask, which is a tensor and no input of what is called."""
    return any(
        isinstance(leaf, str)
        for part in json_tree.objects(call.stored)
        if "mask" in part
        for _, leaf in json_tree.leaves(part["mask"], ())
    )


#: The mode of Keras 1's BatchNormalization that takes the means of the rows at hand, in training or not.
OF_EVERY_BATCH = 2


def normalizes_by_batch(layer: Layer, call: Call) -> bool | None:
    """Return True if a call of a layer, or of one in it, takes the means of the rows that it is given.

    None where that layer is frozen and called in training: since TensorFlow 2 it works as ever, before it did not.
    """
    if _is_batch_normalization(layer.stored) and layer.settings.get("mode") == OF_EVERY_BATCH:
        return True
    if not is_in_training(call):
        return False
    frozen = [
        isinstance(config := part.get("config"), Mapping) and config.get("trainable") is False
        for part in json_tree.objects(layer.stored)
        if _is_batch_normalization(part)
    ]
    return None if frozen and all(frozen) else bool(frozen)


def _is_batch_normalization(entry: JsonObject) -> bool:
    class_name = entry.get("class_name")
    is_normalization = (
        isinstance(class_name, str) and current_class_name(class_name) == "BatchNormalization"
    )
    return is_normalization and is_keras_class("BatchNormalization", entry)


def runs_others_code(layer: Layer) -> bool:
    """Return True if one of Keras's layers runs custom code: a custom activation, or a layer that it holds.

    A Lambda that it holds gets other rows than the layer does, so that its code shows nothing.
    """
    return memoize(_runs_others_code, layer.stored)


def _runs_others_code(stored: JsonObject) -> bool:
    """Return True if a layer, or one in it, runs custom code."""
    parts = json_tree.objects(
        stored, keys=lambda key: key != "dtype" and not key.endswith(ROLE_SUFFIXES)
    )
    for part in parts:
        config = part.get("config")
        if "class_name" not in part or not isinstance(config, Mapping) or "name" not in config:
            continue
        class_name = str(part["class_name"])
        if part is not stored and (
            class_name == "Lambda" or not (is_keras_class(class_name, part) or is_model(part))
        ):
            return True
        # Keras 3 writes the names of its own activations as texts, and custom functions as objects.
        named = {
            key: value
            for key, value in config.items()
            if "module" not in part or not isinstance(value, str)
        }
        if any(custom_activations(named, ())):
            return True
    return False


def joins_on_batch_axis(layer: Layer, call: Call) -> bool | None:
    """Return True if a layer lines its inputs up along axis 0; None if it does not say."""
    config = layer.settings
    mode = config.get("mode")
    if isinstance(mode, str):  # Keras 1's Merge can do other things too
        return mode == "concat" and config.get("concat_axis") == 0
    if "concat_axis" in config:
        return _code_joins(mode, [])
    from unnest.core.frontends.operation_layers_as_op_calls import parse_op_call
    from unnest.core.ops.registry import argument

    op_call = parse_op_call(layer, call)
    if op_call is not None:
        if not contains_word(op_call.name, (*JOINING, *STACKING_ROWS)):
            return False
        axis = 0 if contains_word(op_call.name, STACKING_ROWS) else argument(op_call, "axis")
        return None if axis is None else axis == 0
    if is_function(layer):
        arguments = config.get("arguments")
        axes = [arguments["axis"]] if isinstance(arguments, Mapping) and "axis" in arguments else []
        return _code_joins(config.get("function"), axes)
    return _axis_joins(layer)


def _axis_joins(layer: Layer) -> bool | None:
    """Return True or False if a layer's class and axis say whether it joins along the batch axis; else None."""
    if layer_record(layer.class_name).concatenates:
        return concatenation_axis(layer) == 0
    axis = _axis(layer.settings)
    if axis is None:
        return None
    runs_function = bool(layer_record(layer.class_name).functions)
    return axis == 0 and (runs_function or not is_keras_layer(layer))


def concatenation_axis(layer: Layer) -> int | None:
    """Return the axis of a Concatenate or of Keras 1's Merge, the last one without a whole number; None of others."""
    if not merging_record(layer.class_name, layer.settings).concatenates:
        return None
    axis = _axis(layer.settings)
    return -1 if axis is None else axis


def _axis(config: JsonObject) -> int | None:
    axis = config.get("axis", config.get("concat_axis"))
    if is_list(axis) and len(axis) == 1:
        axis = axis[0]
    return axis if isinstance(axis, int) and not isinstance(axis, bool) else None


def _code_joins(function: Json, axes: Sequence[Json]) -> bool | None:
    """Return True or False if names and numbers in code say whether it joins along the batch axis; else None."""
    code = code_facts(function)
    if code and not any(contains_word(name, JOINING) for name in code.names):
        return None
    if code and not axes and not code.captures:
        axes = list(code.numbers)
    return all(axis == 0 for axis in axes) if axes else None


def may_join(layer: Layer) -> bool:
    """Return True if a layer may put rows together, at a glance: most graphs hold none that does."""
    record = layer_record(layer.class_name)
    if record.concatenates:
        axis = _axis(layer.settings)
        return axis is not None and axis != -1 and axis <= 1
    return "trainable" not in layer.settings or record.may_join_rows or not record.exported


def is_weightless(layer: Layer) -> bool:
    """Return True if a layer may be a slice or a merge: not a model, and no weights in its config."""
    return not layer.is_model and not has_initializers(layer.config)


def learns_row_by_row(layer: Layer) -> bool:
    """True if a layer has weights, and not only those that normalize: statistics of parts of a batch are a purpose."""
    if layer.is_model:
        return not only_normalizes(layer.stored)
    promises = expected_weight_counts(layer.class_name, layer.config)
    return promises is not None and promises.trained > 0 and not promises.statistics


def only_normalizes(model: JsonObject) -> bool:
    """True if all weights of a model, models in it included, are those of batch normalizations, and it has some."""
    return _weight_owners(model) == "normalizations"


WeightOwners: TypeAlias = Literal["none", "normalizations", "others"]


def _weight_owners(model: JsonObject) -> WeightOwners:
    """Return the kind of layers with weights in a model; computed once, however many models it is in."""
    return memoize(_find_weight_owners, model)


def _find_weight_owners(model: JsonObject) -> WeightOwners:
    """Return which of a model's layers own weights: none, normalizations only, or others."""
    holders: set[WeightOwners] = set()
    for layer in read(model).layers.values():
        if layer.is_model:
            holders.add(_weight_owners(layer.stored))
            continue
        is_own = is_keras_layer(layer)
        if is_own and "BatchNormalization" in layer.class_name:
            holders.add("normalizations")
        elif has_initializers(layer.config) or not is_own:
            return "others"
    return (
        "others"
        if "others" in holders
        else "normalizations"
        if "normalizations" in holders
        else "none"
    )


def combines(layer: Layer) -> bool:
    """Return True if a layer says that it adds its inputs up, averages or stacks them."""
    code = code_facts(layer.settings.get("function", layer.settings.get("mode")))
    if code is None:
        return bool(layer_record(layer.class_name).combines) and is_keras_layer(layer)
    stacks = any(contains_word(n, ("stack",)) for n in code.names) and not any(
        contains_word(n, ("reshape",)) for n in code.names
    )
    names = code.names - code.plain if uses_word(code.names, STITCHING) else code.names
    return stacks or uses_word(names, COMBINING)


def averages(layer: Layer) -> bool:
    """Return True if a layer that combines its inputs can be a mean of them, as far as it says."""
    code = code_facts(layer.settings.get("function", layer.settings.get("mode")))
    return layer.class_name == "Average" if code is None else uses_word(code.names, AVERAGING)


def passes_on(layer: Layer, call: Call) -> bool:
    """Return True if a layer hands its one input on as it is: it is there for its name or device only."""
    if len(call.reads) != 1:
        return False
    from unnest.core.frontends.operation_layers_as_op_calls import parse_op_call

    op_call = parse_op_call(layer, call)
    if op_call is not None:
        return contains_word(op_call.name, PASSING)
    if layer.settings.get("activation") == "linear":
        return layer.settings.keys() - OF_EVERY_LAYER == {"activation"} and not _takes_less(
            layer.settings.get("dtype")
        )
    code = stored_code(layer)
    if code is None or code.captures or code.numbers or layer.settings.get("arguments"):
        return False
    if not code.names:
        return code.is_identity
    return all(name.lower() in MODULE_NAMES or contains_word(name, PASSING) for name in code.names)


def passes_on_to_one_reader(graph: Graph, at: CallId) -> bool:
    """Return True if a layer hands its one input on as it is, to one reader."""
    return passes_on(graph.layers[at.layer], graph.call(at)) and len(graph.readers.get(at, ())) == 1


def _takes_less(dtype: Json) -> bool:
    """Return True if a layer of this type, or policy, casts what it is given to one that may hold less."""
    return policy_name(dtype) not in (None, "float32", "float64")


def fixes_rows(layer: Layer, call: Call) -> bool:
    """True if an operation has a number of rows of its own: of a shape that it makes, `[4, 3]`, or the one it drops."""
    from unnest.core.frontends.operation_layers_as_op_calls import parse_op_call, reshape_target
    from unnest.core.ops.registry import argument

    op_call = parse_op_call(layer, call)
    if op_call is not None and op_call.name == "squeeze":
        axis = argument(op_call, "axis")
        return axis == 0 or (isinstance(axis, list) and any(str(each) == "0" for each in axis))
    if op_call is None or not ("reshape" in op_call.name or "broadcast" in op_call.name):
        return False
    rows = next(iter(reshape_target(op_call)), None)
    return isinstance(rows, int) and rows > 0
