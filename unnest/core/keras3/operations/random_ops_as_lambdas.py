"""Operations that draw random numbers, as Lambda layers with a function that the loader is given.

No layer or operation of Keras 3's own draws random numbers at inference. The function gets a tensor with the rows that
the operation drew for, and the other sizes as an argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from unnest.core.frontends.node_defs_as_op_calls import node_attributes
from unnest.core.keras3.conversion_context import Context
from unnest.core.keras3.lambdas.lambda_layer_rule import named_function
from unnest.core.keras3.layer_replacements import LayerCall, NewLayer, NodeTree
from unnest.core.keras3.operations.symbolic_arguments import CallValues
from unnest.core.keras3_op_node import OpNode
from unnest.core.model import Json, JsonObject, Unknown
from unnest.core.ops.keras3_nodes.expression_values import (
    CORE,
    Const,
    Items,
    ShapeTuple,
    Size,
    SymbolicValue,
    items,
    sizes_of,
)

RANDOM_FUNCTIONS: Mapping[str, tuple[tuple[str, Json], ...]] = {
    "random.normal": (("mean", 0.0), ("stddev", 1.0)),
    "random.truncated_normal": (("mean", 0.0), ("stddev", 1.0)),
    "random.uniform": (("minval", 0.0), ("maxval", 1.0)),
}
"""Function of TensorFlow's -> the arguments that follow the shape, with their defaults."""

RANDOM_NODES = {
    "RandomStandardNormal": "random.normal",
    "RandomUniform": "random.uniform",
    "TruncatedNormal": "random.truncated_normal",
}
"""Operation of TensorFlow's graph -> the function that draws the same with its defaults."""

WHY_A_FUNCTION = "no layer or operation of Keras 3's own draws random numbers at inference"
"""The reason for the function."""


def random_lambda_of_node(
    node: JsonObject, config: Mapping[str, Json], name: str, values: CallValues
) -> NodeTree | None:
    """Return the Lambda for a node of TensorFlow's graph that draws numbers; None for any other.

    Raises:
        Unknown: If its numbers are no float32, or their sizes unknown.

    """
    function = RANDOM_NODES.get(str(node.get("op")))
    if function is None:
        return None
    if node_attributes(node).get("dtype") not in (None, "DT_FLOAT") or config.get("constants"):
        raise Unknown(WHY_A_FUNCTION)
    return _random_lambda(function, values.call.args[:1], {}, name, values)


def random_lambda_of_function(function_name: str, name: str, values: CallValues) -> NodeTree | None:
    """Return the Lambda for a call of a function that draws numbers; None for any other.

    Raises:
        Unknown: Its numbers are not float32, a size or an argument is not a plain number, or no tensor has as many
            rows.

    """
    if function_name not in RANDOM_FUNCTIONS:
        return None
    return _random_lambda(function_name, values.call.args, values.call.kwargs, name, values)


def _random_lambda(
    function_name: str,
    args: Sequence[NodeTree],
    kwargs: Mapping[str, NodeTree],
    name: str,
    values: CallValues,
) -> OpNode:
    """Return a Lambda that draws numbers by a function that the loader is given. Raises Unknown."""
    parameters = RANDOM_FUNCTIONS[function_name]
    given = dict(
        zip(("shape", *(key for key, _ in parameters), "dtype"), args, strict=False)
    ) | dict(kwargs)
    if given.pop("dtype", None) not in (None, "float32"):
        raise Unknown(WHY_A_FUNCTION)
    rows, sizes = _sizes(values.of(given.pop("shape", None)))
    like = next((tensor for tensor, of in values.context.graph.rows.items() if of == rows), None)
    settings = {key: given.pop(key, None) for key, _ in parameters}
    arguments: dict[str, Json] = {"shape": sizes}
    for key, default in parameters:
        value = default if settings[key] is None else settings[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Unknown(WHY_A_FUNCTION)
        arguments[key] = value
    if like is None or given.keys() - {"seed", "name"}:
        raise Unknown(WHY_A_FUNCTION)
    made = LayerCall(_layer(function_name, name, arguments, values.context), (like,))
    # A Lambda's dtype is open, and what follows is computed in this one.
    return OpNode(CORE, "Cast", {"dtype": "float32"}, (made,))  # type: ignore[arg-type]  # a tree, as of pieces


def _layer(function_name: str, name: str, arguments: JsonObject, context: Context) -> NewLayer:
    settings = ", ".join(f"{key}={value}" for key, value in arguments.items() if key != "shape")
    shape = arguments["shape"]
    sizes = "".join(f", {size}" for size in shape) if isinstance(shape, list) else ""
    read = f"tf.{function_name}((rows{sizes or ','}), {settings})"
    called = f"{re.sub(r'[^0-9A-Za-z_]', '_', name)}_function"
    return named_function("operation", name, called, arguments, (WHY_A_FUNCTION, read), context)


def _sizes(shape: SymbolicValue) -> tuple[int, list[Json]]:
    """Return the number of the rows that a shape begins with, and its other sizes. Raises Unknown."""
    if isinstance(shape, ShapeTuple):
        shape = items("list", sizes_of(shape))
    parts = shape.items if isinstance(shape, Items) else ()
    rows = parts[0].rows if parts and isinstance(parts[0], Size) else None
    sizes = [
        part.value if isinstance(part, Const) and type(part.value) is int else None
        for part in parts[1:]
    ]
    if rows is None or None in sizes:
        raise Unknown(WHY_A_FUNCTION)
    return rows, [size for size in sizes if size is not None]
