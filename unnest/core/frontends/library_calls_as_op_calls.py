"""Calls of TensorFlow's, Keras's and NumPy's functions as calls of operations, where the libraries differ, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unnest.core.frontends.python_values import Name, PythonValue
from unnest.core.interpreters.trace import FLOATX, TracedTensor
from unnest.core.ops.call import OpCall, plain_name
from unnest.core.ops.operation_kinds import SLICES, Kind
from unnest.core.ops.registry import OPERATIONS

MODULE_BY_ALIAS = {
    "K": "keras.backend",
    "k": "keras.backend",
    "KB": "keras.backend",
    "kb": "keras.backend",
    "KTF": "keras.backend",
    "backend": "keras.backend",
    "ops": "keras.ops",
    "tf": "tensorflow",
    "tf1": "tensorflow",
    "tf2": "tensorflow",
    "tensorflow": "tensorflow",
    "array_ops": "tensorflow.array_ops",
    "math_ops": "tensorflow.math_ops",
    "keras": "keras",
    "np": "numpy",
    "numpy": "numpy",
    "math": "math",
    "functools": "functools",
    "operator": "operator",
}
"""The module behind a name that the code does not store: the customary imports, and those of TensorFlow's own code."""

ASSUMABLE_KINDS = SLICES | {Kind.SIZE}
"""Operations that code may have imported by name: those that cut rows, and those that say how many there are."""

SCOPES = frozenset(
    {"device", "name_scope", "variable_scope", "control_dependencies", "colocate_with"}
)
"""Functions for `with` statements that say where, under which name, or after what things are computed."""


def is_assumable(name: str) -> bool:
    """Return True for a bare name that may be TensorFlow's function: `from tensorflow import shape, split`."""
    operation = OPERATIONS.get(plain_name(name))
    kind = None if operation is None else operation.kind
    return kind in ASSUMABLE_KINDS or name in ("int_shape", "cast")


def library_call(
    path: str, args: Sequence[PythonValue], kwargs: Mapping[str, PythonValue]
) -> OpCall:
    """Return the call of an operation for that of a library's function, whose arguments differ between libraries."""
    module, _, name = path.rpartition(".")
    operation = plain_name(path)
    match operation, args:
        case (("toint32" | "toint64" | "tofloat" | "todouble"), _):
            operation, args = "cast", [*args, name.removeprefix("to_")]
        case "casttofloatx", _:
            operation, args = "cast", [*args, FLOATX]
        case "concatenate", [_] if module == "keras.backend" and "axis" not in kwargs:
            kwargs = {**kwargs, "axis": -1}
        case "concat", [int() as axis, values, *rest]:  # the axis first, as before TensorFlow 1.0
            args = [values, axis, *rest]
        case "split", [axis, parts, TracedTensor() as value]:
            args = [value, parts, axis]
        case (("split" | "slice"), _) if module in ("keras.ops", "numpy"):
            operation = f"k3{operation}"
        case "repeat", _ if module == "keras.backend":
            operation = "repeatvector"
    return OpCall(
        operation,
        [_type_name(each) for each in args],
        {key: _type_name(v) for key, v in kwargs.items()},
    )


def _type_name(value: PythonValue) -> PythonValue:
    """Return a dtype by its last name: `tensorflow.float32` is `float32`."""
    return value.path.rpartition(".")[2] if isinstance(value, Name) else value
