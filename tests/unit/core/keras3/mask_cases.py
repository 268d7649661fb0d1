"""Layers that make masks, heed them, hand them on or stop them, and tensors that they read."""

from __future__ import annotations

from typing import Any

from unnest.core.keras3.layer_replacements import LayerArguments, NewLayer, NodeTree
from unnest.core.keras3_op_node import GraphTensor, OpNode

X, Y, Z, MADE = (GraphTensor(name, 0, 0) for name in ("x", "y", "z", "made"))
TENSORFLOW = "tensorflow"


def call(*tensors: GraphTensor, **kwargs: NodeTree) -> LayerArguments:
    """A call on those tensors."""
    return LayerArguments(tensors, kwargs, {})


def numpy(kind: str, *args: NodeTree, **config: Any) -> OpNode:
    """An operation of Keras 3."""
    return OpNode("keras.src.ops.numpy", kind, config, args)  # type: ignore[arg-type]  # trees are operands


LSTM = NewLayer("l", "LSTM", {"name": "l"})
STEPS = NewLayer(
    "b",
    "Bidirectional",
    {"name": "b", "layer": {"class_name": "LSTM", "config": {"return_sequences": True}}},
)
CONV = NewLayer("c", "ConvLSTM2D", {"name": "c"})
LAST = NewLayer(
    "b",
    "Bidirectional",
    {"name": "b", "layer": {"class_name": "LSTM", "config": {"return_sequences": False}}},
)

MASKING: dict[str, Any] = {"class_name": "Masking", "config": {"name": "m"}}
FLATTEN: dict[str, Any] = {"class_name": "Flatten", "config": {"name": "f"}}
CONVOLUTION: dict[str, Any] = {"class_name": "Conv1D", "config": {"name": "c"}}
ONE_WAY: dict[str, Any] = {"class_name": "LSTM", "config": {"name": "l", "return_sequences": True}}
EMBEDDING: dict[str, Any] = {"class_name": "Embedding", "config": {"name": "e", "mask_zero": True}}
DENSE: dict[str, Any] = {"class_name": "Dense", "config": {"name": "d"}}
