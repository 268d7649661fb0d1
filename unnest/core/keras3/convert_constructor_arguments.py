"""A layer's config as Keras 3's constructor of its class takes it.

An argument that the constructor no longer takes goes only where it holds what Keras 3 computes anyway; any other value
is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unnest.core import json_tree
from unnest.core.keras3 import convert_config_values
from unnest.core.keras3.conversion_context import OldLayer
from unnest.core.layers.catalog import layer_record, takes
from unnest.core.layers.record import ANY_VALUE, KerasLayer
from unnest.core.model import Json

Test = Callable[[Json], bool]


def _is(*values: Json) -> Test:
    return lambda value: any(value == v and type(value) is type(v) for v in values)


def _on(value: Json) -> bool:
    return value is True


def _off(value: Json) -> bool:
    return value is None or value is False


def _any(value: Json) -> bool:
    """Return True: any value of the argument may be dropped, as the layer does not compute with it."""
    del value
    return True


#: Argument -> which of its values compute what Keras 3 computes without it.
DROPPED_IF: dict[str, Test] = {
    # Of a layer's input, which its model's input layer has.
    "batch_input_shape": _any, "input_shape": _any, "input_dtype": _any, "batch_size": _any, "input_length": _any,
    # How something is computed, not what.
    "implementation": _any, "fused": _any, "rng_type": _any, "synchronized": _any, "jit_compile": _any,
    # The shape on which the layer was built, which its build gets again.
    "query_shape": _any, "key_shape": _any, "value_shape": _any,
    "autocast": _on, "dynamic": _off, "stateful": _off, "_keras_api_names": _any,
    "_keras_api_names_v1": _any, "time_major": _off, "groups": _is(1), "noise_shape": _is(None),
    "causal": _off, "quantization_config": _is(None), "lora_rank": _is(None), "lora_alpha": _is(None),
    "renorm": _off, "renorm_clipping": _any, "renorm_momentum": _any, "virtual_batch_size": _is(None),
    "adjustment": _is(None), "softmax_robust_masking": _off, "unroll": _off,
    "zero_output_for_mask": _off, "num_constants": _is(None, 0), "weights": _is(None),
    "ragged": _off, "sparse": _off, "mask_zero": _off, "seed": _any,
    "activity_regularizer": _is(None), "trainable": _any, "data_format": _is("channels_last"),
    "build_input_shape": _any, "output_padding": _is(None), "keepdims": _off, "antialias": _off,
    "crop_to_aspect_ratio": _off, "use_legacy_format": _off, "has_vocabulary": _any,
    "vocabulary_size": _any, "dilation_rate": _is(1, [1], [1, 1], [1, 1, 1]), "mode": _is(None),
    "name": _any,
}  # fmt: skip


def converted_arguments(old: OldLayer) -> dict[str, Json]:
    """Return the arguments for Keras 3's class of that name.

    An argument that the class does not take is left out if its value is idle: Keras 3 computes the same without it
    (`DROPPED_IF`, and `idle` in the layer's record). Any layer takes an `activity_regularizer`, through Layer. What is
    left out or filled in is noted in `old.context`, and a penalty that standalone Keras summed over the batch in
    `notes.summed_penalties`.

    Raises:
        CannotConvert: an argument is unknown, or Keras 3 has not what it holds.

    """
    kind, config, context = old.kind, old.config, old.context
    record = layer_record(kind)
    new: dict[str, Json] = {"name": old.name}
    if context.is_standalone and _has_penalty_on_outputs(old):
        context.notes.summed_penalties.append(old.name)
    for old_key, value in config.items():
        key = record.renamed_arguments.get(old_key, old_key)
        if key == "name":
            continue
        if takes(kind, key):
            new[key] = _value(old, key, value)
            continue
        is_idle = _idle_test(record, key)
        if key == "activity_regularizer" and value is not None:
            new[key] = convert_config_values.regularizer(value, old.name, context)
        elif is_idle is None:
            raise old.refused(f"its argument {key!r} = {value!r} is not known")
        elif not is_idle(value):
            raise old.refused(f"Keras 3 has no {key!r}, and it holds {value!r}")
        else:
            old.note("arguments")
    for key, value in record.defaults_of_then.items():
        if key not in new:
            old.note("defaults-of-then", key)
            new[key] = value
    if "data_format" in (record.arguments or ()) and new.get("data_format") in (None, "default"):
        new["data_format"] = _data_format_of_then(old, record)
    if new.get("dtype") is None:
        new["dtype"] = "float32"
    return new


def _idle_test(record: KerasLayer, argument: str) -> Test | None:
    """Return the test for values with which Keras 3 computes the same without the argument; None if it has none."""
    values = record.idle.get(argument)
    if values is None:
        return DROPPED_IF.get(argument)
    return _any if values == ANY_VALUE else _is(*values)


ROLE_WRITERS = {
    "initializer": convert_config_values.initializer, "regularizer": convert_config_values.regularizer,
    "constraint": convert_config_values.constraint, "dtype": convert_config_values.dtype,
}  # fmt: skip


def _data_format_of_then(old: OldLayer, record: KerasLayer) -> str:
    """Return the order of axes of a layer that does not say it: its machine's, where it went by that."""
    config, context = old.config, old.context
    if (
        record.keras_1_omits_data_format
        and "data_format" not in config
        and context.release[:1] == (1,)
    ):
        told = ", as the other layers say" if context.is_format_told else ""
        old.note("defaults-of-then", f"data_format {context.data_format}{told}")
        context.notes.guessed += [] if context.is_format_told else [f"{old.name} ({old.kind})"]
    is_machines = record.data_format_of_backend or "data_format" in config
    return context.data_format if is_machines else "channels_last"


def _has_penalty_on_outputs(old: OldLayer) -> bool:
    """Return True if a layer adds a penalty on its outputs to the loss, by a factor that is not zero.

    A regularizer without numbers is unknown, and counts. Standalone Keras added the sum over the batch; tf.keras and
    Keras 3 divide it by the rows. (Source: Layer.__call__ of Keras 1.2.2 to 2.3.1, and of TensorFlow 1.13; Keras 3.15,
    keras/src/layers/layer.py.)
    """
    if old.kind == "ActivityRegularization":
        return any(old.config.get(factor) for factor in ("l1", "l2"))
    regularizer = old.config.get("activity_regularizer")
    if regularizer is None:
        return False
    numbers = [n for _, n in json_tree.leaves(regularizer) if isinstance(n, int | float)]
    return not numbers or any(numbers)


def _value(old: OldLayer, key: str, value: Json) -> Json:
    """Return an argument's value in the form of Keras 3."""
    role = ROLE_WRITERS.get(key.rpartition("_")[2])
    if role is not None and key != "vocabulary_dtype":
        return role(value, old.name, old.context)
    if key == "trainable":
        return bool(value)
    if (
        key == "axis"
        and old.kind == "BatchNormalization"
        and isinstance(value, Sequence)
        and len(value) == 1
    ):
        return value[0]
    return value
