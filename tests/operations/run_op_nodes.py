"""Operations of Keras 3 in its JSON, computed by Keras 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from unnest.core.keras3_op_node import Input, Operand, OpNode, Part

Check = Callable[[OpNode, list[Any], Any], None]


def run_node(
    operand: Operand, inputs: Sequence[Any], made: dict[int, Any], check: Check | None = None
) -> Any:
    """Return an operand as Keras 3 computes it of tensors or arrays; `check` gets each node, its inputs and result.

    `made` holds the results of nodes by identity, so that each is computed once.
    """
    keras = import_module("keras")
    if isinstance(operand, Input):
        return inputs[operand.index]
    if isinstance(operand, Part):
        return run_node(operand.of, inputs, made, check)[operand.index]
    if isinstance(operand, OpNode):
        if id(operand) not in made:
            config = {
                "module": operand.module,
                "class_name": operand.class_name,
                "config": dict(operand.config),
            }
            operation = keras.saving.deserialize_keras_object({**config, "registered_name": None})
            args = [run_node(arg, inputs, made, check) for arg in operand.args]
            kwargs = {
                name: run_node(arg, inputs, made, check) for name, arg in operand.kwargs.items()
            }
            made[id(operand)] = operation(*args, **kwargs)
            if check is not None:
                check(operand, args, made[id(operand)])
        return made[id(operand)]
    if isinstance(operand, dict):
        return keras.saving.deserialize_keras_object(operand)
    if isinstance(operand, list | tuple):
        parts = [run_node(part, inputs, made, check) for part in operand]
        is_key = any(part is None or isinstance(part, slice | type(...) | int) for part in parts)
        return tuple(parts) if is_key else parts
    return operand
