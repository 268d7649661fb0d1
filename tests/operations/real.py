"""The real functions: those of TensorFlow, Keras 3, Keras 2 and NumPy, by the last part of their names."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from unnest.core.ops.call import plain_name
from unnest.core.ops.operation_entry import Operation
from unnest.core.ops.registry import OPERATIONS

Function: TypeAlias = "Callable[..., Any]"

ROOMS = (
    "tf", "tf.math", "tf.nn", "tf.linalg", "tf.image", "tf.bitwise", "tf.signal", "tf.debugging", "tf.compat.v1",
    "tf.compat.v1.image", "tf.compat.v1.nn", "keras.ops", "np", "keras.activations", "K", "tf.raw_ops",
)  # fmt: skip
"""Where a function is looked for, the first first."""

PATHS = {
    "append": "np.append",
    "arraysplit": "np.array_split",
    "average": "np.average",
    "averagen": "keras.layers.average",
    "broadcastargs": "tf.broadcast_dynamic_shape",
    "k3slice": "keras.ops.slice",
    "k3split": "keras.ops.split",
    "maximumn": "keras.layers.maximum",
    "minimumn": "keras.layers.minimum",
    "multiplyn": "keras.layers.multiply",
    "normalize": "keras.ops.normalize",
    "normalizewhole": "tf.linalg.normalize",
    "takealongaxis": "np.take_along_axis",
}
"""Operations that another function of TensorFlow's has the name of, or none -> their function."""


@cache
def room(path: str) -> Any:
    """A module or namespace; `tf` is TensorFlow, `np` NumPy, `K` the backend of Keras 2."""
    root, *fields = path.split(".")
    modules = {
        "tf": "tensorflow",
        "np": "numpy",
        "K": "tf_keras.backend",
        "keras": "keras",
        "math": "math",
    }
    found = import_module(modules[root])
    for field in fields:
        found = getattr(found, field)
    return found


@cache
def functions_in(path: str) -> dict[str, Function]:
    """Plain name -> the function in a room."""
    names = [name for name in dir(room(path)) if not name.startswith("_")]
    found = {plain_name(name): getattr(room(path), name) for name in names}
    return {name: function for name, function in found.items() if callable(function)}


def spellings() -> dict[str, list[str]]:
    """First name of an operation -> all of its names."""
    names: dict[str, list[str]] = {}
    for name, operation in OPERATIONS.items():
        names.setdefault(operation.name, []).append(name)
    return names


def real_functions(operation: Operation) -> Iterator[tuple[str, Function]]:
    """Yield the functions that an operation may be, with their names, likeliest first."""
    if operation.name in PATHS:
        path = PATHS[operation.name]
        holder, _, name = path.rpartition(".")
        yield path, getattr(room(holder), name)
        return
    for path in ROOMS:
        for name in spellings()[operation.name]:
            if name in functions_in(path):
                yield f"{path}.{functions_in(path)[name].__name__}", functions_in(path)[name]


def call_real(
    function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[np.ndarray[Any, Any]] | None:
    """The arrays that a function gives, None where it takes no such arguments."""
    for of_array in (np.asarray, import_module("tensorflow").constant):
        prepared = (
            [_prepared(value, of_array) for value in args],
            {key: _prepared(value, of_array) for key, value in kwargs.items()},
        )
        try:
            with np.errstate(all="ignore"):
                return _arrays(function(*prepared[0], **prepared[1]))
        except Exception:  # noqa: BLE001, S112 - libraries refuse arguments in many ways; tensors are another
            continue
    return None


def _prepared(value: Any, of_array: Function) -> Any:
    """An argument whose arrays are NumPy's, or TensorFlow's tensors, of which Keras 2 asks more."""
    if isinstance(value, np.ndarray):
        return of_array(value)
    return [_prepared(each, of_array) for each in value] if isinstance(value, list) else value


def _arrays(result: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(result, list | tuple) and not all(isinstance(each, int) for each in result):
        return [array for each in result for array in _arrays(each)]
    return [np.asarray(result)]


def named(path: str) -> Function | None:
    """The function of a full name as `FUNCTIONS` has it; None where no release of today has it."""
    if path.startswith("tf.") and not path.startswith("tf.compat"):
        spelled: tuple[str, ...] = (path, path.replace("tf.", "tf.compat.v1.", 1))
    else:
        spelled = (path,)
    for each in spelled:
        holder, _, name = each.rpartition(".")
        if not holder:
            return getattr(builtins, name)  # type: ignore[no-any-return]
        try:
            if holder == "keras.activations":  # Keras 2's, which stored code called
                return getattr(import_module("tf_keras.activations"), name)  # type: ignore[no-any-return]
            return getattr(room(holder), name)  # type: ignore[no-any-return]
        except (AttributeError, KeyError, ImportError):
            continue
    return None
