"""Operations that are stored as a call of a TensorFlow function, by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unnest.core.keras3.lambdas import names_and_calls, operators
from unnest.core.keras3.layer_replacements import NodeTree
from unnest.core.keras3.operations.symbolic_arguments import CallValues
from unnest.core.model import Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    CallArguments,
    Items,
    Libraries,
    LibraryName,
    SymbolicTensor,
    SymbolicValue,
)
from unnest.core.ops.keras3_nodes.function_registry import known_functions
from unnest.core.ops.registry import OPERATIONS

ALIASES = {
    "compat.v1.floor_div": "math.floordiv", "math.scalar_mul": "math.multiply",
    "compat.v1.nn.leaky_relu": "nn.leaky_relu",
    "math.l2_normalize": "math.l2_normalize", "compat.v1.norm": "norm", "linalg.norm": "norm",
    "compat.v1.image.resize_images": "image.resize_images",
    "compat.v1.image.resize": "image.resize_images", "keras.activations.relu": "nn.relu",
}  # fmt: skip
"""Spellings that TensorFlow stores -> those of its documentation."""


def function_called(
    function_name: str, args: Sequence[NodeTree], kwargs: Mapping[str, NodeTree], values: CallValues
) -> SymbolicValue:
    """Return the result of a stored call of a function. Raises Unknown."""
    if function_name == "meshgrid":
        raise Unknown("Keras stored its first vector alone, and not the others")
    if function_name == "einsum" and not values.call.tensors:
        raise Unknown("Keras stored its equation alone, and not what it was called on")
    positional = [values.of(a) for a in args]
    named = {k: values.of(v) for k, v in kwargs.items() if k != "name" or v is not None}
    return operation(function_name, positional, named, values)


def operation(
    name: str,
    args: Sequence[SymbolicValue],
    kwargs: Mapping[str, SymbolicValue],
    values: CallValues,
    tensorflow: Literal["1", "2"] = "2",
) -> SymbolicValue:
    """Translate a TensorFlow function. Raises Unknown."""
    dialect = Libraries("tensorflow", tensorflow, tensor_with_rows=values.tensor_with_rows)
    name = ALIASES.get(name, name).removeprefix("compat.v1.")
    if name.startswith("__operators__."):
        return _operator(name.removeprefix("__operators__."), args, kwargs)
    path = f"tf.{name}"
    if path not in known_functions() and f"tf.{name.rpartition('.')[2]}" in known_functions():
        path = f"tf.{name.rpartition('.')[2]}"
    return names_and_calls.call(
        LibraryName(path, f"tf.{name}"), CallArguments(tuple(args), kwargs), dialect
    )


def _operator(
    name: str, args: Sequence[SymbolicValue], kwargs: Mapping[str, SymbolicValue]
) -> SymbolicValue:
    sides = [*args, *kwargs.values()]
    if name == "getitem" and len(sides) == 2:  # noqa: PLR2004 - a tensor and a key
        return part(sides[0], sides[1])
    swapped = name.startswith("r") and name.removeprefix("r") in OPERATIONS
    operation = OPERATIONS.get(name.removeprefix("r") if swapped else name)
    if operation is None or not operation.python_operator or len(sides) != 2:  # noqa: PLR2004 - of two
        raise Unknown(f"the operator {name}")
    left, right = sides[::-1] if swapped else sides
    return operators.binary(operation.python_operator, left, right)


def part(of: SymbolicValue, key: SymbolicValue) -> SymbolicValue:
    """Return a part of a tensor, or of a shape or list, which TensorFlow's keys take for a tensor of one axis."""
    if not isinstance(of, SymbolicTensor) and isinstance(key, Items) and len(key.items) == 1:
        key = key.items[0]
    return operators.subscript(of, key)
