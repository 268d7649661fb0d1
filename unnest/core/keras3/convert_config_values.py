"""Values in a layer's config: initializers, regularizers, constraints, activations, dtypes, as Keras 3 writes them.

(Source: the registries of Keras 3.15 and the get_config of Keras 1.2.2 to 2.3.1 and tf.keras 1.13 to 2.15.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unnest.core import json_tree
from unnest.core.keras3.conversion_context import Context, listed, refused
from unnest.core.layers.read_config_values import function_parts, is_stored_lambda
from unnest.core.model import Json, JsonObject

#: How Python calls a function without a name.
NAMELESS = "<lambda>"
#: Initializer -> its arguments.
INITIALIZERS: dict[str, tuple[str, ...]] = {
    "Zeros": (), "Ones": (), "Constant": ("value",),
    "RandomNormal": ("mean", "stddev", "seed"), "TruncatedNormal": ("mean", "stddev", "seed"),
    "RandomUniform": ("minval", "maxval", "seed"), "VarianceScaling": ("scale", "mode", "distribution", "seed"),
    "Orthogonal": ("gain", "seed"), "Identity": ("gain",),
    **{f"{who}{how}": ("seed",) for who in ("Glorot", "He", "Lecun") for how in ("Uniform", "Normal")},
}  # fmt: skip
#: Names of functions, and what TensorFlow and Keras 1 called classes.
INITIALIZER_NAMES = {
    "zero": "Zeros", "one": "Ones", "uniform": "RandomUniform", "normal": "RandomNormal", "orthogonal": "Orthogonal",
    "identity": "Identity", "Normal": "RandomNormal", "Uniform": "RandomUniform", "OrthogonalInitializer": "Orthogonal",
    "IdentityInitializer": "Identity", "ConstantV2": "Constant",
    **{f"{who}_{how}": f"{who.capitalize()}{how.capitalize()}"
       for who in ("glorot", "he", "lecun") for how in ("uniform", "normal")},
    "zeros": "Zeros", "ones": "Ones", "constant": "Constant", "random_normal": "RandomNormal",
    "random_uniform": "RandomUniform", "truncated_normal": "TruncatedNormal", "variance_scaling": "VarianceScaling",
}  # fmt: skip

REGULARIZERS: dict[str, tuple[str, ...]] = {
    "L1": ("l1",), "L2": ("l2",), "L1L2": ("l1", "l2"), "OrthogonalRegularizer": ("factor", "mode"),
}  # fmt: skip
CONSTRAINTS: dict[str, tuple[str, ...]] = {
    "MaxNorm": ("max_value", "axis"), "NonNeg": (), "UnitNorm": ("axis",),
    "MinMaxNorm": ("min_value", "max_value", "rate", "axis"),
}  # fmt: skip
#: Keras 1 wrote rules as {"name": ..., arguments}.
KERAS_1_RULES = {
    "WeightRegularizer": "L1L2",
    "L1L2Regularizer": "L1L2",
    "ActivityRegularizer": "L1L2",
}
KERAS_1_RULE_ARGUMENTS = {"m": "max_value", "low": "min_value", "high": "max_value"}

#: Keras's own that Keras 3 has not.
GONE_RULES = frozenset({"RadialConstraint", "radial_constraint", "EigenvalueRegularizer"})


def plain_json(value: Json) -> Json:
    """Return the value without the wrappers in which writers store NumPy arrays, tuples and shapes."""
    return json_tree.transform(
        value, _undressed, into=lambda part: part.get("class_name") != "__numpy__"
    )


def _undressed(part: JsonObject, inner: dict[str, Json]) -> Json:
    """Unwrap one object whose parts are unwrapped already."""
    if part.get("class_name") in ("__tuple__", "TensorShape") and isinstance(
        part.get("items"), Sequence
    ):
        return inner["items"]
    if set(part) == {"type", "value"}:
        return inner["value"]
    inner.pop("shared_object_id", None)
    return inner


def class_and_config(value: Json) -> tuple[str, JsonObject]:
    """Return class and config of a serialized object in any form; of a mere name that name, and {}."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, Mapping):
        return str(value), {}
    if is_stored_lambda(value):
        return NAMELESS, {}
    config = value.get("config")
    if "class_name" not in value and isinstance(value.get("name"), str):  # Keras 1
        return str(value["name"]), {k: v for k, v in value.items() if k != "name"}
    if value.get("class_name") == "function" and isinstance(config, str):
        return config, {}
    kind = str(value.get("class_name"))
    registered = value.get("registered_name")
    kind = str(registered) if isinstance(registered, str) and ">" in registered else kind
    return kind, config if isinstance(config, Mapping) else {}


def check_one_lambda(value: Json, layer_name: str, class_name: str, context: Context) -> None:
    """Raise CannotConvert for a second lambda of other code: a loader is given both by one name."""
    code = function_parts(value)[0] if is_stored_lambda(value) else None
    if code is None:
        return
    context.notes.nameless.add(code)
    if len(context.notes.nameless) > 1:
        why = "the model has several lambdas as arguments, which a loader cannot be given by one name: define functions"
        raise refused(layer_name, class_name, why)


