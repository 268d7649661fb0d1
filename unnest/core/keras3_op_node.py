"""Calls of Keras 3's operations as values (`OpNode`): class, config and operands.

A call has neither a name nor a place in a graph: `core/keras3/graph/graph_builder.py` gives it both. A call that
stands twice in an expression is one object, and becomes one operation of the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from unnest.core.model import Json, JsonObject

UNKNOWN_DTYPE = "an unknown dtype (of the output of custom code)"
"""Of what custom code gives."""


@dataclass(frozen=True, slots=True)
class Input:
    """The `index`-th tensor that the translated layer is called on, counted from 0 over its flattened inputs."""

    index: int


@dataclass(frozen=True, slots=True)
class GraphTensor:
    """A tensor that is in the graph already: an output of the layer `layer`, by the builder's numbers."""

    layer: str
    call_index: int
    tensor: int


@dataclass(frozen=True, slots=True)
class Part:
    """Output `index` of an operation that gives several (`Split`, `Unstack`, `TopK`)."""

    of: OpNode
    index: int


@dataclass(frozen=True, slots=True)
class OpNode:
    """A call of a Keras 3 operation class.

    `module` and `class_name` are as Keras 3 stores them (`keras.src.ops.numpy`, `Add`), `config` what the class's
    constructor takes (without `name`), `args` and `kwargs` what it is called on. Layers that stand in for an
    operation (`keras.layers`, `Rescaling`) are written the same way.
    """

    module: str
    class_name: str
    config: JsonObject = field(default_factory=dict)
    args: tuple[Operand, ...] = ()
    kwargs: Mapping[str, Operand] = field(default_factory=dict)


Operand: TypeAlias = "Input | GraphTensor | Part | OpNode | Sequence[Operand] | Json"
"""A tensor, a constant in Keras 3's JSON (`__slice__`, `__ellipsis__`, `__numpy__` included), or a list of operands."""
