"""A layer's config as Keras 3's constructor of its class takes it.

An argument that the constructor no longer takes goes only where it holds what Keras 3 computes anyway; any other value
is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unnest.core.keras3 import config_values
from unnest.core.keras3.context import Context, refused
from unnest.core.keras3.signatures import SIGNATURES, takes
from unnest.core.model import Json, JsonObject

Test = Callable[[Json], bool]


def _is(*values: Json) -> Test:
    return lambda value: any(value == v and type(value) is type(v) for v in values)


def _on(value: Json) -> bool:
    return value is True


def _off(value: Json) -> bool:
    return value is None or value is False


def _any(value: Json) -> bool:
    """The argument says nothing that the layer computes with."""
    del value
    return True


#: Argument -> which of its values compute what Keras 3 computes without it.
IDLE: dict[str, Test] = {
    # Of a layer's input, which its model's input layer tells.
    "batch_input_shape": _any, "input_shape": _any, "input_dtype": _any, "batch_size": _any, "input_length": _any,
    # How something is computed, not what.
    "implementation": _any, "fused": _any, "rng_type": _any, "synchronized": _any, "jit_compile": _any,
    # What the layer was built on, which it is told again.
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

#: (class, argument) -> the same for one class alone.
IDLE_OF: dict[tuple[str, str], Test] = {
    **{(f"Separable{kind}", key): _any for kind in ("Conv1D", "Conv2D")
       for key in ("kernel_initializer", "kernel_regularizer", "kernel_constraint", "groups")},
    **{(f"DepthwiseConv{n}D", key): _any for n in (1, 2)
       for key in ("kernel_initializer", "kernel_regularizer", "kernel_constraint")},
    ("BatchNormalization", "mode"): _is(0),
    ("Dense", "input_dim"): _any, ("LSTM", "input_dim"): _any, ("GRU", "input_dim"): _any,
    ("SimpleRNN", "input_dim"): _any, ("Conv1D", "input_dim"): _any,
    ("LSTM", "return_runtime"): _off,
    **{(f"{kind}ConvLSTM{n}D", "unroll"): _any for kind in ("",) for n in (1, 2, 3)},
    **{(kind, "axis"): _is(-1) for kind in ("Add", "Multiply", "Average", "Maximum", "Subtract")},
}  # fmt: skip

#: Arguments by which another class is called than before: (class, argument) -> its name today.
RENAMED: dict[tuple[str, str], str] = {
    ("LeakyReLU", "alpha"): "negative_slope",
    ("CategoryEncoding", "max_tokens"): "num_tokens",
    ("Discretization", "bins"): "bin_boundaries",
}

#: Defaults of then, where today's is another or depends on the machine that loads: (class, argument) -> value.
DEFAULTS: dict[tuple[str, str], Json] = {
    ("GRU", "reset_after"): False,
    ("GRUCell", "reset_after"): False,
    ("ConvLSTM2D", "recurrent_activation"): "hard_sigmoid",
    ("LSTM", "recurrent_activation"): "hard_sigmoid",
    ("GRU", "recurrent_activation"): "hard_sigmoid",
}

#: Layers whose order of axes Keras 1 does not store.
UNTOLD = frozenset({f"{kind}{n}D" for kind in ("ZeroPadding", "Cropping", "UpSampling") for n in (2, 3)})
#: Layers whose order of axes is that of the machine where the file does not tell it. All others that do not tell it
#: knew one alone: those over one axis, Flatten and what prepares images.
MACHINES = UNTOLD | {"SpatialDropout2D", "SpatialDropout3D"}


def written(kind: str, config: JsonObject, name: str, context: Context) -> dict[str, Json]:
    """The arguments for Keras 3's class `kind`. Raises CannotConvert for one that it cannot be given."""
    new: dict[str, Json] = {"name": name}
    for old_key, value in config.items():
        key = RENAMED.get((kind, old_key), old_key)
        if key == "name":
            continue
        if takes(kind, key):
            new[key] = _value(kind, key, value, name, context)
            continue
        test = IDLE_OF.get((kind, key)) or IDLE.get(key)
        if key == "activity_regularizer" and value is not None:
            new[key] = config_values.regularizer(value, name, context)
        elif test is None:
            raise refused(name, kind, f"its argument {key!r} = {value!r} is not known")
        elif not test(value):
            raise refused(name, kind, f"Keras 3 has no {key!r}, and it holds {value!r}")
        else:
            context.note("arguments", name)
    for (owner, key), value in DEFAULTS.items():
        if owner == kind and key not in new:
            context.note("defaults-of-then", name, key)
            new[key] = value
    if "data_format" in SIGNATURES.get(kind, ()) and new.get("data_format") in (None, "default"):
        is_machines = kind in MACHINES or "data_format" in config
        new["data_format"] = context.data_format if is_machines else "channels_last"
        if kind in UNTOLD and "data_format" not in config and context.release[:1] == (1,):
            told = ", as the other layers say" if context.is_format_told else ""
            context.note("defaults-of-then", name, f"data_format {context.data_format}{told}")
            context.guessed += [] if context.is_format_told else [f"{name} ({kind})"]
    if new.get("dtype") is None:
        new["dtype"] = "float32"
    return new


ROLES = {
    "initializer": config_values.initializer, "regularizer": config_values.regularizer,
    "constraint": config_values.constraint, "dtype": config_values.dtype,
}  # fmt: skip


def _value(kind: str, key: str, value: Json, name: str, context: Context) -> Json:
    """An argument's value in today's form."""
    role = ROLES.get(key.rpartition("_")[2])
    if role is not None and key != "vocabulary_dtype":
        return role(value, name, context)
    if key == "trainable":
        return bool(value)
    if key == "axis" and kind == "BatchNormalization" and isinstance(value, Sequence) and len(value) == 1:
        return value[0]
    return value
