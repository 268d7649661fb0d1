"""Calls of operations without a model: a layer named `op`, on tensors of the new graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unnest.core.keras3.conversion_context import Context, OldLayer
from unnest.core.keras3.layer_replacements import Expansion, LayerArguments, NodeTree
from unnest.core.keras3.operations.operation_layer_rule import rule
from unnest.core.keras3_op_node import GraphTensor, OpNode
from unnest.core.keras_facts.keras3_layer_output_specs import Spec

NUMPY, NN, CORE = "keras.src.ops.numpy", "keras.src.ops.nn", "keras.src.ops.core"
PLACES: Any = {"class_name": "__numpy__", "config": {"value": [0, 2], "dtype": "int32"}}
BIAS: Any = {"class_name": "__numpy__", "config": {"value": [1.0, 2.0], "dtype": "float32"}}
#: Tensors of the new graph; any, since operations that were filled hold them where `OpNode` declares operands.
X: Any = GraphTensor("x", 0, 0)
Y: Any = GraphTensor("y", 0, 0)
SPECS: dict[GraphTensor, Spec | None] = {
    X: Spec((None, 4), "float32"),
    Y: Spec((None, 4), "float32"),
}


def outputs(
    kind: str,
    config: dict[str, Any],
    args: Sequence[NodeTree],
    context: Context,
    **kwargs: NodeTree,
) -> list[NodeTree]:
    """Return the outputs of a call of such a layer, named `op`."""
    made = rule(OldLayer(kind, config, "op", (), context))
    assert isinstance(made, Expansion)
    return list(made.outputs(LayerArguments(tuple(args), kwargs, SPECS)))


def node(
    op: str, *args: NodeTree, constants: dict[str, Any] | None = None, **attributes: Any
) -> list[NodeTree]:
    """Return the outputs of a node of TensorFlow's graph."""
    stored = json.dumps({"name": "op", "op": op, "attr": attributes})
    return outputs(
        "TensorFlowOpLayer",
        {"node_def": stored, "constants": constants or {}},
        list(args),
        Context(),
    )


def turned(tensor: Any) -> OpNode:
    """A matrix turned, batch by batch."""
    return OpNode(NUMPY, "Swapaxes", {"axis1": -1, "axis2": -2}, (tensor,))