def keras_object(module: str, kind: str, config: JsonObject) -> JsonObject:
    """Return the JSON of an object of Keras 3's own."""
    return {"module": module, "class_name": kind, "config": config, "registered_name": None}


def initializer(value: Json, layer_name: str, context: Context) -> Json:
    """Convert an initializer; one that Keras 3 lacks becomes zeros, as the weight itself is stored."""
    if value is None:
        return None
    kind, config = class_and_config(value)
    kind = INITIALIZER_NAMES.get(kind, re.sub(r"V[12]$", "", kind))
    if kind not in INITIALIZERS:
        context.note("initializer", layer_name, kind)
        kind, config = "Zeros", {}
    kept = {k: v for k, v in config.items() if k in INITIALIZERS[kind]}
    if "maxval" in kept and kept["maxval"] is None:
        kept["maxval"] = 1  # (Source: TensorFlow 1.8, random_uniform of what is no integer.)
    return keras_object("keras.initializers", kind, kept)


def regularizer(value: Json, layer_name: str, context: Context) -> Json:
    """Convert a regularizer; a custom one is kept, for the loader to be given."""
    return _regularizer_or_constraint(
        value, "keras.regularizers", REGULARIZERS, layer_name, context
    )


def constraint(value: Json, layer_name: str, context: Context) -> Json:
    """Convert a constraint; a custom one is kept, for the loader to be given."""
    return _regularizer_or_constraint(value, "keras.constraints", CONSTRAINTS, layer_name, context)


def _regularizer_or_constraint(
    value: Json,
    module: str,
    known: Mapping[str, tuple[str, ...]],
    layer_name: str,
    context: Context,
) -> Json:
    """Convert an initializer, regularizer or constraint; `known`: class -> its arguments in Keras 3."""
    if value is None:
        return None
    role = module.rpartition(".")[2].removesuffix("s")
    if isinstance(value, Mapping) and not {"class_name", "name"} & value.keys():
        what = f"the file holds its arguments ({listed(value)}) and does not name its class"
        way = 'add "name" to them in the JSON of --to json, and pass that with the weights of --to weights'
        raise refused(layer_name, role, f"{what}; {way}")
    kind, config = class_and_config(value)
    config = {KERAS_1_RULE_ARGUMENTS.get(k, k): v for k, v in config.items()}
    plain_kind = {k.lower(): k for k in known} | {k.lower(): v for k, v in KERAS_1_RULES.items()}
    plain_kind |= {"max_norm": "MaxNorm", "non_neg": "NonNeg", "unit_norm": "UnitNorm", "min_max_norm": "MinMaxNorm",
                   "l1_l2": "L1L2", "orthogonal_regularizer": "OrthogonalRegularizer"}  # fmt: skip
    ours = plain_kind.get(kind.lower())
    if ours is None and kind in GONE_RULES:
        raise refused(layer_name, kind, "Keras 3 has no such constraint or regularizer")
    if ours is None:
        context.notes.custom[without_package(kind)] = f"{role} of {layer_name!r}"
        return custom_function(kind) if _is_function(value) else custom_object(kind, config)
    extra = set(config) - set(known[ours])
    if extra:
        raise refused(layer_name, ours, f"its argument {min(extra)!r} is not known")
    return keras_object(module, ours, config)


def without_package(name: str) -> str:
    """Return the name in `package>name`; `<lambda>` is a name."""
    return re.sub(r"^.*>(?=.)", "", name)


def custom_object(kind: str, config: JsonObject) -> JsonObject:
    """Return the JSON of a custom object, which is found by its registered name or in custom_objects."""
    return {
        "module": None,
        "class_name": without_package(kind),
        "config": config,
        "registered_name": kind,
    }


def custom_function(name: str) -> JsonObject:
    """Return the JSON of a custom function, which is found in custom_objects alone, by any name."""
    return {"module": None, "class_name": "function", "config": name, "registered_name": name}


def _is_function(value: Json) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Mapping) and value.get("class_name") == "function"
    )


#: Names of dtypes that TensorFlow takes besides NumPy's. (Source: tensorflow/python/framework/dtypes.py: as_dtype.)
DTYPE_NAMES = {"float": "float32", "double": "float64", "half": "float16"}


def dtype(value: Json, layer_name: str, context: Context) -> str | None:
    """Return a dtype or policy by name; None if the layer has Keras's default."""
    if isinstance(value, Mapping):
        kind, config = class_and_config(value)
        if kind not in ("Policy", "PolicyV1", "DTypePolicy", "FloatDTypePolicy"):
            raise refused(layer_name, kind, "a dtype policy of this class is not known")
        name = config.get("name")
        context.note("dtype-policy", layer_name)
        value = name if name != "_infer" else None
    if value is None or isinstance(value, str):
        return DTYPE_NAMES.get(value, value) if value else value
    raise refused(layer_name, "dtype", f"{value!r} is no dtype")
