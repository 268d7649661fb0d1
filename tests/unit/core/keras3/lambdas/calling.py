"""Calls of known functions without any code: by dotted name, on tensors that are not there."""

from __future__ import annotations

from unnest.core.keras3.lambdas import names_and_calls
from unnest.core.keras3_op_node import Input, Operand, OpNode, Part
from unnest.core.ops.keras3_nodes.expression_values import (
    CallArguments,
    Items,
    Libraries,
    SymbolicTensor,
    SymbolicValue,
)

X = SymbolicTensor(Input(0), "float32", "x", shape=(None, 3, 4))
Y = SymbolicTensor(Input(1), "float32", "y", shape=(None, 3, 4))
INTEGERS = SymbolicTensor(Input(0), "int32", "i", shape=(None, 3, 4))
UNSHAPED = SymbolicTensor(Input(0), "float32", "u")


def path(text: str, dialect: Libraries) -> SymbolicValue:
    """The value of a dotted name."""
    root, *fields = text.split(".")
    value = names_and_calls.global_value(root, dialect)
    for field in fields:
        value = names_and_calls.attribute(value, field)
    return value


def called(
    text: str,
    *positional: SymbolicValue,
    dialect: Libraries | None = None,
    **keywords: SymbolicValue,
) -> SymbolicValue:
    """Return the value of a call, in a file of TensorFlow 2 unless a dialect is given."""
    dialect = dialect or Libraries("tensorflow", "2")
    return names_and_calls.call(path(text, dialect), CallArguments(positional, keywords), dialect)


def computed(value: SymbolicValue) -> str:
    """The operations of a tensor, or of a list of them: `Sqrt(Maximum(x0, 0.0))`, a class's arguments by name."""
    if isinstance(value, Items):
        return f"[{', '.join(computed(item) for item in value.items)}]"
    assert isinstance(value, SymbolicTensor), value
    return _spelt(value.operand)


def _spelt(operand: Operand) -> str:
    if isinstance(operand, Input):
        return f"x{operand.index}"
    if isinstance(operand, Part):
        return f"{_spelt(operand.of)}[{operand.index}]"
    if isinstance(operand, OpNode):
        keywords = {**operand.config, **operand.kwargs}
        inner = [*map(_spelt, operand.args), *(f"{key}={value}" for key, value in keywords.items())]
        return f"{operand.class_name}({', '.join(inner)})"
    if isinstance(operand, list):
        return f"[{', '.join(map(_spelt, operand))}]"
    if isinstance(operand, dict) and operand.get("class_name") == "__numpy__":
        return str(operand["config"]["value"])
    return str(operand)
