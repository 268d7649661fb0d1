"""The real functions: those of TensorFlow, Keras 3, Keras 2 and NumPy, by the last part of their names."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from unnest.core.ops.call import plain_name
from unnest.core.ops.registry import OPERATIONS, Operation

ROOMS = (
    "tf", "tf.math", "tf.nn", "tf.linalg", "tf.image", "tf.bitwise", "tf.signal", "tf.compat.v1",
    "tf.compat.v1.image", "tf.compat.v1.nn", "keras.ops", "np",
)  # fmt: skip
"""Where a function is looked for, the first first."""

ROOMS_OF_OTHERS = {
    "append": "np",
    "average": "np",
    "takealongaxis": "np",
    "arraysplit": "np",
    "k3split": "keras.ops",
    "k3slice": "keras.ops",
    "normalize": "keras.ops",
    "normalizewhole": "tf.linalg",
}
"""Operations that another function of TensorFlow's has the name of, or none -> where theirs is."""


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
    found = import_module("tf_keras" if path.startswith("keras.activations") else modules[root])
    for field in fields:
        found = getattr(found, field)
    return found


@cache
def functions_in(path: str) -> dict[str, Callable[..., Any]]:
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


def real_functions(operation: Operation) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions that an operation may be, with their names, likeliest first."""
    names = [name.removeprefix("k3") for name in spellings()[operation.name]]
    first = ROOMS_OF_OTHERS.get(operation.name)
    for path in (*([first] if first else []), *ROOMS):
        for name in names:
            if name in functions_in(path):
                yield f"{path}.{functions_in(path)[name].__name__}", functions_in(path)[name]


def named(path: str) -> Callable[..., Any] | None:
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
            return getattr(room(holder), name)  # type: ignore[no-any-return]
        except (AttributeError, KeyError, ImportError):
            continue
    return None
