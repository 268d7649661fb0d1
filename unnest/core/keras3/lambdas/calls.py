"""What stored code names and calls: globals, attributes, and known functions with their arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from unnest.core.keras3.lambdas.functions import FUNCTIONS
from unnest.core.keras3.lambdas.functions.constants import of_array
from unnest.core.keras3.lambdas.functions.signatures import Bound, KnownFunction, shape_of
from unnest.core.keras3.lambdas.operators import kind
from unnest.core.keras3.lambdas.values import (
    ATOM,
    Array,
    CallArguments,
    Const,
    Dialect,
    Items,
    Method,
    Name,
    NotUnderstood,
    Shape,
    SymbolicTensor,
    Value,
    bounded,
    items,
)

ROOTS: Mapping[str, str] = {"K": "keras.backend", "tf": "tensorflow", "keras": "keras", "np": "numpy", "math": "math"}
"""What a bare name is taken for; besides these only the builtins in the table."""

SHORT: Mapping[str, str] = {"tensorflow": "tf", "tf.keras": "keras", "keras.backend": "K", "K.tf": "tf", "numpy": "np"}
"""Spellings of one module, replaced one after the other; the table has the short ones."""

CONSTANTS: Mapping[str, float | None] = {
    "np.pi": math.pi,
    "math.pi": math.pi,
    "np.e": math.e,
    "math.e": math.e,
    "tf.newaxis": None,
    "np.newaxis": None,
}

SHAPES: Mapping[str, Literal["shape", "tuple"]] = {"shape": "shape", "_keras_shape": "tuple"}
"""Attributes of tensors that are shapes; the second is of Keras's own of before 2.3."""

ALIKE = frozenset(
    f"K.{name}"
    for name in (
        *("exp", "log", "square", "abs", "sign", "sin", "cos", "tanh", "sqrt", "clip", "maximum", "minimum"),
        *("sum", "mean", "max", "min", "prod", "expand_dims", "squeeze", "reshape", "flatten", "batch_flatten"),
        *("permute_dimensions", "concatenate", "stack", "reverse", "int_shape", "ndim", "epsilon", "floatx"),
    )
)
"""Functions of Keras's backend that compute the same on Theano, whose files do not always say so."""

#: The same for floats of usual size: files of Keras 1, which do not tell their backend, are read with this assumption.
#: (Source: Keras 1.2.2, keras/backend/theano_backend.py and tensorflow_backend.py.)
ASSUMED_ALIKE = frozenset(
    f"K.{name}" for name in ("cast", "tile", "pow", "relu", "std", "one_hot", "l2_normalize", "softmax")
)

#: What draws random numbers, in the latent layer of autoencoders above all.
RANDOM = re.compile(r"(K|tf)\.(random|truncated)_\w+|(tf|keras|np)\.random\.\w+")


def named(text: str, dialect: Dialect) -> Value:
    """What a global stands for.

    Raises:
        NotUnderstood: For every name but a few: globals are not stored.

    """
    if text in ROOTS:
        dialect.taken[text] = ROOTS[text]
        return Name(_short(ROOTS[text]), text)
    if text in FUNCTIONS and "." not in text:
        dialect.taken[text] = "the builtin"
        return Name(text, text)
    raise NotUnderstood(f"`{text}`, a name whose value is not stored")


def module(path: str) -> Name:
    """What `import path` inside of the function gives."""
    return Name(_short(path), _short(path))


def _short(path: str) -> str:
    for long, short in SHORT.items():
        if path == long or path.startswith(f"{long}."):
            path = short + path.removeprefix(long)
    return path


def attribute(of: Value, field: str) -> Value:
    """`of.field`."""
    text = bounded(f"{of.text}.{field}")
    if isinstance(of, Name):
        path = _short(f"{of.path}.{field}")
        return Const(CONSTANTS[path], text) if path in CONSTANTS else Name(path, text)
    if isinstance(of, SymbolicTensor) and field in SHAPES:
        return replace(shape_of(of), kind=SHAPES[field], text=text)
    if isinstance(of, SymbolicTensor) and field == "get_shape":
        return Method(of, field, text)
    if isinstance(of, Shape) and of.kind == "shape" and field == "as_list":
        return Method(of, field, text)
    if isinstance(of, Array) and of.numbers not in {None, "tensor"} and field in {"astype", "reshape"}:
        return Method(of, field, text)
    raise NotUnderstood(f"`.{field}` of {kind(of)}")


def call(function: Value, arguments: CallArguments, dialect: Dialect) -> Value:
    """`function(arguments)`."""
    text = bounded(f"{function.text}({arguments.text})")
    if isinstance(function, Method) and isinstance(function.of, Array):
        return replace(of_array(function.of, function.name, arguments), text=text)
    if isinstance(function, Method):
        if arguments.positional or arguments.keywords:
            raise NotUnderstood(f"arguments of `{function.text}`")
        if isinstance(function.of, Shape):
            return replace(function.of, kind="list", text=text)
        assert isinstance(function.of, SymbolicTensor)
        return replace(shape_of(function.of), text=text)
    if isinstance(function, Name) and RANDOM.fullmatch(function.path):
        raise NotUnderstood(
            f"`{function.text}`: no layer or operation of Keras 3's own draws random numbers at inference"
        )
    if not isinstance(function, Name) or function.path not in FUNCTIONS:
        raise NotUnderstood(f"a call of {kind(function)}")
    if function.path.startswith("K.") and dialect.backend != "tensorflow" and function.path not in ALIKE:
        is_untold = dialect.backend is None and dialect.release[:1] == (1,)
        takes_axis = function.path == "K.softmax" and len(arguments.positional) + len(arguments.keywords) > 1
        if not is_untold or function.path not in ASSUMED_ALIKE or takes_axis:
            raise NotUnderstood(f"`{function.text}`, which depends on the backend")
        dialect.taken[function.text] = "what Theano and TensorFlow both compute"
    if function.path.startswith(("K.", "keras.")) and dialect.keras_3 and function.path not in ALIKE:
        raise NotUnderstood(f"`{function.text}` of Keras 3")
    known = FUNCTIONS[function.path]
    value = known.compute(Bound(_bound(function, known, arguments), dialect))
    if isinstance(value, Items) and value.kind == "stored":
        return replace(value, spelt=text)
    if isinstance(value, Items):
        parts = [each for each in value.items if isinstance(each, SymbolicTensor)]
        parts = [replace(each, text=f"{text}[{place}]") for place, each in enumerate(parts)]
        return replace(items("list", parts), spelt=text)
    return replace(value, text=text, rank=ATOM) if isinstance(value, (SymbolicTensor, Array, Const, Shape)) else value


def _bound(function: Name, known: KnownFunction, arguments: CallArguments) -> dict[str, Value]:
    if len(arguments.positional) > known.positional:
        raise NotUnderstood(f"the arguments of `{function.text}`")
    values = {names[0]: value for names, value in zip(known.parameters, arguments.positional, strict=False)}
    first = {name: names[0] for names in known.parameters for name in names}
    for name, value in arguments.keywords.items():
        if name == "name" and name not in first and function.path.startswith("tf."):
            continue
        if name not in first or first[name] in values:
            raise NotUnderstood(f"`{name}=` of `{function.text}`")
        values[first[name]] = value
    values = {**known.defaults, **values}
    if len(values) < len(known.parameters):
        raise NotUnderstood(f"the arguments of `{function.text}`")
    return values
